"""The state of a loop of the user's program: what a step changes, as values that go from step to step.

A step is traced on trial, again and again, until what it leaves is what it was given: names bound to the
same allocations or to new ones, numbers of the same types. `a, b = b, a` repeats after two steps: those are
one step of the loop then, and nothing is copied.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias, cast, final

import numpy as np

from pliant.core import ir
from pliant.core.build import hint_of
from pliant.core.ir import Value, Values, const, param
from pliant.core.types import DTYPES, Type
from pliant.frontend.array import TracedArray, fresh
from pliant.frontend.control.either import Either
from pliant.frontend.control.items import INDEX
from pliant.frontend.control.join import PLAIN, is_mutable, moved
from pliant.frontend.control.region import Place, Region, note, region
from pliant.frontend.control.signals import BREAK, MISSING, RETURN, Signal, possible_of
from pliant.frontend.control.unbound import Unbound
from pliant.frontend.convert import as_traced, value_of
from pliant.frontend.number import Kind, is_number, kind_of, with_kind
from pliant.frontend.selection import Selection
from pliant.frontend.signature import flatten, unflatten
from pliant.frontend.sizes import note_range, size_of
from pliant.frontend.tracing import Storage, current
from pliant.frontend.view import is_static
from pliant.ops.compare import maximum

ROUNDS = 12
PERIODS = 4

Recipe: TypeAlias = Callable[[Values], Any]


class NotInductive(Exception):
    """The state of a loop has no form that a step keeps. `is_late`: it may have after the first step."""

    def __init__(self, reason: str, *, is_late: bool = False) -> None:
        super().__init__(reason)
        self.reason, self.is_late = reason, is_late


class Longer(Exception):
    """The state repeats after more steps, if at all."""


@final
@dataclass(frozen=True)
class Counter:
    """A Python integer that grows by the same number at each step."""

    step: int


@final
@dataclass(frozen=True)
class Tree:
    """The plan for a name that a step binds anew: what its leaves are, None for those that stay."""

    structure: Any
    kinds: tuple[Kind | Counter | None, ...]


@final
@dataclass
class Carry:
    """A value that goes from step to step; `first` is what it starts from: a value, an array or number,
    or None for zeros that nobody reads."""

    param: Value
    first: Any
    end: Value

    def start(self) -> Value:
        """What it starts from, as a value."""
        if self.first is None:
            return ir.operators.zeros(self.param.type)
        return self.first if isinstance(self.first, Value) else value_of(self.first, self.param.dtype)


@final
@dataclass
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
    extra: Any = None

    def leave(self, results: Values) -> None:
        """Bind names and write allocations as the last step left them."""
        for storage, n in self.storages:
            storage.write(results[n])
        for place, content in [(place, recipe(results)) for place, recipe in self.exits]:
            if place.kind != "name" and content is not place.get():
                note(place)
            place.set(content)


@final
@dataclass
class Induction:
    """The search for the plan. `step(index, j)` runs the j-th of the steps that are traced together."""

    step: Callable[[Value, int], Signal | None]
    bound: Sequence[Place]
    live: frozenset[str]
    kept: frozenset[str]
    is_first: bool  # no step was run yet: names may be bound to allocations that others see
    count: Any  # of steps: an int, a traced one, or None where the loop goes on as long as a condition holds
    ends: bool  # whether a step may be the last one whatever the count is
    finish: Callable[[Signal | None], Any] = field(default=lambda _: None)  # run after the step, in the region
    period: int = 1
    plans: dict[Place, Tree | None] = field(default_factory=dict["Place, Tree | None"])
    storages: list[Storage] = field(default_factory=list[Storage])

    @property
    def is_static(self) -> bool:
        """Whether the number of steps is known, and not zero."""
        return isinstance(self.count, int)

    @property
    def length(self) -> int | None:
        """How often the steps that are taken together are run, if that is known."""
        return self.count // self.period if isinstance(self.count, int) else None

    def captured(self) -> Captured:
        """The step, once the plan holds; NotInductive if none does."""
        carried = self.live if self.is_static else self.live | self.kept  # without steps names stay as they were
        for place in self.bound:
            has_value = place.get() is not MISSING and type(place.get()) is not Unbound
            if str(place.key) in carried and has_value:
                self.plans[place] = _first_plan(place.get())
        for _ in range(ROUNDS):
            try:
                found = self.round()
            except Longer:
                self.period += 1
                if self.period > PERIODS or not self.is_static:
                    raise NotInductive("its names are bound to other arrays at each step", is_late=True) from None
                continue
            if found is not None:
                return found
        raise NotInductive("the types of its state change from step to step", is_late=True)

    def round(self) -> Captured | None:
        """Trace a step by the plan; None if the plan had to be changed."""
        entry = {place: place.get() for place in dict.fromkeys((*self.bound, *self.plans))}
        try:
            with region(is_loop=True) as made:
                return Round(self, made, entry).run()
        finally:
            for place in self.bound:
                place.set(entry[place])


def _first_plan(content: Any) -> Tree | None:
    """Traced numbers are carried from the start; other things stay, until a step shows otherwise."""
    leaves, structure = flatten(content)
    kinds = [kind_of(x) if type(x) is TracedArray and not is_mutable(x) else None for x in leaves]
    return Tree(structure, tuple(kinds)) if any(kinds) else None


@final
class Round:
    """One trial of a plan."""

    def __init__(self, plan: Induction, made: Region, entry: dict[Place, Any]) -> None:
        self.plan, self.region, self.entry = plan, made, entry
        self.heads: dict[Place, Any] = {}
        self.params: dict[Place, list[Value | None]] = {}
        self.contents: dict[Storage, tuple[Value, Value]] = {}  # what it starts from, and the parameter
        self.moves: dict[Storage, Storage | None] = {}
        self.index = param(Type("i64"), "i")
        length = plan.length
        if length is None and plan.count is not None:
            high = size_of(plan.count).range[1]
            length = None if high is None else max(high, 1)
        note_range(fresh(self.index), 0, None if length is None else length - 1)

    def run(self) -> Captured | None:
        """Trace the step, and see whether it keeps the state."""
        self.enter()
        signal: Signal | None = None
        for j in range(self.plan.period):
            if possible_of(signal) & {BREAK, RETURN}:
                raise NotInductive("it may end between steps that are taken together")
            for place in self.plan.bound:
                if place not in self.plan.plans:
                    place.set(MISSING)
            signal = self.plan.step(self.index, j)
        extra = self.plan.finish(signal)
        return None if self.changed() else Exit(self).captured(signal, extra)

    def enter(self) -> None:
        """Bind the state to parameters."""
        for place, tree in self.plan.plans.items():
            self.heads[place] = self.entry[place]
            if tree is None:
                continue
            leaves, _ = flatten(self.entry[place])
            made = [self.head(x, k, place) for x, k in zip(leaves, tree.kinds, strict=True)]
            pairs = zip(made, tree.kinds, strict=True)
            self.params[place] = [m.value if isinstance(k, Kind) else None for m, k in pairs]
            self.heads[place] = unflatten(tree.structure, made)
            if place.kind != "name":
                note(place)
            place.set(self.heads[place])
        for storage in self.plan.storages:
            start = storage.value
            self.contents[storage] = start, param(start.type, hint_of(start))
            storage.write(self.contents[storage][1])

    def head(self, first: Any, kind: Kind | Counter | None, place: Place) -> Any:
        """What a step is given for a leaf."""
        if isinstance(kind, Counter):
            return with_kind(self.index, INDEX) * kind.step + first
        return first if kind is None else kind.template(str(place.key))

    def changed(self) -> bool:
        """Adapt the plan to what the step did; whether that was necessary."""
        plan = self.plan
        before = dict(plan.plans), list(plan.storages)
        plan.storages += [s for s in self.region.written if s not in self.contents]
        for place, content in self.region.effects.items():
            if place in plan.plans:
                continue
            if place.kind == "whole" or content is MISSING:
                raise NotInductive(f"{place.text} gets other elements", is_late=content is MISSING)
            self.heads[place] = self.entry[place] = content
            plan.plans[place] = None
        self.moves = self.moved()
        for place in list(plan.plans):
            plan.plans[place] = self.next_plan(place, place.get())
        return (dict(plan.plans), list(plan.storages)) != before

    def moved(self) -> dict[Storage, Storage | None]:
        """By the allocation that a name was bound to before the step: the one that it is bound to after it,
        None for one that the step made."""
        found: dict[Storage, Storage | None] = {}
        for place in self.plan.plans:
            rows = zip(flatten(self.heads[place])[0], flatten(place.get())[0], strict=False)
            for old, new in rows:
                if type(old) is TracedArray and type(new) is TracedArray and is_mutable(old) and old is not new:
                    found[old.storage] = None if self.region.owns(new.storage) else new.storage
        return found

    def next_plan(self, place: Place, after: Any) -> Tree | None:
        """The plan for a place, given what the step left there."""
        tree, head = self.plan.plans[place], self.heads[place]
        if after is head:
            return tree
        if after is MISSING or type(after) is Unbound:
            raise NotInductive(f"{place.text} has no value after a step")
        old, structure = flatten(head)
        new, found = flatten(after)
        if structure != found:
            raise NotInductive(f"{place.text} is {_text(head)} before a step and {_text(after)} after it", is_late=True)
        first = flatten(self.entry[place])[0]
        kinds = tree.kinds if tree else (None,) * len(old)
        made = [self.leaf(place.text, *row) for row in zip(first, old, new, kinds, strict=True)]
        return Tree(structure, tuple(made)) if any(k is not None for k in made) else None

    def leaf(self, text: str, first: Any, old: Any, new: Any, kind: Kind | Counter | None) -> Kind | Counter | None:
        """The kind of a leaf: `first` before the loop, `old` before the step and `new` after it."""
        if isinstance(kind, Counter):
            return kind if growth(old, new) == kind.step else kind_of(as_traced(new))
        if new is old:
            return kind
        if not is_number(new) or not is_number(old):
            if type(new) is type(old) and isinstance(new, PLAIN) and new == old:
                return None
            raise NotInductive(f"{text} is {_text(old)} before a step and {_text(new)} after it", is_late=True)
        if kind is None and type(new) is type(old) and not isinstance(new, TracedArray | np.ndarray) and new == old:
            return None
        if type(first) is int and self.plan.count is not None and not self.plan.ends:
            step = growth(old, new)
            if step is not None and kind is None:
                return Counter(step)
        x = as_traced(new)
        if is_mutable(x):
            before = as_traced(old)
            if x.storage is before.storage and x.lenses == before.lenses:
                return kind
            self.check_identity(text, as_traced(first), x)
        return self.settled(text, first, kind, kind_of(x))

    def check_identity(self, text: str, first: TracedArray, new: TracedArray) -> None:
        """Longer or NotInductive if it matters which allocation a name is bound to."""
        written = self.region.written
        if isinstance(new.storage, Either):
            raise NotInductive(f"{text} is one of two arrays, by a condition known only at run time")
        if not self.region.owns(new.storage) and is_static(new.lenses):
            self.check_chain(text, new.storage)
        if self.plan.is_first and first.storage in written and is_mutable(first):
            raise NotInductive(f"{text} is written, and bound to another array", is_late=True)

    def check_chain(self, text: str, start: Storage) -> None:
        """Longer if names are bound to each other's allocations, around; NotInductive if one will be bound to
        the same allocation from now on. Otherwise it comes from a name that is bound to a new one."""
        here: Storage | None = start
        seen: list[Storage] = []
        while here is not None:
            if here in seen:
                raise Longer
            seen.append(here)
            if here not in self.moves or self.moves[here] is here:
                raise NotInductive(f"{text} is bound to another array", is_late=True)
            here = self.moves[here]

    def settled(self, text: str, first: Any, kind: Kind | None, new: Kind) -> Kind:
        """The kind that a step is given, if it makes `new` of `kind`."""
        if kind == new:
            return new
        start = kind_of(as_traced(first))
        wide = (kind or start).joined(new)
        if wide is None or start.type.shape != new.type.shape:
            raise NotInductive(f"{text} is {start.type} before the loop and {new.type} after a step", is_late=True)
        if not is_exact(first, start, wide):
            raise NotInductive(f"{text} is {start.type} before the loop and {new.type} after a step", is_late=True)
        return wide


def growth(old: Any, new: Any) -> int | None:
    """By how much a Python integer grows, if that is known."""
    if not is_number(new) or not is_number(old):
        return None
    x, y = as_traced(old), as_traced(new)
    if not (x.is_weak and y.is_weak and x.type.dtype == y.type.dtype == "i64"):
        return None
    return (size_of(y) - size_of(x)).known


def is_exact(x: Any, kind: Kind, wide: Kind) -> bool:
    """Whether a step sees no difference if it is given x as a wider kind."""
    if kind.type.dtype == wide.type.dtype:
        return True
    known = as_traced(x).concrete
    if known is None:
        return kind.is_weak and kind.type.kind in "bi" and wide.type.dtype in ("i64", "f64", "c128")
    if not (kind.is_weak or kind.is_scalar):
        return False
    dtype = np.dtype(DTYPES[wide.type.dtype])
    return bool(np.asarray(known).astype(dtype) == known)


@final
class Exit:
    """How names and allocations are left, made of the last step's values."""

    def __init__(self, round_: Round) -> None:
        self.round, self.plan, self.region = round_, round_.plan, round_.region
        self.carries: list[Carry] = []
        self.users: dict[int, int] = {}  # of the step's allocations, by id
        self.stores: dict[int, Storage] = {}

    def captured(self, signal: Signal | None, extra: Any) -> Captured:
        """The step, closed."""
        storages: list[tuple[Storage, int]] = []
        for storage, (start, p) in self.round.contents.items():
            storages.append((storage, len(self.carries)))
            self.carries.append(Carry(p, start, storage.value))
        result = signal.result if signal is not None else MISSING
        after = {place: place.get() for place in dict.fromkeys((*self.plan.plans, *self.plan.bound))}
        self.count([content for place, content in after.items() if self.is_kept(place)] + [result])
        exits: list[tuple[Place, Recipe]] = []
        for place, content in after.items():
            tree = self.plan.plans.get(place)
            if tree is not None:
                exits.append((place, self.carried(place, tree, content)))
            elif place not in self.plan.plans:
                exits.append((place, self.last(place, content) if self.is_kept(place) else _missing))
        returned = None if result is MISSING else self.recipe(result)
        made = Captured(
            self.region, self.round.index, self.carries, storages, exits, signal, returned, self.plan.period, extra
        )
        return made

    def is_kept(self, place: Place) -> bool:
        """Whether somebody may read what is there after the loop."""
        return place in self.plan.plans or str(place.key) in self.plan.kept

    def count(self, contents: Sequence[Any]) -> None:
        """How many names are bound to each of the step's allocations."""
        for content in contents:
            for leaf in flatten(content)[0]:
                for storage in bases(leaf):
                    self.users[id(storage)] = self.users.get(id(storage), 0) + 1

    def carried(self, place: Place, tree: Tree, content: Any) -> Recipe:
        """How to make what a step is given again."""
        leaves, _ = flatten(content)
        firsts, _ = flatten(self.round.entry[place])
        parts: list[Recipe] = []
        for leaf, first, kind, p in zip(leaves, firsts, tree.kinds, self.round.params[place], strict=True):
            if isinstance(kind, Counter):
                parts.append(partial(self.total, first, kind))
                continue
            n = None if p is None or kind is None else len(self.carries)
            if p is not None and kind is not None:
                self.carries.append(Carry(p, first, value_of(leaf, kind.type.dtype)))
            parts.append(self.leaf(leaf, n, kind))
        return lambda results: unflatten(tree.structure, [part(results) for part in parts])

    def total(self, first: Any, kind: Counter, _: Values) -> Any:
        """What a counter is after the loop."""
        if self.plan.length is not None:
            return first + kind.step * self.plan.length
        count = fresh(maximum(value_of(self.plan.count, "i64"), const(0, "i64")))
        return with_kind(count.value, INDEX) * kind.step + first

    def last(self, place: Place, content: Any) -> Recipe:
        """How to make what the last step left in a name that each step binds anew."""
        if content is MISSING:
            return _missing
        if not self.plan.is_static:
            made = Unbound(
                f"{place.text} has a value only if the loop, whose steps are counted at run time, has a step",
                "give it a value before the loop that has the same type",
            )
            return lambda _: made
        return self.recipe(content)

    def recipe(self, content: Any) -> Recipe:
        """How to make an object of the results."""
        leaves, structure = flatten(content)
        parts = [self.leaf(leaf, None, None) for leaf in leaves]
        return lambda results: unflatten(structure, [part(results) for part in parts])

    def leaf(self, x: Any, n: int | None, kind: Kind | None) -> Recipe:
        """How to make a leaf; n is the carry that it is."""
        if type(x) is Selection:
            made = Unbound("a selection by a mask of the last step", "assign or reduce it inside the loop")
            return lambda _: made
        if type(x) is not TracedArray and n is None:
            return lambda _: x
        array = as_traced(x)
        if not is_mutable(array):
            known = self.known(array) if n is None else None
            if known is not None:
                return lambda _: known
            number = self.slot(array.value) if n is None else n
            found = kind or kind_of(array)
            return lambda results: with_kind(results[number], found)
        storage, lenses = array.storage, array.lenses
        if not self.region.owns(storage) or isinstance(storage, Either):
            return self.view(array)
        if self.users[id(storage)] == 1:
            number = self.slot(array.value) if n is None else n
            return lambda results: TracedArray(Storage.holding(current(), results[number]))
        number = self.slot(storage.value)
        shown = [moved(lens, self.region.trace.scope.number, self.slot) for lens in lenses]
        return lambda results: TracedArray(self.store(number, results), tuple(lens(results) for lens in shown))

    def view(self, x: TracedArray) -> Recipe:
        """A view of an allocation from outside, or of one of two."""
        shown = [moved(lens, self.region.trace.scope.number, self.slot) for lens in x.lenses]
        storage = x.storage
        if not isinstance(storage, Either) or not self.region.owns(storage):
            return lambda results: TracedArray(storage, tuple([lens(results) for lens in shown]))
        one, other = (self.leaf(part, None, None) for part in (storage.one, storage.other))
        c = self.slot(storage.condition)

        def made(results: Values) -> TracedArray:
            base = Either(current(), results[c], one(results), other(results))
            return TracedArray(cast("Storage", base), tuple([lens(results) for lens in shown]))

        return made

    def known(self, x: TracedArray) -> int | None:
        """A Python integer after the last step, if it is known: one that depends on the number of the step only."""
        length = self.plan.length
        if not x.is_weak or x.type.dtype != "i64" or length is None or self.plan.ends:
            return None
        size = size_of(x)
        if any(atom is not self.round.index for atom, _ in size.terms):
            return None
        return size.start + sum(factor for _, factor in size.terms) * (length - 1)

    def store(self, n: int, results: Values) -> Storage:
        """The allocation that several names are bound to."""
        if n not in self.stores:
            self.stores[n] = Storage.holding(current(), results[n])
        return self.stores[n]

    def slot(self, value: Value) -> int:
        """The number of the carry that ends as a value."""
        for n, carry in enumerate(self.carries):
            if carry.end is value:
                return n
        self.carries.append(Carry(param(value.type), None, value))
        return len(self.carries) - 1


def bases(x: Any) -> list[Storage]:
    """The allocations that a leaf is a view of."""
    if type(x) is not TracedArray:
        return []
    storage: Any = x.storage
    return [*bases(storage.one), *bases(storage.other)] if isinstance(storage, Either) else [storage]


def _missing(results: Values) -> Any:
    return MISSING


def _text(x: Any) -> str:
    if isinstance(x, TracedArray | np.ndarray):
        return str(as_traced(x).type)
    return repr(x) if x is None or isinstance(x, PLAIN) else type(x).__name__
