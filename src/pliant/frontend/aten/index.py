"""PyTorch's reads and writes at places, in terms of NumPy's indexing.

Of several writes to one place the last one counts.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from pliant.frontend.aten.call import Array, Call, Rule, at_least_1d, axis_of, cast, own

xp: Any = np
UFUNCS: Final = {"sum": xp.add, "add": xp.add, "prod": xp.multiply, "multiply": xp.multiply, "amax": xp.maximum,
                 "amin": xp.minimum}  # fmt: skip


def key_of(places: Sequence[Any]) -> tuple[Any, ...]:
    """An index; None is all of an axis."""
    return tuple([slice(None) if i is None else i for i in places])


def index(call: Call, x: Array, places: Sequence[Any]) -> Array:
    """The elements at places."""
    made = x[key_of(places)]
    return made if made.shape == call.shape else xp.reshape(made, call.shape)


def index_put(call: Call, x: Array, places: Sequence[Any], new: Array, accumulate: bool = False, *_: Any) -> Array:
    """x with others at places, or with them added there."""
    made, new = own(x), cast(new, call.dtype)
    if accumulate:
        xp.add.at(made, key_of(places), new)
    else:
        made[key_of(places)] = new
    return made


def _row_key(x: Array, dim: int, at: Array) -> tuple[Any, ...]:
    return (*[slice(None)] * axis_of(dim, x), at)


def index_select(call: Call, x: Array, dim: int, at: Array) -> Array:
    """Rows along an axis."""
    return xp.reshape(xp.take(at_least_1d(x), at_least_1d(at), axis=axis_of(dim, x)), call.shape)


def index_add(call: Call, x: Array, dim: int, at: Array, new: Array, *, alpha: Any = 1) -> Array:
    """x with rows added along an axis."""
    made = own(x)
    xp.add.at(made, _row_key(x, dim, at), cast(new * alpha if alpha != 1 else new, call.dtype))
    return made


def index_copy(call: Call, x: Array, dim: int, at: Array, new: Array) -> Array:
    """x with rows replaced along an axis."""
    made = own(x)
    made[_row_key(x, dim, at)] = new
    return made


def index_fill(call: Call, x: Array, dim: int, at: Array, value: Any) -> Array:
    """x with a number in rows along an axis."""
    return index_copy(call, x, dim, at, cast(value, call.dtype))


def gather(call: Call, x: Array, dim: int, at: Array, **_: Any) -> Array:
    """The elements at places along an axis; the places may be fewer than x has, along the other axes."""
    if not x.ndim or not at.ndim:
        return xp.reshape(at_least_1d(x)[at_least_1d(at)], call.shape)
    return x[_along(x, dim, at)]


def _along(x: Array, dim: int, at: Array) -> tuple[Any, ...]:
    """The index of places along an axis, and of themselves along the others."""
    axis = axis_of(dim, x)
    ranges = [np.arange(n).reshape([-1 if b == a else 1 for b in range(at.ndim)]) for a, n in enumerate(at.shape)]
    return tuple([at if a == axis else ranges[a] for a in range(at.ndim)])


def _scattered(call: Call, x: Array, dim: int, at: Array, new: Any, ufunc: Any) -> Array:
    made, new = own(at_least_1d(x)), cast(new, call.dtype)
    at = at_least_1d(at)
    if hasattr(new, "shape"):
        new = at_least_1d(new)[tuple([slice(0, n) for n in at.shape])]
    key = _along(made, dim, at)
    if ufunc is None:
        made[key] = new
    else:
        ufunc.at(made, key, new)
    return xp.reshape(made, call.shape)


def scatter(call: Call, x: Array, dim: int, at: Array, new: Any, *, reduce: str | None = None) -> Array:
    """x with others at places along an axis."""
    return _scattered(call, x, dim, at, new, None if reduce is None else UFUNCS[reduce])


def scatter_add(call: Call, x: Array, dim: int, at: Array, new: Array) -> Array:
    """x with others added at places along an axis."""
    return _scattered(call, x, dim, at, new, xp.add)


def scatter_reduce(
    call: Call, x: Array, dim: int, at: Array, new: Array, reduce: str, *, include_self: bool = True
) -> Array:
    """x with others combined with it at places along an axis."""
    if reduce == "mean" or not include_self:
        counts = _scattered(call, xp.zeros_like(x), dim, at, xp.ones(at.shape, call.dtype), xp.add)
        start = {"prod": 1, "amax": -np.inf, "amin": np.inf}.get(reduce, 0)
        if not include_self:
            if call.dtype.kind in "iu" and reduce in ("amax", "amin"):
                limits = np.iinfo(call.dtype)
                start = limits.min if reduce == "amax" else limits.max
            x = xp.where(counts > 0, xp.full_like(x, start), x)
        if reduce == "mean":
            made = _scattered(call, x, dim, at, new, xp.add)
            shares = xp.maximum(counts + (1 if include_self else 0), 1)
            return cast(made / shares if call.dtype.kind in "fc" else made // cast(shares, call.dtype), call.dtype)
    return _scattered(call, x, dim, at, new, UFUNCS[reduce])


def embedding(call: Call, weight: Array, at: Array, *_: Any) -> Array:
    """Rows of a table."""
    return weight[at]


def masked_scatter(call: Call, x: Array, mask: Array, new: Array) -> Array:
    """x with others, one after the other, where a mask says so."""
    chosen = xp.reshape(xp.broadcast_to(mask, call.shape), -1)
    order = xp.maximum(xp.cumsum(chosen) - 1, 0)
    given = xp.reshape(new, -1)[xp.minimum(order, new.size - 1)]
    return xp.reshape(xp.where(chosen, given, xp.reshape(xp.broadcast_to(x, call.shape), -1)), call.shape)


def put(call: Call, x: Array, at: Array, new: Array, accumulate: bool = False) -> Array:
    """x with others at places in row-major order, or with them added there."""
    flat, places = xp.reshape(x, -1), (xp.reshape(at, -1),)
    return xp.reshape(index_put(call, flat, places, xp.reshape(new, -1), accumulate), call.shape)


def take(call: Call, x: Array, at: Array) -> Array:
    """The elements at places in row-major order."""
    return xp.reshape(x, -1)[at]


def searchsorted(
    call: Call, a: Array, v: Any, *, right: bool = False, side: str | None = None, **options: Any
) -> Array:
    """Where numbers belong among sorted ones."""
    if options.get("sorter") is not None:
        raise call.refused("with a sorter")
    where = side or ("right" if right else "left")
    if a.ndim == 1:
        return cast(xp.searchsorted(a, v, side=where), call.dtype)
    rows, wanted = xp.reshape(a, (-1, a.shape[-1])), xp.reshape(v, (-1, v.shape[-1]))
    found = [xp.searchsorted(rows[n], wanted[n], side=where) for n in range(rows.shape[0])]
    return cast(xp.reshape(xp.stack(found), call.shape), call.dtype)


INDEXED: Final[dict[str, Rule]] = {
    "index": index, "_unsafe_index": index, "index_put": index_put, "_unsafe_index_put": index_put,
    "index_select": index_select, "index_add": index_add, "index_copy": index_copy, "index_fill": index_fill,
    "gather": gather, "scatter": scatter, "scatter_add": scatter_add, "scatter_reduce": scatter_reduce,
    "embedding": embedding, "take": take, "put": put, "masked_scatter": masked_scatter, "searchsorted": searchsorted,
    "bucketize": lambda call, v, edges, **options: searchsorted(call, edges, v, **options),
}  # fmt: skip
"""Reads and writes at places, by the names that PyTorch's graphs have for them."""
