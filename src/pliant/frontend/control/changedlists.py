"""What a step does to lists: how they grow, or which elements of them it changes."""

from __future__ import annotations

from collections.abc import Sequence
from types import FunctionType
from typing import Any, cast, final

from pliant.core.data import mutable
from pliant.frontend.control.filling import Filling
from pliant.frontend.control.fronts import has_front
from pliant.frontend.control.growth import Element, Growth, element_of
from pliant.frontend.control.objects import flatten, in_region, is_own
from pliant.frontend.control.plan import Heads, NotInductive, Plan, Tree
from pliant.frontend.control.region import Place, Region, cells_of, place_of
from pliant.frontend.control.tables import Table, are_mostly_rows, like, nested
from pliant.frontend.missing import MISSING
from pliant.frontend.tracing import current


@final
@mutable
class Lists:
    """The lists that a step changes, and what the plan for it says of them. entry: what is where before the loop."""

    plan: Plan
    region: Region
    heads: Heads
    entry: dict[Place, Any]

    def are_told(self, place: Place, content: Any) -> bool:
        """Whether the plan says all that a step does to a container; content: what it held before."""
        holder: Any = place.holder
        is_list = place.kind == "whole" and type(holder) is list and place not in self.plan.tables
        if is_list and not content and not holder:  # it had elements meanwhile
            return True
        return self.fills(place, content) or self.grows(place, content) or self.changes(place, content)

    def let_go(self) -> dict[Place, Tree]:
        """The names of lists that a step changes, and that it binds to others then, which hold no more than those did
        before. A step is given a new list: what becomes of the old one, nobody sees by that name."""
        found: dict[Place, Tree] = {}
        for place in [p for p, tree in self.plan.plans.items() if tree is None]:
            head, after = self.heads.bound[place], place.get()
            before = self.region.effects.get(place_of("whole", head)) if type(head) is list else None
            if before is None or after is head or type(after) is not list:
                continue
            leaves, structure = flatten(after, in_region(self.region.born))
            if structure == flatten(before)[1]:
                found[place] = Tree(structure, (None,) * len(leaves))
        return found

    def seen(self, changed: Sequence[tuple[Place, Any]]) -> str:
        """A name before the loop of one of some containers that a step is given and changes, unless nothing else refers
        to what it is bound to; empty if there is none."""
        own = {
            id(self.heads.bound[p]) for p in self.plan.bound if p in self.plan.plans and str(p.key) in self.plan.lone
        }
        return next((place.text for place, x in changed if id(x) not in own), "")

    def known(self) -> list[tuple[Place, Element | Table | Filling | None]]:
        """The lists that grow or change, and what is known of their elements."""
        return [*[(place, growth.element) for place, growth in self.plan.growths.items()], *self.plan.tables.items()]

    def fills(self, place: Place, content: Any) -> bool:
        """Whether it is known only at run time how many elements a list has after a step; the plan says then how many
        there may be."""
        holder: Any = place.holder
        if place.kind != "whole" or type(holder) is not list:
            return False
        now: list[Any] = [*cast("Any", holder)]
        table = self.plan.tables.get(place)
        known = table if isinstance(table, Filling) else None
        is_open = self.plan.may_end or self.plan.fills or not self.plan.is_static
        is_other = is_open and (place in self.plan.growths or len(now) != len(content))
        if known is None and not is_other and not has_front([*now, *content]):
            return False
        if self.plan.growths.pop(place, None) is not None:
            return True
        made = Filling.of(place, self.before(place, content), self.heads, known)
        if made is None:
            text = self.text_of(holder)
            raise NotInductive(
                f"{text} gets elements that are not alike, or as many as nothing bounds",
                where=self.region.origins.get(place),
            )
        if known is None or not made.is_like(known):
            self.plan.tables[place] = made
        return True

    def other(self, place: Place, content: Any) -> NotInductive:
        """The error of a step that changes what no plan says; content: what was there before."""
        where, is_new = self.region.origins.get(place), content is MISSING
        text = self.text_of(place.holder) if place.is_whole else place.text
        why = "has no value before the loop" if is_new else "gets other elements"
        holder: Any = place.holder
        elements: list[Any] = cast("Any", holder) if type(holder) is list and not is_new else []
        if elements and all([type(x) is list and x for x in elements]):
            why += ", which are lists: tuples, as in [(x, y), …], can be elements of a list that a loop changes"
        return NotInductive(f"{text} {why}", is_late=is_new, where=where)

    def text_of(self, holder: Any) -> str:
        """What the user calls a list, or something else that can be changed."""
        body, kind = self.plan.body, cast("Any", type(holder)).__name__
        shared = cells_of(body.__code__.co_freevars, body) if isinstance(body, FunctionType) else []
        names: list[Any] = [str(place.key) for place in (*self.plan.bound, *shared) if place.get() is holder]
        names += [name for _, name, value in current().outermost.roots.values() if value is holder and name]
        return f"the {kind} {names[0]!r}" if names else f"a {kind}"

    def changes(self, place: Place, content: Any) -> bool:
        """Whether a step changes the elements of a list that arrays can hold; the plan says then what they are."""
        holder: Any = place.holder
        is_grid = place.kind == "rows"
        if not (place.kind == "whole" or is_grid) or not isinstance(holder, list):
            return False
        if len(cast("Any", holder)) != len(content):
            return False
        table = self.plan.tables.get(place)
        before: list[Any] = self.before(place, content) if table is None else table.before
        now: list[Any] = [*cast("Any", holder)]
        if table is None and not is_grid and self.is_better_unrolled(content, now):
            return False
        element = nested(now, before) if is_grid else like([*now, *before])
        if element is not None and (table is None or table.element != element):
            self.plan.tables[place] = Table(place, before, element)
        return element is not None

    def before(self, place: Place, content: list[Any]) -> list[Any]:
        """What a list, or the lists in it, hold before the loop. Its `content` was noted when some of the items were
        written already, or were given to the step."""
        if place.kind == "rows":
            rows = zip(place.holder, content, strict=True)
            return [self.with_firsts(row, elements, place) for row, elements in rows]
        return self.with_firsts(place.holder, content, place)

    def with_firsts(self, holder: list[Any], content: list[Any], place: Place) -> list[Any]:
        """The content of a list at a place, with those of its items that are written by themselves as they are before
        the loop."""
        effects = self.region.effects
        noted = [*effects]
        whole = place_of("whole", holder)
        if whole in noted[: noted.index(place)]:
            place, content = whole, effects[whole]
        given = {p: self.entry[p] for p in self.plan.plans if p.number == whole.number and p.kind == "item"}
        earlier = [p for p in noted[: noted.index(place)] if p.number == whole.number and p.kind == "item"]
        found = [*content]
        for item, first in ({p: effects[p] for p in earlier} | given).items():
            found[item.key] = first
        return found

    def is_better_unrolled(self, before: list[Any], now: list[Any]) -> bool:
        """Whether a list of arrays is only read, about once: to make them one array would copy them all."""
        is_same = all([a is b for a, b in zip(before, now, strict=True)])
        return is_same and self.plan.is_static and self.plan.count <= 2 * len(now) and not are_mostly_rows(now)

    def grows(self, place: Place, content: Any) -> bool:
        """Whether all that a step does to a container is to add to an end of a list; the plan says then how."""
        holder: Any = place.holder
        if place.kind != "whole" or not isinstance(holder, list):
            return False
        growth = self.plan.growths.get(place)
        now: list[Any] = [*cast("Any", holder)]
        if growth is None:
            more = len(now) - len(content)
            parts = (False, now), (True, now[more:])
            ends = [end for end, part in parts if all([a is b for a, b in zip(content, part, strict=False)])]
            if place in self.plan.tables or more < 0 or not ends:
                return False
            if not more:
                return not self.plan.is_static and place not in self.plan.tables
            growth = self.plan.growths[place] = Growth(place, content, more, is_front=ends[0])
        elif growth.added() is None:
            raise NotInductive("a list gets other elements at each step")
        added = now[: growth.more] if growth.is_front else now[len(now) - growth.more :]
        growth.element = element_of([*added, *growth.before], is_own)
        return True
