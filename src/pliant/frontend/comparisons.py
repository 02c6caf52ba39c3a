"""Comparisons of integers by their numbers, as NumPy compares them, whatever their dtypes hold."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.core.ir import Value, const
from pliant.frontend.array import TracedArray
from pliant.frontend.convert import broadcast_shapes, broadcast_value, value_of
from pliant.ops.compare import less
from pliant.ops.elementwise import convert
from pliant.ops.select import select

COMPARISONS = frozenset((np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal))


def beside_integers(number: int) -> Any:
    """A large Python int, to be compared with integers."""
    return np.uint64(number) if 0 <= number < 2**64 else math.copysign(math.inf, number)


def is_beyond(xs: list[TracedArray]) -> bool:
    """Whether integers are compared of which one side's dtype may not hold the other's."""
    if any(x.type.kind not in "iu" for x in xs):
        return False
    weak, others = [x for x in xs if x.is_weak], [x for x in xs if not x.is_weak]
    if len(weak) != 1:
        return not weak and {x.type.kind for x in xs} == {"i", "u"} and "u64" in [x.type.dtype for x in xs]
    if weak[0].concrete is None:
        return others[0].type.dtype != "i64"
    limits = np.iinfo(others[0].dtype)
    return not limits.min <= int(weak[0].concrete) <= limits.max


def compared(builder: Callable[..., Any], ufunc: np.ufunc, xs: list[TracedArray]) -> Value:
    """A comparison of integers of which one side's dtype may not hold the other's."""
    shape = broadcast_shapes(*(x.shape for x in xs))

    def answer(*numbers: int) -> Value:
        return broadcast_value(const(bool(ufunc(*numbers)), "bool"), shape)

    known = [x.concrete if x.is_weak else None for x in xs]
    if any(n is not None for n in known):  # below or above all that the other side holds
        return answer(*(0 if n is None else int(n) for n in known))
    if "u64" not in [x.type.dtype for x in xs]:
        return builder(*(broadcast_value(value_of(x, "i64"), shape) for x in xs))
    (signed,) = [x for x in xs if x.type.kind == "i"]
    values = [value_of(x, "i64" if x is signed else "u64") for x in xs]
    inside = builder(*(broadcast_value(convert(v, "u64"), shape) for v in values))
    is_negative = less(broadcast_value(value_of(signed, "i64"), shape), 0)
    return select(is_negative, answer(*(-1 if x is signed else 0 for x in xs)), inside)
