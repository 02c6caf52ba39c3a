"""Objects of plain classes among arguments: static values, until they are found to change.

class Mean:                                     `update(m, x)`: as `update` leaves a traced number in `m.total`, objects
    total, count = 0.0, 0                       of its class are containers from then on, as dataclasses are: what the
def update(m, x):                               function sets is set of the caller's at each call
    m.total = m.total + x.sum()

The same if an object is another one than before, or its attributes are: each call would be compiled anew. A function that
cannot be traced then, as it needs to know a number, takes them as static values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from threading import RLock
from typing import Any, Final, cast, final

import optree

from pliant.frontend.attributes import attributes
from pliant.frontend.kinds import is_sequence, is_table
from pliant.frontend.program import Program
from pliant.frontend.records import OPENED, is_record, is_users, take_apart
from pliant.frontend.reference import NAMESPACE
from pliant.frontend.signature import Static, flatten, signature
from pliant.frontend.whose import is_plain

_lock: Final = RLock()


class Opened(Exception):
    """Some objects are taken otherwise from now on: a call begins anew."""


@final
class Objects:
    """How one function takes those that it is given."""

    def __init__(self) -> None:
        self.shut: frozenset[Any] = frozenset()  # classes of those that are static for it whatever they are elsewhere
        self.forms: set[Any] = set()  # of calls that programs were made for, whatever their objects are

    def flatten(self, tree: Any) -> tuple[list[Any], Any]:
        """The leaves of arguments, and their structure."""
        if not self.shut:
            return flatten(tree)
        flatten(tree)  # dataclasses with arrays are containers from now on
        return cast("Any", optree).tree_flatten(tree, self.is_shut, namespace=NAMESPACE)

    def is_shut(self, x: Any) -> bool:
        """Whether something is an object that is a static value for this function, whatever it is elsewhere."""
        return type(x) in self.shut

    def are_new(self, form: tuple[Any, ...], programs: Iterable[Program], given: Sequence[Any]) -> bool:
        """Whether objects are containers from now on, before a program is made: as there is one for another object, or
        for the same one with other attributes."""
        objects = [x for x in given if self._is_closed(x)]
        if not objects:
            return False
        loose = tuple([_loosely(part) for part in form])
        is_known = loose in self.forms
        self.forms.add(loose)
        held = {id(getattr(x, "__dict__", x)) for x in _held(objects)}
        return (is_known or any([p.guards.is_broken_in(held) for p in programs])) and open_all(objects)

    def are_other(self, tree: Any, given: Sequence[Any]) -> bool:
        """Whether objects are taken otherwise from now on, after a program could not be made."""
        if open_all([x for x in given if self._is_closed(x)]):
            return True
        opened = {kind for x in _held([tree]) if (kind := cast("Any", type(x))) in OPENED}
        is_new = not opened <= self.shut
        self.shut |= opened
        return is_new

    def _is_closed(self, x: Any) -> bool:
        return is_closed(x) and not self.is_shut(x)


def _loosely(part: Any) -> Any:
    """A part of a form of calls, with the class of an object in place of it."""
    held = part[0].value if type(part) is tuple and part and type(part[0]) is Static else None
    return type(held) if held is not None and is_closed(held) else part


def is_closed(x: Any) -> bool:
    """Whether something is an object of a plain class that is a static value, and need not stay one."""
    kind = cast("Any", type(x))
    return is_plain(kind) and not (is_users(kind) or kind in OPENED or hasattr(kind, "__del__"))


def open_all(objects: Sequence[Any]) -> bool:
    """Have objects of plain classes, and those that these hold, be containers; but not if one holds itself, or what can
    be no argument. Returns whether some are."""
    held = [*_held(objects)]
    kinds = {cast("Any", type(x)) for x in held if is_closed(x)}
    if None in held or not kinds:
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
                optree.unregister_pytree_node(kind, namespace=NAMESPACE)
            return False
    return True


def _held(x: Any, around: tuple[int, ...] = ()) -> Iterator[Any]:
    """The objects of plain classes and dataclasses in containers and objects; None for one that holds itself."""
    kind = cast("Any", type(x))
    is_object = is_plain(kind) or is_record(kind)
    parts = attributes(x).values() if is_object else x.values() if is_table(x) else x if is_sequence(x) else ()
    if id(x) in around:
        yield None
        return
    if is_object:
        yield x
    for part in parts:
        yield from _held(part, (*around, id(x)))
