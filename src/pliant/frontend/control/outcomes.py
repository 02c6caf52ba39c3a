"""What a block left at places, and how it becomes what the function has there."""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from pliant.core.origin import here
from pliant.errors import UnsupportedError
from pliant.frontend.array import TracedArray, fresh
from pliant.frontend.control.objects import Opened, flatten, unflatten
from pliant.frontend.control.region import Outcome, Place, note
from pliant.frontend.control.signals import RETURN, Signal
from pliant.frontend.control.unbound import Unbound
from pliant.frontend.reading import read

T = TypeVar("T")

_QUEUE: Final = (
    "use a list, and say how often it is read at most: for _ in range(most), if not queue: break, x = queue.pop(0), "
    "queue.append(y)"
)
_ARRAY: Final = (
    "make the largest array before: out = np.zeros(n), then out[k] = v and k += 1, and use out[:k]; or keep its length "
    "and keys the same in both branches"
)


def flattened(side: Outcome, x: Any, opened: Opened | None = None) -> tuple[list[Any], Any]:
    """`flatten` of an object as a block left it."""
    if isinstance(x, TracedArray):
        return flatten(x, opened)
    with side.shown():
        return flatten(x, opened)


def as_left(sides: Sequence[Outcome], trees: Sequence[Any], look: Callable[[Any], T]) -> list[T]:
    """What is to be seen of objects, of each as a block left it."""
    found: list[T] = []
    for side, tree in zip(sides, trees, strict=True):
        with side.shown():
            found.append(look(tree))
    return found


def elements_left(side: Outcome, elements: Sequence[Any]) -> list[Any]:
    """The elements of a list, with copies in place of those of which a block has written a part."""
    with side.shown():
        trees = [flatten(x) for x in elements]
    made: list[Any] = []
    for x, (leaves, structure) in zip(elements, trees, strict=True):
        before, now = flatten(x)[0], [_left(side, leaf) for leaf in leaves]
        is_same = len(before) == len(now) and all(map(operator.is_, before, now))
        made.append(x if is_same else unflatten(structure, now))
    return made


def _left(side: Outcome, leaf: Any) -> Any:
    """An array as a block left it: a copy if it was written; anything else as it is."""
    if type(leaf) is not TracedArray or (value := side.written.get(leaf.storage)) is None:
        return leaf
    with side.region.inside():
        return fresh(read(value, leaf.lenses), is_array=True)


def is_over(side: Outcome) -> bool:
    """Whether a block ends with the end of the function."""
    return isinstance(side.result, Signal) and side.result.possible == frozenset((RETURN,))


def content(side: Outcome, place: Place) -> Any:
    """What is at a place after a block."""
    if place in side.contents or not place.is_whole:
        return side.contents[place] if place in side.contents else place.get()
    with side.shown():  # with its items as they were left
        return place.get()


def put(place: Place, made: Any) -> None:
    """Change a place for good, as far as a region around this allows."""
    if made is place.get():
        return
    if type(made) is Unbound and place.is_whole:
        raise UnsupportedError(
            f"{place.text} gets other elements under a condition that is known only at run time",
            hint=_QUEUE if isinstance(place.holder, deque) else _ARRAY,
        ).at(("here", here()))
    if place.kind != "name":
        note(place)
    place.set(made)
