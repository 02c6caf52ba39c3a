"""Arrays that never change, as expressions: what rules of the user's see of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, cast

import numpy as np

from pliant.core.ir import Value, const
from pliant.core.types import SHORT
from pliant.ops.compare import equal
from pliant.ops.elementwise import convert
from pliant.ops.matrix import index_grid
from pliant.ops.select import select
from pliant.ops.shape import broadcast, concatenate, iota, reshape

MOST: Final = 32
"""Numbers of an array without order that are written out."""


def written(array: Any) -> Value | None:
    """An array in primitives, the same for equal arrays: one number everywhere, numbers in equal steps, a diagonal of
    one number, or a few numbers; None for others."""
    dtype = SHORT[array.dtype.name]
    flat = array.reshape(-1)
    if not array.size or _is_same(np.broadcast_to(flat[:1], flat.shape), flat):
        return broadcast(const(flat[0].item() if array.size else 0, dtype), array.shape, ())
    for start, step in _steps(array):
        line = convert(iota(array.size), dtype)
        return line * const(step, dtype) + const(start, dtype)
    for number, offset in _diagonals(array):
        rows, columns = index_grid(array.shape)
        places = equal(rows + const(offset, "i64"), columns)
        return select(places, const(number, dtype), const(0, dtype))
    if array.size > MOST:
        return None
    return reshape(concatenate(tuple([reshape(const(x, dtype), (1,)) for x in flat.tolist()]), 0), array.shape)


def _steps(array: Any) -> Iterator[tuple[Any, Any]]:
    """The first number and the step, if numbers of a row lie in equal steps."""
    if array.ndim == 1 and array.dtype.kind in "if":
        with np.errstate(all="ignore"):
            start, step = array[0], array[1] - array[0]
            places = cast("Any", np.arange(array.size))
            made = (places.astype(array.dtype) * step + start).astype(array.dtype)
        if _is_same(made, array):
            yield start.item(), step.item()


def _diagonals(array: Any) -> Iterator[tuple[Any, int]]:
    """The number on the only diagonal that is not 0, and how far that is above the main one."""
    if array.ndim == 2:
        row, column = [int(places[0]) for places in np.nonzero(array)]
        made = np.zeros_like(array)
        np.fill_diagonal(made[max(row - column, 0) :, max(column - row, 0) :], array[row, column])
        if _is_same(made, array):
            yield array[row, column].item(), column - row


def _is_same(a: Any, b: Any) -> bool:
    """Whether two arrays have the same bits."""
    return np.ascontiguousarray(a).tobytes() == np.ascontiguousarray(b).tobytes()
