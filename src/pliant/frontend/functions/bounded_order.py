"""Order in arrays whose extents are known only at run time: beyond them stands what comes last."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from pliant.frontend.array import TracedArray
from pliant.frontend.bounded import Bounded, assign, bounded, extents_of, filled, whole_of
from pliant.frontend.convert import as_traced, axes_of, axis_of
from pliant.frontend.functions.bounded import any_, astype, remaining
from pliant.frontend.functions.common import only, unsupported, xp
from pliant.frontend.functions.order import bins
from pliant.frontend.sizes import Size, traced
from pliant.ops.folds import start_of


def searchsorted(a: Any, v: Any, side: Any = "left", sorter: Any = None) -> Any:
    """np.searchsorted, in the elements there are."""
    if sorter is not None:
        raise unsupported("np.searchsorted: sorter= beside extents known only at run time", "use a[sorter]")
    found = xp.searchsorted(filled(a, _last(whole_of(a).type.dtype)), whole_of(v), side)
    count = extents_of(a)[0] if isinstance(a, Bounded) else None
    if isinstance(count, Size):
        found = xp.minimum(found, as_traced(traced(count)))
    return bounded(found, extents_of(v))


def sort(a: Any, axis: Any = -1, **options: Any) -> Any:
    """np.sort, along one axis."""
    return _along("sort", a, axis, **options)


def sort_it(a: Bounded, axis: Any = -1, **options: Any) -> None:
    """ndarray.sort."""
    assign(a, sort(a, axis, **options))


def argsort(a: Any, axis: Any = -1, **options: Any) -> Any:
    """np.argsort, along one axis; elements that are equal stay in order."""
    return _along("argsort", a, axis, **(options if "kind" in options else {**options, "stable": True}))


def _along(name: str, a: Any, axis: Any, **options: Any) -> Any:
    """np.sort or np.argsort, where what comes last stands beyond the extents, and zeros in the result."""
    if axis is None and a.ndim > 1:
        raise a.refused(f"np.{name} without axis=")
    at = axis_of(-1 if axis is None else axis, a.ndim)
    made = getattr(xp, name)(filled(a, _last(a.whole.type.dtype), (at,)), at, **options)
    return bounded(filled(Bounded(made, a.extents), 0, (at,)), a.extents)


def in_order(a: Any) -> TracedArray:
    """Places in the order of the elements of a line, equal ones as they come; those beyond its extent are the last."""
    line = filled(a, _last(whole_of(a).type.dtype)) if isinstance(a, Bounded) else a
    return xp.argsort(line, stable=True)


def _of_numbers(name: str) -> Callable[..., Any]:
    """A function by its like that leaves out NaN, which is put beyond the extents; NaN if there is one among them."""
    function, leaving_out = getattr(np, name), getattr(np, f"nan{name}")

    def call(a: Any, *args: Any, axis: Any = None, **options: Any) -> Any:
        line = a if a.whole.type.kind in "fc" else astype(a, np.float64)
        axes = axes_of(axis, a.ndim)
        made = leaving_out(filled(line, np.nan, axes), *args, axis=axis, **options)
        rest = remaining(a.extents, axes, bool(options.get("keepdims")))
        made = bounded(made, (*made.shape[: made.ndim - len(rest)], *rest))
        return xp.where(
            any_(xp.isnan(line), axis, keepdims=options.get("keepdims", False)), made.dtype.type(np.nan), made
        )[()]

    call.__name__ = function.__name__
    return call


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
    total = bins(minlength, np.int64 if weights is None else np.float64)
    xp.add.at(total, x, 1 if weights is None else weights)
    return total


def _last(dtype: str) -> Any:
    """What comes after all numbers in NumPy's order."""
    if dtype == "bool":
        return True
    return start_of("min", dtype) if dtype[0] in "iu" else np.nan


FUNCTIONS: Final[dict[Any, Callable[..., Any]]] = {
    np.searchsorted: searchsorted, np.sort: sort, np.argsort: argsort, np.isin: isin, np.bincount: bincount,
    np.median: _of_numbers("median"), np.quantile: _of_numbers("quantile"), np.percentile: _of_numbers("percentile"),
}  # fmt: skip
METHODS: Final[dict[str, Callable[..., Any]]] = {"searchsorted": searchsorted, "sort": sort_it, "argsort": argsort}
