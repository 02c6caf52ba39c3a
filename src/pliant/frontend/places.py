"""Indexing by arrays of places of which it is known only at run time how many there are; see `bounded`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from pliant.core.build import trace
from pliant.core.ir import Value, Values, const
from pliant.frontend.array import TracedArray, fresh
from pliant.frontend.bounded import Bounded, common_extents, filled, inside, whole_of
from pliant.frontend.convert import broadcast_value, cast_value
from pliant.frontend.keys import wrapped
from pliant.frontend.sizes import Size
from pliant.ops.index import ScatterSet
from pliant.ops.loop import Loop
from pliant.ops.select import select

IDLE: Final[dict[np.ufunc, Callable[[np.dtype[Any]], Any]]] = {
    np.add: lambda _: 0, np.subtract: lambda _: 0, np.bitwise_or: lambda _: 0, np.bitwise_xor: lambda _: 0,
    np.multiply: lambda _: 1, np.divide: lambda _: 1, np.floor_divide: lambda _: 1,
    np.maximum: lambda dtype: -np.inf if dtype.kind == "f" else np.iinfo(dtype).min,
    np.minimum: lambda dtype: np.inf if dtype.kind == "f" else np.iinfo(dtype).max,
}  # fmt: skip
"""What leaves an element as it is when a ufunc combines it with that, by the dtype of what it is combined with."""


def taken(x: TracedArray, key: Bounded) -> Any:
    """`x[key]` where it is known only at run time how many indices there are."""
    if key.dtype.kind not in "iu" or not x.shape or not x.shape[0]:
        raise key.refused("indexing by")
    made = Bounded(x[filled(key, 0)], (*key.extents, *x.shape[1:]))
    # beyond its extents it is what lies at place 0, to which no derivative may go from there
    return Bounded(filled(made, 0), made.extents)


def put_at(x: TracedArray, key: Bounded, y: Any) -> None:
    """`x[key] = y` where it is known only at run time how many indices there are: one after the other."""
    common_extents("an assignment", (key, y))
    if key.dtype.kind not in "iu" or key.ndim != 1 or not x.shape or not x.shape[0]:
        raise key.refused("assignment to places by")
    (count,), whole = key.extents, x.value
    assert isinstance(count, Size)
    row = whole.type.row
    rows = broadcast_value(cast_value(whole_of(y).value, row.dtype), (key.whole.shape[0], *row.shape))

    def step(_: Value, __: Value, made: Value, place: Value, row: Value) -> Values:
        return (ScatterSet(unique=True)(made, place, row),)

    places = wrapped(filled(key, 0).value, whole.shape[0])
    types = (count.value.type, count.value.type, whole.type, places.type.row, row)
    loop = Loop(key.whole.shape[0], ("count", "carry", "each", "each"), ("last",), trace(step, *types))
    x.replace(loop(count.value, whole, places, rows))


def updated_at(ufunc: Any, x: Any, key: Bounded, y: Any) -> None:
    """`ufunc.at(x, key, y)` where it is known only at run time how many indices there are: beyond them, what leaves
    an element as it is."""
    common_extents(f"np.{ufunc.__name__}.at", (key, y))
    is_line = not isinstance(x, Bounded) and np.ndim(x) == 1
    if ufunc not in IDLE or key.dtype.kind not in "iu" or key.ndim != 1 or not is_line:
        raise key.refused(f"np.{ufunc.__name__}.at")
    new = whole_of(y)
    shape, idle = key.whole.shape, IDLE[ufunc](new.dtype)
    value, mask = broadcast_value(new.value, shape), inside(key.extents, shape)
    value = value if mask is None else select(mask, value, const(idle, value.dtype))
    ufunc.at(x, filled(key, 0), fresh(value, is_array=True))
