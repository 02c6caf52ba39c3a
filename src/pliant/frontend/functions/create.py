"""Arrays made in the likeness of others, and questions about types and shapes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.core.types import DTYPES
from pliant.frontend.array import TracedArray, fresh, fresh_concrete, weak_kind
from pliant.frontend.convert import as_traced, axes_of, broadcast_value, extents_of, filled, short
from pliant.frontend.functions.common import known, refuse, unless, xp
from pliant.frontend.ranges import linspace
from pliant.frontend.view import is_static, look


def _like(number: float) -> Callable[..., Any]:
    """np.zeros_like and its kin: not traced, so that writes of any kind can follow."""

    def made(
        a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *, device: Any = None
    ) -> TracedArray:
        x = as_traced(a)
        extents = x.shape if shape is None else extents_of(known(shape, "shape="))
        to = np.dtype(DTYPES[short(dtype)]) if dtype is not None else x.dtype
        return fresh_concrete(np.full(extents, number, to))

    return made


zeros_like, ones_like, empty_like = _like(0), _like(1), _like(0)


def full_like(
    a: Any, fill_value: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *,
    device: Any = None,
) -> TracedArray:  # fmt: skip
    """np.full_like."""
    x = as_traced(a)
    extents = x.shape if shape is None else extents_of(known(shape, "shape="))
    to = short(dtype) if dtype is not None else x.type.dtype
    return fresh(broadcast_value(filled(fill_value, to), extents), is_array=True)


def shape(a: Any) -> tuple[int, ...]:
    """np.shape."""
    return as_traced(a).shape


def ndim(a: Any) -> int:
    """np.ndim."""
    return as_traced(a).ndim


def size(a: Any, axis: Any = None) -> int:
    """np.size."""
    x = as_traced(a)
    return int(np.prod([x.shape[i] for i in axes_of(axis, x.ndim)], dtype=np.int64))


def _plain(x: Any) -> Any:
    """What NumPy looks at to promote: a dtype, or a Python number."""
    if isinstance(x, TracedArray):
        return weak_kind(x)(1) if x.is_weak else x.dtype
    return x


def result_type(*arrays_and_dtypes: Any) -> Any:
    """np.result_type."""
    return np.result_type(*map(_plain, arrays_and_dtypes))


def common_type(*arrays: Any) -> Any:
    """np.common_type."""
    return xp.common_type(*(np.zeros((), as_traced(a).dtype) for a in arrays))


def can_cast(from_: Any, to: Any, casting: Any = "safe") -> bool:
    """np.can_cast."""
    return np.can_cast(_plain(from_), _plain(to), casting)


def min_scalar_type(a: Any) -> Any:
    """np.min_scalar_type of an array; of a scalar it would depend on the number."""
    x = as_traced(a)
    return x.dtype if x.ndim else refuse("min_scalar_type", "use x.dtype")(a)


def iscomplexobj(x: Any) -> bool:
    """np.iscomplexobj."""
    return as_traced(x).type.kind == "c"


def isrealobj(x: Any) -> bool:
    """np.isrealobj."""
    return not iscomplexobj(x)


def _sharing(question: Callable[..., bool]) -> Callable[..., bool]:
    """np.shares_memory or np.may_share_memory: asked of the same views of an empty array; views at traced places may
    be the same."""

    def answered(a: Any, b: Any, max_work: Any = None) -> bool:
        x, y = as_traced(a), as_traced(b)
        if x.storage is not y.storage or 0 in (*x.shape, *y.shape):
            return False
        if not (is_static(x.lenses) and is_static(y.lenses)):
            return True
        whole = x.storage.value
        memory = np.empty(whole.shape, DTYPES[whole.dtype])
        return question(look(memory, x.lenses), look(memory, y.lenses), max_work)

    return answered


def _of_shape(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that looks at its array's shape alone: NumPy answers for zeros."""

    def answered(arr: Any, *args: Any, **options: Any) -> Any:
        made = function(np.empty(as_traced(arr).shape, bool), *args, **options)
        return tuple(fresh_concrete(m) for m in made)

    return answered


def einsum_path(*operands: Any, **options: Any) -> Any:
    """np.einsum_path: depends on shapes alone."""
    plain: list[Any] = [np.empty(o.shape) if isinstance(o, TracedArray) else o for o in operands]
    return np.einsum_path(*plain, **options)


def logspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0, dtype: Any = None, axis: int = 0
) -> Any:
    """np.logspace between traced ends."""
    if np.ndim(base):  # of several bases each has a line of its own
        rank = max(map(np.ndim, (start, stop, base)))
        start, stop, base = (as_traced(v)[(*(None,) * (rank - np.ndim(v)), ...)] for v in (start, stop, base))
        base = xp.expand_dims(base, axis)
    y = xp.power(base, linspace(start, stop, num, endpoint, axis=axis))
    return y if dtype is None else y.astype(dtype)


def geomspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0) -> Any:
    """np.geomspace between traced ends of one sign, or complex ones."""
    first, last = (as_traced(v) for v in (start, stop))
    wide = np.complex128 if "c" in (first.type.kind, last.type.kind) else np.float64
    first, last = first.astype(wide), last.astype(wide)
    first = unless((first == 0) | (last == 0), first, "geometric")
    sign = xp.sign(first)
    low, high = first / sign, last / sign
    y = xp.exp(linspace(xp.log(low), xp.log(high), num, endpoint))
    if num:  # the ends are not off by a rounding
        y[0] = low
    if num > 1 and endpoint:
        y[-1] = high
    y = xp.moveaxis(y * sign, 0, axis)
    return y if dtype is None else y.astype(dtype)


def apply_along_axis(func1d: Any, axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """np.apply_along_axis: one call for each line."""
    x = xp.moveaxis(as_traced(arr), axis, -1)
    lead = x.shape[:-1]
    rows = xp.reshape(x, (math.prod(lead), x.shape[-1]))
    made = [as_traced(func1d(rows[i], *args, **kwargs)) for i in range(rows.shape[0])]
    stacked = xp.stack(made)
    back = xp.reshape(stacked, (*lead, *stacked.shape[1:]))
    rank = back.ndim - len(lead)
    at = axis % (len(lead) + 1)
    order = [*range(at), *range(len(lead), len(lead) + rank), *range(at, len(lead))]
    return xp.transpose(back, order)


def apply_over_axes(func: Any, a: Any, axes: Any) -> Any:
    """np.apply_over_axes."""
    x = as_traced(a)
    for axis in axes_of(axes, x.ndim):
        y = as_traced(func(x, axis))
        x = y if y.ndim == x.ndim else xp.expand_dims(y, axis)
    return x


FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    np.zeros_like: zeros_like,
    np.ones_like: ones_like,
    np.empty_like: empty_like,
    np.full_like: full_like,
    np.shape: shape,
    np.ndim: ndim,
    np.size: size,
    np.result_type: result_type,
    np.common_type: common_type,
    np.can_cast: can_cast,
    np.min_scalar_type: min_scalar_type,
    np.iscomplexobj: iscomplexobj,
    np.isrealobj: isrealobj,
    np.may_share_memory: _sharing(np.may_share_memory),
    np.shares_memory: _sharing(np.shares_memory),
    np.tril_indices_from: _of_shape(np.tril_indices_from),
    np.triu_indices_from: _of_shape(np.triu_indices_from),
    np.diag_indices_from: _of_shape(np.diag_indices_from),
    np.einsum_path: einsum_path,
    np.linspace: linspace,
    np.logspace: logspace,
    np.geomspace: geomspace,
    np.apply_along_axis: apply_along_axis,
    np.apply_over_axes: apply_over_axes,
}
"""NumPy's functions about types and shapes."""
