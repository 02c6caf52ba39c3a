"""Lists that a function only appends to, as `self.losses` of `self.losses.append(loss)`: what they hold is no argument.

As an argument, a list that is longer at each call would be compiled anew each time. So where a function was seen to
append to one, it gets a list of `EARLIER` elements from then on, to which it appends; what it appended is appended to
the caller's list. A function that looks at it otherwise cannot be traced so, and gets all elements again.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final, NoReturn, cast, final

from pliant.core.data import frozen
from pliant.errors import UnsupportedError
from pliant.frontend.kinds import is_of
from pliant.frontend.sharing import Closed, containers, have_same, parts_of
from pliant.frontend.tracing import Trace
from pliant.frontend.unread import Unread

COUNT: Final = 100
"""How many elements stand for those of before: more than a function names by their places."""


class SeenError(UnsupportedError):
    """A function looks at what is in a list of which only the end is known."""


@final
class _Earlier:
    """An element of before: nobody may look at it."""

    def _fail(self, *_: Any) -> NoReturn:
        raise SeenError("an element of a list is read that was appended before the call")

    __eq__ = __lt__ = __gt__ = __bool__ = __str__ = __repr__ = __format__ = __float__ = __int__ = __iter__ = _fail
    __hash__ = object.__hash__


EARLIER: Final = _Earlier()


@final
class Growing:
    """A leaf that is a list to which a function appends. A program is made for empty ones, or for others."""

    __slots__ = ("is_empty", "whole")

    def __init__(self, whole: list[Any]) -> None:
        self.whole, self.is_empty = whole, not whole

    @property
    def stand_in(self) -> list[Any]:
        """What a function gets for it."""
        return [] if self.is_empty else [EARLIER] * COUNT


@final
class Ends:
    """The lists of one trace that stand for others of which only the end is known, with the numbers of their leaves."""

    def __init__(self, given: Sequence[Any], leaves: Sequence[Any]) -> None:
        self.numbers = tuple([n for n, leaf in enumerate(leaves) if type(leaf) is Growing])
        self.lists: list[list[Any]] = [given[n] for n in self.numbers]
        self.wholes: list[list[Any]] = [leaves[n].whole for n in self.numbers]
        self.pairs = [*zip(self.lists, self.wholes, strict=True)]
        self.counts = [len(x) for x in self.lists]
        self.closed: Closed = frozenset(map(id, (*self.lists, *self.wholes)))

    def new(self, trace: Trace) -> list[list[Any]]:
        """What was appended to each; SeenError if more was done."""
        for x in (*self.lists, *self.wholes):  # those from outside are filled while a function is traced
            if id(x) in trace.sizes:
                raise SeenError("the length of a list is asked for that was appended to before the call")
        if self.lists and trace.blind:
            raise SeenError("what a function without source does to a list is not seen")
        for x, count in zip(self.lists, self.counts, strict=True):
            if [*map(id, x[:count])] != [id(EARLIER)] * count:
                raise SeenError("a list is changed that was appended to before the call")
        return [x[count:] for x, count in zip(self.lists, self.counts, strict=True)]


def check_unseen(leaves: Collection[Any]) -> None:
    """SeenError if an element of before is among what a function returns, or leaves anywhere, DTypeError if an array
    is that it may not read."""
    for leaf in leaves:
        if type(leaf) is Unread:
            raise leaf.error
    if any([leaf is EARLIER for leaf in leaves]):
        raise SeenError("an element of a list is left elsewhere that was appended before the call")


@final
@frozen
class Grown:
    """A list that is longer after the call: its number among the containers, whether nobody asked how long it is, and
    where it is changed."""

    number: int
    is_unseen: bool
    origin: Any


@final
class Before:
    """The containers among the arguments, and what lists hold, before a function is traced."""

    def __init__(self, held: Sequence[Any], ends: Ends) -> None:
        self.containers, self.ends = held, ends
        lists = [(n, cast("list[Any]", x)) for n, x in enumerate(held) if is_of(x, list)]
        self.lists = [(n, x, [*x]) for n, x in lists if id(x) not in ends.closed]
        self.numbers = {id(x): n for n, x in reversed([*enumerate(held)])}
        self.parts = [(x, parts_of(x) or []) for x in held if id(x) not in ends.closed]

    def gone(self, tree: Any) -> list[Any]:
        """The containers that changed, and are not in a tree any more."""
        now = {*map(id, containers(tree, self.ends.closed))}
        return [x for x, before in self.parts if id(x) not in now and not have_same(before, parts_of(x) or [])]

    def grown(self, trace: Trace) -> tuple[Grown, ...]:
        """The lists to which the function appended."""
        found = list[Grown]()
        for n, x, before in self.lists:
            if len(x) > len(before) and all([a is b for a, b in zip(before, x, strict=False)]):
                places = [place for place in trace.left if place.is_whole and place.holder is x]
                origin = trace.left[places[0]][1] if places else trace.grown.get(n)
                found.append(Grown(n, not (id(x) in trace.sizes or n in trace.asked), origin))
        return tuple(found)
