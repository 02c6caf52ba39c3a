"""Spread: var, std, cov and corrcoef; and the reductions that leave NaN out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.core.ir import Value, const
from pliant.core.origin import here
from pliant.errors import ArgumentError, DomainError, DTypeError, ShapeError
from pliant.frontend.array import TracedArray, fresh
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
from pliant.frontend.failures import ensured
from pliant.frontend.functions.common import NO_VALUE, inexact, solid, store_out, unsupported, xp
from pliant.frontend.functions.reduce import argmax, argmin, counted, kept, masked, max_, min_, prod, squared_size, sum_
from pliant.ops import bits, compare, elementwise
from pliant.ops import reduce as folds
from pliant.ops.complex import real
from pliant.ops.length import length
from pliant.ops.select import select
from pliant.ops.shape import broadcast


def variance(x: Value, axes: tuple[int, ...], ddof: Any, where: Any = True, mean: Any = None, dtype: str = "") -> Value:
    """The mean squared distance from the mean; real also for complex numbers.

    dtype: what the mean, and the sum of the squares, are made in; if it is real, the mean of complex numbers is too.
    In float16 they are made in float32.
    """
    to = dtype or x.dtype
    if to == "f16":
        return elementwise.convert(variance(x, axes, ddof, where, mean, "f32"), "f16")
    count = counted(x.shape, axes, where, "f64" if to[0] != "f" else to)
    if mean is None:
        total = folds.reduce_sum(masked(cast_value(x, to), where, 0), axes)
        center = elementwise.div(total, elementwise.convert(count, to))
        rest = tuple(a for a in range(x.type.rank) if a not in axes)
        center = center if not center.shape else broadcast(center, x.shape, rest)
    else:
        center = broadcast_value(value_of(mean, result_dtype(fresh(x), mean)), x.shape)
    wide = result_dtype(fresh(x), fresh(center))
    squares = squared_size(elementwise.sub(cast_value(x, wide), cast_value(center, wide)))
    squares = cast_value(squares, dtype) if dtype and dtype[0] != "c" else squares
    total = folds.reduce_sum(masked(squares, where, 0), axes)
    left = elementwise.sub(elementwise.convert(count, total.dtype), value_of(ddof, total.dtype))
    return elementwise.div(total, compare.maximum(left, const(0, total.dtype)))


def var(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = False, *,
    where: Any = True, mean: Any = NO_VALUE, correction: Any = NO_VALUE,
) -> Any:  # fmt: skip
    """np.var."""
    if dtype is not None and short(dtype)[0] in "biu":
        raise unsupported(f"np.var and np.std in {np.dtype(dtype).name}, which would round the mean", "leave dtype out")
    x, to = (inexact(as_traced(a)), "") if dtype is None else (as_traced(a).value, short(dtype))
    axes = axes_of(axis, x.type.rank)
    if where is not True:
        x = broadcast_value(x, broadcast_shapes(x.shape, as_traced(where).shape))
    y = variance(x, axes, ddof_of(ddof, correction), where, None if mean is NO_VALUE else mean, to)
    y = cast_value(y, to) if to else y
    return store_out(kept(y, x.shape, axes, keepdims), out, "np.var", casting="unsafe")


def ddof_of(ddof: Any, correction: Any) -> Any:
    """How many degrees of freedom are lost, by one name or by the other."""
    if correction is NO_VALUE:
        return ddof
    if ddof != 0:
        raise ArgumentError("ddof and correction can't be provided simultaneously.").at(("here", here()))
    return correction


def std(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = False, *,
    where: Any = True, mean: Any = NO_VALUE, correction: Any = NO_VALUE,
) -> Any:  # fmt: skip
    """np.std; its gradient where all elements are equal is 0."""
    y = as_traced(var(a, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction)).value
    return store_out(_root(y), out, "np.std")


def _root(y: Value) -> Value:
    """The deviation that has a variance, which is not negative, and of its dtype."""
    return cast_value(length(real(y)), y.dtype) if y.dtype[0] == "c" else length(y)


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


def _nan_arg(name: str, arg: Callable[..., Any], fill: float) -> Callable[..., Any]:
    def found(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
        x = as_traced(a)
        if not x.type.is_float:
            return arg(x, axis, out, keepdims=keepdims)
        place = arg(without_nan(x, fill), axis, keepdims=keepdims).value
        is_nothing = xp.logical_not(xp.any(is_there(x), axis, keepdims=keepdims)).value
        made = ensured(place, elementwise.convert(is_nothing, "i64"), "only_nan")
        return store_out(made, out, f"np.{name}", casting="unsafe")

    found.__name__ = name
    return found


nanargmax = _nan_arg("nanargmax", argmax, float("-inf"))
nanargmin = _nan_arg("nanargmin", argmin, float("inf"))


def _check_inexact(a: Any, dtype: Any, out: Any) -> None:
    """Refuse dtypes without NaN for what is made of an array that may have some."""
    given = {"dtype": dtype, "out": None if out is None else as_traced(out).dtype}
    for name, to in given.items():
        if to is not None and as_traced(a).type.is_float and short(to)[0] not in "fc":
            raise DTypeError(f"If a is inexact, then {name} must be inexact").at(("here", here()))


def nanmean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = True
) -> Any:
    """np.nanmean."""
    _check_inexact(a, dtype, out)
    return xp.mean(as_traced(a), axis, dtype, out, keepdims, where=_and(is_there(a), where))


def nanvar(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = False, *,
    where: Any = True, mean: Any = NO_VALUE, correction: Any = NO_VALUE,
) -> Any:  # fmt: skip
    """np.nanvar: NaN where no degrees of freedom are left."""
    _check_inexact(a, dtype, out)
    x, mask = as_traced(a), _and(is_there(a), where)
    ddof = ddof_of(ddof, correction)
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
    _check_inexact(a, dtype, out)
    y = nanvar(a, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction)
    return store_out(_root(as_traced(y).value), out, "np.nanstd", casting="unsafe")


# --- several variables


def cov(
    m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: Any = None, fweights: Any = None,
    aweights: Any = None, *, dtype: Any = None,
) -> Any:  # fmt: skip
    """np.cov."""
    x = _observations(m, rowvar, dtype)
    if y is not None:
        x = xp.concatenate((x, _observations(y, rowvar, dtype)))
    n = x.shape[1]
    free = ddof if ddof is not None else 0 if bias else 1
    repeats, weights = _weights("fweights", fweights, n), _weights("aweights", aweights, n)
    w = weights if repeats is None else repeats if weights is None else repeats * weights
    if w is None:
        away = x - xp.mean(x, 1, keepdims=True)
        return _squeezed(xp.matmul(away, xp.conjugate(away).T) / max(n - free, 0))
    center, total = xp.average(x, 1, weights=w, returned=True, keepdims=True)
    away, total = x - center, total[0, 0]
    lost = 0.0 if free == 0 else free if weights is None else free * xp.sum(w * weights) / total
    made = xp.matmul(away, xp.conjugate(away * w).T) * xp.true_divide(1, xp.maximum(total - lost, 0.0))
    return _squeezed(made)


def _weights(name: str, given: Any, n: int) -> Any:
    """Weights of n observations in floats, or None."""
    if given is None:
        return None
    w = as_traced(given)
    if w.ndim > 1 or w.shape != (n,):
        raise ShapeError(f"np.cov: {name} must be one number for each of {n} observations, got {w.type}").at(
            ("here", here())
        )
    known = w.concrete
    if name == "fweights" and known is not None and xp.any(known != xp.around(known)):
        raise ArgumentError("fweights must be integer").at(("here", here()))
    if known is not None and xp.any(known < 0):
        raise DomainError(f"{name} cannot be negative").at(("here", here()))
    floats = w.astype(np.float64)
    is_split = xp.not_equal(floats, xp.around(floats)) if name == "fweights" else False
    code = xp.where(is_split, 1, xp.where(floats < 0, 2, 0))
    return fresh(ensured(floats.value, value_of(code, "i64"), f"observations {name}"), is_array=True)


def _squeezed(made: TracedArray) -> Any:
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
    return correlations(as_traced(cov(x, y, rowvar, dtype=dtype)))


def correlations(c: TracedArray) -> Any:
    """The coefficients of a covariance matrix."""
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
