"""Numbers as integers, as Python and NumPy's assignments of elements make them: what is none, or does not fit, is an
error when the program runs."""

from __future__ import annotations

import math

import numpy as np

from pliant.core.ir import Value, const
from pliant.core.types import DTYPES
from pliant.ops.bitcast import bitcast
from pliant.ops.bits import bitwise_or, logical_and, logical_or
from pliant.ops.compare import greater, less
from pliant.ops.elementwise import absolute, convert
from pliant.ops.ensure import ensure
from pliant.ops.select import select


def whole(x: Value, dtype: str = "i64") -> Value:
    """A float without its fraction as an integer of 64 bits; ValueError for NaN, OverflowError for what has more."""
    bits = bitcast(convert(x, "f64"), "i64")  # which says what x is; never 0 where it matters
    if dtype == "u64":
        is_inside = logical_and(greater(x, const(-1.0, x.dtype)), less(x, const(_end(64, x.dtype), x.dtype)))
    else:  # as the conversion asks, and so asked once; larger numbers have that bit: LLVM is told that these are not 0
        bits = bitwise_or(bits, const(2**62, "i64"))
        is_inside = less(absolute(x), const(_end(63, x.dtype), x.dtype))
    return ensure(convert(x, dtype), select(is_inside, const(0, "i64"), bits), "integer")


def _end(bits: int, dtype: str) -> float:
    """The least float that has more bits."""
    return math.inf if dtype == "f16" else 2.0**bits


def fitted(x: Value, dtype: str) -> Value:
    """An integer as one of another dtype; OverflowError where it is none of these."""
    limits, own = (np.iinfo(DTYPES[t]) for t in (dtype, x.dtype))
    zero = const(0, "i64")
    low = less(x, const(limits.min, x.dtype)) if own.min < limits.min else None
    high = greater(x, const(limits.max, x.dtype)) if own.max > limits.max else None
    bad = high if low is None else low if high is None else logical_or(low, high)
    number = convert(x, dtype)
    return number if bad is None else ensure(number, select(bad, convert(x, "i64"), zero), f"fits {DTYPES[dtype]}")


def element(x: Value, dtype: str) -> Value:
    """What NumPy puts into an element of an integer dtype in place of a scalar."""
    if x.dtype[0] == "f":
        return fitted(whole(x, "u64" if dtype == "u64" else "i64"), dtype)
    return fitted(x, dtype) if x.dtype[0] in "iu" else convert(x, dtype)
