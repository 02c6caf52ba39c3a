"""How a loop leaves a list that its steps appended to: with rows of arrays, one row for each step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Protocol, TypeAlias, cast, final

from pliant.core.data import frozen
from pliant.core.ir import Value, Values
from pliant.core.types import Type
from pliant.frontend.array import TracedArray
from pliant.frontend.bounded import Bounded
from pliant.frontend.control.either import Either, bases
from pliant.frontend.control.growth import Growth, is_copied
from pliant.frontend.control.join import is_mutable
from pliant.frontend.control.objects import containers, flatten, in_region, is_own, unflatten
from pliant.frontend.control.origins import Origins
from pliant.frontend.control.plan import Carry, Heads, NotInductive, Plan, Recipe
from pliant.frontend.control.region import Region
from pliant.frontend.control.signals import BREAK, RETURN, Signal, possible_of
from pliant.frontend.control.states import Words, is_member, one_of_words, state_of, words_of
from pliant.frontend.control.tables import share
from pliant.frontend.convert import value_of
from pliant.frontend.selection import Selection
from pliant.frontend.sizes import size_of
from pliant.frontend.tracing import Storage, current
from pliant.frontend.view import Lens, ReshapeLens, SliceLens, is_static
from pliant.ops.index import scatter_set

Part: TypeAlias = Callable[[Values, int], Any]  # makes a leaf of the t-th element


class Slots(Protocol):
    """Where values are put that leave a loop."""

    plan: Plan
    region: Region
    heads: Heads
    carries: list[Carry]

    def stack(self, value: Value) -> Callable[[Values], Value]:
        """The rows of a value, one of each step, among the results."""
        ...

    def known_object(self, x: Any) -> Any:
        """An object that is left as a step has it."""
        ...


@final
@frozen(eq=False)
class Rows:
    """An allocation of a step as a row of an array: row `start` + `step`·t after step t."""

    value: Recipe
    row: Type
    start: int
    step: int
    made: list[Storage]
    is_writeable: bool = True

    def storage(self, results: Values) -> Storage:
        """The allocation that holds all rows."""
        if not self.made:
            self.made.append(Storage.holding(current(), self.value(results)))
            self.made[0].writeable = self.is_writeable
        return self.made[0]

    def at(self, results: Values, t: int, like: TracedArray, more: tuple[Lens, ...] = ()) -> TracedArray:
        """What is `like` an array of a step, after step t."""
        storage = self.storage(results)
        shape, number = self.row.shape, self.start + self.step * t
        window = SliceLens((number, *(0 for _ in shape)), (1,) * (1 + len(shape)), (1, *shape))
        lenses = (window, ReshapeLens(shape), *more)
        return TracedArray(storage, lenses, is_scalar=like.is_scalar, is_weak=like.is_weak)


@final
class Grown:
    """The lists that grow in a loop, as it leaves them."""

    def __init__(self, slots: Slots) -> None:
        self.slots = slots
        self.lists: list[tuple[Growth, list[Any]]] = []
        self.rows: dict[int, Rows] = {}  # of the step's allocations, by id

    def enter(self, signal: Signal | None) -> list[Any]:
        """Look at what was appended, and return it. signal: how the step is left."""
        plan = self.slots.plan
        if plan.growths and (plan.length is None or possible_of(signal) & {BREAK, RETURN}):
            raise NotInductive("it appends to a list")
        for growth in plan.growths.values():
            added = growth.added()
            assert added is not None
            self.lists.append((growth, added))
        return [added for _, added in self.lists]

    def check(self, contents: Sequence[Any]) -> None:
        """NotInductive if a later step may write to what was appended; contents: what names are bound to."""
        is_new = in_region(self.slots.region.born)
        elements = [x for _, added in self.lists for x in added]
        if any([not is_new(x) for element in elements for x in containers(element)]):
            raise NotInductive("it appends a list, dict or object that was there before")
        appended = {id(s) for _, added in self.lists for s in self.allocations(added)}
        heads = {id(s) for part in self.slots.heads.bound.values() for s in self.allocations(part)}
        bound = {id(s) for part in contents for s in self.allocations(part)}
        is_shared = bool(appended & (heads | bound))
        storages = [s for part in self.slots.heads.bound.values() for s in self.allocations(part)]
        if is_shared and any([s.is_touched for s in storages]):
            raise NotInductive("an array that was put into a list is written in a later step")

    def allocations(self, content: Any) -> list[Storage]:
        """The allocations made in a step whose elements somebody could write."""
        leaves = [x for x in flatten(content)[0] if type(x) is TracedArray and is_mutable(x)]
        return [x.storage for x in leaves if self.slots.region.owns(x.storage) and type(x.storage) is Storage]

    def left(self, users: dict[int, int], origins: Origins) -> list[tuple[Any, Recipe]]:
        """The places of the lists, and how to make what they hold after the loop."""
        return [
            (growth.place, origins.recipe(added, self.recipe(growth, added, users), rows=_added(growth)))
            for growth, added in self.lists
        ]

    def recipe(self, growth: Growth, added: list[Any], users: dict[int, int]) -> Recipe:
        """How to make what a list holds."""
        leaves, structure = flatten(added, in_region(self.slots.region.born))
        read = self.carried(growth, added) if growth.is_read else [None] * len(leaves)
        parts = [self.part(leaf, users, rows) for leaf, rows in zip(leaves, read, strict=True)]
        length = self.slots.plan.length or 0

        def made(results: Values) -> list[Any]:
            rows = [unflatten(structure, [part(results, t) for part in parts]) for t in range(length)]
            made = [*growth.earlier, *(x for row in rows for x in row)]
            return made[::-1] if growth.is_front else made

        return made

    def carried(self, growth: Growth, added: list[Any]) -> list[Rows]:
        """For each leaf of what was appended, its rows in an array that the loop carries, since it reads them."""
        element, carries = growth.element, self.slots.carries
        assert element is not None
        if any([flatten(x, is_own)[1] != element.structure for x in added]):
            raise NotInductive("a list that is read gets numbers where others of its elements have None")
        columns: list[list[Rows]] = []
        for n, (p, kind) in enumerate(zip(growth.arrays, element.kinds, strict=True)):
            number, end, made = len(carries), p, list[Storage]()
            for j, x in enumerate(added):
                leaf = value_of(element.leaves(x)[n], kind.type.dtype)
                end = scatter_set(end, ((growth.first + j).value,), leaf, unique=True)
            carries.append(Carry(p, partial(growth.start, n), end))
            first = len(growth.before)
            columns.append([Rows(partial(_result, number), kind.type, first + j, growth.more, made)
                            for j in range(len(added))])  # fmt: skip
        return [rows for column in zip(*columns, strict=True) for rows in column]

    def part(self, x: Any, users: dict[int, int], rows: Rows | None) -> Part:
        """How to make a leaf of an appended object, after each step."""
        if type(x) in (Bounded, Selection):
            raise NotInductive("a list gets arrays whose extents are known only at run time")
        if is_member(x):
            words = cast("Words", words_of(x))
            number = state_of(x, words).number
            which = self.row_of(number, self.stacked(number.value))
            return lambda results, t: one_of_words(which(results, t), words)
        if type(x) is not TracedArray:
            kept = self.slots.known_object(x)
            return lambda results, t: kept
        if not is_mutable(x):
            return self.counted(x) or self.row_of(x, rows or self.stacked(x.value))
        if not self.slots.region.owns(x.storage):
            if not is_static(x.lenses) or type(x.storage) is not Storage:
                raise NotInductive("a list gets views of an array at places that change from step to step")
            return lambda results, t: x
        return self.array(x, users, rows)

    def array(self, x: TracedArray, users: dict[int, int], rows: Rows | None) -> Part:
        """How to make an array that a step has made, or was given."""
        storage = x.storage
        if isinstance(cast("Any", storage), Either) and rows is None:
            return self.one_of_several(x)
        is_alone = users.get(id(storage)) == 1
        if type(storage) is not Storage or is_copied(storage) or not (is_alone or is_static(x.lenses)):
            raise NotInductive("a list gets arrays that are views of others")
        first = self.slots.heads.given(storage)
        if first is None and is_alone:
            return self.row_of(x, rows or self.stacked(x.value))
        if rows is not None and x.lenses:
            raise NotInductive("a list that is read gets views of arrays that have other names")
        known = self.rows.get(id(storage))
        shared = known or rows or self.stacked(storage.value)
        self.rows[id(storage)] = shared

        def made(results: Values, t: int) -> TracedArray:
            if t == 0 and first is not None:
                return TracedArray(first.storage, (*first.lenses, *x.lenses))
            return shared.at(results, t, x, x.lenses)

        return made

    def one_of_several(self, x: TracedArray) -> Part:
        """An array that is one of several, by a condition: a copy, as long as nobody writes to any of them."""
        heads = self.slots.heads
        before = [first for s in bases(x) if (first := heads.given(s)) is not None]
        written = [s for first in (x, *before) for s in bases(first) if s in self.slots.region.written]
        if written or any([s.is_touched for s in heads.storages()]):
            raise NotInductive("an array that was put into a list is written in a later step")
        share([x, *before])
        return self.row_of(x, replace(self.stacked(x.value), is_writeable=False))

    def row_of(self, x: TracedArray, rows: Rows) -> Part:
        """A leaf as a row."""
        return lambda results, t: rows.at(results, t, x)

    def stacked(self, value: Value) -> Rows:
        """The rows that a value leaves."""
        return Rows(self.slots.stack(value), value.type, 0, 1, [])

    def counted(self, x: TracedArray) -> Part | None:
        """A Python integer that depends on the number of the step only stays known."""
        if not x.is_weak or x.type.dtype != "i64":
            return None
        size = size_of(x)
        if any([atom is not self.slots.heads.index for atom, _ in size.terms]):
            return None
        return lambda results, t: size.start + sum([factor for _, factor in size.terms]) * t

    def bound(self, x: TracedArray, known: Callable[[Values], Value] | None) -> Recipe | None:
        """How to bind a name to an array that a list holds too; None if none does. known: what it holds."""
        rows = self.rows.get(id(x.storage))
        if rows is None:
            return None
        last = (self.slots.plan.length or 1) - 1

        def made(results: Values) -> TracedArray:
            array = rows.at(results, last, x, x.lenses)
            if known is not None:
                array.memo = (array.storage.version, current().scope.number), known(results)
            return array

        return made


def _added(growth: Growth) -> tuple[slice, slice]:
    """Where a list holds what the last step added, and what those before did, in this order."""
    before = len(growth.earlier)
    if growth.is_front:
        return slice(growth.more - 1, None, -1), slice(-before - 1, growth.more - 1, -1)
    return slice(-growth.more, None), slice(before, -growth.more)


def _result(n: int, results: Values) -> Value:
    return results[n]
