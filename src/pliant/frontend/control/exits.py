"""How a loop leaves names and allocations, made of the last step's values."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast, final

from pliant.core.ir import Value, Values, param
from pliant.frontend.array import TracedArray
from pliant.frontend.bounded import extents_of, whole_of
from pliant.frontend.control.carried import Carried, array_of, bases
from pliant.frontend.control.choices import Choices
from pliant.frontend.control.contents import traced_contents
from pliant.frontend.control.either import Either, either
from pliant.frontend.control.filling import Filling
from pliant.frontend.control.grown import Grown
from pliant.frontend.control.growth import is_copied
from pliant.frontend.control.handed import Handed
from pliant.frontend.control.join import is_mutable, moved
from pliant.frontend.control.objects import containers, flatten, has_objects, in_region, is_kept, seal, unflatten
from pliant.frontend.control.origins import Origins
from pliant.frontend.control.partly import may_be_asked, value_in
from pliant.frontend.control.picked import is_of_inner, outside, roots
from pliant.frontend.control.plan import Captured, Carry, Heads, NotInductive, Plan, Recipe, Tree
from pliant.frontend.control.region import Place, Region
from pliant.frontend.control.signals import CODE, CONTINUE, FELL, TRUTH, Signal
from pliant.frontend.control.states import is_member, one_of_words, state_of, words_of
from pliant.frontend.control.swaps import Swaps
from pliant.frontend.control.tables import Shared, Table, share
from pliant.frontend.control.unbound import Unbound
from pliant.frontend.control.unsized import as_array, extent_of, is_unsized, with_extents
from pliant.frontend.convert import as_traced, value_of
from pliant.frontend.missing import MISSING
from pliant.frontend.number import Kind, kind_of, with_kind
from pliant.frontend.selection import all_listed
from pliant.frontend.sizes import Size, size_of
from pliant.frontend.strides import order_of
from pliant.frontend.text import known_text
from pliant.frontend.tracing import Storage, current
from pliant.frontend.view import Lens


@final
class Exit:
    """How names and allocations are left, made of the last step's values."""

    def __init__(self, plan: Plan, made: Region, heads: Heads, shared: Shared) -> None:
        self.plan, self.region, self.heads, self.shared = plan, made, heads, shared
        self.origins = Origins(plan, made, heads)
        self.origins.check()
        self.carries: list[Carry] = []
        self.users: dict[int, int] = {}  # of the step's allocations, by id
        self.stores: dict[int, Storage] = {}
        self.swaps = Swaps()
        self.stacks: list[Value] = []
        self.handed = Handed(self)
        self.choices = Choices(self)
        self.others: list[Any] = []  # what somebody may read after the loop, but what is carried
        self.returned: Any = None
        self.grown = Grown(self)
        self.carried = Carried(self)

    def captured(self, signal: Signal | None, extra: Any) -> Captured:
        """The step, closed."""
        storages: list[tuple[Storage, int]] = []
        for storage, (start, p) in self.heads.contents.items():
            storages.append((storage, len(self.carries)))
            self.carries.append(Carry(p, start, storage.value))
        result = signal.result if signal is not None else MISSING
        after = {place: place.get() for place in dict.fromkeys((*self.plan.plans, *self.plan.bound))}
        counted = {place: content for place, content in after.items() if not self.stays(place, content)}
        left = [value_in(content) for place, content in counted.items() if self.is_kept(place)]
        after = dict(sorted(after.items(), key=lambda item: self.has_choice(item[1])))
        others = [p for p in after if self.is_read(p) and (p not in self.plan.plans or p in self.plan.copied)]
        self.others = [value_in(after[place]) for place in others]
        self.returned = None if result is MISSING else result
        self.count([*left, *self.grown.enter(signal), result])
        self.grown.check(left)
        self.origins.check_left([*left, *[added for _, added in self.grown.lists]])
        self.put_into_lists(left)
        self.handed.enter()
        exits = [*self.grown.left(self.users, self.origins), *map(self.changed, self.plan.tables.values())]
        for place, content in after.items():
            tree = self.plan.plans.get(place)
            if tree is not None:
                exits.append((place, _sealed(content, self.again(place, content, tree))))
            elif place not in self.plan.plans:
                kept = self.is_kept(place)
                exits.append((place, _sealed(content, self.last(place, content)) if kept else _unread(place)))
        made = None if result is MISSING else _sealed(result, self.recipe(result))
        writes = [*self.swaps.close(self.region, self.carries), *self.choices.writes]
        self.choices.check()
        return Captured(
            self.region,
            self.heads.index,
            self.carries,
            storages,
            exits,
            signal,
            made,
            self.plan.period,
            self.stacks,
            extra,
            writes,
        )

    def has_choice(self, content: Any) -> bool:
        """Whether something has arrays that are one of several, by conditions."""
        arrays = [as_array(x) for x in self.leaves(content)[0]]
        return any([isinstance(cast("Any", x.storage), Either) for x in arrays if x is not None])

    def stays(self, place: Place, content: Any) -> bool:
        """Whether a name stays bound to a list that the steps add to: what is added is told apart from it."""
        return self.plan.plans.get(place, place) is None and self.plan.grows(content)

    def is_kept(self, place: Place) -> bool:
        """Whether somebody may read what is there after the loop."""
        return place in self.plan.plans or str(place.key) in self.plan.kept

    def is_read(self, place: Place) -> bool:
        """Whether somebody may read what is there after the loop, but for later steps."""
        return place.kind != "name" or str(place.key) in self.plan.kept

    def count(self, contents: Sequence[Any]) -> None:
        """How many names are bound to each of the step's allocations."""
        for content in contents:
            for leaf in self.leaves(content)[0]:
                for storage in bases(leaf):
                    self.users[id(storage)] = self.users.get(id(storage), 0) + 1
                    if is_of_inner(storage, self.region.trace):
                        share([TracedArray(s) for s in roots(storage)])
        made = [x for content in contents for x in containers(content) if in_region(self.region.born)(x)]
        objects = [id(x) for x in made if not isinstance(x, list | dict | deque) and not is_kept(x)]
        if len(set(objects)) < len(objects):
            raise NotInductive("two names are bound to an object that a step makes")

    def leaves(self, content: Any) -> tuple[list[Any], Any]:
        """The leaves of what a step leaves, and their structure; objects that it made are taken apart."""
        return flatten(content, in_region(self.region.born))

    def again(self, place: Place, content: Any, tree: Tree) -> Recipe:
        """How to make what a step is given again, whose lists and objects may be those from before the loop."""
        return self.origins.recipe(content, self.carried.recipe(place, tree, content), self.heads.entry[place])

    def changed(self, table: Table | Filling) -> tuple[Place, Recipe]:
        """How to make what a list holds whose elements the steps change."""
        first = len(self.carries)
        ends = table.parts(table.place.get())
        self.carries += [Carry(p, partial(table.start, n), ends[n]) for n, p in enumerate(table.params)]
        return table.place, lambda results: table.after(results[first : len(ends) + first])

    def put_into_lists(self, contents: Sequence[Any]) -> None:
        """NotInductive if a later step may write to arrays or objects that are elements of a list, and of which it has
        copies; contents: what names are bound to."""
        for table in self.plan.tables.values():
            now: list[Any] = [*table.place.get()]
            if table.element.has_arrays or has_objects([*now, *table.before]):
                share(now)
                share(table.before, are_put=isinstance(table, Table))
        self.origins.check_copied(self.shared.objects)
        storages = dict.fromkeys(self.shared.storages)
        bound = {s for content in contents for leaf in flatten(content)[0] for s in bases(leaf)}
        is_bound = not bound.isdisjoint(storages) and any([s.is_touched for s in self.heads.storages()])
        if is_bound or any([s in self.region.written for s in storages]):
            raise NotInductive("an array that was put into a list is written in a later step")

    def picked(self, storage: Storage, made: Recipe) -> Recipe:
        """How to make an array that is written when what it is a copy of is."""
        remember = outside(storage, self.region.trace, self.slot)
        if remember is None:
            return made

        def recipe(results: Values) -> Any:
            x = made(results)
            remember(results)(x.storage)
            return x

        return recipe

    def kept(self, first: Any, made: Recipe) -> Recipe:
        """What is made if there is a step, else the array that was there before."""
        ran = self.plan.ran
        if ran is True or type(first) is not TracedArray or not is_mutable(first):
            return made

        def recipe(results: Values) -> Any:
            new = made(results)
            if not is_mutable(new) or new.type != first.type:
                return new
            return either(current(), value_of(ran, "bool"), new, first, known=new.value)

        return recipe

    def last(self, place: Place, content: Any) -> Recipe:
        """How to make what the last step left in a name that each step binds anew."""
        if content is MISSING:
            return _missing
        if type(content) is Unbound and not content.ways and words_of(content) is not None:
            return self.known_or_word(content)
        if type(content) is Unbound:
            value, ways = self.recipe(value_in(content)), content.ways - {FELL, CONTINUE}  # of earlier steps, too
            return lambda results: content.held(ways, value(results)) if content.ways else content
        if self.plan.ran is not True and may_be_asked(self.heads.entry[place]):
            value, ran = self.recipe(content), with_kind(value_of(self.plan.ran, "bool"), TRUTH)
            return lambda results: Unbound.local(str(place.key), ran, value(results))
        if self.plan.ran is not True:
            made = Unbound(
                f"{place.text} has a value only if the loop, whose steps are counted at run time, has a step",
                "give it a value before the loop that has the same type",
                needs=(value_of(self.plan.ran, "bool"),),
            )
            return lambda _: made
        return self.recipe(content)

    def recipe(self, content: Any) -> Recipe:
        """How to make an object of the results."""
        if (known := self.origins.known(content)) is not None and next(containers(content), None) is content:
            return lambda _: known
        leaves, structure = self.leaves(content)
        parts = [self.leaf(leaf, None, None) for leaf in leaves]
        return self.origins.recipe(content, lambda results: unflatten(structure, [part(results) for part in parts]))

    def leaf(self, x: Any, n: int | None, kind: Kind | None) -> Recipe:
        """How to make a leaf; n is the carry that it is."""
        if is_unsized(x):
            return self.last_unsized(all_listed(x))
        if type(x) is not TracedArray and n is None:
            return self.known_or_word(x)
        array = as_traced(x)
        if not is_mutable(array):
            known = self.known(array) if n is None else None
            if known is not None:
                return lambda _: known
            if n is None and is_member(x):
                return self.known_or_word(x)
            number = self.slot(array.value) if n is None else n
            found = kind or kind_of(array)
            return lambda results: with_kind(results[number], found)
        storage: Any = array.storage
        lenses = array.lenses
        if not self.region.owns(storage) or isinstance(storage, Either):
            return self.view(array)
        shared = self.grown.bound(array, None if n is None else lambda results: results[n])
        if shared is not None:
            return shared
        if storage.copy_of and lenses:
            return self.seen(self.leaf(TracedArray(storage), None, None), lenses)
        if self.users[id(storage)] == 1 or is_copied(storage):
            number, own = self.slot(array.value) if n is None else n, kind_of(array)
            made = partial(array_of, number, own, writeable=not is_copied(storage))
            return self.handed.recipe(array, self.picked(storage, made))
        number = self.slot(storage.value)
        order = order_of(TracedArray(storage))
        made = self.seen(lambda results: TracedArray(self.store(number, results, order)), lenses)
        return self.handed.recipe(array, made)

    def seen(self, whole: Recipe, lenses: tuple[Lens, ...]) -> Recipe:
        """How to make a view of an allocation that a step has made."""
        shown = [moved(lens, self.region.trace.scope.number, self.slot) for lens in lenses]
        return lambda results: TracedArray(whole(results).storage, tuple([lens(results) for lens in shown]))

    def known_or_word(self, x: Any) -> Recipe:
        """How to make an object that is no number: one of some words by its number, any other as it is."""
        words = words_of(x) if type(x) in (Unbound, TracedArray) else None
        if words is None:
            kept = self.known_object(x)
            return lambda _: kept
        number = self.slot(value_of(state_of(x, words).number))
        return lambda results: one_of_words(with_kind(results[number], CODE), words)

    def last_unsized(self, x: Any) -> Recipe:
        """How to make an array of which it is known only at run time how many elements it has."""
        whole = self.leaf(whole_of(x), None, None)
        known = [self.known_size(n) if isinstance(n, Size) else n for n in extents_of(x)]
        slots = [self.slot(size_of(n).value) if k is None else -1 for n, k in zip(extents_of(x), known, strict=True)]

        def made(results: Values) -> Any:
            array = whole(results)
            rows = zip(known, slots, array.shape, strict=True)
            return with_extents(array, [extent_of(results[n], m) if k is None else k for k, n, m in rows])

        return made

    def known_object(self, x: Any) -> Any:
        """An object that is left as a step has it; NotInductive if it holds numbers of that step."""
        if type(x) is Unbound:
            raise x.refused()
        changed = {*self.plan.bound, *self.plan.plans, *self.region.effects}
        for place, content in traced_contents(x):
            if self.region.owns(content.storage) and place not in changed:
                raise NotInductive("a function or an object that a step makes holds numbers of that step")
        return known_text(x, "kept after the step")

    def view(self, x: TracedArray) -> Recipe:
        """A view of an allocation from outside, or of one of two."""
        storage: Any = x.storage
        if not isinstance(storage, Either) or not self.region.owns(storage):
            return self.seen(lambda _: TracedArray(cast("Storage", storage)), x.lenses)
        one, other = (self.leaf(part, None, None) for part in (storage.one, storage.other))
        c = self.slot(storage.condition)

        def made(results: Values) -> TracedArray:
            return TracedArray(cast("Storage", Either(current(), results[c], one(results), other(results))))

        return self.seen(made, x.lenses)

    def known(self, x: TracedArray) -> Any:
        """A number of Python's after the last step, if it is known."""
        if x.value in self.plan.told and not self.plan.ends:
            return self.plan.told[x.value]
        return self.known_size(size_of(x)) if x.is_weak and x.type.dtype == "i64" else None

    def known_size(self, size: Size) -> int | None:
        """A size after the last step, if it is known: one that depends on the number of the step only."""
        length = self.plan.length
        if length is None or self.plan.ends or any(atom is not self.heads.index for atom, _ in size.terms):
            return None
        return size.start + sum(factor for _, factor in size.terms) * (length - 1)

    def store(self, n: int, results: Values, order: Any) -> Storage:
        """The allocation that several names are bound to."""
        if n not in self.stores:
            self.stores[n] = Storage.holding(current(), results[n])
            self.stores[n].strides = order
        return self.stores[n]

    def stack(self, value: Value) -> Callable[[Values], Value]:
        """The rows of a value, one of each step, among the results."""
        number = len(self.stacks)
        self.stacks.append(value)
        return lambda results: results[len(self.carries) + number]

    def slot(self, value: Value) -> int:
        """The number of the carry that ends as a value."""
        for n, carry in enumerate(self.carries):
            if carry.end is value:
                return n
        self.carries.append(Carry(param(value.type), None, value))
        return len(self.carries) - 1


def _sealed(content: Any, make: Recipe) -> Recipe:
    """How to make what stands for what a step left: if lists have copies of objects of that, also of this."""
    known = current().outermost.sealed
    if not any([known.get(id(x)) is x for x in containers(value_in(content))]):
        return make

    def made(results: Values) -> Any:
        x = make(results)
        seal(x)
        return x

    return made


def _missing(results: Values) -> Any:
    return MISSING


def _unread(place: Place) -> Recipe:
    """What is left in a name that nothing reads; it may be deleted."""
    made = Unbound(f"nothing reads {place.text} after the loop", "bind it again")
    return lambda _: made
