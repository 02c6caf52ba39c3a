"""Counts of numbers in bins: histogram and its edges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.core.ir import const
from pliant.core.origin import here
from pliant.errors import DomainError, ShapeError
from pliant.frontend.array import TracedArray, fresh
from pliant.frontend.convert import as_traced, value_of
from pliant.frontend.creation import linspace
from pliant.frontend.functions.common import array_of, known, real_only, solid, unsupported, xp
from pliant.frontend.functions.order import searchsorted
from pliant.frontend.functions.shape import ravel
from pliant.frontend.kinds import is_traced
from pliant.ops import bits, compare, elementwise
from pliant.ops.base import fit
from pliant.ops.index import scatter_add
from pliant.ops.select import select
from pliant.ops.shape import broadcast


def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> TracedArray:
    """np.histogram_bin_edges for a number of bins, or given edges."""
    x = ravel(solid(a))
    if isinstance(bins, str):
        raise unsupported(f"np.histogram: bins={bins!r} needs the numbers", "give a number of bins, or their edges")
    edges = as_traced(bins)
    if edges.ndim:
        if edges.concrete is not None and np.any(edges.concrete[:-1] > edges.concrete[1:]):
            raise DomainError("`bins` must increase monotonically, when an array").at(("here", here()))
        return array_of(edges)
    count = int(known(bins, "bins="))
    if count < 1:
        raise ShapeError("`bins` must be positive, when an integer").at(("here", here()))
    if range is not None and not any(map(is_traced, range)) and range[0] > range[1]:
        raise DomainError("max must be larger than min in range parameter.").at(("here", here()))
    low, high = range if range is not None else (xp.min(x), xp.max(x)) if x.size else (0.0, 1.0)
    first, last = (as_traced(v) + 0.0 for v in (low, high))
    is_flat = xp.equal(first, last)  # NumPy makes a bin of width 1 around a single number
    low, high = xp.where(is_flat, first - 0.5, first), xp.where(is_flat, last + 0.5, last)
    return linspace(low, high, count + 1).astype(np.float64 if not x.type.is_float else x.dtype)


def histogram(
    a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[TracedArray, TracedArray]:
    """np.histogram: numbers outside of the bins, and NaN, are not counted."""
    x = ravel(solid(a))
    real_only("histogram", x.value)
    edges = histogram_bin_edges(x, bins, range)
    n = edges.size - 1
    line = fresh(value_of(edges, "f64"), is_array=True)
    values = fresh(value_of(x, "f64"), is_array=True)
    place = searchsorted(line, values, "right").value
    is_last = compare.equal(values.value, fit(line[n].value, values.type))
    place = elementwise.sub(select(is_last, const(n, "i64"), place), const(1, "i64"))
    inside = bits.bitwise_and(compare.greater_equal(place, const(0, "i64")), compare.less(place, const(n, "i64")))
    if weights is None:
        amounts = elementwise.convert(inside, "i64")
    else:
        w = ravel(solid(weights))
        if w.shape != x.shape:
            raise ShapeError("weights should have the same shape as a.").at(("here", here()))
        amounts = select(inside, w.value, const(0, w.type.dtype))
    none = broadcast(const(0, amounts.dtype), (n,), ())
    counts = fresh(scatter_add(none, (compare.clip(place, 0, n - 1),), amounts), is_array=True)
    if density:
        return counts / xp.diff(line) / xp.sum(counts), edges
    return counts, edges


FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    np.histogram: histogram,
    np.histogram_bin_edges: histogram_bin_edges,
}
"""NumPy's histograms."""
