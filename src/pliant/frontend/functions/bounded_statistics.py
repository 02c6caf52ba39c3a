"""NumPy's statistics of arrays whose extents are known only at run time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from pliant.frontend.bounded import Bounded, common_extents, extents_of, filled, whole_of
from pliant.frontend.convert import as_traced, axis_of
from pliant.frontend.failures import fail_if
from pliant.frontend.functions.bounded import concatenate, max_, mean, min_, prod, sum_
from pliant.frontend.functions.common import only, unsupported, xp
from pliant.frontend.sizes import size_of, traced
from pliant.ops.folds import start_of


def _without_nan(fold: Callable[..., Any], start: float, *, has_none: bool = False) -> Callable[..., Any]:
    """A fold of what is not NaN. has_none: it is NaN where nothing is left."""

    def reduce(a: Any, axis: Any = None, **options: Any) -> Any:
        missing = xp.isnan(a)
        made = fold(xp.where(missing, start, a) if whole_of(a).type.is_float else a, axis=axis, **options)
        if not has_none or not whole_of(a).type.is_float:
            return made
        return xp.where(xp.all(missing, axis=axis, keepdims=options.get("keepdims", False)), np.nan, made)[()]

    return reduce


def _left(a: Any, there: Any, axis: Any, keepdims: Any) -> Any:
    """How many elements are no NaN, as a number of the dtype that a mean of them has."""
    count = sum_(there, axis, keepdims=keepdims)
    return count.astype(np.zeros(0, a.dtype).real.dtype) if whole_of(a).type.kind in "fc" else count


def nanmean(a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    """np.nanmean."""
    there = ~xp.isnan(a)
    return sum_(xp.where(there, a, 0), axis, keepdims=keepdims) / _left(a, there, axis, keepdims)


def nanvar(a: Any, axis: Any = None, *, ddof: Any = 0, keepdims: Any = False) -> Any:
    """np.nanvar."""
    there = ~xp.isnan(a)
    away = xp.where(there, a - nanmean(a, axis, keepdims=True), 0)
    left = _left(a, there, axis, keepdims) - ddof
    total = sum_(xp.real(away * xp.conj(away)), axis, keepdims=keepdims)
    return xp.where(left > 0, total / left, np.nan)[()]


def nanstd(a: Any, axis: Any = None, *, ddof: Any = 0, keepdims: Any = False) -> Any:
    """np.nanstd."""
    return xp.sqrt(nanvar(a, axis, ddof=ddof, keepdims=keepdims))


def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: Any = False) -> Any:
    """np.average, of weights for each element or along an axis."""
    rank = len(extents_of(a))
    if weights is None:
        made, count = mean(a, axis, keepdims=keepdims), sum_(xp.ones_like(a), axis, keepdims=keepdims)
        return (made, count * xp.ones_like(made)) if returned else made
    if len(extents_of(weights)) < rank:
        if axis is None or len(extents_of(weights)) != 1:
            raise unsupported("np.average: weights of other axes, some extents known only at run time")
        at = axis_of(axis, rank)
        weights = weights[(*(None,) * at, slice(None), *(None,) * (rank - 1 - at))] + xp.zeros_like(a)
    scale = sum_(weights, axis, keepdims=keepdims)
    none = xp.any(xp.equal(scale, 0))
    fail_if(as_traced(none).value, ZeroDivisionError("Weights sum to zero, can't be normalized"))
    made = sum_(a * weights, axis, keepdims=keepdims) / scale
    return (made, scale) if returned else made


def cov(m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: Any = None, **options: Any) -> Any:
    """np.cov, of observations that all weigh the same."""
    only("cov", **options)
    rows = [x[None, :] if len(extents_of(x)) == 1 else x if rowvar else x.T for x in (m, y) if x is not None]
    lines = concatenate(rows, 0) if len(rows) > 1 else rows[0]
    away = lines - xp.mean(lines, axis=1, keepdims=True)
    count = traced(size_of(extents_of(lines)[1])) - (ddof if ddof is not None else int(not bias))
    return xp.squeeze(away @ xp.conj(away.T) / xp.maximum(count, 0))


def corrcoef(x: Any, y: Any = None, rowvar: bool = True, **options: Any) -> Any:
    """np.corrcoef."""
    made = cov(x, y, rowvar, **options)
    if not np.ndim(made):
        return made / made
    away = xp.sqrt(xp.real(xp.diagonal(made)))
    return xp.clip(made / away[:, None] / away[None, :], -1, 1)


def allclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
    """np.allclose."""
    return xp.all(xp.isclose(a, b, rtol, atol, equal_nan))


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Any:
    """np.array_equal, of what has the same extents."""
    if len(extents_of(a1)) != len(extents_of(a2)):
        return np.False_
    same = xp.equal(a1, a2)
    return xp.all(same | (xp.isnan(a1) & xp.isnan(a2)) if equal_nan else same)


def histogram(a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    """np.histogram: what stands beyond the extents weighs nothing."""
    ends = _ends(a) if range is None and np.ndim(bins) == 0 else range
    if weights is not None:
        common_extents("np.histogram", (a, weights))
    there = Bounded(as_traced(np.ones(whole_of(a).shape)), extents_of(a))
    weighing = filled(there if weights is None else weights, 0)
    counts, edges = xp.histogram(filled(a, 0), bins, ends, density, weighing)
    return (counts if density or weights is not None else counts.astype(np.int64)), edges


def _ends(a: Any) -> tuple[Any, Any]:
    """The least and the greatest number, or 0 and 1 if there is none."""
    whole = whole_of(a)
    some, dtype = traced(size_of(extents_of(a)[0])) > 0, whole.type.dtype
    least, greatest = xp.min(filled(a, start_of("min", dtype))), xp.max(filled(a, start_of("max", dtype)))
    return xp.where(some, least, 0), xp.where(some, greatest, 1)


FUNCTIONS: Final[dict[Any, Callable[..., Any]]] = {
    np.nansum: _without_nan(sum_, 0), np.nanprod: _without_nan(prod, 1),
    np.nanmax: _without_nan(max_, -np.inf, has_none=True), np.nanmin: _without_nan(min_, np.inf, has_none=True),
    np.nanmean: nanmean, np.nanvar: nanvar, np.nanstd: nanstd, np.average: average, np.cov: cov, np.corrcoef: corrcoef,
    np.allclose: allclose, np.array_equal: array_equal, np.histogram: histogram,
}  # fmt: skip
