"""Lists whose elements are the rows of one array, as loops leave them that appended to a list."""

from __future__ import annotations

from typing import Any

from pliant.frontend.array import TracedArray
from pliant.frontend.view import ReshapeLens, SliceLens


def rows_of(elements: list[Any], *, is_weak: bool = False) -> TracedArray | None:
    """The array whose rows are the elements of a list, in their order, if there is one. is_weak: whether they are
    Python's numbers."""
    first = elements[0] if elements else None
    if type(first) is not TracedArray or len(first.lenses) != 2 or first.concrete is not None:
        return None
    window, tail = first.lenses
    if not isinstance(window, SliceLens) or tail != ReshapeLens(window.length[1:]):
        return None
    start, step, length = window.start, window.step, window.length
    if length[0] != 1 or any(start[1:]) or set(step) != {1} or length[1:] != first.storage.value.shape[1:]:
        return None
    for n, x in enumerate(elements):
        is_next = type(x) is TracedArray and x.storage is first.storage and x.is_scalar == first.is_scalar
        if (
            not is_next
            or x.is_weak != is_weak
            or x.lenses != (SliceLens((start[0] + n, *start[1:]), step, length), tail)
        ):
            return None
    return TracedArray(first.storage, (SliceLens(start, step, (len(elements), *length[1:])),))
