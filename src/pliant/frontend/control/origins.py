"""Which lists, dicts and objects those may be that a loop carries, and those that it leaves.

for i in range(n):        a step is given copies of what `p` and `q` are bound to before the loop, its heads. What it
    p = q                 leaves in `p` is the head of `q`: in the next step the heads of both are one, and from then on
    q = [q[0] + 1]        the head of `p` may be the list that was there before, or one that an earlier step has made

Where all of what a step leaves is known to be what was there before, it is that after the loop; where it may be by a
condition, or by how many steps there are, that is remembered of what stands for it: see `copies`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, cycle, product
from typing import Any, TypeAlias, cast, final

from pliant.core.ir import Values, const
from pliant.frontend.attributes import attributes, put_attribute
from pliant.frontend.control.copies import are_changed, are_one, related, seen_by
from pliant.frontend.control.grids import row_of
from pliant.frontend.control.objects import containers, in_region, is_tuple
from pliant.frontend.control.partly import value_in
from pliant.frontend.control.plan import Heads, NotInductive, Plan, Recipe
from pliant.frontend.control.region import Region
from pliant.frontend.convert import value_of
from pliant.frontend.tracing import current

Found: TypeAlias = "dict[int, Any]"  # containers, by id
AGAIN = "two names are bound to a list or an object that changes"


@final
class Origins:
    """What the containers of a step may be."""

    def __init__(self, plan: Plan, made: Region, heads: Heads) -> None:
        self.plan, self.region, self.step = plan, made, heads.index
        self.is_new = in_region(made.born)
        self.firsts: Found = {}  # by head: what it is before the loop
        self.left: dict[int, Found] = {}  # by head: what the next step is given in its place
        for place in plan.plans:
            trees = heads.bound[place], heads.entry[place], value_in(place.get())
            for head, first, left in zip(*map(containers, trees), strict=False):
                if head is not first:
                    self.firsts[id(head)], self.left[id(head)] = first, sources(left)
        self.changed = are_changed(self.firsts) | {id(x) for _, x in heads.changed()}
        self.reached = self._reached()
        self.pairs = self._pairs()
        self.results: Values | None = None
        self.made: Found = {}  # what stands for what the last step left, by the id of that
        self.having: dict[Any, list[tuple[Any, Any]]] = {}  # what stands for something, and that, by what it may be
        self.wanting: dict[Any, list[tuple[Any, Any]]] = {}

    def is_before(self, x: Any) -> bool:
        """Whether a container was there before the step, and is no head."""
        return id(x) not in self.firsts and not self.is_new(x)

    def _reached(self) -> dict[int, Found]:
        """By head: the containers that it may be in any step, from before the loop, or made by earlier steps."""
        found = {n: sources(x) for n, x in self.firsts.items()}
        for n, left in self.left.items():
            found[n] |= {m: x for m, x in left.items() if m not in self.firsts}
        users, todo = _inverse(self.left), [*found]
        while todo:
            n = todo.pop()
            for user in users.get(n, ()):
                if not found[n].keys() <= found[user].keys():
                    found[user] |= found[n]
                    todo.append(user)
        return found

    def _pairs(self) -> dict[int, set[int]]:
        """By head: those that may be the same container as it, in any step."""
        found: dict[int, set[int]] = {n: set() for n in self.firsts}
        users, firsts = _inverse(self.left), _inverse({n: sources(x) for n, x in self.firsts.items()})
        todo = [pair for same in (*firsts.values(), *users.values()) for pair in combinations(same, 2)]
        for n, reached in self.reached.items():
            before = [m for m, x in reached.items() if m in users and n in users and self.is_before(x)]
            todo += [pair for m in before for pair in product(users[n], users[m])]
        while todo:
            a, b = todo.pop()
            if a != b and b not in found[a]:
                found[a].add(b)
                found[b].add(a)
                todo += product(users.get(a, ()), users.get(b, ()))
        return found

    def check(self) -> None:
        """NotInductive if a step changes a container that others may be, too, which would not see it."""
        effects = {place.number for place in self.region.effects if place.kind != "name"}
        changed = [self.reached[n] for n in self.changed]
        is_twice = any([self.pairs[n] for n in self.changed])
        if is_twice or any([effects & reached.keys() for reached in self.reached.values()]):
            raise NotInductive(AGAIN, is_late=True)
        before = {n: x for reached in changed for n, x in reached.items() if self.is_before(x)}
        if before and seen_by(before):
            raise NotInductive(AGAIN, is_late=True)

    def check_left(self, contents: Sequence[Any]) -> None:
        """NotInductive if what a step leaves may be what was there before, by conditions that nobody can ask after it,
        where that has to be known. contents: what names are bound to, and what is put into lists."""
        stand_ins = [x for content in contents for x in containers(content) if self.is_new(x)]
        is_known = not current().outermost.lengths.are_needed
        if not is_known and any([self.is_before(other) for x in stand_ins for other in related(x)]):
            raise NotInductive("it leaves an object that is one of several, by what only the step knows")

    def check_copied(self, copied: Sequence[Any]) -> None:
        """NotInductive if a later step may change an object that lists have copies of. copied: those of this step."""
        sealed = current().outermost.sealed
        if any([sealed.get(m) is x for n in self.changed for m, x in self.reached[n].items()]):
            raise NotInductive(AGAIN, is_late=True)
        found = {n for x in copied for n in sources(x)}
        found |= {m for n in found & self.firsts.keys() for m in self.reached[n]}
        given, todo, users = set[int](), [*found], _inverse(self.left)
        while todo:
            more = {*users.get(todo.pop(), ())} - given
            given |= more
            todo += more
        effects = {place.number for place in self.region.effects if place.kind == "attribute"}
        if found & effects or given & self.changed:
            raise NotInductive(AGAIN, is_late=True)

    def known(self, x: Any) -> Any:
        """The container from before the loop that one is for sure after a step; None if nobody can say."""
        n = id(x)
        if len(sources(x)) > 1:
            return None
        if n in self.firsts:
            return self.firsts[n] if self.left[n].keys() == {n} and n not in self.changed else None
        return None if self.is_new(x) else x

    def recipe(self, left: Any, make: Recipe, first: Any = None, rows: tuple[slice, slice] | None = None) -> Recipe:
        """How to make what stands for something that a step left. first: what it is if there is no step. rows: where
        what is made has the elements that the last step left, and those of steps before."""
        old = [*containers(left)][rows is not None :]  # a list of elements is none that the step left
        if not old:
            return make
        known = {id(x): y for x in old if (y := self.known(x)) is not None}
        is_kept = self.plan.ran is True or first is None
        firsts = cycle((None,)) if is_kept else [*containers(first)]

        def made(results: Values) -> Any:
            if self.results is not results:
                self.results, self.made, self.having, self.wanting = results, {}, {}, {}
            x: Any = make(results)
            none: Any = []
            last, earlier = (x, none) if rows is None else (x[rows[0]], x[rows[1]])
            new = [*containers(last)][rows is not None :]
            for one, stand, before in zip(old, new, firsts, strict=False):
                if id(one) not in known or not is_kept:
                    self.remember(one, stand, known.get(id(one)), before)
            for one, stand in zip(cycle(old), [*containers(earlier)][rows is not None :], strict=False):
                self.relate(None, stand, {("earlier", n) for n in sources(one)}, set())
            return put_back(left, x, known) if known and is_kept else x

        return made

    def remember(self, old: Any, new: Any, known: Any, before: Any) -> None:
        """Remember what may be changed together with what stands for something. known: what it is if there is a step.
        before: what it is if there is none."""
        if known is not None:
            ran = value_of(self.plan.ran, "bool")
            are_one(new, known, ran, holds=True)
            if before is not None and before is not known:
                are_one(new, before, ran, holds=False)
            return
        same = self.made.setdefault(id(old), new)
        if same is not new:
            are_one(new, same, const(True, "bool"), holds=True)
        found = sources(old)
        heads = [n for n in found if n in self.firsts]
        reached = {n: x for head in heads for n, x in self.reached[head].items()}
        others = {n: x for n, x in (found | reached).items() if self.is_before(x)}
        others |= {} if before is None else sources(before)
        for other in others.values():
            are_one(new, other, self.step, holds=True)
        wanted = {*found, *(m for n in heads for m in self.pairs[n]), *(("earlier", n) for n in reached)}
        self.relate(old, new, {*found}, wanted)

    def relate(self, old: Any, new: Any, has: set[Any], wants: set[Any]) -> None:
        """Remember that a container may be one of those that have what it wants, or that want what it has, but of
        those that stand for the same one."""
        found = [x for n in wants for x in self.having.get(n, ())] + [x for n in has for x in self.wanting.get(n, ())]
        for other in {id(x): x for x, of in found if of is not old}.values():
            are_one(new, other, self.step, holds=True)
        for known, names in ((self.having, has), (self.wanting, wants)):
            for n in names:
                known.setdefault(n, []).append((new, old))


def sources(x: Any) -> Found:
    """What a container may be: itself, and others by conditions, or by places known only at run time."""
    row = row_of(x)
    return {id(y): y for one in (x, *(row.lists if row is not None else ())) for y in (one, *related(one))}


def _inverse(left: dict[int, Found]) -> dict[int, list[int]]:
    """By container: what it is among."""
    found: dict[int, list[int]] = {}
    for n, held in left.items():
        for m in held:
            found.setdefault(m, []).append(n)
    return found


def put_back(left: Any, made: Any, known: Found) -> Any:
    """What was made for something that a step left, with known containers where they belong. known: by the id of what
    the step left."""
    if id(left) in known:
        return known[id(left)]
    if next(containers(left, tuples=True), None) is None:
        return made
    kind = cast("Any", type(made))
    if is_tuple(kind):
        parts = [put_back(a, b, known) for a, b in zip(left, made, strict=True)]
        return kind._make(parts) if hasattr(kind, "_make") else tuple(parts)
    if isinstance(made, list):
        cast("Any", made)[:] = [put_back(a, b, known) for a, b in zip(left, cast("Any", made), strict=True)]
    elif isinstance(made, dict):
        for key, content in cast("Any", made).items():
            made[key] = put_back(left[key], content, known)
    else:
        before = attributes(left)
        for name, content in [*attributes(made).items()]:
            put_attribute(made, name, put_back(before[name], content, known))
    return cast("Any", made)
