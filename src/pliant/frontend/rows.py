"""Lists whose elements are the rows of one array, as loops leave them that added to a list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pliant.frontend.array import TracedArray
from pliant.frontend.view import ReshapeLens, SliceLens


def rows_of(elements: Sequence[Any], *, is_weak: bool = False) -> TracedArray | None:
    """The array whose rows are the elements of a list, in their order or at equal distances in it, if there is one.
    is_weak: whether they are Python's numbers."""
    first: Any = elements[0] if elements else None
    start = _row(first)
    if start is None or first.is_weak != is_weak:
        return None
    step = 1 if len(elements) == 1 else (_row(elements[1]) or 0) - start
    if not step or not all([_is_row(x, first, start + step * n) for n, x in enumerate(elements)]):
        return None
    shape = first.storage.value.shape[1:]
    window = SliceLens((start, *(0 for _ in shape)), (step, *(1 for _ in shape)), (len(elements), *shape))
    return TracedArray(first.storage, (window,))


def runs(elements: Sequence[Any]) -> list[list[Any]]:
    """The elements of a list in parts: neighbours that are rows of one array, up or down, and others by themselves."""
    found: list[list[Any]] = []
    step = 0
    before: int | None = None
    for x in elements:
        row = None if type(x) is TracedArray and x.is_weak else _row(x)
        by = 0 if row is None or before is None else row - before
        if by in (1, -1) and (len(found[-1]) == 1 or by == step) and _is_row(x, found[-1][0], row or 0):
            found[-1].append(x)
        else:
            found.append([x])
        before, step = row, by
    return found


def _row(x: Any) -> int | None:
    """Which row of its allocation an array or a number is; None if it is none."""
    if type(x) is not TracedArray or len(x.lenses) != 2 or x.concrete is not None:
        return None
    window, tail = x.lenses
    if not isinstance(window, SliceLens) or tail != ReshapeLens(window.length[1:]):
        return None
    start, step, length = window.start, window.step, window.length
    if length[0] != 1 or any(start[1:]) or set(step) != {1} or length[1:] != x.storage.value.shape[1:]:
        return None
    return start[0]


def _is_row(x: Any, first: TracedArray, row: int) -> bool:
    """Whether something is a row of the allocation that another one is a row of, and of the same kind."""
    return (
        _row(x) == row and x.storage is first.storage and x.is_scalar == first.is_scalar and x.is_weak == first.is_weak
    )
