"""Names that have a value only if some step of a loop has bound them: the steps carry a flag beside the value."""

from __future__ import annotations

from typing import Any

from pliant.core import ir
from pliant.frontend.control.objects import flatten, in_region, unflatten
from pliant.frontend.control.partly import flagged, is_flagged, is_passed_on, may_be_asked, value_in
from pliant.frontend.control.plan import NotInductive, Plan
from pliant.frontend.control.region import Place, Region
from pliant.frontend.control.signals import MISSING, Signal
from pliant.frontend.control.unbound import Unbound
from pliant.frontend.convert import as_traced
from pliant.frontend.number import is_number, kind_of, with_kind


def opened(plan: Plan, entry: dict[Place, Any], region: Region, signal: Signal | None) -> dict[Place, Any]:
    """Give flags to names that have them before a step, and find those that need one from now on: that have a value
    only if a condition held in some step. entry: what names are bound to before the loop."""
    found: dict[Place, Any] = {}
    for place in plan.bound:
        content, name = place.get(), str(place.key)
        if place in plan.plans:
            if is_flagged(entry[place]) and may_be_asked(content):
                place.set(flagged(name, content, signal))
        elif (name in plan.kept and is_passed_on(content)) or _is_missed(plan, place, entry[place], region):
            found[place] = flatten(flagged(name, content, signal), in_region(region.born))
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


def nothing_like(opened: Any) -> Any:
    """A name without a value that holds what one with a flag holds: its leaves, and their structure."""
    leaves, structure = opened
    return unflatten(structure, [_zeros(x) for x in leaves])


def _zeros(x: Any) -> Any:
    """What a leaf is before the steps that may leave it."""
    if not is_number(x):
        return x
    kind = kind_of(as_traced(x))
    return with_kind(ir.operators.zeros(kind.type), kind)


def is_nothing(content: Any, *, is_read: bool) -> bool:
    """Whether a name has nothing that a step could be given; is_read: whether that may ask for it."""
    if type(content) is not Unbound or content.is_flagged:
        return content is MISSING
    return content.flag is False or not is_read
