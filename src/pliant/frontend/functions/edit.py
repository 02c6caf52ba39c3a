"""Arrays with elements added, removed or put around: pad, insert, delete."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.core.ir import Value, const
from pliant.core.origin import here
from pliant.errors import ArgumentError, ShapeError
from pliant.frontend.array import TracedArray, fresh
from pliant.frontend.convert import as_traced, axis_of, broadcast_value, cast_value, value_of
from pliant.frontend.functions.common import array_of, is_sequence, known, solid, unsupported, xp
from pliant.frontend.functions.join import along
from pliant.frontend.functions.shape import moveaxis, ravel
from pliant.ops import update
from pliant.ops.shape import concatenate

_BY_PLACE = ("edge", "reflect", "symmetric", "wrap")


def pad(array: Any, pad_width: Any, mode: Any = "constant", **options: Any) -> TracedArray:
    """np.pad with mode "constant", "edge", "reflect", "symmetric", "wrap" or "empty" (zeros)."""
    x = array_of(solid(array))
    widths = _pairs(known(pad_width, "pad_width="), x.ndim)
    if min((w for pair in widths for w in pair), default=0) < 0:
        raise ShapeError("index can't contain negative values").at(("here", here()))
    if mode in _BY_PLACE:
        if options.pop("reflect_type", "even") != "even" or options:
            raise unsupported(f"np.pad: mode={mode!r} takes no other keywords here")
        for axis, width in enumerate(widths):
            if any(width):
                x = along(x, np.pad(np.arange(x.shape[axis]), width, mode), axis)
        return fresh(x.value, is_array=True)
    if mode not in ("constant", "empty"):
        raise unsupported(f"np.pad: mode={mode!r} is not supported", f"use one of constant, {', '.join(_BY_PLACE)}")
    fill = options.pop("constant_values", 0)
    if options:
        raise unsupported(f"np.pad: {', '.join(options)} is not supported for mode={mode!r}")
    return fresh(_constant(x, widths, fill), is_array=True)


def _constant(x: TracedArray, widths: list[tuple[int, int]], fill: Any) -> Value:
    """One fill for all sides, or one for each side of each axis."""
    filler = as_traced(fill)
    if filler.size == 1:
        low, high = zip(*widths, strict=True) if widths else ((), ())
        number = cast_value(as_traced(filler.reshape(())).value if filler.ndim else filler.value, x.type.dtype)
        if filler.concrete is not None:
            number = const(filler.concrete.reshape(-1)[0].astype(x.dtype).item(), x.type.dtype)
        return update.pad(x.value, low, high, number)
    fills = xp.broadcast_to(filler, (x.ndim, 2))
    value = x.value
    for axis, (before, after) in enumerate(widths):
        for side, width in ((0, before), (1, after)):
            low = [width if a == axis and side == 0 else 0 for a in range(x.ndim)]
            high = [width if a == axis and side == 1 else 0 for a in range(x.ndim)]
            if width:
                value = update.pad(value, low, high, value_of(fills[axis, side], x.type.dtype))
    return value


def _pairs(widths: Any, rank: int) -> list[tuple[int, int]]:
    """How much to put before and after each axis."""
    if hasattr(widths, "items"):
        given: list[Any] = [(0, 0)] * rank
        for axis, width in widths.items():
            given[axis_of(axis, rank)] = width if is_sequence(width) else (width, width)
        widths = given
    full = xp.broadcast_to(np.asarray(widths), (rank, 2))
    if full.dtype.kind not in "iu":
        raise ArgumentError("`pad_width` must be of integral type.").at(("here", here()))
    return [(int(before), int(after)) for before, after in full.tolist()]


def delete(arr: Any, obj: Any, axis: Any = None) -> TracedArray:
    """np.delete of places known while tracing."""
    x = ravel(solid(arr)) if axis is None else array_of(arr)
    at = axis_of(0 if axis is None else axis, x.ndim)
    return along(x, np.delete(np.arange(x.shape[at]), known(obj, "what np.delete removes")), at)


def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> TracedArray:
    """np.insert at places known while tracing."""
    x = ravel(solid(arr)) if axis is None else array_of(arr)
    at = axis_of(0 if axis is None else axis, x.ndim)
    where, n = known(obj, "where np.insert inserts"), x.shape[at]
    new = value_of(solid(values), x.type.dtype)
    is_one = type(where) is not slice and np.ndim(where) == 0
    if is_one:  # NumPy puts the first axis of the values along `axis`
        while new.type.rank < x.ndim:
            new = fresh(new, is_array=True)[None].value
        new = moveaxis(fresh(new, is_array=True), 0, at).value
        count = new.shape[at]
    else:
        count = len(xp.insert(np.arange(n), where, 0)) - n
    new = broadcast_value(new, tuple(count if a == at else m for a, m in enumerate(x.shape)))
    places = xp.insert(np.arange(n), where, n + np.arange(count))
    return along(fresh(concatenate((x.value, new), at), is_array=True), places, at)


FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {np.pad: pad, np.delete: delete, np.insert: insert}
"""NumPy's functions that add or remove elements."""
