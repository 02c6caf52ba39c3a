"""What the user's function changes in place: items, attributes, whole containers. A trial takes it back."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, cast

from pliant.core.origin import here
from pliant.errors import UnsupportedError
from pliant.frontend.array import TracedArray
from pliant.frontend.control.branch import choose
from pliant.frontend.control.copies import Same, seen_too
from pliant.frontend.control.grids import row_of, write, written_apart
from pliant.frontend.control.objects import is_kept
from pliant.frontend.control.region import Place, cells_of, in_loop, note, note_name, on_trial, place_of
from pliant.frontend.control.tables import written
from pliant.frontend.tracing import Storage, current, is_tracing

CHANGING: Final = frozenset((
    "append extend insert pop remove clear sort reverse update setdefault popitem add discard appendleft "
    "extendleft popleft rotate subtract move_to_end difference_update intersection_update symmetric_difference_update"
).split())  # fmt: skip
"""Methods that change a container."""

CHANGING_MODULES: Final = frozenset(("_heapq", "_bisect"))
"""Modules whose functions change a list that they are given."""

CONTAINERS: Final = (list, dict, set, deque)


def store(value: Any, holder: Any, key: Any) -> None:
    """`holder[key] = value`."""
    kind = cast("Any", type(holder))
    if kind is list and is_tracing() and current().outermost.rows:
        row = row_of(holder)
        if row is not None and not _is_slice(key) and write(row, key, value):
            return
        written_apart(holder)
    if kind is list and type(key) is TracedArray and key.concrete is None and not key.shape:
        elements = written(holder, key, value)
        if elements is not None:
            seen_too(holder, is_item=False)
            note(place_of("whole", holder))
            holder[:] = elements
            return
    if kind is dict:
        hash(key)  # of a traced number there is none: an error at the user's line, not of the place
    others: list[Same] = []
    if type(holder) is not TracedArray and is_tracing():
        others = seen_too(holder, is_item=key in holder if kind is dict else isinstance(key, int))
        if kind is dict or (kind is list and isinstance(key, int)):
            note(_item(holder, key))
        elif isinstance(holder, CONTAINERS):
            note(place_of("whole", holder))
    cast("Any", holder)[key] = value
    for other in others:
        _store_if(other, key, value)


def _store_if(other: Same, key: Any, value: Any) -> None:
    """The same write to a list or dict that is the one written to if a condition holds."""
    before = other.holder[key]
    blocks = (lambda: value), (lambda: before)
    test = TracedArray(Storage.holding(current(), other.condition))
    made = choose(test, *(blocks if other.holds else blocks[::-1]))
    note(_item(other.holder, key))
    other.holder[key] = made


def _item(holder: Any, key: Any) -> Place:
    return place_of("item", holder, key if type(holder) is dict else key % max(len(holder), 1))


def _is_slice(key: Any) -> bool:
    return isinstance(key, slice)


def assign(value: Any, holder: Any, name: str) -> None:
    """`holder.name = value`."""
    if type(holder) is not TracedArray and is_tracing():
        if is_kept(holder):
            raise UnsupportedError(
                f"attribute {name!r} is set of an object that is one of two by a condition known only at run time, or "
                "that may be",
                hint="make a new object with the attribute, or set it before",
            ).at(("here", here()))
        if hasattr(holder, "__dict__"):
            note(place_of("attribute", holder, name))
    setattr(holder, name, value)


def changing(holder: Any, name: str) -> None:
    """A method that changes a container is about to be called."""
    if is_tracing() and name in CHANGING and isinstance(holder, CONTAINERS):
        seen_too(holder, is_item=False)
        note(place_of("whole", holder))


def taken_back(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose changes of the lists that it is given a trial can take back."""
    module = getattr(function, "__module__", None)
    if not on_trial() or module not in CHANGING_MODULES:
        return function

    def run(*args: Any, **options: Any) -> Any:
        for holder in args:
            if isinstance(holder, CONTAINERS):
                seen_too(holder, is_item=False)
                note(place_of("whole", holder))
        return function(*args, **options)

    return run


def advanced(iterator: Iterator[Any], *default: Any) -> Any:
    """`next`: what an iterator has given cannot be taken back."""
    if in_loop():
        raise only_once("an iterator is advanced")
    if on_trial():
        raise UnsupportedError(
            "an iterator is advanced under a condition that is known only at run time",
            hint="take its elements before the if, or index into a list of them",
        ).at(("here", here()))
    return next(iterator, *default)


def extended(x: Any, y: Any) -> Any:
    """`x += y`."""
    if type(x) is list:
        changing(cast("Any", x), "extend")
    x += y
    return x


def rebinds(names: Sequence[str], function: Callable[[], Any]) -> None:
    """A function is run that binds names of the function around it; they are free in `function`."""
    for place in cells_of(names, function):
        note_name(place)


def attempted() -> None:
    """A `try` statement is about to be run: it could hide from a loop that its body cannot be one."""
    if in_loop():
        raise only_once("a try statement is run")
    if is_tracing():
        current().outermost.handlers += 1


def handled() -> None:
    """The end of a `try` statement."""
    if is_tracing():
        current().outermost.handlers -= 1


def only_once(what: str) -> UnsupportedError:
    """The error of what cannot be done in a body that is traced once for all steps."""
    return UnsupportedError(
        f"{what} inside a loop, whose body is run once for all steps", hint="move it out of the loop"
    ).at(("here", here()))
