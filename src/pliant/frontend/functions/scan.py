"""Running sums and differences: cumsum, diff, gradient, trapezoid and their like."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from pliant.core.ir import Value, const
from pliant.core.origin import here
from pliant.errors import ArgumentError, DTypeError, ShapeError
from pliant.frontend.array import TracedArray, fresh
from pliant.frontend.convert import as_traced, axes_of, axis_of, integer_of
from pliant.frontend.functions.accumulated import store_accumulated
from pliant.frontend.functions.common import (
    array_of,
    dtype_beside,
    inexact,
    known,
    no_bools,
    solid,
    store_out,
    unsupported,
    widened,
    xp,
)
from pliant.frontend.functions.join import concatenate
from pliant.frontend.functions.shape import moveaxis, ravel, reshape, sliced
from pliant.ops import scan as scans
from pliant.ops.compare import isnan
from pliant.ops.select import select
from pliant.ops.shape import broadcast
from pliant.ops.shape import concatenate as put_together

Scan = Callable[[Value, int], Value]
OF_BOOLS: Final[dict[Scan, Scan]] = {scans.cumsum: scans.cummax, scans.cumprod: scans.cummin}
"""Sums and products of bools: whether any, and whether all, hold so far."""


def _scanned(scan: Scan, x: Value, axis: int) -> Value:
    return (OF_BOOLS.get(scan, scan) if x.dtype == "bool" else scan)(x, axis) if x.type.size else x


def _cumulative(name: str, scan: Scan, skip_nan: float | None = None) -> Callable[..., Any]:
    """np.cumsum or np.cumprod; the nan versions put `skip_nan` for NaN."""

    def cumulative(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        array = solid(a)
        if axis is None or (not array.ndim and axis in (0, -1)):
            array, axis = array if array.ndim == 1 else ravel(array), 0
        x, owner, at = widened(array, dtype, out), array, axis_of(axis, array.ndim)
        if skip_nan is not None and x.type.is_float:
            x, owner = select(isnan(x), const(skip_nan, x.dtype), x), None
        made = _scanned(scan, x, at)
        return store_accumulated(made, owner, at, out, f"np.{name}")

    cumulative.__name__ = name
    return cumulative


cumsum = _cumulative("cumsum", scans.cumsum)
cumprod = _cumulative("cumprod", scans.cumprod)
nancumsum = _cumulative("nancumsum", scans.cumsum, 0)
nancumprod = _cumulative("nancumprod", scans.cumprod, 1)


def _cumulative_array_api(name: str, scan: Callable[..., Any], start: int) -> Callable[..., Any]:
    """np.cumulative_sum or np.cumulative_prod."""

    def cumulative(
        x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: bool = False
    ) -> Any:
        array = array_of(solid(x))
        array = array if array.ndim else ravel(array)
        if axis is None and array.ndim > 1:
            raise ShapeError("For arrays which have more than one dimension ``axis`` argument is required.").at(
                ("here", here())
            )
        at = axis_of(0 if axis is None else axis, array.ndim)
        if not include_initial:
            return scan(array, at, dtype, out)
        made = scan(array, at, dtype_beside(array, out) if dtype is None else dtype)
        shape = tuple(1 if a == at else n for a, n in enumerate(made.shape))
        first = broadcast(const(start, made.type.dtype), shape, ())
        return store_out(put_together((first, made.value), at), out, f"np.{name}", is_array=True, casting="unsafe")

    cumulative.__name__ = name
    return cumulative


cumulative_sum = _cumulative_array_api("cumulative_sum", cumsum, 0)
cumulative_prod = _cumulative_array_api("cumulative_prod", cumprod, 1)


def accumulate(scan: Scan, *, is_sum: bool = False) -> Callable[..., Any]:
    """`ufunc.accumulate` as a scan; sums and products of narrow integers are made in 64 bits."""

    def accumulated(array: Any, axis: Any = 0, dtype: Any = None, out: Any = None) -> Any:
        x = as_traced(array)
        value = widened(x, dtype, out) if is_sum or dtype is not None or out is not None else x.value
        at = axis_of(axis, x.ndim)
        made = _scanned(scan, value, at)
        return store_accumulated(made, x, at, out, "accumulate")

    return accumulated


def diff(a: Any, n: int = 1, axis: Any = -1, prepend: Any = None, append: Any = None) -> Any:
    """np.diff."""
    x, times = array_of(solid(a)), integer_of(known(n, "n="))
    if times < 0:
        raise ShapeError(f"order must be non-negative but got {times}").at(("here", here()))
    if x.ndim == 0:
        raise ShapeError("diff requires input that is at least one dimensional").at(("here", here()))
    at = axis_of(axis, x.ndim)
    ends = [e if e is None else _end(e, x, at) for e in (prepend, append)]
    if times and any(e is not None for e in ends):
        x = concatenate([p for p in (ends[0], x, ends[1]) if p is not None], at)
    for _ in range(times):
        length = max(x.shape[at] - 1, 0)
        high, low = sliced(x, at, 1 if length else 0, length), sliced(x, at, 0, length)
        x = xp.not_equal(high, low) if x.type.dtype == "bool" else high - low
    return fresh(as_traced(x).value, is_array=True)


def _end(values: Any, x: TracedArray, axis: int) -> Any:
    """What diff puts before or after `x`; a scalar is repeated."""
    y = solid(values)
    if y.ndim:
        return y
    return xp.broadcast_to(array_of(y), tuple(1 if a == axis else n for a, n in enumerate(x.shape)))


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """np.ediff1d."""
    x = no_bools("ediff1d", ravel(solid(ary)))
    steps = diff(x)
    ends = [p if p is None else _end_like(x, p, name) for name, p in (("to_begin", to_begin), ("to_end", to_end))]
    return concatenate([p for p in (ends[0], steps, ends[1]) if p is not None])


def _end_like(x: TracedArray, end: Any, name: str) -> TracedArray:
    """What ediff1d puts at an end, in the dtype of x, if it can be cast to that."""
    y = ravel(solid(end))
    if not np.can_cast(y.dtype, x.dtype, "same_kind"):
        message = f"dtype of `{name}` must be compatible with input `ary` under the `same_kind` rule."
        raise DTypeError(message, hint=f"convert it with .astype(x.dtype): {y.type} to {x.type}").at(("here", here()))
    return y.astype(x.dtype)


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1) -> Any:
    """np.trapezoid."""
    values = array_of(solid(y))
    at = axis_of(axis, values.ndim)
    n = values.shape[at]
    if x is None:
        steps: Any = dx
    else:
        steps = diff(x, axis=0 if as_traced(x).ndim == 1 else axis)
        if steps.ndim == 1:
            steps = reshape(steps, tuple(-1 if a == at else 1 for a in range(values.ndim)))
    pairs = sliced(values, at, min(n, 1), max(n - 1, 0)) + sliced(values, at, 0, max(n - 1, 0))
    return xp.sum(steps * pairs / 2.0, axis=at)


def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """np.gradient."""
    x = array_of(solid(f))
    x = no_bools("gradient", x) if x.ndim else x
    if not x.type.is_float:
        x = x.astype(np.float64)
    axes = axes_of(axis, x.ndim)
    if len(varargs) not in (0, 1, len(axes)):
        raise ArgumentError("invalid number of arguments").at(("here", here()))
    if edge_order not in (1, 2):
        raise unsupported("np.gradient: edge_order must be 1 or 2")
    spacings = varargs * len(axes) if len(varargs) == 1 else varargs or (1.0,) * len(axes)
    made = tuple(_slope(x, at, h, edge_order) for at, h in zip(axes, spacings, strict=True))
    return made[0] if len(made) == 1 else made


def _slope(x: TracedArray, axis: int, spacing: Any, edge_order: int) -> TracedArray:
    """Central differences along one axis, one-sided ones at its ends."""
    f = moveaxis(x, axis, 0)
    n = f.shape[0]
    if n < edge_order + 1:
        raise ShapeError(f"np.gradient: axis {axis} of {x.type} needs at least {edge_order + 1} elements").at(
            ("here", here())
        )
    h = as_traced(spacing)
    if h.ndim == 0:
        inner, first, last = _uniform(f, spacing if not isinstance(spacing, TracedArray) else h, edge_order)
    else:
        if h.shape != (n,):
            raise ShapeError(f"np.gradient: coordinates {h.type} do not fit axis {axis} of {x.type}").at(
                ("here", here())
            )
        inner, first, last = _uneven(f, diff(h).astype(x.dtype) if h.type.kind in "biu" else diff(h), edge_order)
    parts = [reshape(first, (1, *first.shape)), inner, reshape(last, (1, *last.shape))]
    made = concatenate([p.astype(x.dtype) for p in parts])
    return fresh(moveaxis(made, 0, axis).value, is_array=True)


def _uniform(f: TracedArray, h: Any, edge_order: int) -> tuple[Any, Any, Any]:
    inner = (f[2:] - f[:-2]) / (2.0 * h)
    if edge_order == 1:
        return inner, (f[1] - f[0]) / h, (f[-1] - f[-2]) / h
    first = (-1.5 / h) * f[0] + (2.0 / h) * f[1] + (-0.5 / h) * f[2]
    last = (0.5 / h) * f[-3] + (-2.0 / h) * f[-2] + (1.5 / h) * f[-1]
    return inner, first, last


def _uneven(f: TracedArray, h: TracedArray, edge_order: int) -> tuple[Any, Any, Any]:
    wide = (-1, *(1,) * (f.ndim - 1))
    a, b = reshape(h[:-1], wide), reshape(h[1:], wide)
    inner = -b / (a * (a + b)) * f[:-2] + (b - a) / (a * b) * f[1:-1] + a / (b * (a + b)) * f[2:]
    if edge_order == 1:
        return inner, (f[1] - f[0]) / h[0], (f[-1] - f[-2]) / h[-1]
    p, q = h[0], h[1]
    first = -(2.0 * p + q) / (p * (p + q)) * f[0] + (p + q) / (p * q) * f[1] - p / (q * (p + q)) * f[2]
    p, q = h[-2], h[-1]
    last = q / (p * (p + q)) * f[-3] - (q + p) / (p * q) * f[-2] + (2.0 * q + p) / (q * (p + q)) * f[-1]
    return inner, first, last


def unwrap(p: Any, discont: Any = None, axis: Any = -1, *, period: Any = 6.283185307179586) -> Any:
    """np.unwrap."""
    x = array_of(solid(p))
    at = axis_of(axis, x.ndim)
    is_whole = x.type.kind in "iu" and isinstance(period, int)
    if not x.shape[at]:
        return fresh(x.value if is_whole else inexact(x), is_array=True)
    steps = diff(x, axis=at)
    limit = period / 2 if discont is None else discont
    half: Any = period // 2 if is_whole else period / 2
    turned = xp.mod(steps + half, period) - half
    if not is_whole or period % 2 == 0:
        turned = xp.where((turned == -half) & (steps > 0), half, turned)
    correction = xp.where(xp.abs(steps) < limit, 0, turned - steps)
    total = cumsum(correction, at)
    rest = sliced(x, at, 1, x.shape[at] - 1) + total
    return concatenate([sliced(x, at, 0, 1), rest], at)


FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    np.cumsum: cumsum,
    np.cumprod: cumprod,
    np.nancumsum: nancumsum,
    np.nancumprod: nancumprod,
    np.cumulative_sum: cumulative_sum,
    np.cumulative_prod: cumulative_prod,
    np.diff: diff,
    np.ediff1d: ediff1d,
    np.trapezoid: trapezoid,
    np.gradient: gradient,
    np.unwrap: unwrap,
}
"""NumPy's running sums and differences."""
