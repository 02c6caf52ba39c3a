"""Names that get at each step the array that another one had before it, as the loop leaves them.

for i in range(n):          after one step y is the array that x was before the loop, which others see, and later on
    x, y = f(x), x          one that a step has made: what is written to y then, or by y in a later step, is written
                            to the one that it is
"""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias, cast, final

from pliant.core.data import frozen
from pliant.core.ir import Value, Values, const, param
from pliant.core.types import Type
from pliant.frontend.array import TracedArray, view
from pliant.frontend.control.either import Either, either, is_other, is_twin
from pliant.frontend.control.moved import Recipe
from pliant.frontend.control.plan import Carry, Heads, Plan
from pliant.frontend.tracing import Storage, current
from pliant.ops.bits import logical_not, logical_or
from pliant.ops.compare import equal
from pliant.ops.select import select
from pliant.ops.shape import broadcast

When: TypeAlias = "int | Value"  # the number of the step in which something holds, or whether it does in a step


class Slots(Protocol):
    """What leaves a loop, and its step."""

    plan: Plan
    heads: Heads
    carries: list[Carry]

    def leaves(self, content: Any) -> tuple[list[Any], Any]:
        """The leaves of what a step leaves, and their structure."""
        ...

    def slot(self, value: Value) -> int:
        """The number of the carry that ends as a value."""
        ...


@final
@frozen(eq=False)
class Link:
    """A name's array before the loop, before a step, and after it."""

    first: TracedArray
    head: TracedArray
    leaf: TracedArray


@final
class Handed:
    """The arrays from before a loop that names are bound to since another name was."""

    def __init__(self, slots: Slots) -> None:
        self.slots = slots
        self.links: dict[Storage, Link] = {}
        self.moves: dict[Storage, tuple[int, Value]] = {}
        self.known: dict[Storage, list[tuple[TracedArray, When]]] = {}

    def enter(self) -> None:
        """See which arrays names are bound to after the step."""
        plan, heads = self.slots.plan, self.slots.heads
        if plan.has_swaps:  # these know
            return
        for place, tree in plan.plans.items():
            if tree is None:
                continue
            leaves, _ = self.slots.leaves(place.get())
            rows = zip(heads.firsts(place), heads.leaves_of(place), leaves, heads.params[place], strict=True)
            for first, head, leaf, p in rows:
                if p is not None and all([type(x) is TracedArray for x in (first, head, leaf)]):
                    self.links[head.storage] = Link(first, head, leaf)

    def moved(self, head: TracedArray, leaf: TracedArray) -> tuple[int, Value]:
        """The carry that says whether a name is bound to another array by now than before the loop: its number, and
        what a step is given."""
        if head.storage not in self.moves:
            carries, moved = self.slots.carries, param(Type("bool"), "moved")
            self.moves[head.storage] = len(carries), moved
            carries.append(Carry(moved, False, logical_or(moved, is_other(head, leaf))))
        return self.moves[head.storage]

    def firsts(self, storage: Storage) -> list[tuple[TracedArray, When]]:
        """The arrays from before the loop that an allocation may be which a step is given, and when."""
        link = self.links.get(storage)
        if link is None:
            return []
        if storage not in self.known:
            self.known[storage] = []
            others = [(x, self.later(when)) for x, when in self.ways(link.leaf, storage)]
            self.known[storage] = [(link.first, self.before(link)), *others]
        return self.known[storage]

    def ways(self, leaf: TracedArray, own: Storage | None = None) -> list[tuple[TracedArray, When]]:
        """The arrays from before the loop that a name may be bound to after a step which it has from another one. own:
        what it was bound to before."""
        storage: Any = leaf.storage
        if isinstance(storage, Either) or storage is own:
            return []
        return [(view(x, *leaf.lenses) if leaf.lenses else x, when) for x, when in self.firsts(storage)]

    def before(self, link: Link) -> When:
        """When a name is bound before a step to what it was before the loop."""
        if self.slots.plan.count is not None and not isinstance(cast("Any", link.leaf.storage), Either):
            return 0
        return logical_not(self.moved(link.head, link.leaf)[1])

    def later(self, when: When) -> When:
        """One step later."""
        if isinstance(when, int):
            return when + 1
        held = param(Type("bool"), "held")
        self.slots.carries.append(Carry(held, False, when))
        return held

    def holds(self, when: When) -> Value:
        """Whether it is so in the step at hand."""
        return equal(self.slots.heads.index, const(when, "i64")) if isinstance(when, int) else when

    def is_never(self, when: When) -> bool:
        """Whether it is not so in the last step, for certain."""
        plan = self.slots.plan
        return isinstance(when, int) and plan.length is not None and not plan.ends and when != plan.length - 1

    def recipe(self, leaf: TracedArray, made: Recipe, own: Storage | None = None) -> Recipe:
        """What a name is bound to after the loop. made: how to make an array that a step has made. own: what the name
        was bound to before the step."""
        rows = [(x, self.slots.slot(self.holds(w))) for x, w in self.ways(leaf, own) if not self.is_never(w)]
        if not rows:
            return made

        def run(results: Values) -> Any:
            new = made(results)
            for x, n in rows:
                new = either(current(), results[n], x, new, known=new.value) if new.type == x.type else new
            return new

        return run

    def written(self, first: TracedArray, before: Value) -> Value:
        """What an array from before the loop holds after the step that other names may be bound to by then, and write.
        before: what it held before the step."""
        for storage, link in self.links.items():
            for x, when in self.firsts(storage)[1:] if storage.is_touched else ():
                if is_twin(x, first):
                    holds = broadcast(self.holds(when), before.shape, ())
                    before = select(holds, link.head.value, before)
        return before
