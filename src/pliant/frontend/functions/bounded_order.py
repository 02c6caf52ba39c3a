"""Order in arrays whose extents are known only at run time: beyond them stands what comes last."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from pliant.frontend.array import TracedArray
from pliant.frontend.bounded import Bounded, assign, bounded, extents_of, filled, whole_of
from pliant.frontend.convert import as_traced, axes_of
from pliant.frontend.failures import fail_if
from pliant.frontend.functions.bounded import astype
from pliant.frontend.functions.bounded_folds import any_, greatest, is_kept, line_of, remaining, stored
from pliant.frontend.functions.common import no_bools, only, xp
from pliant.frontend.functions.order import bins
from pliant.frontend.sizes import Size, traced


def searchsorted(a: Any, v: Any, side: Any = "left", sorter: Any = None) -> Any:
    """np.searchsorted, in the elements there are."""
    a = a if sorter is None else a[sorter]
    found = xp.searchsorted(filled(a, _last(whole_of(a).type.dtype)), whole_of(v), side)
    count = extents_of(a)[0] if isinstance(a, Bounded) else None
    if isinstance(count, Size):
        found = xp.minimum(found, as_traced(traced(count)))
    return bounded(found, extents_of(v))


def sort(a: Any, axis: Any = -1, kind: Any = None, **options: Any) -> Any:
    """np.sort."""
    return _along("sort", a, axis, kind=kind, **options)


def sort_it(a: Bounded, axis: Any = -1, **options: Any) -> None:
    """ndarray.sort."""
    assign(a, sort(a, axis, **options))


def argsort(a: Any, axis: Any = -1, kind: Any = None, *, stable: Any = None, **options: Any) -> Any:
    """np.argsort; elements that are equal stay in order."""
    how = {"stable": True if stable is None else stable} if kind is None else {"kind": kind}
    return _along("argsort", a, axis, **options, **how)


def _along(name: str, a: Any, axis: Any, **options: Any) -> Any:
    """np.sort or np.argsort, where what comes last stands beyond the extents, and zeros in the result."""
    line, at = line_of(a, axis)
    made = getattr(xp, name)(filled(line, _last(a.whole.type.dtype), (at,)), at, **options)
    return bounded(filled(Bounded(made, line.extents), 0, (at,)), line.extents)


def _partition(in_order: Callable[..., Any]) -> Callable[..., Any]:
    """np.partition or np.argpartition: all in order is one of the partitions. in_order: np.sort or np.argsort."""

    def call(a: Any, kth: Any, axis: Any = -1, **options: Any) -> Any:
        line, at = line_of(a, axis)
        n = line.shape[at]
        outside = xp.any(xp.less(kth, -n) | xp.greater_equal(kth, n)) & xp.greater(n, 0)
        fail_if(as_traced(outside).value, ValueError("kth is out of bounds"))
        return in_order(line, at, **options)

    return call


def lexsort(keys: Any, axis: Any = -1) -> Any:
    """np.lexsort of lines: by the last one, then by those before it."""
    lines = list(keys)
    if any(x.ndim != 1 for x in lines):
        raise next(x for x in lines if isinstance(x, Bounded)).refused("np.lexsort of several axes")
    order = argsort(lines[0], axis)
    for line in lines[1:]:
        order = order[argsort(line[order], axis)]
    return order


def in_order(a: Any) -> TracedArray:
    """Places in the order of the elements of a line, equal ones as they come; those beyond its extent are the last."""
    line = filled(a, _last(whole_of(a).type.dtype)) if isinstance(a, Bounded) else a
    return xp.argsort(line, stable=True)


DISCRETE: Final = ("inverted_cdf", "closest_observation", "lower", "higher", "nearest")
"""Methods whose quantiles are elements."""


def _without_nan(name: str, a: Any, q: tuple[Any, ...], axis: Any, keepdims: Any, options: dict[str, Any]) -> Any:
    """A function that leaves out NaN, which is put beyond the extents."""
    several = next((x for x in (*q, *options.values()) if isinstance(x, Bounded)), None)
    if several is not None:
        raise several.refused(f"np.{name} of so many numbers, or of such weights,")
    if q:
        no_bools(name, a.whole)
    line = a if a.whole.type.kind in "fc" else astype(a, np.float64)
    axes, kept = axes_of(axis, a.ndim), is_kept(keepdims)
    made = getattr(xp, f"nan{name}")(filled(line, np.nan, axes), *q, axis=axis, keepdims=kept, **options)
    made = made.astype(a.dtype) if options.get("method") in DISCRETE else made
    rest = remaining(a.extents, axes, kept)
    return bounded(made, (*made.shape[: made.ndim - len(rest)], *rest))


def _spoiled(a: Any, made: Any, axis: Any, keepdims: Any) -> Any:
    """The same, but NaN if there is one among the numbers."""
    if not a.whole.type.is_float:
        return made
    return xp.where(any_(xp.isnan(a), axis, keepdims=keepdims), made.dtype.type(np.nan), made)[()]


def _median(*, has_nan: bool) -> Callable[..., Any]:
    """np.median or np.nanmedian."""

    def median(a: Any, axis: Any = None, out: Any = None, overwrite_input: Any = False, keepdims: Any = False) -> Any:
        made = _without_nan("median", a, (), axis, keepdims, {})
        return stored(made if has_nan else _spoiled(a, made, axis, keepdims), out)

    return median


def _quantile(name: str, *, has_nan: bool) -> Callable[..., Any]:
    """np.quantile or np.percentile, or one of those that leave out NaN."""

    def quantile(
        a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: Any = False, method: Any = "linear",
        keepdims: Any = False, **options: Any,
    ) -> Any:  # fmt: skip
        made = _without_nan(name, a, (q,), axis, keepdims, {"method": method, **options})
        return stored(made if has_nan else _spoiled(a, made, axis, keepdims), out)

    return quantile


def isin(element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False, **options: Any) -> Any:
    """np.isin, by a search in what is sorted."""
    only("isin", **options)
    line = xp.sort(xp.ravel(test_elements if isinstance(test_elements, Bounded) else as_traced(test_elements)))
    limit = whole_of(line).shape[0]
    if not limit:
        return xp.equal(element, element) & False if not invert else xp.equal(element, element) | True
    places = xp.searchsorted(line, element)
    count = line.shape[0]
    there = xp.equal(_taken(whole_of(line), xp.minimum(places, limit - 1)), element) & (places < count)
    return ~there if invert else there


def _taken(line: TracedArray, places: Any) -> Any:
    return bounded(line[whole_of(places)], extents_of(places))


def bincount(x: Any, /, weights: Any = None, minlength: Any = 0) -> Any:
    """np.bincount, with as many bins as `minlength` says."""
    if whole_of(x).type.kind == "i":
        fail_if(as_traced(xp.any(xp.less(x, 0))).value, ValueError("'list' argument must have no negative elements"))
    total = bins(x, minlength, np.int64 if weights is None else np.float64)
    xp.add.at(total, x, 1 if weights is None else weights)
    return total


def _last(dtype: str) -> Any:
    """What comes after all numbers in NumPy's order."""
    return greatest(dtype) if dtype[0] in "biu" else complex(np.nan, np.nan) if dtype[0] == "c" else np.nan


FUNCTIONS: Final[dict[Any, Callable[..., Any]]] = {
    np.searchsorted: searchsorted, np.sort: sort, np.argsort: argsort, np.isin: isin, np.bincount: bincount,
    np.partition: _partition(sort), np.argpartition: _partition(argsort), np.lexsort: lexsort,
    np.median: _median(has_nan=False), np.nanmedian: _median(has_nan=True),
    **{getattr(np, name): _quantile(name, has_nan=False) for name in ("quantile", "percentile")},
    **{getattr(np, f"nan{name}"): _quantile(name, has_nan=True) for name in ("quantile", "percentile")},
}  # fmt: skip
METHODS: Final[dict[str, Callable[..., Any]]] = {"searchsorted": searchsorted, "sort": sort_it, "argsort": argsort}
