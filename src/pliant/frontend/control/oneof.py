"""Lists of which one is read at a place known only at run time: what changes it changes the one that it is.

b = [[], []]          b[k] is a list that holds what the one at this place holds. What would change it is done to each
b[k].append(x)        of them, if it is the one at this place; then it gets what that one holds now
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, cast, final

from pliant.core.data import frozen
from pliant.core.ir import Value
from pliant.core.origin import here
from pliant.errors import UnsupportedError
from pliant.frontend.array import TracedArray
from pliant.frontend.control.copies import apart, in_other_places, related, rows_let_go
from pliant.frontend.control.fronts import Form
from pliant.frontend.control.grids import grid_kind, row_of, written_apart
from pliant.frontend.control.grids import item as plain_item
from pliant.frontend.control.growth import Prefix, growth_of
from pliant.frontend.control.region import born, note, note_one_by_one, place_of
from pliant.frontend.control.switched import place_among, switched
from pliant.frontend.sharing import Closed, containers
from pliant.frontend.tracing import Trace, current, is_tracing
from pliant.ops.index import gather
from pliant.ops.shape import concatenate, reshape

CHANGING: Final = frozenset("append extend insert pop remove clear sort reverse".split())
"""The methods of lists that change them."""

MOST: Final = 100
"""Of so many lists one may be changed: each of them is another way to go."""


@final
@frozen(eq=False)
class One:
    """A list that is one of several, by a place known only at run time."""

    elements: list[Any]
    holder: Any
    members: tuple[list[Any], ...]
    key: Any
    place: TracedArray

    def do(self, use: Callable[[list[Any]], Any]) -> Any:
        """What a change of it returns, which is made to the one that it is."""
        if len(self.members) > MOST:
            raise _refused(f"changed, and there are more than {MOST},", self.key)
        note(place_of("whole", self.elements))
        apart(self.elements)
        if row_of(self.elements) is not None:
            written_apart(self.members[0])
            rows_let_go(self.members[0], but=self.elements)
            note_one_by_one(self.holder)
        made = switched([partial(use, member) for member in self.members], self.place)
        self.elements[:] = _content(self.members, self.place, self.key)
        in_other_places([self.elements], self.members, [self.place])
        return made

    def let_go(self) -> None:
        """One of the lists changes by another name: from here on, in whatever branch, nobody may look at what this one
        holds."""
        self.elements[:] = [Prefix(cast("Any", Stale(self.key)))]

    def is_read_from(self, holder: Any, key: Any) -> bool:
        """Whether it is what is at a place of a list."""
        is_same = type(key) is TracedArray and key.value == self.key.value
        return holder is self.holder and is_same and [*map(id, holder)] == [*map(id, self.members)]


@final
class Stale:
    """Stands where a `Growth` does, of a list that has changed since it was read; its use is an error."""

    def __init__(self, key: TracedArray) -> None:
        self._key = key

    def __getattr__(self, name: str) -> Any:
        raise self.refused()

    def refused(self) -> UnsupportedError:
        """The error of its use."""
        error = UnsupportedError(
            "a list that was read at a place known only at run time is looked at after one of those that it may be has "
            "changed by another name",
            hint="read it again: c = lists[k]",
        )
        return error.at(("here", here())).needing(self._key.value)


def is_asked(holder: Any, key: Any) -> bool:
    """Whether one of several lists is asked for by a number known only at run time."""
    is_open = type(key) is TracedArray and key.concrete is None and not key.shape and key.type.kind in "iub"
    return is_open and bool(holder) and all([cast("Any", type(x)) is list for x in holder])


def one_at(holder: Any, key: TracedArray, members: Sequence[list[Any]]) -> Any:
    """`holder[key]`."""
    place = place_among(members, key)
    if grid_kind(holder) is not None:
        made = plain_item(holder, key)
    else:
        made = born(_content(members, place, key))
        in_other_places([made], members, [place])
    current().outermost.ones[id(made)] = One(made, holder, tuple(members), key, place)
    return made


def one_of(elements: Any) -> One | None:
    """Which list one is, if it was read at a place known only at run time; None for any other."""
    if type(elements) is not list or not is_tracing():
        return None
    return current().outermost.ones.get(id(cast("Any", elements)))


def check_ones(trace: Trace, made: Any, given: Any, closed: Closed) -> None:
    """UnsupportedError if one of several lists is returned, or left in what was given or outside, where one of those
    that it may be outlives the call too: a copy of it is another list."""
    if not trace.ones:
        return
    left = {*map(id, containers((given, [place.get() for place in trace.left]), closed))}
    for one in [trace.ones[n] for n in left.union(map(id, containers(made, closed))) if n in trace.ones]:
        others = [x for member in one.members for x in (member, *related(member)) if x is not one.elements]
        if any([id(x) in left or id(x) not in trace.own for x in others]):
            raise _refused("returned, or left where others can see it,", one.key, "leave a copy: list(lists[k])")


def changed(one: One, method: Callable[[list[Any]], Any], name: str, /, *args: Any, **options: Any) -> Any:
    """A method that changes a list that is one of several. method: that of each of them."""
    if name == "extend":
        args = tuple([taken(x, lambda made, x: method(made)(x)) for x in args])
    return one.do(lambda member: method(member)(*args, **options))


def taken(x: Any, extend: Callable[[list[Any], Any], Any]) -> Any:
    """What each of several lists may be extended by: something that can be gone over only once, or that changes with
    them, as a list. extend: extends a list."""
    if type(x) in (tuple, TracedArray):
        return x
    if (growth := growth_of(x)) is not None:
        raise growth.refused()
    made: list[Any] = born([])
    if type(x) is list:
        made += cast("list[Any]", x)
    else:
        extend(made, x)
    return made


def _content(members: Sequence[list[Any]], place: TracedArray, key: TracedArray) -> list[Any]:
    """What the one of some lists at a place holds."""
    form = Form.of(*members)
    if form is None and not any(members):
        return []
    if form is None:
        raise _refused("read whose elements differ, or whose lengths have to be known,", key)
    values = zip(*[form.values(member) for member in members], strict=True)
    return form.listed([gather(_stacked(parts), place.value) for parts in values])


ALIKE: Final = "let all of them hold elements of one dtype and shape; or use one array: table[k, n[k]] = x; n[k] += 1"


def _refused(what: str, key: TracedArray, hint: str = ALIKE) -> UnsupportedError:
    """The error of lists of which the one at a place known only at run time cannot be had."""
    error = UnsupportedError(f"one of several lists is {what} at a place that is known only at run time", hint=hint)
    return error.at(("here", here())).needing(key.value)


def _stacked(parts: Sequence[Value]) -> Value:
    return concatenate(tuple([reshape(x, (1, *x.shape)) for x in parts]), 0)
