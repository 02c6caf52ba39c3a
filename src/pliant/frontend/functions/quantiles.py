"""Order statistics: median, quantile and percentile, of all numbers or of those that are no NaN."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from pliant.core.ir import Value, const
from pliant.core.origin import here
from pliant.core.types import itemsize
from pliant.errors import ArgumentError, DomainError, ShapeError
from pliant.frontend.array import TracedArray, fresh, fresh_concrete
from pliant.frontend.convert import as_traced, axes_of, value_of
from pliant.frontend.functions.common import (
    NO_VALUE,
    array_of,
    no_bools,
    numpy_dtype,
    solid,
    store_out,
    unless,
    xp,
)
from pliant.frontend.functions.reduce import kept
from pliant.ops import compare, elementwise
from pliant.ops import sort as sorting
from pliant.ops.bits import bitwise_or
from pliant.ops.index import take_along
from pliant.ops.reduce import reduce_or, reduce_sum
from pliant.ops.scan import cumsum
from pliant.ops.select import select
from pliant.ops.shape import broadcast, concatenate, permute, slice_axis
from pliant.ops.shape import reshape as reshape_value

CLOSE = 8
"""The share of all elements that those at wanted places are less than, for the others not to be sorted."""

MOST = 32
"""Runs of places that are selected one by one."""
WORTH = 256
"""Elements, times the square of the runs, from which on that takes less time than to sort them."""
SELECTED = 4
"""Bytes of elements that are selected: narrower ones are sorted as quickly."""

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


Spans: TypeAlias = Sequence[tuple[int, int]]
"""The first and the last of places next to each other, in ascending order; none for all places."""

Blend: TypeAlias = Callable[[Value, Value, Value, str], Value]
"""What lies between two elements, at a part of the way, in a dtype."""

_WHOLE = ("lower", "higher", "nearest", "inverted_cdf", "closest_observation")
"""Methods whose quantiles are elements."""


def _sorted_front(x: TracedArray, axes: tuple[int, ...], spans: Spans = ()) -> Value:
    """The reduced axes merged, sorted and in front of the others. spans: the places that are wanted, if it is not all
    of them."""
    line = _back(x, axes)
    last = line.type.rank - 1
    parts = [sorting.ranked(line, last, *span) for span in spans] or [sorting.sort(line, last)]
    return permute(concatenate(tuple(parts), last) if len(parts) > 1 else parts[0], (last, *range(last)))


def _back(x: TracedArray, axes: tuple[int, ...]) -> Value:
    """The reduced axes merged and behind the others."""
    rest = [a for a in range(x.ndim) if a not in axes]
    return reshape_value(permute(x.value, (*rest, *axes)), (*(x.shape[a] for a in rest), _size(x, axes)))


def _front(x: TracedArray, axes: tuple[int, ...]) -> Value:
    """The reduced axes merged and in front of the others."""
    rest = [a for a in range(x.ndim) if a not in axes]
    return reshape_value(permute(x.value, (*axes, *rest)), (_size(x, axes), *(x.shape[a] for a in rest)))


def _size(x: TracedArray, axes: tuple[int, ...]) -> int:
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


def nanquantile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: Any = False, *, weights: Any = None,
) -> Any:  # fmt: skip
    """np.nanquantile."""
    return _quantile("nanquantile", np.nanquantile, 1.0, a, q, axis, out, method, keepdims, weights)


def nanpercentile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: Any = False, *, weights: Any = None,
) -> Any:  # fmt: skip
    """np.nanpercentile."""
    return _quantile("nanpercentile", np.nanpercentile, 100.0, a, q, axis, out, method, keepdims, weights)


def _quantile(
    name: str, function: Any, unit: float, a: Any, q: Any, axis: Any, out: Any, method: str, keepdims: Any, weights: Any
) -> Any:
    if method not in _PLACES:
        raise DomainError(f"{method!r} is not a valid method; use one of {', '.join(_PLACES)}").at(("here", here()))
    x, wanted = array_of(solid(a)), as_traced(q)
    if x.type.kind == "c":
        raise ArgumentError("a must be an array of real numbers").at(("here", here()))
    is_whole = method in _WHOLE or (method == "linear" and unit == 1.0 and wanted.type.kind in "biu")
    is_of_bools = x.type.dtype == "bool" and is_whole
    to = "bool" if is_of_bools else _dtype_of(function, unit, no_bools(name, x), q, method)
    x = x.astype(np.uint8) if to == "bool" else x
    axes = axes_of(axis, x.ndim)
    kind = name.removeprefix("nan").capitalize()
    fraction: Any = (wanted.concrete if wanted.concrete is not None else wanted) / (unit if unit != 1.0 else 1)
    if wanted.concrete is not None and not (xp.all(fraction >= 0) and xp.all(fraction <= 1)):
        raise DomainError(f"{kind}s must be in the range [0, {int(unit)}]").at(("here", here()))
    if wanted.concrete is None:
        fraction = unless(xp.logical_not((fraction >= 0) & (fraction <= 1)), fraction, f"quantiles {kind} {int(unit)}")
    if name.startswith("nan") and 0 in x.shape:  # there are no axes of q then
        return xp.nanmean(x, axis, out=out, keepdims=keepdims)
    spans = () if name.startswith("nan") else _spans(method, fraction, _size(x, axes), x.type.dtype)
    line = _sorted_front(x, axes, spans) if weights is None else _front(x, axes)
    if weights is not None:
        given = _front(_weights(weights, x, axis, axes, method), axes)
        y = elementwise.convert(_weighted(line, given, fraction, leaves_nan_out=name.startswith("nan")), to)
    elif name.startswith("nan") and x.type.is_float:
        y = _among_numbers(x, axes, fraction, method, to, _first if is_whole else _blend)
    else:
        n = _size(x, axes)
        virtual = _PLACES[method](fraction, n)
        places = xp.clip(virtual, 0, n - 1)
        y = _at_places(line, _within(spans, places) if spans else places, _step(virtual), to, is_whole)
        y = _nan_if(y, _front(x, axes) if spans else line, to, is_sorted=not spans)
    if keepdims and keepdims is not NO_VALUE:
        lead = y.shape[: len(wanted.shape)]
        y = reshape_value(y, (*lead, *(1 if i in axes else m for i, m in enumerate(x.shape))))
    return store_out(y, out, f"np.{name}", is_array=weights is not None, casting="unsafe")


def _step(virtual: Any) -> Any:
    """From an element to the other one that a quantile lies between: none for places before the first."""
    return xp.where(virtual < 0, 0, 1)


def _spans(method: str, fraction: Any, n: int, dtype: str) -> Spans:
    """The places that quantiles are made of, if these are known and lie close together, or are few."""
    if isinstance(fraction, TracedArray) or not n or not np.size(fraction):
        return ()
    places = np.unique(np.floor(np.clip(_PLACES[method](np.asarray(fraction), n), 0, n - 1)).astype(np.int64))
    if together := _narrow(int(places[0]), min(int(places[-1]) + 1, n - 1), n):
        return together
    begins = [int(p) for p in places[np.diff(places, prepend=-2) > 1]]
    ends = [min(int(p) + 1, n - 1) for p in places[np.diff(places, append=n + 1) > 1]]
    is_few = len(begins) <= MOST and len(begins) ** 2 * WORTH <= n and 2 * len(places) * CLOSE < n
    return list(zip(begins, ends, strict=True)) if is_few and itemsize(dtype) >= SELECTED else ()


def _narrow(first: int, last: int, n: int) -> Spans:
    """Two places and those between, if they lie close together among n."""
    return ((first, last),) if (last - first) * CLOSE < n else ()


def _within(spans: Spans, places: Any) -> Any:
    """Where places of all elements lie among those of the spans."""
    begins = np.array([first for first, _ in spans])
    counts = np.array([last - first + 1 for first, last in spans])
    away = begins - np.cumsum(counts) + counts
    return places - away[np.searchsorted(begins, np.floor(places), "right") - 1]


def _weights(weights: Any, x: TracedArray, axis: Any, axes: tuple[int, ...], method: str) -> TracedArray:
    """The weight of each element of x."""
    w = array_of(as_traced(weights))
    if method != "inverted_cdf":
        raise DomainError(f"Only method 'inverted_cdf' supports weights. Got: {method}.").at(("here", here()))
    if w.concrete is not None and xp.any(w.concrete < 0):
        raise DomainError("Weights must be non-negative.").at(("here", here()))
    w = w if w.concrete is not None or w.type.kind not in "if" else unless(w < 0, w, "negative_weights")
    if w.shape == x.shape:
        return w
    if axis is None:
        raise ArgumentError("Axis must be specified when shapes of a and weights differ.").at(("here", here()))
    if w.shape != tuple([x.shape[a] for a in axes]):
        raise ShapeError("Shape of weights must be consistent with shape of a along specified axis.").at(
            ("here", here())
        )
    thin = xp.transpose(w, tuple(np.argsort(axes).tolist())).reshape(
        [n if a in axes else 1 for a, n in enumerate(x.shape)]
    )
    return array_of(as_traced(xp.broadcast_to(thin, x.shape)))


def _weighted(line: Value, weights: Value, fraction: Any, *, leaves_nan_out: bool) -> Value:
    """Along axis 0, the first of the sorted elements up to which a fraction of the weight lies."""
    x, w = (fresh(v, is_array=True) for v in (line, weights))
    order = xp.argsort(x, axis=0, kind="stable")
    x, w = (xp.take_along_axis(v, order, 0) for v in (x, w))
    w = xp.where(xp.isnan(x), 0, w) if leaves_nan_out and line.dtype[0] == "f" else w
    below = xp.cumsum(w, axis=0, dtype=np.float64)
    below = below / below[-1]
    is_lost = xp.isnan(below[-1])
    is_lost = is_lost & ~xp.isnan(x[0]) if leaves_nan_out and line.dtype[0] == "f" else is_lost  # NaN come last
    below = unless(is_lost, below, "of_weights")
    wanted = as_traced(fraction)
    below = below.astype(wanted.dtype) if wanted.type.kind == "f" else below
    below = xp.where(below == 0, -1, below)  # a fraction of 0 lies at the first element that has a weight
    rows = xp.reshape(wanted, (-1, *(1,) * x.ndim))
    place = xp.minimum(xp.sum(below < rows, axis=1), x.shape[0] - 1)
    y = reshape_value(xp.take_along_axis(x, place, 0).value, (*wanted.shape, *x.shape[1:]))
    y = y if leaves_nan_out else _nan_if(y, x.value, line.dtype)
    return y if y.dtype[0] != "f" else _nan_if(y, below.value, y.dtype)  # where there are only NaN


def _dtype_of(function: Any, unit: float, x: TracedArray, q: Any, method: str) -> str:
    """The dtype of NumPy's result."""
    given = as_traced(q)
    is_weak = given.is_weak and given.type.kind != "b"
    if unit == 1.0 and given.type.kind in "biu":  # whole places along the elements: these may be the results
        sample: Any = 0 if is_weak else np.zeros(1, given.dtype)
    elif is_weak:
        sample = 0.5
    else:
        sample = np.full(1, 0.5, given.dtype if given.type.is_float else np.float64)

    def on_sample(s: Any) -> Any:
        return function(s, sample, method=method)

    return numpy_dtype(on_sample, x)


def _at_places(line: Value, places: Any, step: Any, to: str, is_whole: bool) -> Value:
    """Elements at fractional places along axis 0, with the axes of `places` in front; at whole ones, these elements."""
    low, rank = xp.floor(places), len(np.shape(places))
    table = fresh(line, is_array=True)
    if isinstance(places, TracedArray):
        first = low.astype(np.int64)
        second = xp.minimum(first + step, line.shape[0] - 1)
    else:
        whole = np.asarray(low, np.int64)
        first, second = fresh_concrete(whole), fresh_concrete(np.asarray(xp.minimum(whole + step, line.shape[0] - 1)))
    if is_whole:
        return value_of(xp.take(table, first, 0), to)
    a, b = (as_traced(xp.take(table, i, 0)).value for i in (first, second))
    t = value_of(
        as_traced(places - low) if isinstance(places, TracedArray) else fresh_concrete(np.asarray(places - low))
    )
    return _blend(a, b, broadcast(t, a.shape, tuple(range(rank))) if t.shape != a.shape else t, to)


def _among_numbers(x: TracedArray, axes: tuple[int, ...], fraction: Any, method: str, to: str, blend: Blend) -> Value:
    """The quantiles of the elements that are no NaN, whose number differs from row to row."""
    line = _back(x, axes)
    n, is_nan = line.shape[-1], compare.isnan(line)
    missing = reduce_sum(elementwise.convert(is_nan, "i64"), (line.type.rank - 1,))
    count = n - fresh(missing, is_array=True).astype(np.float64)
    wanted = fraction if isinstance(fraction, TracedArray) else fresh_concrete(np.asarray(fraction, np.float64))
    rows = xp.reshape(wanted, (-1, *(1,) * count.ndim))
    virtual = _PLACES[method](rows, count)
    places = xp.clip(virtual, 0, xp.maximum(count - 1, 0))
    low = xp.floor(places)
    first = low.astype(np.int64)
    second = xp.minimum(first + _step(virtual), xp.maximum(count.astype(np.int64) - 1, 0))
    is_few = 0 < wanted.size <= MOST and wanted.size**2 * WORTH <= n and itemsize(line.dtype) >= SELECTED
    if is_few and wanted.concrete is not None:
        a, b = _selected(line, is_nan, _whole_places(method, wanted.concrete, n), first.value, second.value)
    else:
        table = _sorted_front(x, axes)
        a, b = (take_along(table, i.value, 0) for i in (first, second))
    y = reshape_value(blend(a, b, (places - low).value, to), (*wanted.shape, *line.shape[:-1]))
    is_none = broadcast(compare.equal(missing, n), y.shape, tuple(range(len(wanted.shape), y.type.rank)))
    return select(is_none, const(math.nan, to), y)


def _whole_places(method: str, fraction: Any, n: int) -> list[int]:
    """Where the quantiles of n sorted elements lie, or begin."""
    return np.floor(np.clip(_PLACES[method](np.ravel(fraction), n), 0, n - 1)).astype(np.int64).tolist()


def _selected(line: Value, is_nan: Value, among_all: Sequence[int], first: Value, second: Value) -> tuple[Value, Value]:
    """The elements at places `first` and `second`, which is next to it or the same, of the sorted rows without NaN.

    With one element more, a quantile lies at the same place or at the next. So as many NaN as it lies before its place
    among all elements, never more than there are, stand for numbers below all others, the rest for numbers above.
    """
    last, n = line.type.rank - 1, line.shape[-1]
    number = cumsum(elementwise.convert(is_nan, "i64"), last)
    pairs = list[tuple[Value, Value]]()
    for j, place in enumerate(among_all):
        at, after = (slice_axis(v, 0, j, 1) for v in (first, second))
        below = broadcast(reshape_value(place - at, line.shape[:-1]), line.shape, tuple(range(last)))
        ends = select(compare.less_equal(number, below), const(-math.inf, line.dtype), const(math.inf, line.dtype))
        found = sorting.ranked(select(is_nan, ends, line), last, place, min(place + 1, n - 1))
        ranks = permute(found, (last, *range(last)))
        a, b = (slice_axis(ranks, 0, k, 1) for k in (0, ranks.shape[0] - 1))
        pairs.append((a, select(compare.equal(at, after), a, b)))
    lows, highs = zip(*pairs, strict=True)
    return concatenate(lows, 0), concatenate(highs, 0)


def _blend(a: Value, b: Value, t: Value, to: str) -> Value:
    """a + t·(b − a), exact at both ends; NaN if these are not finite, as in NumPy."""
    wide = to if to[0] == "f" else "f64"
    if a.dtype[0] != "f":
        a, b = (elementwise.convert(v, wide) for v in (a, b))
    rise = elementwise.convert(elementwise.sub(b, a), wide)  # in the dtype of the elements, as NumPy does
    a, b, t = (elementwise.convert(v, wide) for v in (a, b, t))
    near = elementwise.add(a, elementwise.mul(rise, t))
    far = elementwise.sub(b, elementwise.mul(rise, elementwise.sub(const(1, wide), t)))
    return elementwise.convert(select(compare.greater_equal(t, const(0.5, wide)), far, near), to)


def _first(a: Value, b: Value, t: Value, to: str) -> Value:
    """a alone."""
    return elementwise.convert(a, to)


def _mean(a: Value, b: Value, t: Value, to: str) -> Value:
    """The mean of both, halfway."""
    is_one = bitwise_or(compare.equal(t, const(0, t.dtype)), compare.equal(a, b))
    return elementwise.convert(select(is_one, a, (a + b) * 0.5), to)


def _nan_if(y: Value, line: Value, to: str, *, is_sorted: bool = True) -> Value:
    """NaN where a NaN was among the elements; if they are sorted it ends them."""
    if not line.type.is_float:
        return y
    if is_sorted:
        has_nan = compare.isnan(as_traced(xp.take(fresh(line, is_array=True), -1, 0)).value)
    else:
        has_nan = reduce_or(compare.isnan(line), (0,))
    extra = y.type.rank - has_nan.type.rank
    if has_nan.shape:
        has_nan = broadcast(has_nan, y.shape, tuple(range(extra, y.type.rank)))
    nan = complex(math.nan, math.nan) if to[0] == "c" else math.nan
    return select(has_nan, const(nan, to), y)


def median(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: Any = False) -> Any:
    """np.median."""
    x = array_of(solid(a))
    to = numpy_dtype(np.median, x)
    axes = axes_of(axis, x.ndim)
    n = _size(x, axes)
    spans = _narrow((n - 1) // 2, n // 2, n)
    line = _sorted_front(x, axes, spans)
    if not n:
        y = broadcast(const(float("nan"), to), line.shape[1:], ())
    else:
        rows = fresh(line, is_array=True)
        at = n // 2 - (spans[0][0] if spans else 0)
        middle = rows[at] if n % 2 else xp.mean(rows[at - 1 : at + 1], 0)
        y = _nan_if(value_of(middle, to), _front(x, axes) if spans else line, to, is_sorted=not spans)
    return store_out(kept(y, x.shape, axes, keepdims), out, "np.median", casting="unsafe")


def nanmedian(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: Any = False) -> Any:
    """np.nanmedian."""
    x = array_of(solid(a))
    if not x.type.is_float or not x.size:
        return median(x, axis, out, keepdims=keepdims)
    axes = axes_of(axis, x.ndim)
    y = _among_numbers(x, axes, np.float64(0.5), "linear", x.type.dtype, _mean)
    return store_out(kept(y, x.shape, axes, keepdims), out, "np.nanmedian", casting="unsafe")


FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    np.median: median,
    np.nanmedian: nanmedian,
    np.quantile: quantile,
    np.percentile: percentile,
    np.nanquantile: nanquantile,
    np.nanpercentile: nanpercentile,
}
"""NumPy's order statistics."""
