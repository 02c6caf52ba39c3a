"""NumPy's statistics of arrays whose extents are known only at run time."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any, Final

import numpy as np

from pliant.frontend.array import fresh
from pliant.frontend.bounded import Bounded, common_extents, extents_of, filled, inside, operand, whole_of
from pliant.frontend.convert import as_traced, axis_of
from pliant.frontend.failures import fail_if
from pliant.frontend.functions.bounded import concatenate
from pliant.frontend.functions.bounded_folds import (
    argmax,
    argmin,
    count_of,
    cumprod,
    cumsum,
    greatest,
    least,
    max_,
    mean,
    min_,
    prod,
    stored,
    sum_,
)
from pliant.frontend.functions.common import only, unsupported, xp
from pliant.frontend.functions.reduce import is_given
from pliant.frontend.functions.statistics import correlations
from pliant.frontend.sizes import Size, size_of, traced


def _without_nan(fold: Callable[..., Any], start: float, *, has_none: bool = False) -> Callable[..., Any]:
    """A fold of what is not NaN. has_none: it is NaN where nothing is left."""

    def without_nan(a: Any, axis: Any = None, *, out: Any = None, **options: Any) -> Any:
        if not whole_of(a).type.is_float:
            return fold(a, axis=axis, out=out, **options)
        missing = xp.isnan(a)
        made = fold(xp.where(missing, start, a), axis=axis, **options)
        if has_none and not is_given(options.get("initial")):
            spoiled = {name: options[name] for name in ("keepdims", "where") if name in options}
            made = xp.where(xp.all(missing, axis=axis, **spoiled), np.nan, made)[()]
        return stored(made, out)

    return without_nan


def _without_nan_at(arg: Callable[..., Any], start: float) -> Callable[..., Any]:
    """Where an extremum of what is not NaN is."""

    def find(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
        if not whole_of(a).type.is_float:
            return arg(a, axis, out, keepdims=keepdims)
        missing = xp.isnan(a)
        none = xp.any(xp.all(missing, axis=axis))
        fail_if(as_traced(none).value, ValueError("All-NaN slice encountered"))
        return arg(xp.where(missing, start, a), axis, out, keepdims=keepdims)

    return find


def nanmean(a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    """np.nanmean."""
    return mean(a, axis, keepdims=keepdims, where=~xp.isnan(a) if whole_of(a).type.is_float else True)


def nanvar(a: Any, axis: Any = None, *, ddof: Any = 0, keepdims: Any = False) -> Any:
    """np.nanvar: NaN where no degrees of freedom are left, but of integers what np.var is."""
    if not whole_of(a).type.is_float:
        return xp.var(a, axis, ddof=ddof, keepdims=keepdims)
    if whole_of(a).type.dtype == "f16":
        return nanvar(a.astype(np.float32), axis, ddof=ddof, keepdims=keepdims).astype(np.float16)
    mask = ~xp.isnan(a)
    distance = xp.where(mask, a - nanmean(a, axis, keepdims=True), 0)
    free = count_of(a, a.dtype, axis, keepdims, mask) - ddof
    total = sum_(xp.real(distance * xp.conj(distance)), axis, keepdims=keepdims)
    return xp.where(free > 0, total / free, np.nan)[()]


def nanstd(a: Any, axis: Any = None, *, ddof: Any = 0, keepdims: Any = False) -> Any:
    """np.nanstd."""
    return xp.sqrt(nanvar(a, axis, ddof=ddof, keepdims=keepdims))


def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: Any = False) -> Any:
    """np.average, of weights for each element or along an axis."""
    rank = len(extents_of(a))
    if weights is None:
        made, count = mean(a, axis, keepdims=keepdims), sum_(xp.ones_like(a), axis, keepdims=keepdims)
        return (made, count * xp.ones_like(made)) if returned else made
    w = operand(weights)
    dtype = np.result_type(whole_of(a).dtype, w.dtype, *([] if whole_of(a).type.is_float else [np.float64]))
    if w.ndim < rank:
        if axis is None or w.ndim != 1:
            raise unsupported("np.average: weights of other axes, some extents known only at run time")
        at = axis_of(axis, rank)
        w = w[(*(None,) * at, slice(None), *(None,) * (rank - 1 - at))]
    elif axis is None:
        pairs = zip(extents_of(a), extents_of(w), strict=False)
        differ = reduce(xp.logical_or, [traced(size_of(m)) != traced(size_of(n)) for m, n in pairs])
        fail_if(as_traced(differ).value, TypeError("Axis must be specified when shapes of a and weights differ."))
    w = w.astype(dtype) + xp.zeros_like(a, dtype=dtype)
    scale = sum_(w, axis, keepdims=keepdims)
    none = xp.any(xp.equal(scale, 0))
    fail_if(as_traced(none).value, ZeroDivisionError("Weights sum to zero, can't be normalized"))
    made = sum_(a * w, axis, keepdims=keepdims) / scale
    return (made, scale) if returned else made


def cov(m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: Any = None, **options: Any) -> Any:
    """np.cov, of observations that all weigh the same."""
    only("cov", **options)
    m, y = operand(m), y if y is None else operand(y)
    rows = [x[None, :] if len(extents_of(x)) == 1 else x if rowvar else x.T for x in (m, y) if x is not None]
    lines = concatenate(rows, 0) if len(rows) > 1 else rows[0]
    if isinstance(extents_of(lines)[0], Size):
        raise lines.refused("np.cov or np.corrcoef of so many variables,")
    lines = lines.astype(np.result_type(lines.dtype, np.float64))
    distance = lines - xp.mean(lines, axis=1, keepdims=True)
    count = traced(size_of(extents_of(lines)[1])) - (ddof if ddof is not None else int(not bias))
    return xp.squeeze(distance @ xp.conj(distance.T) / xp.maximum(count, 0))


def corrcoef(x: Any, y: Any = None, rowvar: bool = True, **options: Any) -> Any:
    """np.corrcoef."""
    return correlations(as_traced(cov(x, y, rowvar, **options)))


def allclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
    """np.allclose."""
    return xp.all(xp.isclose(a, b, rtol, atol, equal_nan))


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Any:
    """np.array_equal: whether the extents are the same, and the elements within them."""
    first, second = extents_of(a1), extents_of(a2)
    if len(first) != len(second):
        return np.False_
    shape = tuple(map(min, whole_of(a1).shape, whole_of(a2).shape))
    a, b = [whole_of(x)[tuple(map(slice, shape))] for x in (a1, a2)]
    same = xp.equal(a, b) | (xp.isnan(a) & xp.isnan(b)) if equal_nan else xp.equal(a, b)
    mask = inside(first, shape)
    fits = [xp.equal(traced(size_of(m)), traced(size_of(n))) for m, n in zip(first, second, strict=True)]
    made = xp.all(same if mask is None else xp.where(fresh(mask, is_array=True), same, True))
    return reduce(xp.logical_and, fits, made)


def array_equiv(a1: Any, a2: Any) -> Any:
    """np.array_equiv, of arrays of the same extents or of a number."""
    if not len(extents_of(a1)) or not len(extents_of(a2)):
        return xp.all(xp.equal(a1, a2))
    if len(extents_of(a1)) != len(extents_of(a2)) or 1 in (*extents_of(a1), *extents_of(a2)):
        raise unsupported(
            "np.array_equiv of what is broadcast, some extents known only at run time", "use (a == b).all()"
        )
    return array_equal(a1, a2)


def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Any:
    """np.histogram_bin_edges."""
    ends = _ends(a, bins) if range is None else range
    return xp.histogram_bin_edges(filled(a, 0), bins, ends)


def histogram(a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    """np.histogram: what stands beyond the extents weighs nothing."""
    ends = _ends(a, bins) if range is None else range
    if weights is not None:
        common_extents("np.histogram", (a, weights))
    weighing = filled(xp.ones_like(a, dtype=float) if weights is None else weights, 0)
    counts, edges = xp.histogram(filled(a, 0), bins, ends, density, weighing)
    return (counts if density or weights is not None else counts.astype(np.int64)), edges


def _ends(a: Any, bins: Any) -> tuple[Any, Any] | None:
    """The least and the greatest number, or 0 and 1 if there is none; None where bins have edges."""
    if isinstance(bins, Bounded):
        raise bins.refused("np.histogram with so many edges,")
    if np.ndim(bins):
        return None
    some, dtype = xp.greater(xp.size(a), 0), whole_of(a).type.dtype
    return xp.where(some, xp.min(filled(a, greatest(dtype))), 0), xp.where(some, xp.max(filled(a, least(dtype))), 1)


FUNCTIONS: Final[dict[Any, Callable[..., Any]]] = {
    np.nansum: _without_nan(sum_, 0), np.nanprod: _without_nan(prod, 1),
    np.nanmax: _without_nan(max_, -np.inf, has_none=True), np.nanmin: _without_nan(min_, np.inf, has_none=True),
    np.nancumsum: _without_nan(cumsum, 0), np.nancumprod: _without_nan(cumprod, 1),
    np.nanargmax: _without_nan_at(argmax, -np.inf), np.nanargmin: _without_nan_at(argmin, np.inf),
    np.nanmean: nanmean, np.nanvar: nanvar, np.nanstd: nanstd, np.average: average, np.cov: cov, np.corrcoef: corrcoef,
    np.allclose: allclose, np.array_equal: array_equal, np.array_equiv: array_equiv, np.histogram: histogram,
    np.histogram_bin_edges: histogram_bin_edges,
}  # fmt: skip
