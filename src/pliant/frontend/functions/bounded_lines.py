"""NumPy's functions of lines whose lengths are known only at run time: of neighbours, and of all elements as a line."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, cast

import numpy as np

from pliant.core.origin import here
from pliant.errors import DomainError, DTypeError
from pliant.frontend.array import fresh, view
from pliant.frontend.bounded import (
    Bounded,
    bounded,
    common_extents,
    extents_of,
    filled,
    inside,
    operand,
    refused,
    whole_of,
)
from pliant.frontend.convert import as_traced, axis_of
from pliant.frontend.functions.bounded import concatenate
from pliant.frontend.functions.bounded_folds import at_least, stored
from pliant.frontend.functions.common import one_of, only, xp
from pliant.frontend.listed import listed
from pliant.frontend.sizes import Size, larger, size_of, traced
from pliant.frontend.strides import is_row_major, separate
from pliant.frontend.view import ReshapeLens


def _held(a: Any) -> Any:
    """A line whose last element is repeated beyond its extent."""
    mask = inside(extents_of(a), whole_of(a).shape)
    return whole_of(a) if mask is None else xp.where(fresh(mask, is_array=True), whole_of(a), a[-1])


def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    """np.interp."""
    if isinstance(xp, Bounded):
        at_least(extents_of(xp)[0], 1, ValueError("array of sample points is empty"))
        size = common_extents("np.interp", (xp, fp))
        xp, fp = [_held(bounded(whole_of(line), size)) for line in (xp, fp)]
    only("interp", period=period)
    return bounded(cast("Any", np).interp(whole_of(x), xp, fp, left, right), extents_of(x))


def digitize(x: Any, bins: Any, right: bool = False) -> Any:
    """np.digitize, among bins of a known number."""
    if isinstance(bins, Bounded):
        raise bins.refused("np.digitize among")
    return bounded(xp.digitize(whole_of(x), bins, right), extents_of(x))


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1) -> Any:
    """np.trapezoid."""
    y, x = operand(y), x if x is None else operand(x)
    at = axis_of(axis, len(extents_of(y)))
    before = (slice(None),) * at
    step = dx if x is None else xp.diff(x, axis=at if len(extents_of(x)) > 1 else 0)
    if x is not None and len(extents_of(x)) == 1:
        step = step[(slice(None), *(None,) * (len(extents_of(y)) - 1 - at))]
    return xp.sum(step * (y[(*before, slice(1, None))] + y[(*before, slice(None, -1))]) / 2.0, axis=at)


def gradient(f: Any, *spacing: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """np.gradient of a line, at equal distances."""
    is_line = len(extents_of(f)) == 1 and axis in (None, 0, -1)
    if not is_line or edge_order != 1 or len(spacing) > 1 or (spacing and np.ndim(spacing[0])):
        raise refused(
            "np.gradient of several axes, at other distances than one, or of higher order at the ends,", f, *spacing
        )
    at_least(extents_of(f)[0], 2, ValueError("Shape of array too small to calculate a numerical gradient"))
    step, whole = spacing[0] if spacing else 1.0, whole_of(f)
    whole = whole if whole.type.is_float else whole.astype(np.float64)
    n, places = traced(size_of(f.extents[0])), as_traced(np.arange(whole.shape[0]))
    later, sooner = xp.minimum(places + 1, n - 1), xp.maximum(places - 1, 0)
    made = (whole[xp.maximum(later, 0)] - whole[sooner]) / ((later - sooner).astype(whole.dtype) * step)
    return Bounded(filled(Bounded(made, f.extents), 0), f.extents)


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """np.ediff1d."""
    made = xp.diff(xp.ravel(operand(ary)))
    ends = [operand(x) for x in (to_begin, to_end) if x is not None]
    if not all(np.can_cast(x.dtype, made.dtype, "same_kind") for x in ends):
        raise DTypeError("dtype of `to_begin` and `to_end` must be compatible with input `ary`").at(("here", here()))
    first, last = [() if x is None else (xp.ravel(operand(x)).astype(made.dtype),) for x in (to_begin, to_end)]
    return concatenate((*first, made, *last)) if first or last else made


def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    """np.convolve."""
    if mode not in ("full", "same", "valid"):
        raise DomainError(f"np.convolve: mode must be 'full', 'same' or 'valid', got {mode!r}").at(("here", here()))
    a, v = operand(a), operand(v)
    for x, name in ((a, "a"), (v, "v")):
        if isinstance(x, Bounded):
            at_least(extents_of(x)[0], 1, ValueError(f"{name} cannot be empty"))
    sizes = [size_of(extents_of(x)[0]) for x in (a, v)]
    made = bounded(xp.convolve(filled(a, 0), filled(v, 0)), (sizes[0] + sizes[1] - 1,))
    if mode == "full":
        return made
    n, m = traced(larger(*sizes)), xp.minimum(*map(traced, sizes))
    return made[m - 1 : n] if mode == "valid" else made[(m - 1) // 2 : (m - 1) // 2 + n]


def accumulate(ufunc: np.ufunc, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None) -> Any:
    """ufunc.accumulate: no element depends on those that come after it."""
    at = axis_of(axis, array.ndim)
    made = Bounded(cast("Any", ufunc).accumulate(whole_of(array), at, dtype), array.extents)
    return stored(Bounded(filled(made, 0, (at,)), array.extents), out)


def flatten(a: Any, order: Any = "C") -> Any:
    """ndarray.flatten."""
    a = _turned(a, order)
    if _are_rows(a):
        return Bounded(fresh(xp.reshape(whole_of(a), -1).value, is_array=True), _length(a))
    mask = inside(extents_of(a), whole_of(a).shape)
    assert mask is not None
    return listed(whole_of(a), fresh(mask, is_array=True))


def ravel(a: Any, order: Any = "C") -> Any:
    """np.ravel: a view of rows that lie one after the other; else a copy, where NumPy might show a view if there is
    one row, or none."""
    a = _turned(a, order)
    if _are_rows(a) and is_row_major(whole_of(a)):
        return Bounded(view(a.whole, ReshapeLens((a.whole.size,))), _length(a))
    made = flatten(a)
    return Bounded(separate(whole_of(a), whole_of(made), a.atoms), extents_of(made))


def _turned(a: Any, order: Any) -> Any:
    """An array whose elements are, in row-major order, those of another one in an order that NumPy has."""
    one_of(("C", "F", "A", "K"), order, "np.ravel: order")
    if order in ("A", "K") and a.ndim > 1 and not is_row_major(whole_of(a)):
        raise a.refused(f"np.ravel in order {order!r}")
    return a.T if order == "F" else a


def _are_rows(a: Any) -> bool:
    """Whether all that is not known is how many rows there are: they are the first elements of the whole."""
    return not any([isinstance(n, Size) for n in a.extents[1:]])


def _length(a: Any) -> tuple[Size]:
    """The extent of all rows in a line."""
    return (size_of(a.extents[0]) * math.prod(a.extents[1:]),)


FUNCTIONS: Final[dict[Any, Callable[..., Any]]] = {
    np.interp: interp, np.digitize: digitize, np.trapezoid: trapezoid, np.gradient: gradient, np.ediff1d: ediff1d,
    np.convolve: convolve, np.ravel: ravel,
}  # fmt: skip
METHODS: Final[dict[str, Callable[..., Any]]] = {f.__name__: f for f in (flatten, ravel)}
