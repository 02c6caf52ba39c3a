"""Arrays with elements added or removed: insert and delete."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from pliant.frontend.array import TracedArray, fresh, fresh_concrete
from pliant.frontend.convert import axis_of, broadcast_value, stored
from pliant.frontend.functions.common import array_of, known, solid, xp
from pliant.frontend.functions.join import along
from pliant.frontend.functions.shape import moveaxis, ravel
from pliant.ops.shape import concatenate, slice_axis


def delete(arr: Any, obj: Any, axis: Any = None) -> TracedArray:
    """np.delete of places known while tracing, or of one that is not."""
    x = ravel(solid(arr)) if axis is None else array_of(arr)
    at = axis_of(0 if axis is None else axis, x.ndim)
    if isinstance(obj, TracedArray) and obj.concrete is None and not obj.shape and obj.type.kind in "iu":
        return _without(x, obj, at)
    return along(x, np.delete(np.arange(x.shape[at]), known(obj, "what np.delete removes")), at)


def _without(x: TracedArray, place: TracedArray, axis: int) -> TracedArray:
    """An array without what lies at one place of an axis."""
    n = x.shape[axis]
    places = xp.arange(max(n - 1, 0))
    first = xp.take(fresh_concrete(np.arange(n)), place)  # counted from the start; an error if there is none
    return xp.take(x, places + (places >= first), axis)


def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> TracedArray:
    """np.insert at places known while tracing."""
    x = ravel(solid(arr)) if axis is None else array_of(arr)
    at = axis_of(0 if axis is None else axis, x.ndim)
    where, n = known(obj, "where np.insert inserts"), x.shape[at]
    new = stored(values, x.type.dtype)
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
    ends = np.flatnonzero((np.diff(places) != 1) | (places[1:] == n)) + 1
    if len(ends) > FEW:
        return along(fresh(concatenate((x.value, new), at), is_array=True), places, at)
    runs = [(int(run[0]), len(run)) for run in np.split(places, ends) if len(run)]
    parts = [slice_axis(x.value if i < n else new, at, i if i < n else i - n, m) for i, m in runs]
    return fresh(concatenate(tuple(parts), at) if parts else x.value, is_array=True)


FEW: Final = 16
"""Runs of elements at most that are put together; elements of more are looked up."""

FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {np.delete: delete, np.insert: insert}
"""NumPy's functions that add or remove elements."""
