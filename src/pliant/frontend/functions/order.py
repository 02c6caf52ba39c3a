"""Order: sort, searchsorted, digitize, interp, isin and their like."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np

from pliant.core.build import trace
from pliant.core.ir import Value, const
from pliant.core.origin import here
from pliant.errors import DomainError, DTypeError, ShapeError
from pliant.frontend.array import TracedArray, fresh, fresh_concrete
from pliant.frontend.convert import as_traced, axis_of, broadcast_value, integer_of, result_dtype, value_of
from pliant.frontend.failures import ensured
from pliant.frontend.functions.common import (
    array_of,
    index_value,
    known,
    only,
    real_only,
    solid,
    unless,
    unsupported,
    xp,
)
from pliant.frontend.functions.shape import ravel
from pliant.ops import bits, compare, elementwise
from pliant.ops import sort as sorting
from pliant.ops.cond import Cond
from pliant.ops.index import gather, scatter_add, scatter_set
from pliant.ops.reduce import reduce_max, reduce_min, reduce_or
from pliant.ops.select import select
from pliant.ops.shape import broadcast, slice_axis

COMPARED: Final = 48
"""Elements that each is compared with; in more it is searched for."""
WIDER: Final = 6
"""Times all elements together: the most that a table is worth, as for NumPy."""


def _along(a: Any, axis: Any, build: Callable[[Value, int], Value]) -> TracedArray:
    """`build` along one axis; along all elements in order for None."""
    x = array_of(solid(a))
    if axis is None:
        x, axis = ravel(x), 0
    return fresh(build(x.value, axis_of(axis, x.ndim)), is_array=True)


def sort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> TracedArray:
    """np.sort: equal numbers do not differ, so its kinds give the same."""
    _check_kind("sort", kind, order, stable)
    return _along(a, axis, sorting.sort)


def argsort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> TracedArray:
    """np.argsort; the kind is NumPy's usual one, or a stable one."""
    _check_kind("argsort", kind, order, stable)
    is_stable = stable if kind is None else str(kind)[:1].lower() in "ms"
    build = partial(sorting.argsort, stable=bool(is_stable))
    return _along(a, None if not as_traced(a).ndim and axis in (0, -1) else axis, build)


def _check_kind(name: str, kind: Any, order: Any, stable: Any) -> None:
    only(name, order=order)
    if kind is not None and stable is not None:
        message = "`kind` and keyword parameters can't be provided at the same time. Use only one of them."
        raise DomainError(message).at(("here", here()))
    if kind is not None and str(kind)[:1].lower() not in "qhms":
        raise DomainError(f"sort kind must be one of 'quick', 'heap', or 'stable' (got {kind!r})").at(("here", here()))


def partition(a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: Any = None) -> TracedArray:
    """np.partition: what lies between its first and its last place is sorted, which is one of its results."""
    only("partition", order=order)
    places = _kth_places(a, kth, axis)
    if not places.size:
        return sort(a, axis)
    return _along(a, axis, lambda x, at: sorting.partition(x, at, int(places.min()), int(places.max())))


def argpartition(a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: Any = None) -> TracedArray:
    """np.argpartition: what lies between its first and its last place is sorted, which is one of its results."""
    only("argpartition", order=order)
    places = _kth_places(a, kth, axis)
    if not places.size or not as_traced(a).ndim:
        return argsort(a, axis)
    return _along(a, axis, lambda x, at: sorting.argpartition(x, at, int(places.min()), int(places.max())))


def _kth_places(a: Any, kth: Any, axis: Any) -> Any:
    """The places of kth=, counted from the start."""
    x = as_traced(a)
    n = x.size if axis is None or not x.ndim else x.shape[axis_of(axis, x.ndim)]
    places = np.atleast_1d(known(kth, "kth="))
    if places.size and not (-n <= places.min() and places.max() < n):
        raise ShapeError(f"kth(={kth}) out of bounds ({n})").at(("here", here()))
    return np.where(places < 0, places + n, places)


def sort_complex(a: Any) -> TracedArray:
    """np.sort_complex."""
    x = sort(a)
    to = np.complex64 if x.type.dtype in ("i8", "i16", "u8", "u16") else np.complex128
    return x if x.type.kind == "c" else x.astype(to)


def lexsort(keys: Any, axis: Any = -1) -> TracedArray:
    """np.lexsort: the last key decides first."""
    parts = [as_traced(k) for k in (keys if not isinstance(keys, TracedArray) else list(keys))]
    if len({k.shape for k in parts}) > 1:
        raise ShapeError("np.lexsort: all keys need to be the same shape").at(("here", here()))
    at = axis_of(axis, parts[0].ndim)
    order = argsort(parts[0], at, stable=True)
    for key in parts[1:]:
        found = argsort(xp.take_along_axis(key, order, at), at, stable=True)
        order = xp.take_along_axis(order, found, at)
    return order


def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> TracedArray:
    """np.searchsorted."""
    line, wanted = solid(a), solid(v)
    if line.ndim != 1:
        raise ShapeError(f"np.searchsorted: a must be 1-d, got {line.type}").at(("here", here()))
    if side not in ("left", "right"):
        raise ShapeError(f"side must be 'left' or 'right', got {side!r}").at(("here", here()))
    if sorter is not None:
        line = as_traced(line[as_traced(sorter)])
    dtype = result_dtype(line, wanted)
    return fresh(sorting.searchsorted(value_of(line, dtype), value_of(wanted, dtype), side))


def digitize(x: Any, bins: Any, right: bool = False) -> TracedArray:
    """np.digitize; the bins may go up or down."""
    edges, wanted = array_of(bins), as_traced(x)
    if edges.ndim != 1:
        raise ShapeError(f"np.digitize: bins must be 1-d, got {edges.type}").at(("here", here()))
    real_only("digitize", wanted.value)
    steps = None if edges.concrete is None else np.diff(edges.concrete)
    if steps is not None and np.any(steps < 0) and np.any(steps > 0):
        raise DomainError("bins must be monotonically increasing or decreasing").at(("here", here()))
    up = searchsorted(edges, wanted, "left" if right else "right")
    n = edges.size
    if n < 2 or (edges.concrete is not None and edges.concrete[0] <= edges.concrete[-1]):
        return up
    down = n - searchsorted(edges[::-1], wanted, "left" if right else "right")
    if edges.concrete is not None:
        return down
    steps = xp.diff(edges)
    edges = unless(xp.any(steps < 0) & xp.any(steps > 0), edges, "monotonic")
    return xp.where(edges[0] <= edges[-1], up, down)


def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    """np.interp: differentiable in x, xp and fp."""
    at, line, heights = as_traced(x), solid(xp), solid(fp)
    if line.ndim != 1 or line.shape != heights.shape or not line.size:
        raise ShapeError(f"np.interp: xp and fp must be 1-d, of one length, not empty: {line.type}, {heights.type}").at(
            ("here", here())
        )
    if period is not None:
        at, line, heights = _periodic(at, line, heights, period)
        left = right = None
    dtype = "c128" if heights.type.kind == "c" else "f64"
    u, grid = (value_of(fresh(real_only("interp", x.value)), "f64") for x in (at, line))
    f = value_of(heights, dtype)
    n = line.size
    low = broadcast_value(slice_axis(f, 0, 0, 1) if left is None else value_of(left, dtype), u.shape)
    high = broadcast_value(slice_axis(f, 0, n - 1, 1) if right is None else value_of(right, dtype), u.shape)
    first, last = gather_at(grid, 0), gather_at(grid, n - 1)
    below, above = compare.less(u, first), compare.greater(u, last)
    y = _between(u, grid, f, n) if n > 1 else broadcast_value(f, u.shape)
    y = select(below, low, select(above, high, y))
    if n == 1:  # there is nothing between samples that NaN could be
        return fresh(y)
    return fresh(select(compare.isnan(u), const(float("nan"), dtype), y))


def gather_at(x: Value, i: int) -> Value:
    """One element of a vector."""
    return broadcast_value(slice_axis(x, 0, i, 1), ())


def _between(u: Value, grid: Value, f: Value, n: int) -> Value:
    """Linear interpolation at points inside the grid."""
    above = elementwise.sub(sorting.searchsorted(grid, u, "right"), const(1, "i64"))
    j = compare.clip(above, 0, n - 2)
    k = elementwise.add(j, const(1, "i64"))
    x0, x1, f0, f1 = gather(grid, j), gather(grid, k), gather(f, j), gather(f, k)
    t = elementwise.div(elementwise.sub(u, x0), elementwise.sub(x1, x0))
    t = elementwise.convert(t, f.dtype)
    y = elementwise.add(f0, elementwise.mul(t, elementwise.sub(f1, f0)))
    return select(compare.equal(u, x1), f1, select(compare.equal(u, x0), f0, y))


def _periodic(x: TracedArray, line: TracedArray, heights: TracedArray, period: Any) -> tuple[Any, Any, Any]:
    """Points brought into one period, and the grid sorted and continued by a point on both sides."""
    p = abs(period)
    zero = as_traced(p).concrete
    if zero is not None and zero == 0:
        raise DomainError("period must be a non-zero value").at(("here", here()))
    if zero is None:
        p = unless(p == 0, as_traced(p), "period")
    x, line = xp.mod(x, p), xp.mod(line, p)
    order = argsort(line)
    line, heights = line[order], heights[order]
    grid = xp.concatenate((line[-1:] - p, line, line[:1] + p))
    return x, grid, xp.concatenate((heights[-1:], heights, heights[:1]))


def isin(
    element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False, *, kind: Any = None
) -> Any:
    """np.isin: every element against every other where these are few, else by a search in them, or, of integers that
    lie close together, in a table."""
    x, y = as_traced(element), ravel(solid(test_elements))
    dtype = result_dtype(x, y)
    a, b = value_of(x, dtype), value_of(y, dtype)
    if y.size > COMPARED and b.type.kind != "c":
        found = _found_by_search(a, b) if b.type.is_float else _found_in_table(a, b)
        return fresh(bits.invert(found) if invert else found, is_array=True)
    full = (*a.shape, y.size)
    same = compare.equal(broadcast(a, full, tuple(range(len(a.shape)))), broadcast(b, full, (len(a.shape),)))
    found = reduce_or(same, (len(a.shape),))
    return fresh(bits.invert(found) if invert else found, is_array=True)


def _found_by_search(a: Value, b: Value) -> Value:
    """Whether each element of a is in the row b."""
    line = sorting.sort(b, 0)
    places = compare.minimum(sorting.searchsorted(line, a), b.shape[0] - 1)
    return compare.equal(gather(line, places), a)


def _found_in_table(a: Value, b: Value) -> Value:
    """Whether each of the integers a is in the row b: in a table of those from its least to its greatest, if that is
    not much longer than both."""
    a, b = (v if v.dtype == "u64" else elementwise.convert(v, "i64") for v in (a, b))
    n = WIDER * (a.type.size + b.type.size)

    def by_table(a: Value, b: Value, low: Value, high: Value) -> Value:
        flags = broadcast(const(False, "bool"), (n,), ())
        places = elementwise.convert(elementwise.sub(b, low), "i64")
        table = scatter_set(flags, (places,), broadcast(const(True, "bool"), b.shape, ()))
        inside = bits.logical_and(compare.less_equal(low, a), compare.less_equal(a, high))
        place = elementwise.convert(elementwise.sub(select(inside, a, low), low), "i64")
        return bits.logical_and(inside, gather(table, place))

    def by_search(a: Value, b: Value, low: Value, high: Value) -> Value:
        return _found_by_search(a, b)

    low, high = reduce_min(b, (0,)), reduce_max(b, (0,))
    span, types = elementwise.sub(high, low), (a.type, b.type, low.type, high.type)  # wraps to below 0, if at all
    is_short = bits.logical_and(compare.less_equal(0, span), compare.less(span, n))
    return Cond(trace(by_table, *types), trace(by_search, *types)).apply(is_short, a, b, low, high)[0]


def bins(x: Any, minlength: Any, dtype: Any) -> TracedArray:
    """Zeros, as many as `minlength` says, else as many as the greatest of some numbers."""
    n = integer_of(known(minlength, "minlength="))
    if n < 0:
        raise DomainError("'minlength' must not be negative").at(("here", here()))
    if not n and not (type(x) is TracedArray and not x.size):
        greatest = as_traced(np.max(x))
        if greatest.concrete is None:
            raise unsupported(
                "np.bincount of traced numbers has a size that is not known while tracing",
                "give minlength=, above all elements: the result then has just that many bins; or take "
                "np.unique(x, return_counts=True)",
            ).needing(greatest.value)
        n = max(int(greatest) + 1, 0)
    return fresh_concrete(np.zeros(n, dtype))


def bincount(x: Any, /, weights: Any = None, minlength: Any = 0) -> TracedArray:
    """np.bincount with `minlength` as the number of bins, if it is given: what lies beyond raises IndexError."""
    i = index_value(x, np.bincount)
    if len(i.shape) != 1:
        raise ShapeError(f"np.bincount takes one row of integers, got {i.type}").at(("here", here()))
    n = bins(as_traced(x) if i.type.size else fresh(i), minlength, np.int64).size
    is_count = weights is None or not i.type.size  # NumPy does not look at the weights of nothing
    if not is_count and as_traced(weights).shape != i.shape:
        message = f"The weights and list don't have the same length: {as_traced(weights).type} and {i.type}"
        raise ShapeError(message).at(("here", here()))
    zero, one, two = (const(number, "i64") for number in range(3))
    code = select(compare.less(i, zero), one, select(compare.less(i, const(n, "i64")), zero, two))
    amounts = const(1, "i64") if is_count else _amounts(weights)
    none = broadcast(const(0, amounts.dtype), (n,), ())
    bin_ = ensured(i, code, f"bincount {n}", ours=compare.equal(code, two))
    return fresh(scatter_add(none, (bin_,), broadcast_value(amounts, i.shape)), is_array=True)


def _amounts(weights: Any) -> Value:
    """What np.bincount adds up, in floats."""
    w = as_traced(weights)
    if not np.can_cast(w.dtype, np.float64):
        message = f"Cannot cast array data from {w.dtype!r} to dtype('float64') according to the rule 'safe'"
        raise DTypeError(message).at(("here", here()))
    return value_of(w, "f64")


FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    np.sort: sort,
    np.argsort: argsort,
    np.partition: partition,
    np.argpartition: argpartition,
    np.sort_complex: sort_complex,
    np.lexsort: lexsort,
    np.searchsorted: searchsorted,
    np.digitize: digitize,
    np.interp: interp,
    np.isin: isin,
    np.bincount: bincount,
}
"""NumPy's sorting and searching."""
