"""An allocation that is one of two others, by a condition known only at run time.

`y = x.copy() if c else x`: what y holds is selected, and a write to y is a write to that one of the two.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Protocol, cast, final

from pliant.core.data import frozen
from pliant.core.ir import Const, Value, const
from pliant.frontend.array import TracedArray, view
from pliant.frontend.strides import common_order, order_of
from pliant.frontend.tracing import Storage, Trace, current
from pliant.ops.bits import logical_not, logical_or
from pliant.ops.select import select
from pliant.ops.shape import broadcast


class Owner(Protocol):
    """What knows where allocations were made: a region."""

    def owns(self, storage: Any) -> bool:
        """Whether an allocation was made in here."""
        ...


@final
@frozen(eq=False)
class Way:
    """An array that a name may be bound to, and whether it is."""

    condition: Value
    array: TracedArray


@final
class Either:
    """Stands where a `Storage` does."""

    concrete = None
    index = None
    source = None
    twins = ()  # both know
    is_copy = is_head = False
    is_callers_wish = False  # what is read-only has been copied

    def __init__(self, trace: Trace, condition: Value, one: TracedArray, other: TracedArray) -> None:
        self.trace, self.condition, self.one, self.other = trace, condition, one, other
        self.memo: tuple[Any, Any] = (None, None)

    @cached_property
    def arrays(self) -> tuple[TracedArray, ...]:
        """What it may be, down to arrays that are not chosen by a condition in turn; each once."""
        ones = arrays(self.one)
        return (*ones, *[y for y in arrays(self.other) if not any([is_twin(x, y) for x in ones])])

    @property
    def writeable(self) -> bool:
        """Whether all may be written."""
        return all([x.storage.writeable for x in self.arrays])

    @property
    def may_be_written(self) -> bool:
        """Whether they may be, and nobody would miss it."""
        return all([x.storage.may_be_written for x in self.arrays])

    @property
    def causes(self) -> tuple[Value, ...]:
        """The numbers that they depend on if they are copies."""
        return tuple([v for x in self.arrays for v in x.storage.causes])

    @cached_property
    def strides(self) -> Any:
        """Its order of axes, if both have the same."""
        return common_order(order_of(self.one), order_of(self.other))

    @property
    def version(self) -> int:
        """A number that grows at every write to one of them."""
        return sum([x.storage.version for x in self.arrays])

    @property
    def content(self) -> Value:
        """What it holds."""
        return self.value

    @property
    def value(self) -> Value:
        """What it holds."""
        version, scope = self.memo[0] or (None, None)
        if version != self.version or scope not in (self.trace.scope.number, current().scope.number):
            key = self.version, current().scope.number
            self.memo = key, self.selected(self.one.value, self.other.value)
        return self.memo[1]

    def selected(self, one: Value, other: Value) -> Value:
        """One value where the condition holds, else the other."""
        return select(broadcast(self.condition, one.shape, ()), one, other)

    def write(self, value: Value) -> None:
        """Replace what it holds."""
        self.one.replace(self.selected(value, self.one.value))
        self.other.replace(self.selected(self.other.value, value))  # read now: both may look at the same memory


def either(trace: Trace, condition: Value, one: TracedArray, other: TracedArray, *, known: Value | None = None) -> Any:
    """The array that is `one` where the condition holds, else `other`; both have the same type. known: what it
    holds now, if that need not be selected."""
    made = Either(trace, condition, one, other)
    if len(made.arrays) < len(arrays(one)) + len(arrays(other)):
        made = without_twins(trace, merged(condition, possible(one), possible(other)))
    chosen = made if isinstance(made, TracedArray) else TracedArray(cast("Storage", made))
    storage: Any = chosen.storage
    if known is not None and isinstance(storage, Either):
        storage.memo = (storage.version, trace.scope.number), known
    return chosen


def without_twins(trace: Trace, ways: list[Way]) -> TracedArray:
    """The array that is one of several, each of which stands in one place: swapped at each step of an unrolled loop,
    two arrays would else be 2**n."""
    chosen = ways[-1].array
    for way in reversed(ways[:-1]):
        chosen = TracedArray(cast("Storage", Either(trace, way.condition, way.array, chosen)))
    return chosen


def arrays(x: TracedArray) -> tuple[TracedArray, ...]:
    """The arrays that one may be, down to those that are not chosen by a condition in turn."""
    storage: Any = x.storage
    if not isinstance(storage, Either):
        return (x,)
    if not x.lenses:
        return storage.arrays
    shown = [view(y, *x.lenses) for y in storage.arrays]
    return tuple([y for n, y in enumerate(shown) if not any([is_twin(z, y) for z in shown[:n]])])


def possible(x: TracedArray) -> list[Way]:
    """The same with the conditions."""
    storage: Any = x.storage
    if not isinstance(storage, Either):
        return [Way(const(True, "bool"), x)]
    ways = merged(storage.condition, possible(storage.one), possible(storage.other))
    return distinct([Way(w.condition, view(w.array, *x.lenses)) for w in ways]) if x.lenses else ways


def distinct(ways: list[Way]) -> list[Way]:
    """Each array once: of different views, views may be the same."""
    found = list[Way]()
    for way in ways:
        n = next((n for n, other in enumerate(found) if is_twin(other.array, way.array)), None)
        if n is None:
            found.append(way)
        else:
            found[n] = Way(logical_or(found[n].condition, way.condition), way.array)
    return found


def merged(condition: Value, ones: list[Way], others: list[Way]) -> list[Way]:
    """Those where the condition holds, and the others elsewhere; each array once."""
    no, ways = const(False, "bool"), list[Way]()
    for way in ones:
        twin = next((w for w in others if is_twin(w.array, way.array)), None)
        ways.append(Way(chosen_of(condition, way.condition, no if twin is None else twin.condition), way.array))
    rest = [w for w in others if not any([is_twin(w.array, way.array) for way in ones])]
    return ways + [Way(chosen_of(condition, no, w.condition), w.array) for w in rest]


def is_twin(x: TracedArray, y: TracedArray) -> bool:
    """Whether two are the same view of the same allocation."""
    return x.storage is y.storage and x.lenses == y.lenses


def chosen_of(condition: Value, one: Value, other: Value) -> Value:
    """One truth value where the condition holds, else the other."""
    if one is other:
        return one
    if isinstance(one.op, Const) and isinstance(other.op, Const):
        return condition if one.op.value else logical_not(condition)
    return select(condition, one, other)


def may_be_one(x: TracedArray, y: TracedArray) -> bool:
    """Whether two may be parts of one allocation, as far as the conditions tell."""
    one, other = cast("Any", x.storage), cast("Any", y.storage)
    if not isinstance(one, Either):
        return may_be_one(y, x) if isinstance(other, Either) else one is other
    if isinstance(other, Either) and one.condition is other.condition:
        return may_be_one(one.one, other.one) or may_be_one(one.other, other.other)
    return may_be_one(one.one, y) or may_be_one(one.other, y)


def may_stand_for(x: TracedArray, y: TracedArray) -> bool:
    """Whether an array may be in place of another one, which nobody knows."""
    if x.is_scalar or x.is_weak or x.type != y.type:
        return False
    if not x.storage.is_head or y.storage.is_head:
        return x.storage.is_copy or x.storage.is_head
    trace = x.storage.trace.parent  # a step is given what was there before it
    while trace is not None and trace is not y.storage.trace:
        trace = trace.parent
    return trace is not None


def bases(x: TracedArray) -> list[Storage]:
    """The allocations that an array is a view of, by conditions."""
    storage: Any = x.storage
    return [*bases(storage.one), *bases(storage.other)] if isinstance(storage, Either) else [storage]


def is_new_or(old: TracedArray, x: TracedArray, owner: Owner) -> bool:
    """Whether an array is the old one or one that was made in a region, by conditions."""
    storage: Any = x.storage
    if storage is old.storage:
        return x.lenses == old.lenses
    if isinstance(storage, Either):
        return not x.lenses and all([is_new_or(old, part, owner) for part in (storage.one, storage.other)])
    return owner.owns(storage)


def are_one(x: TracedArray, y: TracedArray, before: tuple[TracedArray, TracedArray, Value] | None = None) -> Value:
    """Whether two are the same array. before: the arrays that they were, and whether these are the same."""
    one, two = cast("Any", x.storage), cast("Any", y.storage)
    if isinstance(one, Either):
        return chosen_of(one.condition, are_one(one.one, y, before), are_one(one.other, y, before))
    if isinstance(two, Either):
        return chosen_of(two.condition, are_one(x, two.one, before), are_one(x, two.other, before))
    if before is not None and is_twin(x, before[0]) and is_twin(y, before[1]):
        return before[2]
    return const(is_twin(x, y), "bool")


def is_other(old: TracedArray, x: TracedArray) -> Value:
    """Whether an array is another one than the old one."""
    storage: Any = x.storage
    if storage is old.storage or not isinstance(storage, Either):
        return const(storage is not old.storage, "bool")
    return select(storage.condition, is_other(old, storage.one), is_other(old, storage.other))
