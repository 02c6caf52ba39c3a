"""Elements of lists at places known only at run time: copies, which are written when what they are copies of is.

x = [a, b][k]       x is a copy
b[:] = 0            writes to b, and to x where k is 1
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from dataclasses import replace
from graphlib import TopologicalSorter
from typing import Any, Final, TypeAlias, cast, final

import numpy as np

from pliant.core.data import frozen
from pliant.core.ir import Const, Value, Values, const
from pliant.core.types import Type
from pliant.frontend.array import TracedArray
from pliant.frontend.control.either import Either, is_twin, possible
from pliant.frontend.control.moved import moved
from pliant.frontend.convert import as_traced, value_of
from pliant.frontend.number import Kind, with_kind
from pliant.frontend.rows import rows_of
from pliant.frontend.tracing import Storage, Trace, current
from pliant.frontend.view import Lens
from pliant.ops.base import is_const
from pliant.ops.bits import logical_and
from pliant.ops.compare import equal
from pliant.ops.select import select
from pliant.ops.shape import broadcast

Remember: TypeAlias = Callable[[Values], Callable[[Storage], None]]
PLACE: Final = Kind(Type("i64"), is_scalar=True, is_weak=True)


@final
@frozen(eq=False)
class Original:
    """What an allocation is a copy of if a condition holds: an array, if the place is the n-th; or, if there is no n,
    the row of it at that place."""

    find: Callable[[], Storage | None]
    lenses: tuple[Lens, ...]
    condition: Value
    place: Value
    n: int | None
    is_last: bool = False  # whether the allocation is a copy of this, if of none of those before it

    @property
    def holds(self) -> Value:
        """Whether the allocation is a copy of it."""
        return (
            self.condition if self.n is None else logical_and(self.condition, equal(self.place, const(self.n, "i64")))
        )

    @property
    def array(self) -> TracedArray | None:
        """What the allocation is a copy of then; None if nobody knows it any more."""
        storage = self.find()
        array = None if storage is None else TracedArray(storage, self.lenses)
        return array if array is None or self.n is not None else array[with_kind(self.place, PLACE)]

    def written_to(self, copy: Storage) -> None:
        """Write what it holds to the copy."""
        before = copy.value
        content = value_of(cast("TracedArray", self.array), before.type.dtype)
        copy.hold(select(broadcast(self.holds, before.shape, ()), content, before))


@final
class Copies:
    """The allocations that may be copies of one, as long as they live."""

    def __init__(self) -> None:
        self.found: list[weakref.ref[Storage]] = []

    @property
    def alive(self) -> list[Storage]:
        """Those that are."""
        return [copy for ref in self.found if (copy := ref()) is not None]

    def add(self, copy: Storage) -> None:
        """One more."""
        self.found = [*map(weakref.ref, self.alive), weakref.ref(copy)]

    def follow(self, storage: Storage) -> None:
        """Write to them what was written to what they are copies of, and to the copies of these: to each once."""
        order: TopologicalSorter[Storage] = TopologicalSorter()
        todo, seen = [storage], {storage}
        while todo:
            one = todo.pop()
            for copy in one.copies.alive if one.copies is not None else ():
                if _is_here(copy.trace):
                    order.add(copy, one)
                    todo += [] if copy in seen else [copy]
                    seen.add(copy)
        for copy in order.static_order():
            for original in copy.copy_of if copy is not storage else ():
                if original.find() in seen:
                    original.written_to(copy)


def note_picked(copy: Storage, parts: Sequence[Any], key: TracedArray) -> None:
    """Remember that an allocation is a copy of one of some arrays, by a number."""
    place, rows = value_of(as_traced(np.arange(len(parts)))[key], "i64"), rows_of(parts)  # which is an error if none is
    among = map(as_traced, parts) if rows is None else (rows,)
    ways = [(None if rows is not None else n, way) for n, part in enumerate(among) for way in possible(part)]
    for n, way in ways:
        x, is_last = way.array, way is ways[-1][1]
        _remember(copy, Original(_found(x.storage), x.lenses, way.condition, place, n, is_last))


def outside(
    copy: Storage, trace: Trace, slot: Callable[[Value], int], holds: Callable[[], Value] | None = None
) -> Remember | None:
    """What remembers of another allocation, which is the same outside of a block of which it is a result, what it is a
    copy of; None if that is nothing, or made in the block. trace: of the block; slot: makes a value one of the results;
    holds: whether it was run."""
    if not copy.copy_of or is_of_inner(copy, trace):
        return None
    number = trace.scope.number
    parts = [(moved(o, number, slot), [moved(lens, number, slot) for lens in o.lenses]) for o in copy.copy_of]

    def made(results: Values) -> Callable[[Storage], None]:
        found = [replace(o(results), lenses=tuple([lens(results) for lens in lenses])) for o, lenses in parts]

        def remember(new: Storage) -> None:
            for o in found:
                is_run = o.condition if holds is None else logical_and(o.condition, holds())
                _remember(new, replace(o, condition=is_run, is_last=False))

        return remember

    return made


def is_of_inner(copy: Storage, trace: Trace) -> bool:
    """Whether an allocation is a copy of what a block has made."""
    return any([s.trace is trace for o in copy.copy_of if (s := o.find()) is not None])


def roots(copy: Storage) -> list[Storage]:
    """The allocations that one may be a copy of, directly or by way of copies."""
    todo, found = [copy], dict[Storage, None]()
    while todo:
        more = [s for o in todo.pop().copy_of if (s := o.find()) is not None and s not in found]
        found |= dict.fromkeys(more)
        todo += more
    return [*found]


@final
class Picks:
    """Which arrays others may be by what is picked, down to what somebody has made, or of which nobody knows what it is
    a copy of: each once, and the number of the one that it is."""

    def __init__(self) -> None:
        self.arrays: list[TracedArray] = []
        self.places: dict[Storage, list[int]] = {}  # of the views of one allocation
        self.known: dict[Storage, Value] = {}  # of copies

    def which(self, x: TracedArray) -> Value:
        """The number of the array that this one is."""
        storage: Any = x.storage
        if isinstance(storage, Either):
            one, other = [TracedArray(side.storage, (*side.lenses, *x.lenses)) for side in (storage.one, storage.other)]
            return select(storage.condition, self.which(one), self.which(other))
        if not storage.copy_of:
            return self.number(x)
        if x.lenses:
            return self.original(x)
        if storage not in self.known:
            self.known[storage] = self.original(x)
        return self.known[storage]

    def original(self, x: TracedArray) -> Value:
        """The number of the array that a copy, or a view of one, is."""
        found: tuple[Original, ...] = x.storage.copy_of
        arrays = [o.array for o in found]
        numbers = [
            self.number(x) if a is None else self.which(TracedArray(a.storage, (*a.lenses, *x.lenses))) for a in arrays
        ]
        if is_table(found) and all([isinstance(number.op, Const) for number in numbers]):
            table = [int(cast("Const", number.op).value.real) for number in numbers]
            place = found[0].place
            is_same = table == [*range(len(table))]
            return place if is_same else value_of(as_traced(np.array(table))[with_kind(place, PLACE)], "i64")
        which = numbers[-1] if found[-1].is_last else self.number(x)
        for o, number in reversed([*zip(found, numbers, strict=True)][: -1 if found[-1].is_last else None]):
            which = select(o.holds, number, which)
        return which

    def number(self, x: TracedArray) -> Value:
        """The number of an array as it is."""
        places = self.places.setdefault(x.storage, [])
        n = next((n for n in places if is_twin(self.arrays[n], x)), len(self.arrays))
        if n == len(self.arrays):
            self.arrays.append(x)
            places.append(n)
        return const(n, "i64")


def is_table(found: Sequence[Original]) -> bool:
    """Whether the n-th is what an allocation is a copy of if one place is n, and nothing else is."""
    place = found[0].place
    return found[-1].is_last and all(
        [o.n == n and o.place is place and is_const(o.condition, True) for n, o in enumerate(found)]
    )


def _found(storage: Storage) -> Callable[[], Storage | None]:
    """What finds an allocation: one that somebody else knows, or one that is a copy itself, of what others know."""
    return (lambda: storage) if storage.copy_of else weakref.ref(storage)


def _remember(copy: Storage, original: Original) -> None:
    storage = original.find()
    if storage is not None:
        storage.copies = storage.copies or Copies()
        storage.copies.add(copy)
        copy.copy_of += (original,)


def _is_here(trace: Trace) -> bool:
    """Whether what a trace made can be read here."""
    inner: Trace | None = current()
    while inner is not None and inner is not trace:
        inner = inner.parent
    return inner is trace
