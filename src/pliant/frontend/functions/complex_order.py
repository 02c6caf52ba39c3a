"""Extrema of complex numbers: NumPy orders them by real part, then by imaginary part; NaN wins."""

from __future__ import annotations

from collections.abc import Callable

from pliant.core.ir import Value, const
from pliant.ops import bits, compare
from pliant.ops import reduce as folds
from pliant.ops.complex import imag, real
from pliant.ops.elementwise import convert
from pliant.ops.index import take_along
from pliant.ops.select import select
from pliant.ops.shape import broadcast, permute, reshape

Fold = Callable[[Value, tuple[int, ...]], Value]


def place_of(x: Value, axis: int, fold: Fold, worst: float) -> Value:
    """Where the extremum along an axis first is; the first NaN if there is one. `worst` is what loses to any number."""

    def is_best(part: Value) -> Value:
        return compare.equal(part, _along(fold(part, (axis,)), part, axis))

    re, im = real(x), imag(x)
    leading = is_best(re)
    nans = compare.isnan(x)
    best = bits.bitwise_and(leading, is_best(select(leading, im, const(worst, im.dtype))))
    found = select(_along(folds.reduce_or(nans, (axis,)), nans, axis), nans, best)
    return folds.argmax(convert(found, "u8"), axis)


def argmax(x: Value, axis: int) -> Value:
    """Where the largest element along an axis first is."""
    return place_of(x, axis, folds.reduce_max, float("-inf"))


def argmin(x: Value, axis: int) -> Value:
    """Where the smallest element along an axis first is."""
    return place_of(x, axis, folds.reduce_min, float("inf"))


def extremum(x: Value, axes: tuple[int, ...], place: Callable[[Value, int], Value]) -> Value:
    """The element over `axes` at the place that `argmax` or `argmin` names, which has all the derivative."""
    rest = tuple(a for a in range(x.type.rank) if a not in axes)
    shape = tuple(x.shape[a] for a in rest)
    count = x.type.size // max(x.type.without(axes).size, 1)
    rows = reshape(permute(x, (*rest, *axes)), (*shape, count))
    at = reshape(place(rows, len(rest)), (*shape, 1))
    return reshape(take_along(rows, at, len(rest), unique=True), shape)


def _along(y: Value, x: Value, axis: int) -> Value:
    """A result of a reduction repeated along the axis that vanished."""
    return broadcast(y, x.shape, tuple(a for a in range(x.type.rank) if a != axis))
