"""Iterators that a loop has gone over which may have been left early: nobody knows while tracing where they are.

it = iter(xs)
for v in it:                    tracing takes all elements, and so does the program, as far as the loop is not left
    if v > 0:
        break
rest = sum(it)                  an error
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, final

from pliant.core.origin import here
from pliant.errors import UnsupportedError
from pliant.frontend.tracing import current, is_tracing


@final
class Walked:
    """An iterator whose elements are as the trace sees them."""

    def __init__(self, source: Iterator[Any], see: Callable[[Any], Any]) -> None:
        self.source, self.see = source, see

    def __iter__(self) -> Walked:
        return self

    def __next__(self) -> Any:
        return self.see(next(self.source))


def left_early(iterator: Any) -> None:
    """A loop over an iterator may have been left before its end."""
    source = iterator.source if type(iterator) is Walked else iterator
    current().outermost.unsure[id(source)] = source


def going_on(iterator: Any) -> None:
    """An iterator is about to be asked for elements: an error if nobody knows which are left."""
    if is_tracing() and id(iterator) in current().outermost.unsure:
        raise UnsupportedError(
            "an iterator is used again after a loop that is left under a condition that is known only at run time",
            hint="keep the place in a number: k = len(x), k = i before the break, and x[k + 1:] after the loop",
        ).at(("here", here()))
