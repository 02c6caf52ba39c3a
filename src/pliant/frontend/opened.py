"""Objects of plain classes among arguments: static values, until they are found to change.

class Mean:                                     `update(m, x)`: as `update` leaves a traced number in `m.total`, objects
    total, count = 0.0, 0                       of its class are containers from then on, as dataclasses are: what the
def update(m, x):                               function sets is set of the caller's at each call
    m.total = m.total + x.sum()

The same if an object is another one than before, or its numbers and arrays are: each call would be compiled anew. A
function that cannot be traced then, as it needs to know a number, takes them as static values. Objects and dicts from
outside, as `m` in `jit(m.step)`, are arguments too where that is so; while the function is traced they hold what the
arguments do.
"""

from __future__ import annotations

import functools
import math
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from threading import RLock
from typing import Any, Final, cast, final

import numpy as np
import optree

from pliant.errors import PliantError
from pliant.frontend.attributes import attributes
from pliant.frontend.instrumented import callee
from pliant.frontend.kinds import is_of, is_sequence, is_table
from pliant.frontend.program import Program
from pliant.frontend.records import OPENED, is_record, take_apart
from pliant.frontend.reference import NAMESPACE
from pliant.frontend.sharing import containers, fill, origins, parts_of, replace_items
from pliant.frontend.signature import Static, flatten, signature
from pliant.frontend.tracing import current
from pliant.frontend.whose import is_plain, receivers

MOST: Final = 10_000
"""Parts of objects that are taken apart."""

_lock: Final = RLock()


class Opened(Exception):
    """Some objects are taken otherwise from now on: a call begins anew."""


@final
class Objects:
    """How one function takes those that it is given."""

    def __init__(self) -> None:
        self.shut: frozenset[Any] = frozenset()  # classes of those that are static for it whatever they are elsewhere
        self.forms: set[Any] = set()  # of calls that programs were made for, whatever their objects are
        self.taken: tuple[Any, ...] = ()  # from outside, which are arguments too
        self.may_take = True
        self.is_trial = False  # whether they are taken otherwise as it failed before
        self.failed: PliantError | None = None  # how it did with containers, if they are static values now

    def flatten(self, tree: Any) -> tuple[list[Any], Any]:
        """The leaves of arguments, and their structure."""
        if not self.shut:
            return flatten(tree)
        flatten(tree)  # dataclasses with arrays are containers from now on
        return cast("Any", optree).tree_flatten(tree, self.is_shut, namespace=NAMESPACE)

    def is_shut(self, x: Any) -> bool:
        """Whether something is an object that is a static value for this function, whatever it is elsewhere."""
        return type(x) in self.shut

    def are_new(
        self, form: tuple[Any, ...], programs: Sequence[Program], given: Sequence[Any], f: Callable[..., Any]
    ) -> bool:
        """Whether objects are taken otherwise from now on, before a program is made: as there is one for another object
        already, or for the same one with other numbers and arrays."""
        objects = [x for x in given if self._is_closed(x)]
        loose = tuple([_loosely(part) for part in form]) if objects else form
        is_known = bool(objects) and loose in self.forms
        self.forms.add(loose)
        if is_known:
            return open_all(objects)
        changed = {id(owner) for p in programs for owner, *both in p.guards.broken() if all(map(_is_number, both))}
        if not changed:
            return False
        if any([id(vars_of(x)) in changed for x in Held(objects).objects.values()]):
            return open_all(objects)
        named = [value for p in programs for _, _, value in p.guards.entries]
        others = {id(x): x for x in (*receivers(f), *named) if id(vars_of(x)) in changed and can_be_taken(x)}
        return self.take(others.values())

    def are_other(self, tree: Any, given: Sequence[Any], error: PliantError) -> bool:
        """Whether objects are taken otherwise from now on, after a program could not be made."""
        if open_all([x for x in given if self._is_closed(x)]) or self.take(getattr(error, "holders", ())):
            self.is_trial = True
            return True
        opened = OPENED.intersection(map(type, Held(tree).objects.values()))
        is_new = (bool(self.taken) or not opened <= self.shut) and not self.is_trial
        self.shut |= opened
        self.taken, self.may_take, self.is_trial = (), False, False
        self.failed = error if is_new else None
        return is_new

    def take(self, objects: Iterable[Any]) -> bool:
        """Have objects from outside be arguments too, before the others; not if one can be none."""
        objects = [x for n, x in {id(x): x for x in objects}.items() if n not in [*map(id, self.taken)]]
        if not (self.may_take and objects and all(map(can_be_taken, objects))):
            return False
        if not all([not is_closed(x) or open_all([x]) for x in objects]):
            return False
        both = (*self.taken, *objects)
        inside = {id(part) for x in both for part in containers(x)[1:]}
        before, self.taken = self.taken, tuple([x for x in both if id(x) not in inside])
        return [*map(id, before)] != [*map(id, self.taken)]

    def holding(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """A function of the objects from outside that are arguments too, and of its own arguments."""
        return _holding(f, self.taken) if self.taken else f

    def _is_closed(self, x: Any) -> bool:
        return is_closed(x) and not self.is_shut(x)


def _holding(f: Callable[..., Any], objects: tuple[Any, ...]) -> Callable[..., Any]:
    @functools.wraps(f)
    def held(*args: Any, **options: Any) -> Any:
        trace = current()
        given = args[: len(objects)]
        trace.passed.append(objects)
        theirs = containers(objects)
        before = [(x, parts_of(x) or []) for x in theirs]
        replace_items(objects, given, range(len(theirs)))
        try:
            return callee(f, trace)(*args[len(objects) :], **options)
        finally:
            replace_items(given, objects, origins(objects, theirs))
            for x, parts in before:
                fill(x, parts)
            own = {*map(id, theirs)}
            for place in [place for place in trace.left if id(place.holder) in own]:
                del trace.left[place]

    held.__module__ = __name__  # nobody looks into it
    return held


def vars_of(x: Any) -> Any:
    """The dict of an object's attributes; the object itself if it has none."""
    return getattr(x, "__dict__", x)


def _is_number(x: Any) -> bool:
    return isinstance(x, np.ndarray | np.generic | int | float | complex)


def can_be_taken(x: Any) -> bool:
    """Whether something is an object that is a container, or can be one, or a container that is no module's dict."""
    kind = cast("Any", type(x))
    return is_closed(x) or is_record(kind) or kind in (list, deque) or (kind is dict and "__name__" not in x)


def _loosely(part: Any) -> Any:
    """A part of a form of calls, with the class of an object in place of it."""
    held = part[0].value if is_of(part, tuple) and part and type(part[0]) is Static else None
    return cast("Any", type(held)) if held is not None and is_closed(held) else part


def is_closed(x: Any) -> bool:
    """Whether something is an object of a plain class that is a static value, and need not stay one."""
    kind = cast("Any", type(x))
    return is_plain(kind) and not (is_record(kind) or kind in OPENED or hasattr(kind, "__del__"))


def open_all(objects: Sequence[Any]) -> bool:
    """Have objects of plain classes, and those that these hold, be containers, and return whether some are; none are
    if one holds itself, too much, or what can be no argument."""
    held = Held(objects)
    kinds = {cast("Any", type(x)) for x in held.objects.values() if is_closed(x)}
    if not kinds or held.size > MOST:
        return False
    with _lock:
        OPENED.update(kinds)
        for kind in kinds:
            take_apart(kind)
        try:
            for leaf in flatten(objects)[0]:
                signature(leaf)
        except TypeError:
            for kind in kinds:
                OPENED.remove(kind)
                cast("Any", optree).unregister_pytree_node(kind, namespace=NAMESPACE)
            return False
    return True


@final
class Held:
    """The objects of plain classes and dataclasses in containers and objects, and how many parts these have as a tree:
    without end, if one holds itself."""

    def __init__(self, x: Any) -> None:
        self.objects: dict[int, Any] = {}
        self.sizes: dict[int, float] = {}  # of what was gone through
        try:
            self.size = self._size(x)
        except RecursionError:
            self.size = math.inf

    def _size(self, x: Any) -> float:
        if id(x) in self.sizes:
            return self.sizes[id(x)]
        kind = cast("Any", type(x))
        is_object = is_plain(kind) or is_record(kind)
        parts = attributes(x).values() if is_object else x.values() if is_table(x) else x if is_sequence(x) else None
        if parts is None:
            return 1
        if is_object:
            self.objects[id(x)] = x
        self.sizes[id(x)] = math.inf  # unless it is gone through to the end
        self.sizes[id(x)] = 1 + sum(map(self._size, parts))
        return self.sizes[id(x)]
