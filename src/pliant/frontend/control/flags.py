"""What the steps of a loop carry beside a value: a flag, if only some step has bound the name, or bound it to something
else than None; for what is one of a few words, a number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast

from pliant.core import ir
from pliant.frontend.control.objects import flatten, in_region, unflatten
from pliant.frontend.control.ornone import OrNone, object_of, with_flag
from pliant.frontend.control.partly import flagged, is_flagged, is_passed_on, may_be_asked, value_in
from pliant.frontend.control.plan import NotInductive, Plan
from pliant.frontend.control.region import Place, Region
from pliant.frontend.control.signals import Signal
from pliant.frontend.control.states import Words, state_of, words_between, words_of
from pliant.frontend.control.unbound import Unbound
from pliant.frontend.convert import as_traced
from pliant.frontend.missing import MISSING
from pliant.frontend.number import is_number, kind_of, with_kind


def opened(
    plan: Plan, entry: dict[Place, Any], region: Region, signal: Signal | None
) -> dict[Place, Callable[[], Any]]:
    """Give flags to what has them before a step, and find what needs one from now on: that has a value, or an object in
    place of None, only if a condition held in some step. entry: what is there before the loop. Returns what makes that
    with a flag, outside of the step."""
    found = _with_nones(plan, entry, region)
    for place in plan.bound:
        content, name = place.get(), str(place.key)
        if place in plan.plans:
            if is_flagged(entry[place]) and may_be_asked(content):
                place.set(flagged(name, content, signal))
        elif (name in plan.kept and is_passed_on(content)) or _is_missed(plan, place, entry[place], region):
            found[place] = partial(_nothing_like, flagged(name, content, signal), region)
    return found


def _is_missed(plan: Plan, place: Place, before: Any, region: Region) -> bool:
    """Whether a step has read a name that may have its value from a step before only, and has one after it."""
    content, name = place.get(), str(place.key)
    is_read = type(before) is Unbound and name in plan.live and name in region.missed
    if not is_read or value_in(content) is MISSING:
        return False
    if plan.is_static and plan.is_first:
        raise NotInductive(f"{place.text} is read before a step has bound it", is_late=True)
    return may_be_asked(content)


def _with_nones(plan: Plan, entry: dict[Place, Any], region: Region) -> dict[Place, Callable[[], Any]]:
    """Those places at which a step leaves an object or None, by a condition, and that need a flag from now on."""
    found: dict[Place, Callable[[], Any]] = {}
    items = {place: before for place, before in region.effects.items() if place.kind in ("item", "attribute")}
    for place, before in (items | {place: entry[place] for place in plan.plans}).items():
        content = place.get()
        first, last = _aligned(before, content, plan, region)
        if first is not before:
            found[place] = partial(_first, before, content, plan, region)
        elif last is not content:
            place.set(last)
    return found


def _first(before: Any, content: Any, plan: Plan, region: Region) -> Any:
    """What a place holds before the loop, with flags where it needs them."""
    return _aligned(before, content, plan, region)[0]


def _aligned(first: Any, last: Any, plan: Plan, region: Region) -> Any:
    """What a place holds before the loop, and after a step, with flags if one needs them, or numbers of words."""
    words = words_between(first, last, is_static=plan.is_static)
    if words is not None:
        return state_of(first, words), state_of(last, words)
    kinds: list[Any] = [type(first), type(last)]
    if issubclass(kinds[0], tuple) and kinds[0] is kinds[1] and len(first) == len(last):
        pairs = [_aligned(a, b, plan, region) for a, b in zip(first, last, strict=True)]
        return _changed(first, [a for a, _ in pairs]), _changed(last, [b for _, b in pairs])
    is_bound_later = first is None and last is not None and not (plan.is_static and plan.is_first)
    if OrNone not in kinds and not is_bound_later:
        return first, last
    if first is MISSING or last is MISSING or Unbound in kinds:
        return first, last
    if object_of(first) is MISSING:
        first = _nothing_like(with_flag(last), region)
    if object_of(last) is MISSING:
        last = OrNone(with_flag(None).pliant_flag, object_of(first))
    first, last = with_flag(first), with_flag(last)
    words = words_between(first.pliant_value, last.pliant_value, is_static=plan.is_static)
    if words is None:
        return first, last
    return _numbered(first, words), _numbered(last, words)


def _numbered(x: OrNone, words: Words) -> OrNone:
    """The same with a number in place of a word."""
    return OrNone(x.pliant_flag, state_of(x.pliant_value, words))


def _changed(before: tuple[Any, ...], after: Sequence[Any]) -> tuple[Any, ...]:
    """The same tuple, unless an element is another one."""
    if all([a is b for a, b in zip(before, after, strict=True)]):
        return before
    return cast("Any", before)._make(after) if hasattr(before, "_fields") else tuple(after)


def _nothing_like(content: Any, region: Region) -> Any:
    """A name without a value that holds what one with a flag holds."""
    leaves, structure = flatten(content, in_region(region.born))
    return unflatten(structure, [_zeros(x) for x in leaves])


def _zeros(x: Any) -> Any:
    """What a leaf is before the steps that may leave it."""
    if not is_number(x):
        return x
    if (words := words_of(x)) is not None:
        return words[0]
    kind = kind_of(as_traced(x))
    return with_kind(ir.operators.zeros(kind.type), kind)


def is_nothing(content: Any, *, is_read: bool) -> bool:
    """Whether a name has nothing that a step could be given; is_read: whether that may ask for it."""
    if type(content) is not Unbound or content.is_flagged:
        return content is MISSING
    return content.flag is False or not is_read
