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
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from threading import RLock
from types import SimpleNamespace
from typing import Any, Final, cast, final

import numpy as np
import optree

from pliant.errors import PliantError, UnsupportedError
from pliant.frontend.array import TracedArray
from pliant.frontend.attributes import attributes
from pliant.frontend.control.ornone import OrNone
from pliant.frontend.growing import Growing
from pliant.frontend.instrumented import callee
from pliant.frontend.kinds import is_of, is_sequence, is_table
from pliant.frontend.outernames import Name, is_named, which
from pliant.frontend.program import Program
from pliant.frontend.records import OPENED, found_in, is_record, take_apart
from pliant.frontend.reference import NAMESPACE
from pliant.frontend.sharing import Closed, containers, fill, mapped, origins, parts_of, replace_items
from pliant.frontend.signature import Static, flatten, signature
from pliant.frontend.tracing import current
from pliant.frontend.whose import is_plain, receivers

MOST: Final = 10_000
"""Parts of objects that are taken apart."""

LONG: Final = 16
"""Elements of a list from outside that is read, and has got longer: up to here it may be one of a few lengths."""

KEPT: Final = 64
"""Lists to which one function appends that are known."""

_CONTAINERS: Final = (list, deque, defaultdict, OrderedDict)

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
        self.before: Any = None  # what these three were before they were changed, if a program can be made neither way
        self.is_trial = False  # whether they are taken otherwise as it failed before
        self.failed: PliantError | None = None  # how it did with containers, if they are static values now
        self.growing: dict[int, list[Any]] = {}  # lists to which it appends, by id; see `growing`
        self.may_grow = True

    def flatten(self, tree: Any) -> tuple[list[Any], Any]:
        """The leaves of arguments, and their structure."""
        if not (self.shut or self.growing):
            return flatten(tree)
        leaves, structure = cast("Any", optree).tree_flatten(tree, self.is_leaf, namespace=NAMESPACE)
        if found_in([x for x in leaves if not self.is_leaf(x)]):
            return self.flatten(tree)
        return [Growing(x) if id(x) in self.growing else x for x in leaves], structure

    def is_leaf(self, x: Any) -> bool:
        """Whether something is an object that is a static value for this function, whatever it is elsewhere, or a list
        to which it only appends."""
        return type(x) in self.shut or id(x) in self.growing

    @property
    def closed(self) -> Closed:
        """The ids of lists to which the function only appends."""
        return frozenset(self.growing)

    @property
    def are_taken(self) -> bool:
        """Whether objects from outside, or lists to which the function appends, are taken otherwise than others."""
        return bool(self.taken or self.growing)

    @property
    def names(self) -> list[str]:
        """Names of the objects from outside, for people."""
        return [x.place.key if type(x) is Name else type(x).__name__ for x in self.taken]

    def are_as_before(self, outside: Sequence[Any], tree: Any, structure: Any) -> bool:
        """Whether objects are taken as when arguments were looked at: another thread may have changed that."""
        return [*map(id, outside)] == [*map(id, self.taken)] and self.flatten(tree)[1] == structure

    def longer(self, program: Program, tree: Any) -> list[list[Any]]:
        """The lists among arguments to which a program appends, and which are leaves at the next call."""
        if program.changed is None or not (program.changed.grown and self.may_grow):
            return []
        held = containers(tree, self.closed)
        return [held[g.number] for g in program.changed.grown if g.is_unseen]

    def grow(self, lists: Sequence[list[Any]]) -> None:
        """Take lists as leaves from now on."""
        self.growing |= {id(x): x for x in lists}
        while len(self.growing) > KEPT:
            del self.growing[next(iter(self.growing))]

    def check_grown(self, program: Program) -> None:
        """UnsupportedError if a list from outside gets longer at each call, and is read."""
        theirs = containers(self.taken, self.closed)
        for g in program.changed.grown if program.changed and theirs else ():
            is_long = g.number < len(theirs) and len(theirs[g.number]) >= LONG
            if is_long and not (g.is_unseen and self.may_grow):
                raise UnsupportedError(
                    "a list from outside of the function gets longer at each call, and is read: each call would be "
                    "compiled anew",
                    hint="return what is appended, and append it after the call; or only append to it inside",
                ).at(("changed here", g.origin))

    def are_read_outside(self, tree: Any, program: Program) -> bool:
        """Whether objects are taken otherwise from now on, as a program that changes its arguments reads one of them by
        a name from outside, too."""
        if program.changed is None:
            return False
        read = {id(owner) for owner, *_ in (*program.guards.entries, *program.guards.sizes)}
        return self.take([x for x in containers(tree, self.closed) if id(vars_of(x)) in read])

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
        found = [entry for p in programs for entry in p.guards.broken()]
        broken = [(owner, name) for owner, name, *both in found if all(map(_is_number, both))]
        return self._take_owners({id(owner) for owner, _ in broken}, broken, programs, objects, f)

    def are_left_again(self, program: Program, programs: Sequence[Program], f: Callable[..., Any]) -> bool:
        """Whether objects are taken otherwise from now on, as a program leaves in them what each call would, and so
        does one of before."""
        before = {n for p in programs for n in map(_number, p.lasting)}
        again = before.intersection(map(_number, program.lasting))
        return self._take_owners(again, (), (*programs, program), [], f)

    def are_moved(self, programs: Iterable[Program], f: Callable[..., Any]) -> bool:
        """Whether objects are taken otherwise from now on, as others have come in place of some that are taken: what
        has an attribute that is set to a new list before each call is taken instead of the lists."""
        taken, programs = {*map(id, self.taken)}, [*programs]
        moved = [entry for p in programs for entry in p.guards.broken() if id(entry[2]) in taken] if taken else []
        names = [(owner, name) for owner, name, *_ in moved]
        before, gone = self.taken, {id(value) for _, _, value, _ in moved}
        self.taken = tuple([x for x in self.taken if id(x) not in gone])
        if self._take_owners({id(owner) for owner, _ in names}, names, programs, [], f):
            return True
        self.taken = before
        return False

    def _take_owners(
        self, changed: set[Any], names: Sequence[tuple[Any, str]], programs: Iterable[Program],
        objects: Sequence[Any], f: Callable[..., Any],
    ) -> bool:  # fmt: skip
        """Have what has these attributes, or names, be arguments too. objects: those among the arguments."""
        if not changed:
            return False
        if any([_number(x) in changed for x in Held(objects).objects.values()]):
            return open_all(objects)
        held = [value for p in programs for _, _, value in p.guards.entries]
        left = [x for p in programs for x in p.lasting]
        others = [x for x in (*receivers(f), *held, *left) if _number(x) in changed and can_be_taken(x)]
        return self.take([*others, *[Name.of(owner, name) for owner, name in names if is_named(owner)]])

    def are_other(self, tree: Any, given: Sequence[Any], error: PliantError) -> bool:
        """Whether objects are taken otherwise from now on, after a program could not be made. They are as before if it
        can be made neither way: the next call may be one without a mistake."""
        closed, before = [x for x in (*given, *getattr(error, "made", ())) if self._is_closed(x)], self.taken
        if open_all(closed) or self.take(getattr(error, "holders", ())):
            self.is_trial, self.before = True, (before, self.shut, self.may_take)
            return True
        if self.growing:
            self.growing, self.may_grow = {}, False
            return True
        if self.is_trial or self.failed is not None:
            self.taken, self.shut, self.may_take = self.before
            self.is_trial, self.failed = False, None
            return False
        opened = OPENED.intersection(map(type, Held(tree).objects.values()))
        if not self.taken and opened <= self.shut:
            return False
        self.before, self.failed = (self.taken, self.shut, self.may_take), error
        self.taken, self.shut, self.may_take = (), self.shut | opened, False
        return True

    def take(self, objects: Iterable[Any]) -> bool:
        """Have objects from outside be arguments too, before the others; not if one can be none."""
        known = {*map(_number, self.taken)}  # an object before its own dict
        objects = [x for n, x in {_number(x): x for x in [*objects][::-1]}.items() if n not in known][::-1]
        objects = [x for x in objects if not _is_large(x)]
        if not (self.may_take and objects and all(map(can_be_taken, objects))):
            return False
        if Held(objects).size > MOST or not have_signatures(objects):
            return False
        if not all([not is_closed(x) or open_all([x]) for x in objects]):
            return False
        both = (*self.taken, *objects)
        inside = {id(part) for x in both for part in containers(x)[1:]}
        before, self.taken = self.taken, tuple([x for x in both if id(x) not in inside])
        return [*map(id, before)] != [*map(id, self.taken)]

    def leave_large(self) -> None:
        """Have names with large integers be none of the arguments."""
        if any(map(_is_large, self.taken)):
            self.taken = tuple([x for x in self.taken if not _is_large(x)])

    def holding(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """A function of the objects from outside that are arguments too, and of its own arguments."""
        return _holding(f, self.taken) if self.taken else f

    def _is_closed(self, x: Any) -> bool:
        return is_closed(x) and not self.is_leaf(x)


def _holding(f: Callable[..., Any], objects: tuple[Any, ...]) -> Callable[..., Any]:
    @functools.wraps(f)
    def held(*args: Any, **options: Any) -> Any:
        trace = current()
        count, closed = len(objects), trace.ends.closed
        trace.passed.append(objects)
        theirs, stand_ins = containers(objects, closed), containers(args[:count], closed)
        own = {id(x): n for n, x in reversed([*enumerate(theirs)])}
        trace.taken = own
        before = [(x, parts_of(x) or []) for x in theirs]
        given = containers((args, options), closed)  # an argument may hold an object from outside, too
        twins = replace_items(theirs, (args, options), origins((args, options), stand_ins, closed), closed)
        now = dict(zip(map(id, given), twins, strict=True))
        for x, whole in trace.ends.pairs:
            if id(whole) in own:
                whole[:] = x
        try:
            return callee(f, trace)(*[mapped(x, now) for x in args[count:]], **options)
        finally:
            for n, x in enumerate(theirs):
                if type(x) is Name:
                    own[x.collect(trace)] = n
                    trace.roots.pop(which(x), None)  # what it holds is an argument: there is nothing to guard
            whole = objects, tuple(twins)
            replace_items(given, whole, origins(whole, twins))
            for x, parts in before:
                fill(x, parts)
            for place in [place for place in trace.left if id(place.holder) in own]:
                trace.grown[own[id(place.holder)]] = trace.left.pop(place)[1]
            trace.asked |= {n for key, n in own.items() if key in trace.sizes}

    held.__module__ = __name__  # nobody looks into it
    return held


def vars_of(x: Any) -> Any:
    """The dict of an object's attributes; the object itself if it has none."""
    return getattr(x, "__dict__", x)


def _number(x: Any) -> Any:
    """What tells a name from outside, or the attributes of an object, from others."""
    return which(x) if type(x) is Name else id(vars_of(x))


def _is_large(x: Any) -> bool:
    return type(x) is Name and x.is_large


def _is_number(x: Any) -> bool:
    return isinstance(x, np.ndarray | np.generic | int | float | complex)


def can_be_taken(x: Any) -> bool:
    """Whether something is an object that is a container, or can be one, or a container that is no module's dict."""
    kind = cast("Any", type(x))
    return is_closed(x) or is_record(kind) or kind in _CONTAINERS or (kind is dict and "__name__" not in x)


def _loosely(part: Any) -> Any:
    """A part of a form of calls, with the class of an object in place of it."""
    held = part[0].value if is_of(part, tuple) and part and type(part[0]) is Static else None
    return cast("Any", type(held)) if held is not None and is_closed(held) else part


def _is_object(kind: Any) -> bool:
    """Whether all that there is of objects of a class are attributes."""
    return is_plain(kind) or kind is SimpleNamespace


def is_closed(x: Any) -> bool:
    """Whether something is an object of a plain class that is a static value, and need not stay one."""
    kind = cast("Any", type(x))
    return _is_object(kind) and not (is_record(kind) or kind in OPENED or hasattr(kind, "__del__"))


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
        if not have_signatures(objects):
            for kind in kinds:
                OPENED.remove(kind)
                cast("Any", optree).unregister_pytree_node(kind, namespace=NAMESPACE)
            return False
    return True


def have_signatures(objects: Sequence[Any]) -> bool:
    """Whether all that objects hold can be an argument."""
    try:
        for leaf in flatten(objects)[0]:
            if type(leaf) not in (TracedArray, OrNone):  # of an object that a function has made
                signature(leaf)
    except TypeError:
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
        is_object = _is_object(kind) or is_record(kind)
        parts = attributes(x).values() if is_object else x.values() if is_table(x) else x if is_sequence(x) else None
        if parts is None:
            return 1
        if is_object:
            self.objects[id(x)] = x
        self.sizes[id(x)] = math.inf  # unless it is gone through to the end
        self.sizes[id(x)] = 1 + sum(map(self._size, parts))
        return self.sizes[id(x)]
