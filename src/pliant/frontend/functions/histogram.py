"""Counts of numbers, or points, in bins: histogram, histogram2d, histogramdd and edges."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from pliant.core.ir import Value, const
from pliant.core.origin import here
from pliant.errors import DomainError, ShapeError
from pliant.frontend.array import TracedArray, fresh
from pliant.frontend.convert import as_traced, integer_of, value_of
from pliant.frontend.functions.common import array_of, known, real_only, solid, unless, unsupported, xp
from pliant.frontend.functions.order import searchsorted
from pliant.frontend.functions.shape import ravel
from pliant.frontend.kinds import is_sequence, is_traced
from pliant.frontend.ranges import linspace
from pliant.ops import bits, compare, elementwise
from pliant.ops.base import fit
from pliant.ops.index import scatter_add
from pliant.ops.select import select
from pliant.ops.shape import broadcast


def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> TracedArray:
    """np.histogram_bin_edges for a number of bins, or given edges."""
    x = ravel(solid(a))
    edges = _edges(x, bins, range)
    return edges if np.ndim(bins) or not x.type.is_float else edges.astype(x.dtype)


def _edges(x: TracedArray, bins: Any, range: Any) -> TracedArray:
    """The edges as they are made of the range, whatever is counted."""
    if isinstance(bins, str):
        raise unsupported(f"np.histogram: bins={bins!r} needs the numbers", "give a number of bins, or their edges")
    edges = as_traced(bins)
    if edges.ndim:
        if edges.concrete is not None and np.any(edges.concrete[:-1] > edges.concrete[1:]):
            raise DomainError("`bins` must increase monotonically, when an array").at(("here", here()))
        if edges.concrete is None:
            edges = unless(xp.greater(edges[:-1], edges[1:]), edges, "rising")
        return array_of(edges)
    count = integer_of(known(bins, "bins="))
    if count < 1:
        raise ShapeError("`bins` must be positive, when an integer").at(("here", here()))
    if range is not None and not any(map(is_traced, range)) and range[0] > range[1]:
        raise DomainError("max must be larger than min in range parameter.").at(("here", here()))
    low, high = range if range is not None else (xp.min(x), xp.max(x)) if x.size else (0.0, 1.0)
    first, last = (as_traced(v) + 0.0 for v in (low, high))
    if first.concrete is not None and last.concrete is not None:
        if not np.all(np.isfinite([first.concrete, last.concrete])):
            raise DomainError(f"supplied range of [{low}, {high}] is not finite").at(("here", here()))
    else:
        first = unless(xp.logical_not(xp.isfinite(first) & xp.isfinite(last)), first, "finite_range")
        first = unless(xp.greater(first, last), first, "range")
    is_flat = xp.equal(first, last)  # NumPy makes a bin of width 1 around a single number
    low, high = xp.where(is_flat, first - 0.5, first), xp.where(is_flat, last + 0.5, last)
    return linspace(low, high, count + 1)


def _bin_of(x: TracedArray, line: TracedArray) -> tuple[Value, Value]:
    """The number of the bin of each number, and whether it is in one. The last bin holds both its edges."""
    n = line.size - 1
    values = fresh(value_of(x, "f64"), is_array=True)
    place = searchsorted(line, values, "right").value
    is_last = compare.equal(values.value, fit(line[n].value, values.type))
    place = elementwise.sub(select(is_last, const(n, "i64"), place), const(1, "i64"))
    inside = bits.bitwise_and(compare.greater_equal(place, const(0, "i64")), compare.less(place, const(n, "i64")))
    return compare.clip(place, 0, n - 1), inside


def histogram(
    a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[TracedArray, TracedArray]:
    """np.histogram: numbers outside of the bins, and NaN, are not counted."""
    x = ravel(solid(a))
    real_only("histogram", x.value)
    edges = histogram_bin_edges(x, bins, range)
    line = fresh(value_of(edges, "f64"), is_array=True)
    place, inside = _bin_of(x, line)
    if weights is None:
        amounts = elementwise.convert(inside, "i64")
    else:
        w = ravel(solid(weights))
        if w.shape != x.shape:
            raise ShapeError("weights should have the same shape as a.").at(("here", here()))
        amounts = select(inside, w.value, const(0, w.type.dtype))
    none = broadcast(const(0, amounts.dtype), (line.size - 1,), ())
    counts = fresh(scatter_add(none, (place,), amounts), is_array=True)
    if density:
        return counts / xp.diff(line) / xp.sum(counts), edges
    return counts, edges


def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[TracedArray, tuple[TracedArray, ...]]:
    """np.histogramdd of points, an array (points, axes) or one array for each axis."""
    columns: Any = sample if is_sequence(sample) else np.transpose(sample) if np.ndim(sample) == 2 else [sample]
    xs = [ravel(solid(x)) for x in columns]
    each = list(bins) if _is_line(bins) else [bins] * len(xs)
    if len(each) != len(xs):
        raise ShapeError("The dimension of bins must be equal to the dimension of the sample x.").at(("here", here()))
    if range is not None and len(range) != len(xs):
        raise ShapeError("range argument must have one entry per dimension").at(("here", here()))
    edges = [_edges(x, b, r) for x, b, r in zip(xs, each, range or [None] * len(xs), strict=True)]
    extents = tuple([e.size - 1 for e in edges])
    found: list[tuple[Value, Value]] = []
    for x, e in zip(xs, edges, strict=True):
        real_only("histogramdd", x.value)
        found.append(_bin_of(x, fresh(value_of(e, "f64"), is_array=True)))
    inside = reduce(bits.bitwise_and, [is_in for _, is_in in found])
    given = elementwise.convert(inside, "f64") if weights is None else value_of(ravel(solid(weights)), "f64")
    if given.shape != inside.shape:
        raise ShapeError("weights should have one number for each point").at(("here", here()))
    amounts = select(inside, given, const(0.0, "f64"))
    none = broadcast(const(0.0, "f64"), extents, ())
    counts = fresh(scatter_add(none, tuple([place for place, _ in found]), amounts), is_array=True)
    if density:
        widths: Any = np.ix_(*[np.diff(e) for e in edges])
        counts = reduce(lambda c, w: c / w, widths, counts) / xp.sum(counts)
    return counts, tuple(edges)


def _is_line(bins: Any) -> bool:
    return is_sequence(bins) or np.ndim(bins) > 0


def histogram2d(
    x: Any, y: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[TracedArray, TracedArray, TracedArray]:
    """np.histogram2d: counts (bins of x, bins of y), and the edges of both."""
    if len(x) != len(y):
        raise ShapeError("x and y must have the same length.").at(("here", here()))
    is_line = _is_line(bins) and len(bins) not in (1, 2)  # edges for both
    counts, (first, second) = histogramdd([x, y], [bins, bins] if is_line else bins, range, density, weights)
    return counts, first, second


FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    np.histogram: histogram,
    np.histogram2d: histogram2d,
    np.histogramdd: histogramdd,
    np.histogram_bin_edges: histogram_bin_edges,
}
"""NumPy's histograms."""
