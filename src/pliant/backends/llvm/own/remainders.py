"""What division leaves: the multiple is taken off by one product, rounded once.

Where there are more multiples than a number has bits for, libm takes them off, one by one.
"""

from __future__ import annotations

import math

from pliant.backends.llvm.own.formula import Body, Num


def fmod(b: Body, x: Num, y: Num) -> Num:
    """x without the multiples of y, with the sign of x, exactly: x / y is rounded up to a whole number at times, never
    below one, so that what is left has no more bits than x or y."""
    size = abs(y)
    count = b.intrinsic("trunc", abs(x) / size)
    left = b.fma(-count, size, abs(x))
    left = b.where(left < 0.0, left + size, left).signed(x)
    return b.by_library((count < 2.0**b.format.fraction) & (size < math.inf), [left], "fmod", [x, y])[0]
