"""What a function has left outside that is no array is there after a compiled call, too, if it was there before.

self.size = x.shape             there at the second call: a guard says that it still is
self.steps = self.steps + 1     another one after each call: the function is traced at every call, until the object is
                                an argument; see `opened`
"""

from __future__ import annotations

from typing import Any, Final, cast

from pliant.frontend.attributes import slots_of
from pliant.frontend.control.region import Place
from pliant.frontend.guards import Slot, entries_of, names_of, note_size
from pliant.frontend.kinds import is_of
from pliant.frontend.outernames import Name, is_named, which
from pliant.frontend.tracing import Trace

_VALUES: Final = frozenset((bool, int, float, complex, str, bytes, type(None), range, slice, type(...)))


def note_left(trace: Trace, place: Place, before: Any) -> None:
    """Note what the trace has left at a place where something else was; or guards on what is there, if that was too."""
    now = place.get()
    if not (have_alike(before, now) if place.kind == "whole" else are_alike(before, now)):
        holder = Name(place) if is_named(place.holder) else place.holder
        trace.lasting[which(holder)] = holder
    elif place.is_whole:
        note_size(trace, place.holder)
        for owner, name, value in entries_of(place.holder):
            trace.roots[id(owner), name] = owner, name, value
    else:
        owner = _owner_of(place)
        trace.roots[id(owner), place.key] = owner, place.key, now


def _owner_of(place: Place) -> Any:
    """What a guard looks at to see what is at a place."""
    holder: Any = place.holder
    if place.kind != "attribute":
        return holder
    if isinstance(holder, type):
        return names_of(holder)
    is_slot = str(place.key) in slots_of(cast("Any", type(holder)))
    return Slot(holder) if is_slot or not hasattr(holder, "__dict__") else holder.__dict__


def have_alike(a: Any, b: Any) -> bool:
    """Whether nobody can tell by their elements what a container held from what it holds."""
    if len(a) != len(b):
        return False
    if is_of(a, dict):
        return all(map(are_alike, a, b)) and all(map(are_alike, a.values(), b.values()))
    if is_of(a, set):
        return {(x.__class__, x) for x in a} == {(x.__class__, x) for x in b}
    return all(map(are_alike, a, b))


def are_alike(a: Any, b: Any) -> bool:
    """Whether nobody can tell two objects from each other but by which they are: what can be changed is only itself."""
    if a is b:
        return True
    kind: Any = a.__class__
    if kind is not b.__class__:
        return False
    if kind is tuple:
        return len(a) == len(b) and all(map(are_alike, a, b))
    return kind in _VALUES and repr(a) == repr(b)
