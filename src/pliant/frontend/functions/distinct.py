"""Distinct elements, and lines as sets: arrays of which it is known only at run time how many elements they have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from pliant.frontend.array import TracedArray, fresh, fresh_concrete
from pliant.frontend.bounded import Bounded, bounded, extents_of, filled, inside, whole_of
from pliant.frontend.convert import as_traced, integer_of
from pliant.frontend.functions.bounded_order import in_order
from pliant.frontend.functions.common import only, solid, unsupported, xp
from pliant.frontend.functions.shape import ravel
from pliant.frontend.kinds import as_tuple
from pliant.frontend.listed import listed, positions


def unique(
    ar: Any, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False, axis: Any = None,
    *, equal_nan: bool = True, sorted: bool = True,
) -> Any:  # fmt: skip
    """np.unique of all elements."""
    ar = ar if isinstance(ar, Bounded) else solid(ar)
    wanted = [bool(w) for w in (return_index, return_inverse, return_counts)]
    if axis is not None and np.ndim(ar) > 1:
        return _unique_rows(ar, wanted, axis)
    x, shape = _line(ar), np.shape(ar)
    if not isinstance(x, Bounded) and (x.concrete is not None or not x.size):
        plain = np.zeros(shape, x.dtype) if x.concrete is None else x.concrete.reshape(shape)
        made = xp.unique(plain, *wanted, equal_nan=equal_nan)
        found = [fresh_concrete(m) for m in as_tuple(made)]
        return tuple(found) if any(wanted) else found[0]
    if not any(wanted[:2]) and whole_of(x).type.kind != "c":
        values = _sorted(x)
        first = _starts(values, x, equal_nan=equal_nan)
        made = listed(values, first)
        return (made, _counts(first, x)) if wanted[2] else made
    order = in_order(x)
    values = whole_of(x)[order]
    first = _starts(values, x, equal_nan=equal_nan)
    made = listed(values, first)
    if not any(wanted):
        return made
    more = [listed(order, first)] if wanted[0] else []
    if wanted[1]:
        ranks = fresh_concrete(np.zeros(order.shape, np.int64))
        ranks[order] = xp.cumsum(first) - 1
        more.append(bounded(ranks, x.extents) if isinstance(x, Bounded) else xp.reshape(ranks, shape))
    return (made, *more, *([_counts(first, x)] if wanted[2] else []))


def _unique_rows(ar: Any, wanted: list[bool], axis: Any) -> Any:
    """The parts of an array along an axis that differ, in the order of their elements."""
    parts = xp.moveaxis(as_traced(ar), integer_of(axis), 0)
    if not parts.shape[0]:
        none = [fresh_concrete(np.zeros(0, np.int64)) for w in wanted if w]
        made = fresh(as_traced(ar).value, is_array=True)
        return (made, *none) if none else made
    rows = parts.reshape(parts.shape[0], -1)
    if rows.type.kind == "c" or not rows.size:
        raise unsupported(
            "np.unique of complex numbers, or of lines of no elements, along an axis", "take it of each part"
        )
    order = xp.lexsort(rows.T[::-1])
    values = rows[order]
    first = xp.concatenate((xp.ones(1, bool), (values[1:] != values[:-1]).any(1)))
    made = xp.moveaxis(listed(parts[order], first), 0, integer_of(axis))
    more = [listed(order, first)] if wanted[0] else []
    if wanted[1]:
        ranks = fresh_concrete(np.zeros(order.shape, np.int64))
        ranks[order] = xp.cumsum(first) - 1
        more.append(ranks)
    more += [_counts(first, rows)] if wanted[2] else []
    return (made, *more) if more else made


def _line(a: Any) -> Any:
    """All elements in a line."""
    if isinstance(a, Bounded):
        return xp.ravel(a)
    return ravel(solid(a))


def _sorted(x: Any) -> TracedArray:
    """The elements of a line in order; its zeros all have the sign of the first, as equal ones that come in order."""
    values = whole_of(xp.sort(x))
    if not values.type.is_float:
        return values
    zero = whole_of(x)[xp.argmax(filled(x, 1) == 0)]
    return xp.where(values == 0, zero, values)


def _starts(values: TracedArray, x: Any, *, equal_nan: bool) -> TracedArray:
    """Where, in order, an element differs from the one before."""
    differs = values[1:] != values[:-1]
    if equal_nan and values.type.kind in "fc":
        differs = differs & ~(xp.isnan(values[1:]) & xp.isnan(values[:-1]))
    first = xp.concatenate((xp.ones(1, bool), differs))
    there = inside(extents_of(x), values.shape)
    return first if there is None else first & fresh(there, is_array=True)


def _counts(first: TracedArray, x: Any) -> Any:
    """How many elements are equal to each that is the first of its kind."""
    found = positions(first)
    starts, total = whole_of(found), as_traced(x.shape[0])
    ends = xp.concatenate((starts[1:], xp.zeros(1, np.int64)))
    last = xp.arange(ends.shape[0]) == found.shape[0] - 1
    return bounded(xp.where(last, total, ends) - starts, extents_of(found))


def union1d(ar1: Any, ar2: Any) -> Any:
    """np.union1d."""
    return unique(xp.concatenate((_line(ar1), _line(ar2))))


def _both(ar1: Any, ar2: Any, *, assume_unique: bool) -> Any:
    """The elements of two sets in order."""
    parts = [_line(a) if assume_unique else unique(a) for a in (ar1, ar2)]
    return xp.sort(xp.concatenate(parts))


def intersect1d(ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False) -> Any:
    """np.intersect1d."""
    only("intersect1d", return_indices=return_indices or None)
    both = _both(ar1, ar2, assume_unique=assume_unique)
    return both[:-1][both[1:] == both[:-1]]


def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    """np.setxor1d."""
    both = _both(ar1, ar2, assume_unique=assume_unique)
    if not whole_of(both).shape[0]:
        return both
    places, differs = xp.arange(whole_of(both).shape[0]), whole_of(both)[1:] != whole_of(both)[:-1]
    end, count = xp.ones(1, bool), both.shape[0]
    flags = (places == 0) | xp.concatenate((end, differs)), (places == count - 1) | xp.concatenate((differs, end))
    return both[bounded(flags[0] & flags[1], extents_of(both))]


def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    """np.setdiff1d."""
    x = _line(ar1) if assume_unique else unique(ar1)
    return x[xp.isin(x, ar2 if assume_unique else _line(ar2), invert=True)]


FUNCTIONS: Final[dict[Callable[..., Any], Callable[..., Any]]] = {
    np.unique: unique,
    np.union1d: union1d,
    np.intersect1d: intersect1d,
    np.setxor1d: setxor1d,
    np.setdiff1d: setdiff1d,
}
"""NumPy's functions of sets."""
