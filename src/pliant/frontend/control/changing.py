"""What the function of a step, or of a branch, changes outside of it: a trace sees that once, for all steps.

n = 0
def body(i, x):
    global n
    n += 1              an error: a step changes this, and the next one what it left
    return x + n        tables of constants that the first step fills, and later ones do not, are as they are
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from itertools import islice
from typing import Any, Final

import numpy as np

from pliant.core.origin import here
from pliant.errors import UnsupportedError
from pliant.frontend.array import TracedArray
from pliant.frontend.control.lasting import are_alike, have_alike
from pliant.frontend.control.objects import flatten
from pliant.frontend.control.region import Place
from pliant.frontend.kinds import is_of
from pliant.frontend.members import plain_member
from pliant.frontend.missing import MISSING
from pliant.frontend.number import is_number
from pliant.frontend.sharing import containers
from pliant.frontend.tracing import Trace

OUTSIDE: Final = "__pliant_outside__"
"""What the error has of a function that changes something outside: text, as it is pickled."""


@contextmanager
def changing_nothing(name: str, trace: Trace, given: Any) -> Generator[None]:
    """UnsupportedError if the function that runs inside changes names, attributes or containers from outside, or writes
    to arrays from there, but effects. given: what it is called with, whose containers are its own."""
    top = trace.outermost
    count, around, trace.before = len(top.own), trace.before, {}
    try:
        yield
        changes = trace.before
    finally:
        trace.before = around
    own = {*islice(top.own, count, None), *map(id, containers(given))}
    changes = {place: before for place, before in changes.items() if place.number not in own}
    for place, (before, where) in changes.items():
        now = place.get()
        if _are_equal(place, before, now):
            continue
        if not _is_filled(place, before, now, trace):
            raise changed(name, place).at(("changed here", where))
        _outlive(now, trace)
        trace.is_filling = True
    written = next((s for s, *_ in trace.journal if s.trace is not trace and not s.is_effect), None)
    if written is not None:
        raise _of_change(f"{name} writes to an array from outside").at(("written here", written.touched or here()))


@contextmanager
def taken_back_if_refused(trace: Trace) -> Generator[None]:
    """What functions of steps change outside is taken back if one is refused for that. trace: around these."""
    around, trace.before = trace.before, {}
    try:
        yield
    except UnsupportedError as error:
        for place, (before, _) in reversed(trace.before.items()) if is_of_change(error) else ():
            place.set(before)
        raise
    finally:
        trace.before = None if around is None else trace.before | around


def changed(name: str, place: Place | None = None) -> UnsupportedError:
    """The error of a function that changes something outside."""
    what = "what is outside of it" if place is None else f"{place.text}, which is outside of it"
    return _of_change(f"{name} changes {what}")


def _of_change(what: str) -> UnsupportedError:
    error = UnsupportedError(
        f"{what}: it is traced once, and would do so once, not at each step or where it is run",
        hint="pass it in, and return it, as a part of the state; or write a for, while or if statement",
    )
    setattr(error, OUTSIDE, True)
    return error


def is_of_change(error: UnsupportedError) -> bool:
    """Whether an error is that of a function which changes something outside."""
    return hasattr(error, OUTSIDE)


def _are_equal(place: Place, before: Any, now: Any) -> bool:
    """Whether nobody can tell what was at a place from what is there now."""
    if place.kind == "rows":
        return len(before) == len(now) and all(map(have_alike, before, now))
    if place.kind == "whole":
        return have_alike(before, now)
    return are_alike(before, now) or _is_same_number(before, now)


def _is_same_number(before: Any, now: Any) -> bool:
    known = [plain_member(x) for x in (before, now) if is_number(x) and not _is_unknown(x)]
    if len(known) != 2 or not all([np.ndim(x) == 0 for x in known]):
        return False
    return type(known[0]) is type(known[1]) and np.asarray(known[0]).tobytes() == np.asarray(known[1]).tobytes()


def _is_filled(place: Place, before: Any, now: Any, trace: Trace) -> bool:
    """Whether nothing was at a place where arrays or objects are now that are the same at each step."""
    if place.kind == "whole" and is_of(before, dict) and is_of(now, dict):
        is_longer = before.keys() < now.keys() and all([are_alike(x, now[k]) for k, x in before.items()])
        return is_longer and all([_is_constant(x, trace) for k, x in now.items() if k not in before])
    return not place.is_whole and (before is MISSING or before is None) and _is_constant(now, trace)


def _is_constant(x: Any, trace: Trace) -> bool:
    """Whether something is neither a number nor text, and holds nothing that a step computes."""
    if x is MISSING or x is None or isinstance(x, str | bytes) or (is_number(x) and not np.shape(x)):
        return False
    arrays = [leaf for leaf in flatten(x)[0] if type(leaf) is TracedArray]
    return not any([_is_unknown(leaf) and leaf.storage.trace is trace for leaf in arrays])


def _outlive(now: Any, trace: Trace) -> None:
    """Constants that a trace has made, and left outside, are those of the outermost one: later steps read them."""
    for leaf in flatten(now)[0]:
        if type(leaf) is TracedArray and leaf.storage.trace is trace and leaf.storage.concrete is not None:
            leaf.storage.trace, leaf.storage.content = trace.outermost, None


def _is_unknown(x: Any) -> bool:
    return type(x) is TracedArray and x.concrete is None
