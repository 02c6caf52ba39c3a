"""Names that the steps of a loop bind to other arrays by conditions known only at run time, as the loop leaves them.

for z in noise:                     x is carried as what it holds, with whether it is another array by now; where it is
    y = x + z                       written, what the array holds that it was before the loop: as written until then;
    if f(y) < f(x):                 and where `best` may be the array that x is, whether it is
        x = y
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol, final

from pliant.core.data import frozen
from pliant.core.ir import Value, Values, param
from pliant.core.types import Type
from pliant.frontend.array import TracedArray
from pliant.frontend.control.either import are_one, bases, either
from pliant.frontend.control.handed import Handed
from pliant.frontend.control.moved import Recipe
from pliant.frontend.control.plan import Carry, Heads, NotInductive, Plan
from pliant.frontend.control.region import Place, Region
from pliant.frontend.control.unsized import as_array
from pliant.frontend.number import kind_of, with_kind
from pliant.frontend.tracing import current
from pliant.ops.select import select
from pliant.ops.shape import broadcast


class Slots(Protocol):
    """What leaves a loop, and its step."""

    plan: Plan
    region: Region
    heads: Heads
    carries: list[Carry]
    stacks: list[Value]
    handed: Handed


@final
@frozen(eq=False)
class Bound:
    """A name that is read after the loop: the array that it is bound to before it, before a step and after a step, and
    how to make what it is bound to after the loop."""

    first: TracedArray
    head: TracedArray
    leaf: TracedArray
    recipe: Recipe


@final
class Choices:
    """The names of a loop that are one of several arrays."""

    def __init__(self, slots: Slots) -> None:
        self.slots = slots
        self.names: list[Bound] = []
        self.writes: list[Callable[[Values], None]] = []  # to arrays that names were bound to before

    def named(self, first: Any, head: Any, leaf: Any, recipe: Recipe) -> Recipe:
        """The recipe of a name that is read after the loop, which others may have to be bound to."""
        arrays = [as_array(x) for x in (first, head, leaf)]
        if any([x is None for x in arrays]):
            return recipe
        once = partial(_once, recipe, [])
        self.names.append(Bound(*arrays, once))  # type: ignore[arg-type]
        return once

    def recipe(self, place: Place, first: TracedArray, head: TracedArray, leaf: TracedArray, n: int) -> Recipe:
        """What a name is bound to after the loop whose content is carry n."""
        kind = kind_of(leaf)
        m, moved = self.slots.handed.moved(head, leaf)
        if place in self.slots.plan.apart:
            self.apart(first, head, moved)
        own = set(bases(leaf))
        same = [(self.same(x, first, head, leaf), x.recipe) for x in self.names if own & set(bases(x.leaf))]

        own_or_new = self.slots.handed.recipe(leaf, lambda results: with_kind(results[n], kind), head.storage)

        def made(results: Values) -> Any:
            new = own_or_new(results)
            if new.type != first.type:
                return new
            x = either(current(), results[m], new, first, known=results[n])
            for k, recipe in same:
                x = either(current(), results[k], recipe(results), x, known=results[n])
            return x

        return made

    def apart(self, first: TracedArray, head: TracedArray, moved: Value) -> None:
        """Leave the array that a name was bound to before the loop as the steps wrote it by that name."""
        carries = self.slots.carries
        p = param(head.type, "before")
        later = self.slots.handed.written(first, p)
        n = len(carries)
        carries.append(Carry(p, first, select(broadcast(moved, head.shape, ()), later, head.value)))
        self.writes.append(lambda results: first.replace(results[n]))

    def same(self, x: Bound, first: TracedArray, head: TracedArray, leaf: TracedArray) -> int:
        """The number of the carry that says whether two names are bound to the same array."""
        if x.first.lenses != first.lenses and set(bases(x.first)) & set(bases(first)):
            raise NotInductive("two names are bound to parts of an array before the loop")
        carries, before = self.slots.carries, param(Type("bool"), "same")
        end = are_one(leaf, x.leaf, (head, x.head, before))
        carries.append(Carry(before, partial(are_one, first, x.first), end))
        return len(carries) - 1

    def check(self) -> None:
        """NotInductive if a step looks at an array that a name was bound to before the loop under another name."""
        heads, plan = self.slots.heads, self.slots.plan
        if not heads.probes:
            return
        free = self.slots.region.free([*[c.end for c in self.slots.carries], *self.slots.stacks])
        given = [s for place, tree in plan.plans.items() if tree for s in heads.allocations(place)]
        written = [s for s in heads.probes if heads.written(s, self.slots.region.written)]
        if written or any([probe in free or given.count(s) > 1 for s, probe in heads.probes.items()]):
            raise NotInductive("an array that is written, and then let go of by a name, has another name", is_late=True)


def _once(recipe: Recipe, made: list[Any], results: Values) -> Any:
    """What a recipe makes of the results of a loop: one object."""
    if not made:
        made.append(recipe(results))
    return made[0]
