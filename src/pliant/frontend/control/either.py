"""An allocation that is one of two others, by a condition known only at run time.

`y = x.copy() if c else x`: what y holds is selected, and a write to y is a write to that one of the two.
"""

from __future__ import annotations

from typing import Any, Protocol, cast, final

from pliant.core.ir import Value, const
from pliant.frontend.array import TracedArray
from pliant.frontend.strides import common_order, order_of
from pliant.frontend.tracing import Storage, Trace, current
from pliant.ops.select import select
from pliant.ops.shape import broadcast


class Owner(Protocol):
    """What knows where allocations were made: a region."""

    def owns(self, storage: Any) -> bool:
        """Whether an allocation was made in here."""
        ...


@final
class Either:
    """Stands where a `Storage` does."""

    concrete = None
    index = None
    source = None
    twins = ()  # both know

    def __init__(self, trace: Trace, condition: Value, one: TracedArray, other: TracedArray) -> None:
        self.trace, self.condition, self.one, self.other = trace, condition, one, other
        self.memo: tuple[Any, Any] = (None, None)

    @property
    def writeable(self) -> bool:
        """Whether both may be written."""
        return self.one.storage.writeable and self.other.storage.writeable

    @property
    def strides(self) -> Any:
        """Its order of axes, if both have the same."""
        return common_order(order_of(self.one), order_of(self.other))

    @property
    def version(self) -> int:
        """A number that grows at every write to either."""
        return self.one.storage.version + self.other.storage.version

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
    if known is not None:
        made.memo = (made.version, trace.scope.number), known
    return TracedArray(cast("Storage", made))


def is_new_or(old: TracedArray, x: TracedArray, owner: Owner) -> bool:
    """Whether an array is the old one or one that was made in a region, by conditions."""
    storage: Any = x.storage
    if storage is old.storage:
        return x.lenses == old.lenses
    if isinstance(storage, Either):
        return not x.lenses and all([is_new_or(old, part, owner) for part in (storage.one, storage.other)])
    return owner.owns(storage)


def is_other(old: TracedArray, x: TracedArray) -> Value:
    """Whether an array is another one than the old one."""
    storage: Any = x.storage
    if storage is old.storage or not isinstance(storage, Either):
        return const(storage is not old.storage, "bool")
    return select(storage.condition, is_other(old, storage.one), is_other(old, storage.other))
