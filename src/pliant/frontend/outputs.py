"""How what a function returns, and leaves in its arguments' containers, is made of a program's results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from typing import Any, Final, TypeAlias, cast, final

import numpy as np

from pliant.core.data import frozen, mutable
from pliant.core.ir import Value
from pliant.core.types import Type
from pliant.errors import UnsupportedError
from pliant.frontend.alias import Shared
from pliant.frontend.array import TracedArray
from pliant.frontend.bounded import Bounded
from pliant.frontend.control.chosen import is_told_here
from pliant.frontend.control.either import Either
from pliant.frontend.control.fronts import Front
from pliant.frontend.control.ornone import OrNone
from pliant.frontend.control.picked import Picks, roots
from pliant.frontend.control.states import is_member, state_of, words_of
from pliant.frontend.control.unbound import Unbound
from pliant.frontend.convert import as_traced, value_of
from pliant.frontend.fresh import Fresh, fresh, without_arrays
from pliant.frontend.functions.at import At, AtIndexer
from pliant.frontend.members import plain_member
from pliant.frontend.number import Kind, is_number
from pliant.frontend.objects import ObjectArray
from pliant.frontend.order import UNSURE, settle
from pliant.frontend.originals import original
from pliant.frontend.selection import Selection
from pliant.frontend.shown import Cut, Window, is_block
from pliant.frontend.signature import flatten
from pliant.frontend.sizes import Size
from pliant.frontend.spread import Elements
from pliant.frontend.strides import has_strides, layout
from pliant.frontend.text import known_text
from pliant.frontend.tracing import Storage, current
from pliant.frontend.view import BlockLens, DynamicLens, Lens, PermuteLens, is_static, look
from pliant.ops.shape import permute

Axes: TypeAlias = "tuple[int, ...]"
FEWEST: Final = 8  # numbers that are elements of one result


@final
@frozen
class Output:
    """One leaf of what a function returns.

    kind: "array", "scalar" (NumPy's) or "python" for a result of the program; "source" for a view
    of the caller's array; "packed" for a vector of several results; "either" for that one of others of which the
    result `place` is the number, false the first and true the second; "same" for the view that the returned leaf
    `place` is, "again" for the one that leaf `place` of those that are left is; "leaf" for an argument as it is;
    "container" for the container of that number, "kept" for one of those that are in the arguments afterwards;
    "static" for what is no number; "fresh" for a copy of it, of those that are made together; "spread" for the
    first elements of a list, `place` being what they are, of which the alternatives are the parts, one array for each.
    `place` is a result's number, a leaf's number (those of arrays met outside follow), or the object itself.
    Packed vectors are numbered from the end: they follow the results, the last one first.
    """

    kind: str
    place: Any
    lenses: tuple[Lens | Window | Cut, ...] = ()
    type: Type | None = None  # of an array or number
    alternatives: tuple[Output, ...] = ()

    @property
    def sides(self) -> Iterator[Output]:
        """What it may be, by conditions: itself, if it is one only."""
        if self.kind != "either":
            yield self
        for other in self.alternatives:
            yield from other.sides

    @property
    def is_view(self) -> bool:
        """Whether it may be a view of the caller's memory."""
        return self.kind in ("source", "either", "same", "again")

    @property
    def is_result(self) -> bool:
        """Whether it is made of a result of the program."""
        return self.kind in ("array", "scalar", "python")

    def made(self, leaves: Sequence[Any], met: Sequence[Any], results: Sequence[Any]) -> Any:
        """The leaf, of a call's arguments, the arrays it met outside, and the program's results."""
        place = self.place
        if self.kind == "leaf":
            return leaves[place]
        if self.kind in ("array", "packed"):
            return self.seen(results[place], results)
        if self.kind in ("scalar", "python"):
            number = self.seen(results[place], results)
            return number[()] if self.kind == "scalar" else number.item()
        if self.kind == "source":
            array = place
            if isinstance(place, int):
                array = leaves[place] if place < len(leaves) else met[place - len(leaves)]
            return self.seen(array, results)
        if self.kind == "either":
            return self.alternatives[int(results[place])].made(leaves, met, results)
        if self.kind == "spread":
            return place.made([column.made(leaves, met, results) for column in self.alternatives])
        if self.kind == "fresh":
            return place[0].made()[place[1]]
        return place

    def seen(self, array: Any, results: Sequence[Any]) -> Any:
        """What the lenses show of an array."""
        for lens in self.lenses:
            whole, known = array, lens.known(array, results) if isinstance(lens, Window | Cut) else lens
            array = look(whole, (known,))
            if isinstance(lens, Cut) and 2 * array.size <= whole.size:
                array = array.copy()  # so that the rest of the memory is free
        return array


@final
@frozen
class Pack:
    """A vector that the results with these numbers are put together to, one after the other."""

    numbers: tuple[int, ...]
    type: Type

    def parts(self, vector: Any, types: Sequence[Type]) -> dict[int, Any]:
        """The part of a vector that each result is, by its number; types: of all results."""
        ends = np.cumsum([types[n].size for n in self.numbers])
        return dict(zip(self.numbers, np.split(vector, ends[:-1]), strict=True))


def made_of(
    outputs: Sequence[Output], leaves: Sequence[Any], met: Sequence[Any], results: Sequence[Any],
    returned: Sequence[Any] | None = None,
) -> list[Any]:  # fmt: skip
    """All leaves of what is returned; or of what is left in containers, where others are `returned`."""
    made: list[Any] = []
    new: dict[int, Any] = next((o.place[0].made() for o in outputs if o.kind == "fresh"), dict[int, Any]())
    for o in outputs:
        before = made if returned is None else returned
        if o.kind == "fresh":
            made.append(new[o.place[1]])
        elif o.kind == "again":
            made.append(made[o.place])
        else:
            made.append(before[o.place] if o.kind == "same" else o.made(leaves, met, results))
    return made


@final
@frozen
class Outputs:
    """The results that a program needs, and how what is returned, and what is left in containers, is made of them."""

    results: list[Value]
    returned: tuple[Output, ...]
    left: tuple[Output, ...]
    packs: tuple[Pack, ...]


def outputs_of(
    returned: Sequence[Any], left: Sequence[Any], known: dict[int, Output], *, are_results: bool = False
) -> Outputs:
    """How to make what a function returns, and new items that it leaves in containers. known: of containers, by id.
    are_results: what is returned is the results."""
    leaves = [as_traced(m) if isinstance(m, np.ndarray) else m for m in (*returned, *left)]
    arrays = [m for m in leaves if type(m) is TracedArray]
    uses = Counter([id(x.storage) for m in arrays for x in _sides(m)])
    made = _Returned(uses, known, fresh(leaves, current()), are_results)
    outputs = list[Output]()
    first: dict[int, int] = {}
    count = len(returned)
    for n, m in enumerate(leaves):
        place = first.setdefault(id(m), n)
        is_same = place < n and outputs[place].lenses  # else it is one object anyway
        if type(m) is Front:
            if n >= count and m.form.element.has_arrays and _may_be_others(leaves[count:]):
                raise m.returned()
            outputs.append(made.spread(m))
        elif is_same:
            which = ("same", place) if place < count else ("again", place - count)
            outputs.append(Output(*which, (), outputs[place].type))
        else:
            outputs.append(made.output(m))
    return Outputs(made.results, tuple(outputs[:count]), tuple(outputs[count:]), tuple(made.packs))


def _may_be_others(left: Sequence[Any]) -> bool:
    """Whether arrays that are elements of a list which is left may be left in other places too, or be the caller's."""
    fronts = {id(x) for x in left if type(x) is Front and x.form.element.has_arrays}
    arrays = [side.storage for x in left if type(x) is TracedArray for side in _sides(x)]
    return len(fronts) > 1 or current().has_lent or any([not (s.writeable or s.is_callers_wish) for s in arrays])


@final
@mutable
class _Returned:
    """The results that a program needs for what its function returns."""

    uses: Counter[int]  # of allocations, by id
    known: dict[int, Output]  # of containers, by id
    fresh: Fresh | None  # of objects and sets
    are_results: bool  # what is returned
    results: list[Value] = field(default_factory=list[Value])
    bases: dict[int, int] = field(default_factory=dict[int, int])  # results that are whole allocations, by their id
    packs: list[Pack] = field(default_factory=list[Pack])

    def output(self, m: Any) -> Output:
        """How a returned leaf is made; adds to the results."""
        if id(m) in self.known:
            return self.known[id(m)]
        if type(m) is Unbound or (is_member(m) and is_told_here(m) and not self.are_results):
            return self.word(m)
        if isinstance(m, OrNone):
            return self.or_none(m)
        if isinstance(m, At | AtIndexer):
            raise m.refused()
        if isinstance(m, Bounded | Selection):
            return self.cut(m.listed if isinstance(m, Selection) else m)
        if isinstance(m, Iterator):
            kind = type(cast("object", m)).__name__
            message = f"returning the iterator {kind}, which would read traced arrays after the call"
            raise UnsupportedError(message, hint="return a list of its items")
        if type(m) is ObjectArray:
            raise m.refused("returning it")
        if self.are_results and _is_numeric(m):
            m = as_traced(m)
            return Output(_kind(m), self.result(m.value), (), m.type)
        if type(m) is not TracedArray:
            m = plain_member(m) if type(m) is frozenset else m
            found = known_text(without_arrays(m), "returned, or left in what the call changes")
            is_fresh = self.fresh is not None and id(m) in self.fresh.models
            return Output("fresh", (self.fresh, id(m))) if is_fresh else Output("static", original(found, current()))
        if m.is_weak or m.is_scalar or not any([self.is_shared(x) for x in _sides(m)]):
            kind = _kind(m)
            if kind != "array" and self.is_row(m):
                return Output(kind, *self.base(m.storage, m.lenses), m.type)
            return Output(kind, *self.laid_out(m.value, axes_of(m)), m.type)
        if isinstance(cast("Any", m.storage), Either):
            return self.either(m)
        return self.picked(m) if _is_picked(m) else self.view(m)

    def word(self, m: Unbound | TracedArray) -> Output:
        """One of a few words, or members of an Enum, by a number that is known after the call."""
        words = words_of(m)
        if words is None or not is_told_here(m):
            raise cast("Unbound", m).refused(is_returned=True)
        place = self.result(value_of(state_of(m, words).number))
        return Output("either", place, (), None, tuple([Output("static", original(w, current())) for w in words]))

    def or_none(self, m: OrNone) -> Output:
        """An array or number, or None, by a condition that is known after the call."""
        held = m.pliant_value
        if flatten(held)[0] != [held]:
            kind = type(held).__name__
            message = f"what the function leaves is a {kind} or None, by a condition that is known only at run time"
            hint = "keep its parts apart, or begin with one that is no None"
            raise UnsupportedError(message, hint=hint).at(("condition here", m.pliant_flag.value.origin))
        return Output("either", self.result(m.pliant_flag.value), (), None, (Output("static", None), self.output(held)))

    def is_shared(self, x: TracedArray) -> bool:
        """Whether the caller has, or gets, other arrays in the memory of this one."""
        if self.are_results:
            return False
        return _source(x) is not None or (self.uses[id(x.storage)] > 1 and is_static(x.lenses))

    def is_row(self, x: TracedArray) -> bool:
        """Whether a number is one of many elements of a result that is made for them all."""
        count = self.uses[id(x.storage)]
        is_one = count >= FEWEST and is_static(x.lenses) and not isinstance(cast("Any", x.storage), Either)
        return is_one and x.storage.content is not None and 2 * count >= x.storage.value.type.size

    def result(self, value: Value) -> int:
        """The number of a new result."""
        self.results.append(value)
        return len(self.results) - 1

    def spread(self, m: Front) -> Output:
        """The elements of a list of which there are as many as is known only after the call."""
        m = m.in_order()
        element, count = m.form.element, self.result(m.count)
        counts = [(count, *(None for _ in column.shape[1:])) for column in m.columns]
        parts = [Output("array", self.result(c), (Cut(n),)) for c, n in zip(m.columns, counts, strict=True)]
        return Output("spread", Elements(element.structure, tuple(map(_kind, element.kinds))), (), None, tuple(parts))

    def cut(self, m: Any) -> Output:
        """An array whose extents are known only after the call: the first elements of one with the greatest."""
        if not isinstance(m, Bounded):
            return self.output(m)
        if self.is_shared(m.whole):
            if _source(m.whole) is None or not is_block(m.whole.lenses):
                raise m.returned()
            return replace(self.view(m.whole), type=None)
        counts = tuple([self.result(n.value) if isinstance(n, Size) else None for n in m.extents])
        return Output("array", self.result(m.whole.value), (Cut(counts),))

    def either(self, m: TracedArray) -> Output:
        """One of two arrays, by a condition that is known after the call."""
        either = cast("Either", m.storage)
        place = self.result(either.condition)
        sides = tuple([self.output(x) for x in reversed(_alternatives(either, m.lenses))])
        return Output("either", place, (), m.type, sides)

    def picked(self, m: TracedArray) -> Output:
        """One of several arrays, by a number that is known after the call."""
        picks = Picks()
        which = picks.which(m)
        sides = tuple([self.view(x) for x in picks.arrays])
        return sides[0] if len(sides) == 1 else Output("either", self.result(which), (), m.type, sides)

    def view(self, m: TracedArray) -> Output:
        """A view of an array of the caller, or of a result that has several."""
        source, lenses = _source(m), m.lenses
        if source is None and m.storage.value in current().packed:
            return Output("packed", self.pack(m.storage), lenses, m.type)
        if source is None:
            return Output("array", *self.base(m.storage, lenses), m.type)
        if isinstance(source, Shared):
            source, lenses = source.seen_through(lenses)
        shown = tuple([self.window(x, m) if isinstance(x, DynamicLens | BlockLens) else x for x in lenses])
        return Output("source", source, shown, m.type)

    def base(self, storage: Storage, lenses: tuple[Lens, ...]) -> tuple[int, tuple[Lens, ...]]:
        """The result that is a whole allocation, in the order of its memory, and the view of that."""
        order = axes_by_stride(storage)
        if id(storage) not in self.bases:
            self.bases[id(storage)] = self.laid_out(storage.value, order)[0]
        return self.bases[id(storage)], (*turned_back(order), *lenses)

    def laid_out(self, value: Value, order: Axes | None) -> tuple[int, tuple[Lens, ...]]:
        """A new result whose axes lie in some order, and the view of it that has them in their own."""
        return self.result(value if order is None else permute(value, order)), turned_back(order)

    def pack(self, storage: Storage) -> int:
        """The vector that is a whole allocation, and made of several results."""
        if id(storage) not in self.bases:
            numbers = tuple([self.result(part) for part in current().packed[storage.value]])
            self.packs.append(Pack(numbers, storage.value.type))
            self.bases[id(storage)] = -len(self.packs)
        return self.bases[id(storage)]

    def window(self, lens: DynamicLens | BlockLens, m: TracedArray) -> Window:
        """The lens for the caller's array, whose starts are results; slices `m` were read where they were taken."""
        places = tuple([self.result(start) for start in lens.starts])
        read = m.memo[1]
        origins = tuple([start.origin if read is None else read.origin for start in lens.starts])
        if isinstance(lens, DynamicLens):
            return Window(places, lens.length, origins)
        return Window(places, lens.shape, origins, tuple([self.result(n) for n in lens.lengths]), lens.step)


def _is_numeric(x: Any) -> bool:
    """Whether a leaf is an array or number that a program can hold."""
    return type(x) is TracedArray or (is_number(x) and np.asarray(x).dtype.kind in "biufc")


def _kind(x: TracedArray | Kind) -> str:
    """What becomes of it in Python: one of its numbers, one of NumPy's, or an array."""
    return "python" if x.is_weak else "scalar" if x.is_scalar else "array"


def _source(x: TracedArray) -> Any:
    """The place of the argument, or the caller's array, that an array is a view of; None for one of the program."""
    return x.storage.index if x.storage.index is not None else x.storage.source


def _sides(x: TracedArray) -> Iterator[TracedArray]:
    """The arrays that one may be, by conditions: itself, if it is one only."""
    storage: Any = x.storage
    if isinstance(storage, Either):
        for side in _alternatives(storage, x.lenses):
            yield from _sides(side)
    else:
        yield x
        if _is_picked(x):
            yield from map(TracedArray, roots(storage))


def _is_picked(x: TracedArray) -> bool:
    """Whether an array is a copy of one of several, of which the caller has some."""
    return bool(x.storage.copy_of) and any([_source(TracedArray(s)) is not None for s in roots(x.storage)])


def _alternatives(either: Either, lenses: tuple[Lens, ...]) -> tuple[TracedArray, TracedArray]:
    """The two arrays that a view of an allocation of two may be."""
    one, other = [TracedArray(x.storage, (*x.lenses, *lenses)) for x in (either.one, either.other)]
    return one, other


def axes_by_stride(storage: Storage) -> Axes | None:
    """The axes from the longest stride to the shortest, of a storage that is not row-major; else None."""
    settle(storage)
    if storage.strides is None or storage.strides is UNSURE:
        return None
    return _by_stride(storage.strides)


def axes_of(m: TracedArray) -> Axes | None:
    """The axes of an array from the longest stride in NumPy's to the shortest; None if they descend, or if NumPy would
    have to be asked."""
    found = layout(m) if has_strides(m) and len(m.shape) > 1 else None
    if found is None or 0 in (*found[0], *found[1]):
        return None
    order = _by_stride([s if n > 1 else 0 for n, s in zip(*found, strict=True)])
    return None if order == tuple(range(len(order))) else order


def _by_stride(strides: Sequence[int]) -> Axes:
    return tuple(sorted(range(len(strides)), key=lambda axis: -abs(strides[axis])))


def turned_back(order: Axes | None) -> tuple[Lens, ...]:
    """The view of an array whose axes lie in some order that has them in their own."""
    return () if order is None else (PermuteLens(tuple(np.argsort(order).tolist())),)
