"""`out=` of `ufunc.accumulate`, `cumsum` and `cumprod`, whose shape NumPy checks more or less strictly.

Its plain loop over one axis wants the shape of the result. Where it needs its iterator (several axes, a cast,
operands that overlap) it looks at as many axes of `out=` as the result has: these may be longer where the
operand has one element, and of further axes the first element is written.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from pliant.core.ir import Value
from pliant.core.types import DTYPES
from pliant.frontend.array import TracedArray
from pliant.frontend.convert import as_traced, broadcast_value
from pliant.frontend.functions.common import is_sequence, store_out
from pliant.frontend.index import getitem
from pliant.frontend.order import settle
from pliant.frontend.strides import contiguous
from pliant.frontend.tracing import Storage
from pliant.frontend.view import is_static, look


def store_accumulated(made: Value, x: TracedArray | None, axis: int, out: Any, name: str) -> Any:
    """What was accumulated along an axis of x, as a new array or in `out`; x is None for a copy that NumPy makes."""
    if out is None:
        return store_out(made, is_array=True)
    (out,) = out if is_sequence(out) else (out,)
    target = as_traced(out)
    if target.shape != made.shape:
        if _has_iterator(made, x, target):
            window = _window(made.shape, axis, target)
            if window is not None:
                store_out(broadcast_value(made, window.shape), window, name, casting="unsafe")
                return out
        elif not made.type.size:
            return out
    return store_out(made, out, name, casting="unsafe")


def _has_iterator(made: Value, x: TracedArray | None, target: TracedArray) -> bool:
    """Whether NumPy's loop needs an iterator."""
    is_cast = target.type.dtype != made.dtype or (x is not None and x.type.dtype != made.dtype)
    return made.type.rank > 1 or is_cast or (x is not None and _meet(x, target))


def _window(shape: tuple[int, ...], axis: int, target: TracedArray) -> TracedArray | None:
    """The part of `out=` that is written; None if the shapes do not fit."""
    rank = len(shape)
    first, rest = target.shape[:rank], target.shape[rank:]
    fits = [m in (1, n) for m, n in zip(shape, first, strict=False)]
    if len(first) < rank or not all(fits) or 0 in rest:
        return None
    key = tuple([slice(m if a == axis else None) for a, m in enumerate(shape)])
    return getitem(target, (*key, *(0 for _ in rest)))


def _meet(x: TracedArray, y: TracedArray) -> bool:
    """Whether the memory of two views meets, from the first to the last element of each."""
    if x.storage is not y.storage or not (is_static(x.lenses) and is_static(y.lenses)):
        return False
    whole = _nowhere(x.storage)
    return np.may_share_memory(look(whole, x.lenses), look(whole, y.lenses))


def _nowhere(storage: Storage) -> Any:
    """An array laid out as a storage, whose elements nobody may look at."""
    settle(storage)
    type = storage.value.type
    dtype = np.dtype(DTYPES[type.dtype])
    strides = [int(s * dtype.itemsize) for s in storage.strides or contiguous(type.shape)]
    return as_strided(np.empty(1, dtype), type.shape, strides)
