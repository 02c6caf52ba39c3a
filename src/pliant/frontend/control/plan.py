"""What a loop carries from step to step: which names, as what; which allocations."""

from __future__ import annotations

from collections import Counter as Counted
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import field
from types import CodeType
from typing import Any, TypeAlias, cast, final

from pliant.core import ir
from pliant.core.build import hint_of
from pliant.core.data import frozen, mutable
from pliant.core.ir import Const, Value, Values, param
from pliant.core.origin import Origin
from pliant.core.types import Type
from pliant.frontend.array import TracedArray, fresh
from pliant.frontend.attributes import attributes
from pliant.frontend.control.copies import stand_in
from pliant.frontend.control.either import bases
from pliant.frontend.control.filling import Filling
from pliant.frontend.control.formers import Former
from pliant.frontend.control.fronts import front_of
from pliant.frontend.control.growth import Growth
from pliant.frontend.control.items import INDEX
from pliant.frontend.control.objects import containers, flatten, flatten_like, unflatten
from pliant.frontend.control.region import Place, Region, born, note
from pliant.frontend.control.signals import Signal
from pliant.frontend.control.tables import Table
from pliant.frontend.control.tapered import Tapered
from pliant.frontend.control.unsized import Unsized, as_array
from pliant.frontend.control.windows import Window
from pliant.frontend.convert import as_traced, value_of
from pliant.frontend.failures import is_going_on
from pliant.frontend.limits import ordered
from pliant.frontend.number import Kind, is_number, with_kind
from pliant.frontend.sizes import Size, note_range, size_of
from pliant.frontend.tracing import Storage, back_in

Recipe: TypeAlias = Callable[[Values], Any]  # makes an object of the loop's results


class NotInductive(Exception):
    """The state of a loop has no form that a step keeps. `is_late`: it may have after the first step. `is_of_types`:
    all that this step changes are types. where: what changes the state so. needs: what would have to be known for it to
    have one."""

    def __init__(
        self, reason: str, *, is_late: bool = False, is_of_types: bool = False, where: Origin | None = None,
        needs: Values = (),
    ) -> None:  # fmt: skip
        super().__init__(reason)
        self.reason, self.is_late, self.is_of_types = reason, is_late or is_of_types, is_of_types
        self.where, self.needs = where, needs


class Longer(Exception):
    """The state repeats after more steps, if at all, as names exchange allocations."""

    def __init__(self, storages: Sequence[Storage]) -> None:
        super().__init__()
        self.storages = storages


@final
@frozen
class Counter:
    """A Python integer that grows by the same number at each step."""

    step: int


LeafKind: TypeAlias = Kind | Counter | Former | Window | Unsized | Tapered


@final
@frozen
class Tree:
    """The plan for a name that a step binds anew: what its leaves are, None for those that stay."""

    structure: Any
    kinds: tuple[LeafKind | None, ...]


@final
@mutable
class Carry:
    """A value that goes from step to step; `first` is what it starts from: a value, an array or number, what
    makes a value, or None for zeros that nobody reads."""

    param: Value
    first: Any
    end: Value

    def start(self) -> Value:
        """What it starts from, as a value."""
        if self.first is None:
            return ir.operators.zeros(self.param.type)
        if callable(self.first):
            return cast("Value", self.first())
        return self.first if isinstance(self.first, Value) else value_of(self.first, self.param.dtype)


@final
@mutable
class Captured:
    """A step that keeps the state."""

    region: Region
    index: Value
    carries: list[Carry]
    storages: list[tuple[Storage, int]]  # with the number of the carry
    exits: list[tuple[Place, Recipe]]
    signal: Signal | None
    returned: Recipe | None  # what the signal returns
    period: int
    stacks: list[Value]  # whose rows, one of each step, are results too
    extra: Any = None
    writes: Sequence[Callable[[Values], None]] = ()

    def leave(self, results: Values) -> None:
        """Bind names and write allocations as the last step left them."""
        for storage, n in self.storages:
            storage.write(results[n], storage.touched)
        for write in self.writes:
            write(results)
        for place, content in [(place, recipe(results)) for place, recipe in self.exits]:
            if place.kind != "name" and content is not place.get():
                note(place)
            place.set(content)


@final
@mutable
class Plan:
    """What a step changes, as far as known. `step(index, j)` runs the j-th of the steps that are traced together."""

    step: Callable[[Value, int], Signal | None]
    bound: Sequence[Place]
    live: frozenset[str]
    kept: frozenset[str]
    is_first: bool  # no step was run yet: names may be bound to allocations that others see
    count: Any  # of steps: an int, a traced one, or None where the loop goes on as long as a condition holds
    ends: bool  # whether a step may be the last one whatever the count is
    lone: frozenset[str] = frozenset()  # names of lists that nothing else refers to
    ran: Any = True  # whether there is a step, if that is known only at run time
    finish: Callable[[Signal | None], Any] = field(default=lambda _: None)  # run after the step, in the region
    period: int = 1
    may_end: bool = False  # whether a step may be the last one, as far as steps were traced
    fills: bool = False  # whether lists that grow are arrays with a count, as a step needs all of their elements
    has_swaps: bool = False  # names exchange arrays in a loop whose steps are counted at run time
    plans: dict[Place, Tree | None] = field(default_factory=dict[Place, Any])
    storages: list[Storage] = field(default_factory=list[Storage])
    growths: dict[Place, Growth] = field(default_factory=dict[Place, Growth])  # of lists
    tables: dict[Place, Table | Filling] = field(default_factory=dict[Place, Table | Filling])
    copied: set[Place] = field(default_factory=set[Place])  # names of arrays that lists have copies of
    flagged: dict[Place, Any] = field(default_factory=dict[Place, Any])  # what they are before the loop, with flags
    apart: set[Place] = field(default_factory=set[Place])  # names by which arrays are written that they let go of then
    body: Any = None  # the function of a step
    items: Any = None  # what it goes over
    told: dict[Value, Any] = field(default_factory=dict[Value, Any])  # elements, with what the last one is
    code: CodeType | None = None  # by which the loop is known
    inner: dict[Any, Any] = field(default_factory=dict[Any, Any])  # what is known of loops inside
    visits: Counted[Any] = field(default_factory=Counted[Any])  # of these, in a trial, by their code
    recalled: dict[Place, Tree] = field(default_factory=dict[Place, Tree])  # to start from; see `recalled`

    def forget(self) -> None:
        """Start again from nothing."""
        self.period, self.may_end, self.fills, self.has_swaps = 1, False, False, False
        self.storages, self.inner = [], {}
        for found in (self.plans, self.growths, self.tables, self.copied, self.apart, self.recalled, self.flagged):
            found.clear()

    @property
    def is_static(self) -> bool:
        """Whether the number of steps is known, and not zero."""
        return isinstance(self.count, int)

    def grows(self, x: Any) -> bool:
        """Whether something is a list that the steps add to, of which all is told apart from the names that it has."""
        return any([place.number == id(x) for place in self.growths])

    def watch(self) -> None:
        """After a step: see whether lists have room for another one."""
        for table in self.tables.values():
            if isinstance(table, Filling):
                table.watch()

    def is_held(self) -> Any:
        """Whether lists that nothing bounds have room for another step; None if there are no such."""
        rooms = [table.room for table in self.tables.values() if isinstance(table, Filling)]
        return is_going_on() if any(rooms) else None

    def emptied(self, holds: Any) -> list[Place]:
        """The lists that have no elements where a condition does not hold, which asks whether they have some."""
        order = ordered(holds.value, holds=False) if type(holds) is TracedArray else None
        if order is None or not isinstance(order[1].op, Const) or order[1].op.value.real > 0:
            return []
        fronts = {place: front_of(place.get()) for place, table in self.tables.items() if isinstance(table, Filling)}
        return [place for place, front in fronts.items() if front is not None and front.count is order[0]]

    @property
    def length(self) -> int | None:
        """How often the steps that are taken together are run, if that is known."""
        return self.count // self.period if isinstance(self.count, int) else None


@final
class Heads:
    """What a step is given: names bound to parameters, allocations that hold them."""

    def __init__(self, plan: Plan, entry: dict[Place, Any]) -> None:
        self.plan, self.entry = plan, entry
        self.bound: dict[Place, Any] = {}
        self.params: dict[Place, list[Value | None]] = {}
        self.leaves: dict[Place, list[Any]] = {}  # of what is bound, before the step changes it
        self.before: dict[Place, tuple[Any, list[Any]]] = {}  # structure and leaves of what is there before the loop
        self.made: list[tuple[Place, Any, Any]] = []  # containers and objects in place of others, and what they hold
        self.parts: dict[Storage, list[Value]] = {}  # of arrays whose extents are known only at run time
        self.probes: dict[Storage, Value] = {}  # in place of what nothing may look at
        self.contents: dict[Storage, tuple[Value, Value]] = {}  # what it starts from, and the parameter
        self.index = param(Type("i64"), "i")
        high = self.most.range[1] if self.most is not None else None
        note_range(fresh(self.index), 0, None if high is None else max(high, 1) - 1)

    @property
    def least(self) -> Size:
        """How many steps are taken to their end."""
        most = self.most
        return Size(0) if most is None or self.plan.may_end or not self.plan.is_static else most

    @property
    def most(self) -> Size | None:
        """How many steps there are; at most, if that is known only at run time. None if nothing bounds it."""
        length = self.plan.length
        count = None if self.plan.count is None else size_of(self.plan.count) if length is None else Size(length)
        if count is None or count.range[1] is None:
            return None
        return count if count.is_at_least(0) else Size(max(count.range[1], 0))

    def enter(self) -> None:
        """Bind the state to parameters."""
        for place, tree in self.plan.plans.items():
            self.bound[place] = self.entry[place]
            if tree is None:
                continue
            leaves = flatten_like(self.entry[place], tree.structure)
            self.before[place] = tree.structure, leaves
            made = [self.head(x, k, place) for x, k in zip(leaves, tree.kinds, strict=True)]
            pairs = zip(made, tree.kinds, strict=True)
            self.params[place] = [m.value if isinstance(k, Kind) else None for m, k in pairs]
            self.bound[place] = unflatten(tree.structure, made)
            self.leaves[place] = made
            self.made += [(place, born(x), contents_of(x)) for x in containers(self.bound[place])]
            stand_in(self.bound[place], self.entry[place], [str(p.key) for p in self.plan.bound])
            if place not in self.plan.bound:
                note(place)
            place.set(self.bound[place])
        for storage in self.plan.storages:
            start = storage.value
            self.contents[storage] = start, param(start.type, hint_of(start))
            storage.hold(self.contents[storage][1])
        for storage in [s for place in self.plan.apart for s in self.allocations(place)]:
            with back_in(storage.trace):
                self.probes[storage] = param(storage.value.type)
            storage.hold(self.probes[storage])
        for growth in self.plan.growths.values():
            growth.enter(self.index, self.plan.length)
        for table in self.plan.tables.values():
            table.enter(self.index)

    def leaves_of(self, place: Place) -> list[Any]:
        """The leaves of what a step is given; of lists that grow there are none to look at."""
        if place in self.leaves:
            return self.leaves[place]
        return [] if self.plan.grows(self.bound[place]) else flatten(self.bound[place])[0]

    def firsts(self, place: Place) -> list[Any]:
        """What these are before the loop."""
        tree, before = self.plan.plans.get(place), self.before.get(place)
        if tree is not None and before is not None and before[0] == tree.structure:
            return before[1]  # a list may be changed in the step, by another name
        return flatten(self.entry[place])[0] if tree is None else flatten_like(self.entry[place], tree.structure)

    def allocations(self, place: Place) -> list[Storage]:
        """Those of the arrays that are there before the loop."""
        arrays = [as_array(x) for x in self.firsts(place)]
        return [s for x in arrays if x is not None for s in bases(x)]

    def changed(self) -> list[tuple[Place, Any]]:
        """The lists, dicts and objects that stand for those that a name is bound to before, which the step changed."""
        return [(place, x) for place, x, before in self.made if not _is_same(contents_of(x), before)]

    def storages(self) -> list[Storage]:
        """The allocations that a step is given in place of others."""
        leaves = [x for made in self.leaves.values() for x in made]
        return [*self.parts, *[x.storage for x in leaves if type(x) is TracedArray and type(x.storage) is Storage]]

    def written(self, storage: Storage, now: dict[Storage, Value]) -> bool:
        """Whether the step wrote an allocation. now: what those from outside hold that were written."""
        if storage not in now:
            return storage.is_touched and storage in self.storages()
        given = self.contents[storage][1] if storage in self.contents else self.probes.get(storage)
        return now[storage] is not given

    def given(self, storage: Storage) -> TracedArray | None:
        """What an allocation that stands for another one in a step is before the loop."""
        for place, heads in self.leaves.items():
            for head, first in zip(heads, self.firsts(place), strict=True):
                if type(head) is TracedArray and head.storage is storage:
                    return as_traced(first)
        return None

    def head(self, first: Any, kind: LeafKind | None, place: Place) -> Any:
        """What a step is given for a leaf."""
        if isinstance(kind, Window):
            return kind.at([param(Type("i64"), str(place.key)) for n in kind.starts if n is None])
        if isinstance(kind, Former):
            params = kind.params(str(place.key))
            x = kind.at(as_traced(first), params, writeable=place not in self.plan.copied)
            self.parts[cast("Any", x.storage).one.storage] = params
            return x
        if isinstance(kind, Counter):
            return with_kind(self.index, INDEX) * kind.step + first
        if kind is None:
            return first
        if isinstance(kind, Unsized | Tapered):
            params = kind.params(str(place.key))
            whole = with_kind(params[0], kind.kind)
            index = size_of(fresh(self.index))
            x = kind.made(whole, params[1:]) if isinstance(kind, Unsized) else kind.at(whole, index)
            self.parts[x.whole.storage] = params
            x.whole.storage.writeable = place not in self.plan.copied
            return x
        made = kind.template(str(place.key))
        made.storage.writeable, made.storage.is_head = place not in self.plan.copied, True
        return made


def growth(old: Any, new: Any) -> int | None:
    """By how much a Python integer grows, if that is known."""
    if not is_number(new) or not is_number(old):
        return None
    x, y = as_traced(old), as_traced(new)
    if not (x.is_weak and y.is_weak and x.type.dtype == y.type.dtype == "i64"):
        return None
    return (size_of(y) - size_of(x)).known


def contents_of(x: Any) -> list[Any]:
    """What a container or an object holds, in order."""
    if isinstance(x, list | deque):
        return [*cast("list[Any]", x)]
    held: dict[Any, Any] = cast("Any", x) if isinstance(x, dict) else attributes(x)
    return [*held.items()]


def _is_same(now: list[Any], before: list[Any]) -> bool:
    pairs = [(a, b) for x, y in zip(now, before, strict=False) for a, b in zip(_parts(x), _parts(y), strict=True)]
    return len(now) == len(before) and all([a is b for a, b in pairs])


def _parts(x: Any) -> tuple[Any, ...]:
    return cast("tuple[Any, ...]", x) if isinstance(x, tuple) else (x,)
