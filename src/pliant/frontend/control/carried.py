"""How a loop leaves the names that its steps carry: arrays, windows, counters, arrays of other sizes at each step."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, cast, final

from pliant.core.ir import Value, Values, const
from pliant.frontend.array import TracedArray, fresh
from pliant.frontend.bounded import Bounded, whole_of
from pliant.frontend.control.either import Either
from pliant.frontend.control.either import bases as bases_of
from pliant.frontend.control.formers import Former
from pliant.frontend.control.growth import is_copied
from pliant.frontend.control.items import INDEX
from pliant.frontend.control.join import is_mutable
from pliant.frontend.control.objects import flatten, unflatten
from pliant.frontend.control.picked import roots
from pliant.frontend.control.plan import Carry, Counter, LeafKind, NotInductive, Recipe, Tree
from pliant.frontend.control.region import Place
from pliant.frontend.control.swaps import Name
from pliant.frontend.control.tables import arrays_in, share
from pliant.frontend.control.tapered import Tapered
from pliant.frontend.control.unsized import Unsized, is_unsized
from pliant.frontend.control.windows import Window
from pliant.frontend.convert import as_traced, value_of
from pliant.frontend.number import Kind, kind_of, with_kind
from pliant.frontend.selection import all_listed
from pliant.frontend.tracing import Storage
from pliant.ops.compare import maximum

if TYPE_CHECKING:
    from pliant.frontend.control.exits import Exit


@final
class Carried:
    """The names that a step is given and leaves, in what leaves a loop."""

    def __init__(self, exit: Exit) -> None:
        self.exit, self.plan, self.heads, self.region = exit, exit.plan, exit.heads, exit.region

    def recipe(self, place: Place, tree: Tree, content: Any) -> Recipe:
        """How to make what a step is given again."""
        leaves, _ = self.exit.leaves(content)
        firsts, heads = self.heads.firsts(place), self.heads.leaves_of(place)
        rows = zip(firsts, heads, leaves, tree.kinds, self.heads.params[place], strict=True)
        parts = [self.leaf(place, *row) for row in rows]
        return lambda results: unflatten(tree.structure, [part(results) for part in parts])

    def leaf(self, place: Place, first: Any, head: Any, leaf: Any, kind: LeafKind | None, p: Value | None) -> Recipe:
        """How to make a leaf: `first` before the loop, `head` before the step and `leaf` after it."""
        match kind:
            case Counter():
                return partial(self.total, first, kind)
            case Former():
                return self.former(kind, as_traced(first), head, leaf)
            case Window():
                return self.window(kind, first, head, leaf)
            case Unsized():
                return self.unsized(place, kind, first, head, leaf)
            case Tapered():
                return self.tapered(place, kind, first, head, leaf)
            case Kind() if p is not None:
                self.exit.carries.append(Carry(p, first, value_of(leaf, kind.type.dtype)))
                return self.bound(place, first, head, leaf, len(self.exit.carries) - 1, kind)
            case _:
                return self.bound(place, first, head, leaf, None, kind)

    def bound(self, place: Place, first: Any, head: Any, leaf: Any, n: int | None, kind: Kind | None) -> Recipe:
        """How to make an array or a number that a name is bound to, and that carry n is."""
        if n is None or type(leaf) is not TracedArray:
            made = self.exit.kept(first, self.exit.leaf(leaf, n, kind))
        elif place in self.plan.copied:
            self.share(first, leaf)
            return self.exit.kept(first, partial(array_of, n, kind_of(leaf), writeable=False))
        elif isinstance(cast("Any", leaf.storage), Either) or place in self.plan.apart:
            made = self.chosen(place, first, head, leaf, n)
        else:
            made = self.exit.kept(first, self.exit.leaf(leaf, n, kind))
            if self.plan.has_swaps and type(first) is TracedArray and is_mutable(first):
                copy = self.exit.kept(first, partial(array_of, n, kind_of(leaf), writeable=False))
                name = Name(first, head.storage, leaf.storage, bool(leaf.lenses), n, copy)
                made = self.exit.swaps.recipe(name, made)
        return self.exit.choices.named(first, head, leaf, made) if self.exit.is_read(place) else made

    def share(self, *elements: Any) -> None:
        """NotInductive if the step writes to what names are bound to copies of, and are at the next step."""
        originals = [s for x in arrays_in(elements) for s in (x.storage, *roots(x.storage))]
        inner = [s for s in originals if self.region.owns(s) and not is_copied(s)]
        are_written = inner and any([s.is_touched for s in self.heads.storages()])
        if are_written or any([s in self.region.written for s in originals]):
            raise NotInductive("an array that another name is bound to a copy of is written in a later step")
        share(elements, are_put=False)

    def chosen(self, place: Place, first: Any, head: TracedArray, leaf: TracedArray, n: int) -> Recipe:
        """A name that some steps bind to a new array, by a condition."""
        if self.plan.has_swaps:
            raise NotInductive("its names are bound to other arrays at each step")
        kind, is_read, before = kind_of(leaf), self.exit.is_read(place), as_traced(first)
        if not is_mutable(before) or not (is_read or place in self.plan.apart):
            return lambda results: with_kind(results[n], kind)
        own = set(bases(leaf))
        if any(map(is_copied, own)):
            share([before])
            return self.exit.kept(first, partial(array_of, n, kind, writeable=False))
        is_local = place.kind == "name" and place in self.plan.bound  # nobody reads it after a return
        others = [
            x for content in (*self.exit.others, None if is_local else self.exit.returned) for x in flatten(content)[0]
        ]
        if is_read and any([own & self.reached(x) for x in others]):
            raise NotInductive(f"{place.text} is one of two arrays, by a condition known only at run time")
        return self.exit.choices.recipe(place, before, head, leaf, n)

    def reached(self, x: Any) -> set[Storage]:
        """The allocations that a leaf is a view of, and those that names are bound to now which were bound to them."""
        found = set(bases(x))
        for place in self.plan.plans if found else ():
            for head, leaf in zip(self.heads.leaves_of(place), self.exit.leaves(place.get())[0], strict=False):
                found |= set(bases(leaf)) if found & set(bases(head)) else set()
        return found

    def window(self, kind: Window, first: Any, head: TracedArray, leaf: TracedArray) -> Recipe:
        """A name that is bound to a window of an array: where that lies."""
        n = len(self.exit.carries)
        rows = zip(*map(kind.places, (head, first, leaf)), strict=True)
        self.exit.carries += [Carry(p, start, end) for p, start, end in rows]
        m = len(self.exit.carries)
        return lambda results: kind.at(results[n:m])

    def former(self, kind: Former, first: TracedArray, head: TracedArray, leaf: TracedArray) -> Recipe:
        """A name that is bound to the array that it was bound to before the loop, or to one that a step has made."""
        n, params = len(self.exit.carries), self.heads.parts[cast("Any", head.storage).one.storage]
        moved, content = kind.ends(first, leaf)
        self.exit.carries += [Carry(params[0], False, moved), Carry(params[1], first, content)]
        is_alone = all([self.exit.users.get(id(s), 0) < 2 for s in bases(leaf) if self.region.owns(s)])
        return lambda results: kind.at(first, results[n : n + 2], writeable=is_alone)

    def unsized(self, place: Place, kind: Unsized, first: Any, head: Bounded, leaf: Any) -> Recipe:
        """A name that is bound to an array of which it is known only at run time how many elements it has."""
        n, before, after = len(self.exit.carries), all_listed(first), all_listed(leaf)
        for j, p in enumerate(self.heads.parts[head.whole.storage]):
            self.exit.carries.append(Carry(p, partial(kind.part, before, j), kind.part(after, j)))
        m = len(self.exit.carries)
        whole = self.bound(place, whole_of(before), head.whole, whole_of(after), n, kind.kind)
        return lambda results: kind.made(whole(results), results[n + 1 : m])

    def tapered(self, place: Place, kind: Tapered, first: Any, head: Bounded, leaf: Any) -> Recipe:
        """A name that is bound to an array which each step makes shorter or longer by as much."""
        n, length, before, after = len(self.exit.carries), self.plan.length, all_listed(first), all_listed(leaf)
        array, [p] = whole_of(after), self.heads.parts[head.whole.storage]
        assert length is not None
        self.exit.carries.append(Carry(p, partial(kind.start, before), kind.end(p, after)))
        is_alone = all([self.exit.users.get(id(s), 0) < 2 for s in bases(array)])
        if not isinstance(cast("Any", array.storage), Either) and place not in self.plan.apart:
            whole = self.bound(place, whole_of(before), head.whole, array, n, kind.kind)
        elif is_alone and all([self.region.owns(s) and s not in self.heads.parts for s in bases(array)]):
            whole = partial(array_of, n, kind.kind, writeable=place not in self.plan.copied)
        else:
            raise NotInductive(f"{place.text} is one of two arrays, of other extents than before the step")
        return lambda results: kind.last(whole(results), length, is_alone=is_alone)

    def total(self, first: Any, kind: Counter, _: Values) -> Any:
        """What a counter is after the loop."""
        if self.plan.length is not None:
            return first + kind.step * self.plan.length
        count = fresh(maximum(value_of(self.plan.count, "i64"), const(0, "i64")))
        return with_kind(count.value, INDEX) * kind.step + first


def bases(x: Any) -> list[Storage]:
    """The allocations that a leaf is a view of."""
    array = whole_of(all_listed(x)) if is_unsized(x) else x
    return bases_of(array) if type(array) is TracedArray else []


def array_of(n: int, kind: Kind, results: Values, *, writeable: bool) -> TracedArray:
    """The array that a result is."""
    made = with_kind(results[n], kind)
    made.storage.writeable, made.storage.is_copy = writeable, not writeable
    return made
