"""Where a condition holds: nonzero and its like, as arrays of places of which it is known only at run time how many
there are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from pliant.core.origin import here
from pliant.errors import ShapeError
from pliant.frontend.array import TracedArray, fresh_concrete
from pliant.frontend.bounded import Bounded, bounded, extents_of, filled, whole_of
from pliant.frontend.convert import as_traced
from pliant.frontend.functions.common import array_of, solid, unsupported, xp
from pliant.frontend.kinds import as_tuple
from pliant.frontend.listed import positions


def flatnonzero(a: Any) -> Any:
    """np.flatnonzero."""
    if isinstance(a, Bounded) and a.ndim > 1:
        raise a.refused("np.flatnonzero of several axes")
    known = _by_numpy(np.flatnonzero, a)
    return positions(_truth(a)) if known is None else known


def nonzero(a: Any) -> Any:
    """np.nonzero: the places along each axis."""
    known = _by_numpy(np.nonzero, a)
    if known is not None:
        return known
    mask = _truth(a)
    if not mask.ndim:
        message = "Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead."
        raise ShapeError(message).at(("here", here()))
    return tuple(along_axes(positions(mask), mask.shape))


def ix_(*args: Any) -> tuple[Any, ...]:
    """np.ix_: masks are the places that they select."""
    arrays = [a if isinstance(a, Bounded) else array_of(solid(a)) for a in args]
    if any([x.ndim != 1 for x in arrays]):
        raise ShapeError("np.ix_: each sequence of indices must have one axis").at(("here", here()))
    lines = [flatnonzero(x) if x.dtype == bool else x for x in arrays]
    ones = (None,) * len(lines)
    return tuple([x[(*ones[:n], slice(None), *ones[n + 1 :])] for n, x in enumerate(lines)])


def along_axes(flat: Any, shape: tuple[int, ...]) -> list[Any]:
    """Positions counted in row-major order as places along each axis."""
    found: list[Any] = []
    for n in reversed(shape[1:]):
        found.append(flat % max(n, 1))
        flat = flat // max(n, 1)
    return [flat, *reversed(found)]


def argwhere(a: Any) -> Any:
    """np.argwhere: a row for each place."""
    known = _by_numpy(np.argwhere, a)
    if known is not None:
        return known
    mask = _truth(a)
    if not mask.ndim:
        return argwhere(xp.reshape(mask, 1))[:, :0]
    places = along_axes(positions(mask), mask.shape)
    rows = xp.transpose(xp.stack([whole_of(p) for p in places]))  # an axis after the other, as NumPy lays them out
    return bounded(rows, (*extents_of(places[0]), mask.ndim))


def _truth(a: Any) -> TracedArray:
    """Where elements are not zero, and there."""
    found = a if isinstance(a, Bounded) else as_traced(a)
    truths = found if found.dtype == bool else xp.not_equal(found, 0)
    return filled(truths, False) if isinstance(truths, Bounded) else truths


def _by_numpy(function: Callable[..., Any], a: Any) -> Any:
    """What NumPy says of an array that is known while tracing, else None."""
    x = None if isinstance(a, Bounded) else as_traced(a)
    if x is None or x.concrete is None:
        return None
    made: Any = function(x.concrete)
    found = tuple([fresh_concrete(m) for m in as_tuple(made)])
    return found if isinstance(made, tuple) else found[0]


def trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Any:
    """np.trim_zeros of a line."""
    x = filt if isinstance(filt, Bounded) else as_traced(filt)
    if x.ndim != 1 or axis not in (None, 0, -1):
        raise unsupported("np.trim_zeros of several axes", "trim each axis by np.any along the others, and slice")
    mask, n = _truth(x), whole_of(x).shape[0]
    if not n:
        return x
    first = xp.argmax(mask) if "f" in trim.lower() else 0
    last = n - xp.argmax(mask[::-1]) if "b" in trim.lower() else n
    return x[first : xp.where(xp.any(mask), last, 0)]


FUNCTIONS: Final[dict[Callable[..., Any], Callable[..., Any]]] = {
    np.flatnonzero: flatnonzero,
    np.nonzero: nonzero,
    np.argwhere: argwhere,
    np.ix_: ix_,
    np.trim_zeros: trim_zeros,
}
"""NumPy's searches for what is not zero."""
