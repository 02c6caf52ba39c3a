"""A user's function as a program: parameters, results, what it writes, what its results view."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import field
from typing import Any, cast, final

import numpy as np

from pliant.core.data import frozen
from pliant.core.ir import Function
from pliant.core.origin import Origin
from pliant.core.types import DTYPES
from pliant.errors import NumberRangeError, ReadOnlyError, UnsupportedError
from pliant.frontend.alias import Group, groups_of, is_injective
from pliant.frontend.changed import Changed
from pliant.frontend.control.report import Report
from pliant.frontend.decided import Decided
from pliant.frontend.failures import exception
from pliant.frontend.growing import Growing
from pliant.frontend.guards import Guards
from pliant.frontend.memory import Memories, Memory
from pliant.frontend.out import checked, stored
from pliant.frontend.outputs import Output, Pack, made_of
from pliant.frontend.printing import PRINTED
from pliant.frontend.sharing import containers
from pliant.frontend.signature import ROW_MAJOR, WEAK, Layouts, Order, check_number, unflatten
from pliant.frontend.spread import Elements, spread
from pliant.frontend.vectors import Vector
from pliant.frontend.view import Lens, PermuteLens
from pliant.ops.shape import Permute
from pliant.rewrite.explain import Log


@final
@frozen
class Program:
    """What `trace_program` returns: the IR, and how arguments and results map to it."""

    fn: Function
    leaves: tuple[int, ...]  # the argument leaves that are parameters, in order
    groups: tuple[Group, ...]  # parameters for arguments and captured arrays that overlap
    captured: tuple[Any, ...]  # the arrays of the parameters behind these
    outputs: tuple[Output, ...]
    structure: Any
    written: tuple[tuple[Any, int], ...]  # (leaf number, captured array or group; result number)
    met: tuple[Any, ...]  # arrays read from outside: numbered after the leaves, they are the places of groups
    watched: tuple[int, ...]  # places that are written, if only locally
    changed: Changed | None  # what became of the containers that were given, if they changed
    narrowed: tuple[tuple[int, str], ...]  # leaves that are Python ints used as a narrower dtype
    guards: Guards = field(repr=False)
    loops: tuple[Report, ...] = field(default=(), repr=False)  # what became of the loops of the source
    found: tuple[Log, ...] = field(default=(), repr=False)  # what `optimize` found for functions that it calls
    packs: tuple[Pack, ...] = ()  # vectors that results are put together to
    failed: int | None = None  # the result that is the number of the exception that the function raises, or 0
    failures: tuple[tuple[BaseException, Any], ...] = field(default=(), repr=False)  # these, and where
    known: tuple[int, ...] = ()  # leaves that are integers for whose values the program is made
    values: tuple[Any, ...] = ()  # these
    guessed: frozenset[int] = frozenset()  # those of them without which there would be a program too
    asked: Origin | None = field(default=None, repr=False)  # where the first of them had to be known
    decided: Decided | None = field(default=None, repr=False)  # numbers, computed from data, that it is made for
    layouts: Layouts = ROW_MAJOR
    outside: Memories = ()  # of captured arrays whose parameter is their memory
    forms: tuple[Any, ...] = ()  # of captured arrays
    taken_back: tuple[Any, ...] = ()  # places outside that its derivatives and batches set, and take back
    lasting: tuple[Any, ...] = ()  # objects in which its trace has left what each call would; see `control.lasting`
    left: dict[Any, tuple[Any, Any]] = field(default_factory=dict[Any, tuple[Any, Any]], repr=False)  # places that its
    # trace has set where each call would, with what was there
    identities: tuple[tuple[tuple[int, int], bool], ...] = ()  # whether two places have one array, if that was asked
    locked: tuple[Any, ...] = ()  # what it does not write as it is read-only, and the error was caught
    vectors: tuple[Vector, ...] = ()  # of leaves that are the elements of one parameter each: the last ones

    def arguments(self, leaves: Sequence[Any]) -> list[Any]:
        """Arrays for the program's parameters."""
        given = [memory.of(leaves[i]) if (memory := self.memory(i)) else self.array(leaves[i]) for i in self.leaves]
        arrays = [*leaves, *self.met] if self.groups else ()
        captured = [m.of(a) if (m := self.captured_memory(n)) else a for n, a in enumerate(self.captured)]
        vectors = [vector.array(leaves, self.fn.name) for vector in self.vectors]
        return [*given, *(g.flat(arrays) for g in self.groups), *captured, *vectors]

    @functools.cached_property
    def elements(self) -> dict[int, tuple[int, int]]:
        """Of each leaf that is an element of a vector, the number of that, and its place in it."""
        return {leaf: (n, k) for n, vector in enumerate(self.vectors) for k, leaf in enumerate(vector.places)}

    def memory(self, leaf: int) -> Memory | None:
        """How a leaf lies in its parameter, if that is its memory."""
        return self.layouts.memories[leaf] if self.layouts.memories else None

    @property
    def prints(self) -> bool:
        """Whether it prints."""
        return any([a is PRINTED for a in self.captured])

    def touched(self, count: int) -> list[Any]:
        """The arrays from outside to which it writes, if only for a while; count: of the leaves of its arguments."""
        arrays = [self.met[place - count] for place in self.watched if place >= count]
        return [array for array in arrays if array is not PRINTED]

    def captured_memory(self, number: int) -> Memory | None:
        """How a captured array lies in its parameter, if that is its memory."""
        return self.outside[number] if self.outside else None

    def order(self, leaf: int) -> Order:
        """The order of the axes of a leaf, if the function gets them in another one."""
        return self.layouts.orders[leaf] if self.layouts.orders else None

    def array(self, leaf: Any) -> Any:
        """An argument as an array."""
        name = WEAK.get(cast("Any", type(leaf)))
        if name is None:
            return np.asarray(leaf)
        check_number(leaf, self.fn.name)
        return np.asarray(leaf, DTYPES[name])

    def fits(self, leaves: Sequence[Any]) -> bool:
        """Whether it leaves outside what it should, names there are bound as they were, arrays are one, lie and overlap
        as they did, those that are written may be, and numbers that data decide are the same."""
        if self.lasting or not self.guards.hold() or forms_of(self.captured) != self.forms:
            return False
        if not all([may_be_written(leaves, place) for place, _ in self.written if not isinstance(place, Group)]):
            return False
        if any([may_be_written(leaves, place) for place in self.locked]):
            return False
        if self.watched and groups_of([*leaves, *self.met], self.watched) != self.groups:
            return False
        arrays = [*leaves, *self.met] if self.identities else ()
        if any([(arrays[i] is arrays[j]) is not are_one for (i, j), are_one in self.identities]):
            return False
        return self.decided is None or self.decided.holds(self.arguments(leaves))

    def is_for(self, leaves: Sequence[Any]) -> bool:
        """Whether the arguments that are known are these."""
        return all([leaves[i] == x for i, x in zip(self.known, self.values, strict=True)])

    def check_writes(self, leaves: Sequence[Any]) -> None:
        """Refuse, before anything runs, what could not be written, or computed, as NumPy would."""
        self.check_numbers(leaves)
        for place, _ in self.written:
            if isinstance(place, Group):
                continue  # which of its arrays may be written is part of the pattern, and known while tracing
            target = leaves[place] if isinstance(place, int) else place
            if not target.flags.writeable:
                raise ReadOnlyError(f"{self.fn.name}: assignment destination is read-only")
            if not is_injective(target):
                raise UnsupportedError(
                    f"{self.fn.name} writes to an array that has several elements in one place of memory",
                    hint="pass a copy",
                )

    def check_numbers(self, leaves: Sequence[Any]) -> None:
        """Refuse Python integers that do not fit into the dtypes that they are used as."""
        for i, dtype in self.narrowed:
            limits = np.iinfo(DTYPES[dtype])
            if not limits.min <= leaves[i] <= limits.max:
                raise NumberRangeError(
                    f"{self.fn.name}: Python integer {leaves[i]} is out of bounds for {DTYPES[dtype]}",
                    hint="convert the array to a wider dtype with .astype(...), or pass the number as one of NumPy's",
                )

    def check_out(self, out: Any) -> list[Any]:
        """The arrays of `out=`, one per returned leaf, if the results fit into them."""
        return checked(out, [o.type for o in self.outputs], self.structure)

    @functools.cached_property
    def pinned(self) -> tuple[tuple[int, int], ...]:
        """(parameter, result) of what is written: its new content is made where the old one lies; elsewhere if the
        function may raise, and write nothing."""
        if self.failed is not None:
            return ()
        found: list[tuple[int, int]] = []
        for place, number in self.written:
            if isinstance(place, int):
                found += [] if self.memory(place) else [(self.leaves.index(place), number)]
            elif isinstance(place, Group):
                if place.is_whole:
                    found.append((len(self.leaves) + self.groups.index(place), number))
            else:
                first = len(self.leaves) + len(self.groups)
                found += [
                    (first + n, number)
                    for n, array in enumerate(self.captured)
                    if array is place and not self.captured_memory(n)
                ]
        return tuple(found)

    @functools.cached_property
    def has_containers(self) -> bool:
        """Whether the function changes containers that it is given, or returns some."""
        return self.changed is not None or any([o.kind == "container" for o in self.outputs])

    @functools.cached_property
    def spreads(self) -> dict[int, Elements]:
        """What the first elements are of lists that are returned, by the leaves that stand for them."""
        return {n: o.place for n, o in enumerate(self.outputs) if o.kind == "spread"}

    def held(self, tree: Any, given: Sequence[Any]) -> list[Any]:
        """The containers among the arguments, if the function changes some or returns some."""
        if not self.has_containers:
            return []
        return containers(tree, frozenset([id(x.whole) for x in given if type(x) is Growing]))

    def check(self, results: Sequence[Any]) -> None:
        """Raise what the function raises."""
        if self.failed is not None and (number := int(results[self.failed])):
            raise exception(*self.failures[number - 1])

    def finish(
        self, arrays: Sequence[Any], leaves: Sequence[Any], results: Sequence[Any], arguments: Sequence[Any],
        outs: Sequence[Any] | None = None,
    ) -> Sequence[Any]:  # fmt: skip
        """Write back what the function wrote, unless it did so in the arguments themselves, and make the leaves of what
        it returns; the arrays of `out=` get it too."""
        made = made_of(self.outputs, leaves, self.met, results)  # which may fail: then nothing is written
        if self.layouts.orders:
            made = [arrays[o.place] if self.is_turned_back(o) else m for o, m in zip(self.outputs, made, strict=True)]
            made = [made[o.place] if o.kind == "same" else m for o, m in zip(self.outputs, made, strict=True)]
        there = {number for p, number in self.pinned if results[number] is arguments[p]}
        for place, number in self.written:
            if number in there:
                continue
            if isinstance(place, Group):
                place.write_back([*leaves, *self.met], results[number])
            else:
                np.copyto(leaves[place] if isinstance(place, int) else place, results[number])
        if outs is not None:
            stored(made, outs, [o.is_view for o in self.outputs])
            made = outs
        return made

    def rebuilt(self, made: Sequence[Any], held: Sequence[Any], kept: Sequence[Any]) -> Any:
        """What the function returns, of its leaves, the containers that it was given, and those that these hold now."""
        lists = {"container": held, "kept": kept}
        made = [lists[o.kind][o.place] if o.kind in lists else m for o, m in zip(self.outputs, made, strict=True)]
        return self.tree(made)

    def tree(self, leaves: Sequence[Any]) -> Any:
        """What the function returns, of its leaves."""
        tree = unflatten(self.structure, leaves)
        return spread(tree) if self.spreads else tree

    def is_turned_back(self, output: Output) -> bool:
        """Whether what is returned is an argument whose axes are in another order than those of the leaf."""
        is_leaf = output.kind == "source" and type(output.place) is int and output.place < len(self.layouts.orders)
        return is_leaf and bool(output.lenses) and output.lenses == back(self.order(output.place))

    def update(
        self, held: Sequence[Any], given: Sequence[Any], leaves: Sequence[Any], results: Sequence[Any],
        returned: Sequence[Any],
    ) -> list[Any]:  # fmt: skip
        """Do to the caller's containers, `held`, what the function did to them, and return those that are there now.
        given: the leaves as they came, of which those that are there still are what they were. returned: those that
        the function returns."""
        if self.changed is None:
            return []
        outputs = self.changed.outputs
        made = made_of(outputs, leaves, self.met, results, returned)
        made = [given[o.place] if o.kind == "leaf" else m for o, m in zip(outputs, made, strict=True)]
        return self.changed.put(held, made, given)


def may_be_written(leaves: Sequence[Any], place: Any) -> bool:
    """Whether an argument, or an array from outside, is writeable."""
    return (leaves[place] if isinstance(place, int) else place).flags.writeable


def forms_of(arrays: Sequence[Any]) -> tuple[Any, ...]:
    """What can be set of arrays that stay the same objects."""
    return tuple([(a.dtype, a.shape, a.strides) for a in arrays])


def back(order: Order) -> tuple[Lens, ...]:
    """What shows an array whose axes are in some order as it was before."""
    return () if order is None else (PermuteLens(Permute(order).inverse()),)
