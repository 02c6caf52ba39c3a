"""`ufunc.at` of places of which it is known only at run time how many there are."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from pliant.core.ir import Number, Value, const
from pliant.frontend.array import fresh
from pliant.frontend.bounded import Bounded, common_extents, filled, inside, padded, whole_of
from pliant.frontend.convert import as_traced, broadcast_value
from pliant.frontend.functions.at import update_at, update_of
from pliant.frontend.places import put_one_by_one
from pliant.ops.bits import bitwise_and
from pliant.ops.folds import start_of
from pliant.ops.index import gather
from pliant.ops.select import select

NOTHING: Final[dict[np.ufunc, int]] = {
    np.add: 0,
    np.subtract: 0,
    np.bitwise_or: 0,
    np.bitwise_xor: 0,
    np.multiply: 1,
    np.divide: 1,
}
EXTREMA: Final[dict[np.ufunc, str]] = {np.maximum: "max", np.minimum: "min"}


def updated_at(ufunc: Any, x: Any, key: Bounded, y: Any) -> None:
    """`ufunc.at(x, key, y)`: beyond the places there are, with what changes nothing; or one after the other."""
    extents = common_extents(f"np.{ufunc.__name__}.at", (key, y))
    is_line = not isinstance(x, Bounded) and np.ndim(x) == 1
    if key.dtype.kind not in "iu" or key.ndim != 1 or not is_line or not np.shape(x)[0]:
        raise key.refused(f"np.{ufunc.__name__}.at")
    array, shape = as_traced(x), key.whole.shape
    given = broadcast_value(padded(whole_of(y).value, extents, shape), shape)
    update = update_of(ufunc, array, (fresh(given, is_array=True),))
    mask, idle = inside(key.extents, shape), idle_of(ufunc, update.u.dtype)
    assert mask is not None
    if idle is not None:
        value = select(mask, update.u, const(idle, update.u.dtype))
        update_at(ufunc, array, filled(key, 0), fresh(value, is_array=True))
        return

    def put(made: Value, place: Value, u: Value) -> Value:
        return update.step(gather(made, place), u)[0]

    update.check(lambda fails: bitwise_and(mask, broadcast_value(fails, shape)))
    put_one_by_one(array, key, update.u, put)


def idle_of(ufunc: np.ufunc, dtype: str) -> Number | None:
    """What leaves every element as it is when a ufunc combines it with that; None if nothing does."""
    if dtype == "bool" or (dtype[0] == "c" and ufunc not in (np.add, np.subtract)):
        return None
    return start_of(EXTREMA[ufunc], dtype) if ufunc in EXTREMA else NOTHING.get(ufunc)
