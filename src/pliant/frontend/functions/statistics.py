"""Spread and order statistics: var, std, median, quantile, cov, and what ignores NaN."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.core.ir import Value, const
from pliant.core.origin import here
from pliant.errors import ArgumentError, ShapeError
from pliant.frontend.array import TracedArray, fresh, fresh_concrete
from pliant.frontend.convert import (
    as_traced,
    axes_of,
    broadcast_shapes,
    broadcast_value,
    cast_value,
    result_dtype,
    short,
    value_of,
)
from pliant.frontend.functions.common import NO_VALUE, array_of, inexact, numpy_dtype, solid, store_out, unsupported, xp
from pliant.frontend.functions.reduce import argmax, argmin, counted, kept, masked, max_, min_, prod, squared_size, sum_
from pliant.ops import bits, compare, elementwise, power
from pliant.ops import reduce as folds
from pliant.ops import sort as sorting
from pliant.ops.select import select
from pliant.ops.shape import broadcast, permute
from pliant.ops.shape import reshape as reshape_value


def variance(x: Value, axes: tuple[int, ...], ddof: Any, where: Any = True, mean: Any = None) -> Value:
    """The mean squared distance from the mean; real also for complex numbers."""
    count = counted(x.shape, axes, where, "f64" if x.dtype[0] != "f" else x.dtype)
    if mean is None:
        total = folds.reduce_sum(masked(x, where, 0), axes)
        center = elementwise.div(total, elementwise.convert(count, x.dtype))
    else:
        given = value_of(mean, x.dtype)
        center = reshape_value(given, x.type.without(axes).shape)
    rest = tuple(a for a in range(x.type.rank) if a not in axes)
    away = elementwise.sub(x, center if not center.shape else broadcast(center, x.shape, rest))
    total = folds.reduce_sum(masked(squared_size(away), where, 0), axes)
    left = elementwise.sub(elementwise.convert(count, total.dtype), value_of(ddof, total.dtype))
    return elementwise.div(total, compare.maximum(left, const(0, total.dtype)))


def var(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = False, *,
    where: Any = True, mean: Any = NO_VALUE, correction: Any = NO_VALUE,
) -> Any:  # fmt: skip
    """np.var."""
    x = inexact(as_traced(a), dtype)
    axes = axes_of(axis, x.type.rank)
    if where is not True:
        x = broadcast_value(x, broadcast_shapes(x.shape, as_traced(where).shape))
    y = variance(x, axes, _ddof(ddof, correction), where, None if mean is NO_VALUE else mean)
    return store_out(kept(y, x.shape, axes, keepdims), out, "np.var", casting="unsafe")


def _ddof(ddof: Any, correction: Any) -> Any:
    if correction is NO_VALUE:
        return ddof
    if ddof != 0:
        raise ArgumentError("ddof and correction can't be provided simultaneously.").at(("here", here()))
    return correction


def std(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = False, *,
    where: Any = True, mean: Any = NO_VALUE, correction: Any = NO_VALUE,
) -> Any:  # fmt: skip
    """np.std."""
    y = var(a, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction)
    return store_out(power.sqrt(as_traced(y).value), out, "np.std", casting="unsafe")


# --- quantiles

# Where the q-quantile of n sorted elements lies, counted from 0 (Hyndman and Fan 1996).
_PLACES: dict[str, Callable[[Any, Any], Any]] = {
    "linear": lambda q, n: (n - 1) * q,
    "lower": lambda q, n: xp.floor((n - 1) * q),
    "higher": lambda q, n: xp.ceil((n - 1) * q),
    "midpoint": lambda q, n: 0.5 * (xp.floor((n - 1) * q) + xp.ceil((n - 1) * q)),
    "nearest": lambda q, n: xp.rint((n - 1) * q),
    "inverted_cdf": lambda q, n: xp.ceil(n * q) - 1,
    "averaged_inverted_cdf": lambda q, n: 0.5 * (xp.ceil(n * q) + xp.floor(n * q)) - 0.5,
    "closest_observation": lambda q, n: xp.rint(n * q) - 1,
    "interpolated_inverted_cdf": lambda q, n: n * q - 1,
    "hazen": lambda q, n: n * q - 0.5,
    "weibull": lambda q, n: (n + 1) * q - 1,
    "median_unbiased": lambda q, n: (n + 1 / 3) * q - 2 / 3,
    "normal_unbiased": lambda q, n: (n + 1 / 4) * q - 5 / 8,
}


def _sorted_front(x: TracedArray, axes: tuple[int, ...]) -> Value:
    """The reduced axes merged, sorted and in front of the others."""
    rest = [a for a in range(x.ndim) if a not in axes]
    front = permute(x.value, (*axes, *rest))
    merged = reshape_value(front, (x.size // max(_size(x, rest), 1), *(x.shape[a] for a in rest)))
    return sorting.sort(merged, 0)


def _size(x: TracedArray, axes: list[int]) -> int:
    return int(np.prod([x.shape[a] for a in axes], dtype=np.int64))


def quantile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: Any = False, *, weights: Any = None,
) -> Any:  # fmt: skip
    """np.quantile. Its axis of quantiles comes first; q may be traced."""
    return _quantile("quantile", np.quantile, 1.0, a, q, axis, out, method, keepdims, weights)


def percentile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: Any = False, *, weights: Any = None,
) -> Any:  # fmt: skip
    """np.percentile."""
    return _quantile("percentile", np.percentile, 100.0, a, q, axis, out, method, keepdims, weights)


def _quantile(
    name: str, function: Any, unit: float, a: Any, q: Any, axis: Any, out: Any, method: str, keepdims: Any, weights: Any
) -> Any:
    if weights is not None:
        raise unsupported(f"np.{name}: weights= is not supported")
    if method not in _PLACES:
        raise ArgumentError(f"{method!r} is not a valid method; use one of {', '.join(_PLACES)}").at(("here", here()))
    x, wanted = array_of(solid(a)), as_traced(q)
    if x.type.kind == "c":
        raise ArgumentError("a must be an array of real numbers").at(("here", here()))
    if x.type.dtype == "bool":
        x = x.astype(np.float64)
    sample_q: Any = wanted if not isinstance(q, int | float) else type(q)(1) / (2 if unit == 1.0 else 1)
    if isinstance(sample_q, TracedArray):
        sample_q = np.full(1, 0.5, wanted.dtype if wanted.type.is_float else np.float64)

    def on_sample(s: Any) -> Any:
        return function(s, sample_q, method=method)

    to = numpy_dtype(on_sample, x)
    axes = axes_of(axis, x.ndim)
    line = _sorted_front(x, axes)
    n = line.shape[0]
    fraction: Any = (wanted.concrete if wanted.concrete is not None else wanted) / (unit if unit != 1.0 else 1)
    if wanted.concrete is not None and (xp.any(fraction < 0) or xp.any(fraction > 1)):
        raise ArgumentError(f"{name.capitalize()}s must be in the range [0, {int(unit)}]").at(("here", here()))
    y = _at_places(line, xp.clip(_PLACES[method](fraction, n), 0, n - 1), to)
    y = _nan_if(y, line, to)
    if keepdims and keepdims is not NO_VALUE:
        lead = y.shape[: len(wanted.shape)]
        y = reshape_value(y, (*lead, *(1 if i in axes else m for i, m in enumerate(x.shape))))
    return store_out(y, out, f"np.{name}", casting="unsafe")


def _at_places(line: Value, places: Any, to: str) -> Value:
    """Elements at fractional places along axis 0, with the axes of `places` in front."""
    low, rank = xp.floor(places), len(np.shape(places))
    table = fresh(line, is_array=True)
    part = places - low
    if isinstance(places, TracedArray):
        first, weight = low.astype(np.int64), part
        second = xp.minimum(first + 1, line.shape[0] - 1)
    else:
        first = fresh_concrete(np.asarray(low, np.int64))
        second = fresh_concrete(xp.minimum(np.asarray(low, np.int64) + 1, line.shape[0] - 1))
        weight = fresh_concrete(np.asarray(part))
        if not xp.any(part):
            return value_of(xp.take(table, first, 0), to)
    a, b = (value_of(xp.take(table, i, 0), to) for i in (first, second))
    wide = to if to[0] == "f" else "f64"
    t = value_of(weight, wide)
    t = broadcast(t, a.shape, tuple(range(rank))) if t.shape != a.shape else t
    a, b = elementwise.convert(a, wide), elementwise.convert(b, wide)
    rise = elementwise.sub(b, a)
    near = elementwise.add(a, elementwise.mul(rise, t))
    far = elementwise.sub(b, elementwise.mul(rise, elementwise.sub(const(1, wide), t)))
    y = select(compare.greater_equal(t, const(0.5, wide)), far, near)
    return elementwise.convert(select(compare.equal(a, b), a, y), to)


def _nan_if(y: Value, line: Value, to: str) -> Value:
    """NaN where a NaN was among the sorted elements, which it ends."""
    if line.dtype[0] != "f":
        return y
    last = xp.take(fresh(line, is_array=True), -1, 0)
    has_nan = compare.isnan(as_traced(last).value)
    extra = y.type.rank - has_nan.type.rank
    if has_nan.shape:
        has_nan = broadcast(has_nan, y.shape, tuple(range(extra, y.type.rank)))
    return select(has_nan, const(float("nan"), to), y)


def median(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: Any = False) -> Any:
    """np.median."""
    x = array_of(solid(a))
    to = numpy_dtype(np.median, x)
    axes = axes_of(axis, x.ndim)
    line = _sorted_front(x, axes)
    n = line.shape[0]
    if not n:
        y = broadcast(const(float("nan"), to), line.shape[1:], ())
    else:
        rows = fresh(line, is_array=True)
        middle = rows[n // 2] if n % 2 else xp.mean(rows[n // 2 - 1 : n // 2 + 1], 0)
        y = _nan_if(value_of(middle, to), line, to)
    return store_out(kept(y, x.shape, axes, keepdims), out, "np.median", casting="unsafe")


# --- NaN left out


def without_nan(a: Any, fill: Any) -> TracedArray:
    """The array with NaN replaced."""
    x = as_traced(a)
    if not x.type.is_float:
        return x
    return fresh(select(compare.isnan(x.value), const(fill, x.type.dtype), x.value), is_array=True)


def is_there(a: Any) -> Any:
    """Where an array has no NaN; True if it cannot have one."""
    x = as_traced(a)
    return fresh(bits.invert(compare.isnan(x.value)), is_array=True) if x.type.is_float else True


def _and(mask: Any, where: Any) -> Any:
    if where is True or where is NO_VALUE:
        return mask
    return where if mask is True else xp.logical_and(mask, where)


def nansum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, **options: Any) -> Any:
    """np.nansum."""
    return sum_(without_nan(a, 0), axis, dtype, out, keepdims, **options)


def nanprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, **options: Any) -> Any:
    """np.nanprod."""
    return prod(without_nan(a, 1), axis, dtype, out, keepdims, **options)


def _nan_extremum(name: str, extremum: Callable[..., Any], fill: float) -> Callable[..., Any]:
    def reduced(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, **options: Any) -> Any:
        x = as_traced(a)
        y = extremum(without_nan(x, fill), axis, keepdims=keepdims, **options)
        if x.type.is_float:
            some = xp.any(_and(is_there(x), options.get("where", True)), axis, keepdims=keepdims)
            if options.get("initial", NO_VALUE) is NO_VALUE:
                y = xp.where(some, y, as_traced(float("nan")))
                y = fresh(cast_value(as_traced(y).value, x.type.dtype))
        return store_out(as_traced(y).value, out, f"np.{name}", casting="unsafe")

    reduced.__name__ = name
    return reduced


nanmax = _nan_extremum("nanmax", max_, float("-inf"))
nanmin = _nan_extremum("nanmin", min_, float("inf"))


def nanargmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
    """np.nanargmax; of only NaN it is 0, where NumPy raises."""
    return argmax(without_nan(a, float("-inf")), axis, out, keepdims=keepdims)


def nanargmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
    """np.nanargmin; of only NaN it is 0, where NumPy raises."""
    return argmin(without_nan(a, float("inf")), axis, out, keepdims=keepdims)


def nanmean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = True
) -> Any:
    """np.nanmean."""
    return xp.mean(as_traced(a), axis, dtype, out, keepdims, where=_and(is_there(a), where))


def nanvar(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = False, *,
    where: Any = True, mean: Any = NO_VALUE, correction: Any = NO_VALUE,
) -> Any:  # fmt: skip
    """np.nanvar: NaN where no degrees of freedom are left."""
    x, mask = as_traced(a), _and(is_there(a), where)
    ddof = _ddof(ddof, correction)
    y = var(x, axis, dtype, None, ddof, keepdims, where=mask, mean=mean)
    full = mask if mask is not True else fresh(broadcast(const(True, "bool"), x.shape, ()), is_array=True)
    enough = xp.greater(xp.sum(xp.broadcast_to(full, x.shape), axis, keepdims=keepdims), ddof)
    made = select(as_traced(enough).value, y.value, const(float("nan"), y.type.dtype))
    return store_out(made, out, "np.nanvar", casting="unsafe")


def nanstd(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = False, *,
    where: Any = True, mean: Any = NO_VALUE, correction: Any = NO_VALUE,
) -> Any:  # fmt: skip
    """np.nanstd."""
    y = nanvar(a, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction)
    return store_out(power.sqrt(as_traced(y).value), out, "np.nanstd", casting="unsafe")


# --- several variables


def cov(
    m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: Any = None, fweights: Any = None,
    aweights: Any = None, *, dtype: Any = None,
) -> Any:  # fmt: skip
    """np.cov, without weights."""
    if fweights is not None or aweights is not None:
        raise unsupported("np.cov: weights are not supported")
    x = _observations(m, rowvar, dtype)
    if y is not None:
        x = xp.concatenate((x, _observations(y, rowvar, dtype)))
    n = x.shape[1]
    free = ddof if ddof is not None else 0 if bias else 1
    away = x - xp.mean(x, 1, keepdims=True)
    made = xp.matmul(away, xp.conjugate(away).T) / max(n - free, 0)
    return xp.squeeze(made) if made.shape == (1, 1) else made


def _observations(m: Any, rowvar: bool, dtype: Any) -> TracedArray:
    """Variables as rows, in floats."""
    x = solid(m)
    if x.ndim > 2:
        raise ShapeError("m has more than 2 dimensions").at(("here", here()))
    to = short(dtype) if dtype is not None else result_dtype(x, fresh(const(0.0, "f64")))
    rows = xp.atleast_2d(fresh(cast_value(x.value, to), is_array=True))
    return rows.T if not rowvar and x.ndim == 2 else rows


def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Any:
    """np.corrcoef."""
    c = as_traced(cov(x, y, rowvar, dtype=dtype))
    if c.ndim == 0:
        return c / c
    size = xp.sqrt(xp.diagonal(c).real)
    made = c / size[:, None] / size[None, :]
    if made.type.kind == "c":
        re, im = xp.clip(made.real, -1, 1), xp.clip(made.imag, -1, 1)
        return re + im * 1j
    return xp.clip(made, -1, 1)


FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    np.var: var,
    np.std: std,
    np.median: median,
    np.quantile: quantile,
    np.percentile: percentile,
    np.nansum: nansum,
    np.nanprod: nanprod,
    np.nanmax: nanmax,
    np.nanmin: nanmin,
    np.nanargmax: nanargmax,
    np.nanargmin: nanargmin,
    np.nanmean: nanmean,
    np.nanvar: nanvar,
    np.nanstd: nanstd,
    np.cov: cov,
    np.corrcoef: corrcoef,
}
"""NumPy's statistics."""
