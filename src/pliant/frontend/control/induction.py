"""The search for what a loop of the user's program carries from step to step.

A step is traced on trial, again and again, until what it leaves is what it was given: names bound to the
same allocations or to new ones, numbers of the same types. `a, b = b, a` repeats after two steps: those are
one step of the loop then, and nothing is copied.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast, final

import numpy as np

from pliant.errors import PliantError
from pliant.frontend.array import TracedArray
from pliant.frontend.bounded import whole_of
from pliant.frontend.control.carried import bases
from pliant.frontend.control.changedlists import Lists
from pliant.frontend.control.copies import any_same
from pliant.frontend.control.either import Either, is_new_or, is_twin, may_be_one
from pliant.frontend.control.exits import Exit
from pliant.frontend.control.flags import is_nothing, opened
from pliant.frontend.control.formers import Former, former_of
from pliant.frontend.control.growth import is_copied
from pliant.frontend.control.join import PLAIN, is_mutable
from pliant.frontend.control.joineddicts import in_other_order
from pliant.frontend.control.objects import containers, flatten, flatten_like, in_region, is_own
from pliant.frontend.control.origins import AGAIN
from pliant.frontend.control.partly import unbound
from pliant.frontend.control.plan import Captured, Counter, Heads, LeafKind, Longer, NotInductive, Plan, Tree, growth
from pliant.frontend.control.region import Place, Region, region
from pliant.frontend.control.signals import BREAK, RETURN, Signal, possible_of
from pliant.frontend.control.states import is_member
from pliant.frontend.control.tables import Shared, arrays_in, share, sharing
from pliant.frontend.control.tapered import STEPS, Tapered, tapered_of
from pliant.frontend.control.unbound import Unbound
from pliant.frontend.control.unsized import Unsized, as_array, is_array, is_shorter, is_unsized
from pliant.frontend.control.windows import window_of
from pliant.frontend.control.words import text_of
from pliant.frontend.convert import as_traced
from pliant.frontend.missing import MISSING
from pliant.frontend.number import Kind, is_exact, is_number, kind_of
from pliant.frontend.selection import all_listed
from pliant.frontend.tracing import Storage
from pliant.frontend.view import is_static

ROUNDS = 12
PERIODS = 4


def captured(plan: Plan) -> Captured:
    """The step, once the plan holds; NotInductive if none does."""
    carried = plan.live if plan.ran is True else plan.live | plan.kept  # without steps names stay as they were
    for place in plan.bound:
        content = place.get()
        if str(place.key) in carried and not is_nothing(content, is_read=str(place.key) in plan.live):
            plan.plans[place] = plan.recalled.get(place) or _first_plan(content)
    for _ in range(ROUNDS):
        try:
            found = _tried(plan)
        except (NotInductive, PliantError):
            if plan.fills or not plan.growths:
                raise
            plan.fills = True
            plan.growths.clear()
            continue
        except Longer as error:
            if not plan.is_static and not plan.has_swaps:
                _exchange(plan, error.storages)
                continue
            plan.period += 1
            plan.growths.clear()
            if plan.period > PERIODS or not plan.is_static:
                raise NotInductive("its names are bound to other arrays at each step", is_late=True) from None
            continue
        if found is not None:
            return found
    raise NotInductive("the types of its state change from step to step", is_of_types=True)


def _tried(plan: Plan) -> Captured | None:
    """Trace a step by the plan; None if the plan had to be changed."""
    plan.visits.clear()
    before = {place: place.get() for place in dict.fromkeys((*plan.bound, *plan.plans))}
    entry = before | plan.flagged
    try:
        with sharing() as shared, region(is_loop=True) as made:
            tried = Round(plan, made, entry, shared)
            found = tried.run()
        if found is None or tried.opened:
            shared.take_back()
        for place, first in tried.opened.items():
            entry[place] = plan.flagged[place] = first()
            plan.plans[place] = _first_plan(entry[place])
        return None if tried.opened else found
    finally:
        for place in plan.bound:
            place.set(before[place])


def _exchange(plan: Plan, storages: Sequence[Storage]) -> None:
    """Carry what the arrays hold that names exchange."""
    plan.has_swaps = True
    plan.storages = [s for s in plan.storages if s not in storages]
    for place in plan.plans:
        content = place.get()
        if type(content) is TracedArray and content.storage in storages:
            plan.plans[place] = Tree(flatten(content)[1], (kind_of(content),))


def _is_unknown(content: Any) -> bool:
    """Whether nobody can say if a place has a value: any use of it is an error."""
    return type(content) is Unbound and not content.is_flagged


def _first_plan(content: Any) -> Tree | None:
    """Traced numbers are carried from the start; other things stay, until a step shows otherwise."""
    leaves, structure = flatten(content)
    are_carried = [type(x) is TracedArray and not (is_mutable(x) or is_member(x)) for x in leaves]
    kinds = [kind_of(x) if is_carried else None for x, is_carried in zip(leaves, are_carried, strict=True)]
    return Tree(structure, tuple(kinds)) if any(kinds) else None


@final
class Round:
    """One trial of a plan."""

    def __init__(self, plan: Plan, made: Region, entry: dict[Place, Any], shared: Shared) -> None:
        self.plan, self.region, self.entry, self.shared = plan, made, entry, shared
        self.heads = Heads(plan, entry)
        self.lists = Lists(plan, made, self.heads, entry)
        self.moves: dict[Storage, Storage | None] = {}
        self.opened: dict[Place, Callable[[], Any]] = {}  # what needs a flag, and what makes what it holds then
        self.pairs: list[tuple[TracedArray, TracedArray]] = []  # what names are bound to before the step, and after it
        self.read: list[TracedArray] = []  # of the former, those of names that are read after the loop
        self.loose = False  # whether the place at hand may be one of several arrays that keep other names

    def run(self) -> Captured | None:
        """Trace the step, and see whether it keeps the state."""
        self.heads.enter()
        signal: Signal | None = None
        for j in range(self.plan.period):
            if possible_of(signal) & {BREAK, RETURN}:
                raise NotInductive("it may end between steps that are taken together")
            for place in self.plan.bound:
                if place not in self.plan.plans:
                    place.set(unbound(self.entry[place]))
            signal = self.plan.step(self.heads.index, j)
        self.plan.watch()
        extra = self.plan.finish(signal)
        self.region.tell_apart()
        self.opened = opened(self.plan, self.entry, self.region, signal)
        self.plan.may_end = bool(possible_of(signal) & {BREAK, RETURN})
        if self.opened or self.changed():
            return None
        return Exit(self.plan, self.region, self.heads, self.shared).captured(signal, extra)

    def changed(self) -> bool:
        """Adapt the plan to what the step did; whether that was necessary."""
        plan = self.plan
        if let_go := self.lists.let_go():
            plan.plans |= let_go
            return True
        before = dict(plan.plans), list(plan.storages), self.lists.known(), set(plan.copied), set(plan.apart)
        plan.storages += [s for s in self.region.written if s not in self.heads.contents and s not in self.heads.probes]
        effects = self.region.effects
        lists = {p.number: n for n, p in enumerate(effects) if p.kind == "whole" and type(p.holder) is list}
        rows = [number for p in effects for number in p.rows]
        for n, (place, content) in enumerate(effects.items()):
            if place in plan.plans or place in plan.bound or place.number in rows:
                continue
            if place.kind == "item" and lists.get(place.number, n) < n:  # of a list that the step has changed before
                continue
            if self.lists.are_told(place, content):
                continue
            if place.kind == "whole" and type(place.holder) is list and not plan.fills:
                plan.fills = True
                return True
            if place.kind in ("whole", "rows") or content is MISSING:
                raise self.lists.other(place, content)
            self.heads.bound[place] = self.entry[place] = content
            plan.plans[place] = None
        whole = [p.number for p in plan.tables if p.kind == "whole"]
        for place in [p for p in plan.plans if p.kind == "item" and p.number in (*whole, *rows)]:
            del plan.plans[place]
        for place in [p for p in plan.tables if p.number in rows]:
            del plan.tables[place]
        self.check_containers()
        self.moves = self.moved()
        self.pairs = self.ends()
        for place in list(plan.plans):
            if place not in plan.plans:
                continue
            tree = plan.plans[place]
            plan.plans[place] = self.next_plan(place, place.get())
            if tree is None and plan.plans[place] is not None:
                self.forget(place)
        plan.copied |= {place for place in plan.plans if self.has_copies(place.get())}
        apart = {s for place in plan.apart for s in self.heads.allocations(place)}
        plan.storages = [s for s in plan.storages if s not in apart]
        return (dict(plan.plans), list(plan.storages), self.lists.known(), plan.copied, plan.apart) != before

    def has_copies(self, content: Any) -> bool:
        """Whether what a name is bound to has arrays that the step made, and that lists have copies of."""
        return any([is_copied(x.storage) and self.region.owns(x.storage) for x in arrays_in([content])])

    def leaves(self, content: Any) -> tuple[list[Any], Any]:
        """The leaves of what a name is bound to after the step, and their structure; what the step made is taken
        apart."""
        return flatten(content, in_region(self.region.born))

    def check_containers(self) -> None:
        """NotInductive if it matters which list or object a name is bound to."""
        if not (changed := self.heads.changed()):
            return
        if self.plan.is_first and (text := self.lists.seen(changed)):
            raise NotInductive(f"{text} is changed, and then bound to another object", is_late=True)
        trees = [place.get() for place in self.plan.plans]
        trees += [x for growth in self.plan.growths.values() for x in growth.added() or ()]
        if any_same([x for tree in trees for x in containers(tree)]):
            raise NotInductive(AGAIN)

    def forget(self, place: Place) -> None:
        """What a name is bound to is another list or object at each step from now on: what is known of those that it
        is bound to before the loop is no more true."""
        gone = [id(x) for x in containers(self.entry[place])]
        for found in (self.plan.plans, self.plan.tables, self.plan.growths):
            for other in [p for p in found if p.number in gone]:
                found.pop(other)

    def ends(self) -> list[tuple[TracedArray, TracedArray]]:
        """The arrays that names are bound to before the step, and after it."""
        found = list[tuple[TracedArray, TracedArray]]()
        for place in self.plan.plans:
            for old, new in zip(self.heads.leaves_of(place), self.leaves(place.get())[0], strict=False):
                a, b = as_array(old), as_array(new)
                if a is not None and b is not None:
                    found.append((a, b))
                    self.read += [a] if place.kind != "name" or str(place.key) in self.plan.kept else []
        return found

    def moved(self) -> dict[Storage, Storage | None]:
        """By the allocation that a name was bound to before the step: the one that it is bound to after it,
        None for one that the step made."""
        found: dict[Storage, Storage | None] = {}
        for place in self.plan.plans:
            for old, new in zip(self.heads.leaves_of(place), self.leaves(place.get())[0], strict=False):
                if type(old) is TracedArray and type(new) is TracedArray and is_mutable(old) and old is not new:
                    found[old.storage] = None if self.region.owns(new.storage) else new.storage
        return found

    def next_plan(self, place: Place, after: Any) -> Tree | None:
        """The plan for a place, given what the step left there."""
        tree, head = self.plan.plans[place], self.heads.bound[place]
        if (after is head and tree is None) or (place.kind == "item" and _is_unknown(head) and _is_unknown(after)):
            return tree
        if after is MISSING or _is_unknown(after):
            why, needs = (f", since {after.message}", after.needs) if type(after) is Unbound else ("", ())
            is_typed = type(after) is Unbound and bool(after.ways) and is_number(after.value)  # see `name_by_ways`
            raise NotInductive(f"{place.text} has no value after a step{why}", is_of_types=is_typed, needs=needs)
        old, structure = flatten(head) if tree is None else (self.heads.leaves[place], tree.structure)
        new, found = self.leaves(after)
        if structure != found and tree is None:  # what the name is bound to before the loop is taken apart
            old, structure = flatten(head, is_own)
        if structure != found:
            raise NotInductive(
                f"{place.text} is {text_of(head)} before a step and {text_of(after)} after it", is_late=True
            )
        if in_other_order(head, after):
            raise NotInductive(f"the keys of {place.text} come in another order after a step", is_late=True)
        first = flatten_like(self.entry[place], structure)
        kinds = tree.kinds if tree else (None,) * len(old)
        self.loose = False
        made = [self.leaf(place, *row) for row in zip(first, old, new, kinds, strict=True)]
        if self.loose:
            self.plan.copied.add(place)
        return Tree(structure, tuple(made)) if any(made) or (tree and not any(tree.kinds)) else None

    def leaf(self, place: Place, first: Any, old: Any, new: Any, kind: LeafKind | None) -> LeafKind | None:
        """The kind of a leaf: `first` before the loop, `old` before the step and `new` after it."""
        text = place.text
        if isinstance(kind, Counter):
            return kind if growth(old, new) == kind.step else kind_of(as_traced(new))
        if new is old:
            return kind
        if kind is None or isinstance(kind, Tapered):
            tapered = self.tapered(place, all_listed(first), old, all_listed(new))
            if tapered is not None and (kind is None or kind == tapered):
                return tapered
        if isinstance(kind, Tapered):
            raise NotInductive(f"{text} is {text_of(old)} before a step and {text_of(new)} after it", is_late=True)
        if is_unsized(new) or isinstance(kind, Unsized) or (not self.plan.is_static and is_shorter(new, old)):
            return self.unsized(place, all_listed(first), old, all_listed(new), kind)
        if not is_number(new) or not is_number(old):
            if type(new) is type(old) and isinstance(new, PLAIN) and new == old:
                return None
            raise NotInductive(f"{text} is {text_of(old)} before a step and {text_of(new)} after it", is_late=True)
        if kind is None and type(new) is type(old) and not isinstance(new, TracedArray | np.ndarray) and new == old:
            return None
        may_count = kind is None and type(first) is int and self.plan.count is not None and not self.plan.ends
        if may_count and (step := growth(old, new)) is not None:
            return Counter(step)
        x = as_traced(new)
        if is_mutable(x):
            before = as_traced(old)
            if x.storage is before.storage and x.lenses == before.lenses:
                return kind
            window = window_of(as_traced(first), x)
            if window is not None:
                return window
            former = self.former(as_traced(first), before, x)
            if former is not None:
                return former
            self.check_copy(text, before, x)
            self.check_identity(place, as_traced(first), before, x)
        return self.settled(text, first, kind if isinstance(kind, Kind) else None, kind_of(x))

    def former(self, first: TracedArray, old: TracedArray, new: TracedArray) -> Former | None:
        """The plan for a name that a condition binds to another array, if the one that it is bound to before the loop
        is written in it, and nobody writes to one that a step has bound it to by another name."""
        written = self.region.written
        if not isinstance(cast("Any", new.storage), Either) or not is_mutable(first):
            return None
        others = [a for a, b in self.pairs if not (b is new and is_twin(a, old)) and may_be_one(b, new)]
        if any([s in written or self.heads.written(s, written) for x in others for s in bases(x)]):
            return None
        if not any([self.heads.written(s, written) for s in bases(first)]):
            return None
        return former_of(first, old, new, self.region)

    def unsized(self, place: Place, first: Any, old: Any, new: Any, kind: Any) -> Unsized:
        """What a name is that is bound to an array of which it is known only at run time how many elements it has."""
        text = place.text
        known = kind if isinstance(kind, Unsized) else Unsized.of(first) if is_array(first) else None
        made = known.joined(Unsized.of(new)) if known is not None and is_array(new) else None
        if known is None or made is None:
            raise NotInductive(f"{text} is {text_of(old)} before a step and {text_of(new)} after it", is_late=True)
        if made.room != known.room:
            reason = f"{text} may have more elements after a step than before it"
            raise NotInductive(reason, is_late=kind is None, needs=(*made.counts(first), *made.counts(new)))
        if not made.is_exact(first):
            raise NotInductive(
                f"{text} is {text_of(first)} before the loop and {text_of(new)} after a step", is_of_types=True
            )
        before, whole = as_array(old), whole_of(new)
        if before is not None and (whole.storage, whole.lenses) != (before.storage, before.lenses):
            self.check_part(place, whole_of(first), before, whole)
        return made

    def tapered(self, place: Place, first: Any, old: Any, new: Any) -> Tapered | None:
        """What a name is that is bound to an array which each step makes shorter or longer by as much, in a loop of
        enough steps; None if it is something else."""
        length = self.plan.length
        if length is None or length < STEPS or self.plan.ends:
            return None
        found = tapered_of(first, all_listed(old), new, length)
        if found is not None:
            self.check_part(place, whole_of(first), whole_of(old), whole_of(new))
        return found

    def check_part(self, place: Place, first: TracedArray, old: TracedArray, new: TracedArray) -> None:
        """NotInductive if it matters which allocation a name is bound to, to as much of it as is known at run time."""
        heads, written = self.heads.storages(), self.region.written
        if isinstance(cast("Any", new.storage), Either) or (self.region.owns(new.storage) and new.storage not in heads):
            self.check_identity(place, first, old, new)
            return
        is_written = any([self.heads.written(s, written) for s in (*heads, *bases(first), *bases(new))])
        if self.plan.is_static or is_written:
            raise NotInductive(f"{place.text} is bound to a part of another array", is_late=True)
        share([new, first])
        self.loose = True

    def check_copy(self, text: str, old: TracedArray, new: TracedArray) -> None:
        """NotInductive if a name is bound to a part of an array at a traced place, and a copy of it would not do."""
        storage: Any = new.storage
        if isinstance(storage, Either) or self.region.owns(storage) or is_static(new.lenses):
            return
        if storage in self.region.written or (self.region.owns(old.storage) and old.storage.is_touched):
            raise NotInductive(f"{text} is bound to another part of an array that is written", is_late=True)

    def check_identity(self, place: Place, first: TracedArray, old: TracedArray, new: TracedArray) -> None:
        """Longer or NotInductive if it matters which allocation a name is bound to."""
        written = self.region.written
        self.check_former(place, old, new)
        others = [a for a, b in self.pairs if not (b is new and is_twin(a, old)) and may_be_one(b, new)]
        if isinstance(cast("Any", new.storage), Either):
            self.check_choice(place, first, old, new, others)
            return
        if others and any([self.heads.written(s, written) for x in (old, *others) for s in bases(x)]):
            reason = f"{place.text} shares memory with another name that is written in a later step"
            raise NotInductive(reason, is_late=True)
        if not self.region.owns(new.storage) and is_static(new.lenses):
            self.check_chain(place.text, new.storage)
        if any([self.heads.written(s, written) for s in bases(first)]):
            self.keep_apart(place, first)
        if any([self.heads.written(s, written) for s in bases(old)]):
            self.check_handed(place, new)

    def keep_apart(self, place: Place, first: TracedArray) -> None:
        """Carry what an array holds that a name is bound to before the loop, and that is written; NotInductive if that
        cannot be."""
        is_callers = any([s.index is not None or s.source is not None for s in bases(first)])
        if not (self.plan.is_first or is_callers) or not is_mutable(first):
            return
        if (self.plan.is_static and self.plan.is_first) or self.plan.has_swaps:
            raise NotInductive(f"{place.text} is written, and bound to another array", is_late=True)
        self.plan.apart.add(place)

    def check_handed(self, place: Place, new: TracedArray) -> None:
        """Keep apart the arrays from before the loop that a name is bound to in later steps, which write it, since it
        has them from other names."""
        for other in self.plan.plans if not self.plan.has_swaps else ():
            rows = zip(self.heads.leaves_of(other), self.heads.firsts(other), self.leaves(other.get())[0], strict=False)
            for head, first, leaf in rows:
                if type(head) is not TracedArray or head.storage is not new.storage or other is place:
                    continue
                if new.lenses:
                    raise NotInductive(f"{place.text} is bound to a part of another array, and written in a later step")
                self.keep_apart(other, as_traced(first))
                self.check_handed(other, as_traced(leaf))

    def check_former(self, place: Place, old: TracedArray, new: TracedArray) -> None:
        """NotInductive if a name is bound to what another one was, which a third one may be since an earlier step, and
        that matters."""
        for a, b in [(a, b) for a, b in self.pairs if a is not old and a.storage in bases(new)]:
            for third in [c for c, d in self.pairs if c is not a and c is not old and may_be_one(d, b)]:
                is_read = all([any([x is y for y in self.read]) for x in (old, third)])
                if is_read or any([self.heads.written(s, self.region.written) for x in (old, third) for s in bases(x)]):
                    raise NotInductive(f"{place.text} may be an array of an earlier step that has another name")

    def check_choice(
        self, place: Place, first: TracedArray, old: TracedArray, new: TracedArray, others: Sequence[TracedArray]
    ) -> None:
        """NotInductive if it matters which of several arrays a name is bound to, by a condition. others: the arrays of
        names that may be bound to the same one."""
        written, heads = self.region.written, self.heads
        is_own = is_new_or(old, new, self.region)
        befores = [x for s in bases(new) if (x := heads.given(s)) is not None and s is not old.storage]
        outside = {s for x in (first, new, *befores) for s in bases(x)} - set(bases(old) if is_own else ())
        is_written = any([heads.written(s, written) for x in (old, *others) for s in bases(x)])
        if (is_written and (others or not is_own)) or any([heads.written(s, written) for s in outside & set(written)]):
            raise NotInductive(f"{place.text} is one of two arrays, by a condition known only at run time")
        if not is_own:  # nobody writes to any of them: what it holds is enough
            share([new, *befores])
            self.loose = True
        elif is_written:
            self.plan.apart.add(place)

    def check_chain(self, text: str, start: Storage) -> None:
        """Longer if names are bound to each other's allocations, around; NotInductive if one will be bound to
        the same allocation from now on. Otherwise it comes from a name that is bound to a new one."""
        here: Storage | None = start
        seen: list[Storage] = []
        while here is not None:
            if here in seen:
                raise Longer(seen)
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
        is_kept = wide is not None and start.type.shape == new.type.shape and is_exact(first, start, wide)
        if wide is None or not is_kept or wide.type != new.type:
            raise NotInductive(f"{text} is {start.type} before the loop and {new.type} after a step", is_of_types=True)
        return wide
