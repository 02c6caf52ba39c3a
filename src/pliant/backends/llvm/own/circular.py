"""sin, cos, tan and their inverses: multiples of π are taken off in three parts, then polynomials.

Arguments so large that this is not exact go to libm, one by one.
"""

from __future__ import annotations

import math
from typing import Final

from pliant.backends.llvm.own.coefficients import ASIN, ATAN, COS_QUARTER, HALF_PI, PI, PI_DOWN, SIN, SIN_QUARTER
from pliant.backends.llvm.own.formula import Bits, Body, Flag, Num

LARGE: Final = {"f64": 2.0**30, "f32": 2.0**16}
"""From here on libm reduces arguments."""


def without(b: Body, x: Num, n: Num, parts: tuple[float, float, float]) -> tuple[Num, Num]:
    """x - n·(sum of the parts), as a number and what it lacks. The first difference is exact."""
    first, second, third = parts
    near = b.fma(n, -first, x)
    product = n * second
    below = b.fma(n, second, -product)
    high = near - product
    lost = ((near - high) - product) - below
    low = b.fma(n, -third, lost)
    total = high + low
    return total, (high - total) + low


def sine_without(b: Body, x: Num, k: Num, odd: Bits) -> Num:
    """sin(x - kπ) for |x - kπ| ≤ π/2, with its sign changed if the lowest bit of `odd` is set.

    The first difference is exact, and the others are rounded once each, even where all digits cancel. -0 stays -0:
    the parts are positive, and so is z·(…) + 0 for z = 0.
    """
    for part in b.parts(PI_DOWN):
        x = b.fma(k, -part, x)
    z = x * x
    x = with_sign_of(b, x, odd)
    return b.fma(x, b.fma(z, b.polynomial(SIN, z), 0.0), x)


def with_sign_of(b: Body, x: Num, odd: Bits) -> Num:
    """-x if the lowest bit is set, else x."""
    return (x.bits() ^ (odd << (b.format.bits - 1))).num()


def by_libm_if_large(b: Body, name: str, x: Num, made: Num) -> Num:
    """What libm gives for arguments that are too large."""
    return b.by_library(is_small(b, x), [made], name, [x])[0]


def is_small(b: Body, x: Num) -> Flag:
    """Whether an angle is none of those that are too large; NaN and infinities are."""
    return abs(x) < LARGE[b.format.dtype]


def sin(b: Body, x: Num) -> Num:
    """The sine: x = nπ + r, and ±sin r."""
    n = b.fma(x, 1 / math.pi, b.format.rounder)
    return by_libm_if_large(b, "sin", x, sine_without(b, x, n - b.format.rounder, n.bits()))


def cos(b: Body, x: Num) -> Num:
    """The cosine: x = (n - ½)π + r, and ±sin r."""
    n = b.fma(x, 1 / math.pi, 0.5) + b.format.rounder
    k = (n - b.format.rounder) - 0.5
    return by_libm_if_large(b, "cos", x, sine_without(b, x, k, n.bits()))


def sine_cosine(b: Body, x: Num) -> tuple[Num, Num]:
    """Sine and cosine of an angle that is not too large: x = nπ/2 + r, and those of r, in one order or the other."""
    n, s, c = of_quarter(b, x)
    even = (n & 1).is_zero()
    sine = with_sign_of(b, b.where(even, s, c), n >> 1)
    return b.where(x.is_(0.0), x, sine), with_sign_of(b, b.where(even, c, s), (n + 1) >> 1)


def of_quarter(b: Body, x: Num) -> tuple[Bits, Num, Num]:
    """n in the lowest bits, sin r and cos r for x = nπ/2 + r."""
    rounded = x * (2 / math.pi) + b.format.rounder
    r, low = without(b, x, rounded - b.format.rounder, b.parts(HALF_PI))
    z = r * r
    s = r + b.fma(r * z, b.polynomial(SIN_QUARTER, z), low)
    tail = b.fma(z * z, b.polynomial(COS_QUARTER, z), -(r * low))
    half = z * 0.5
    first = 1.0 - half
    return rounded.bits(), s, first + (((1.0 - first) - half) + tail)


def tan(b: Body, x: Num) -> Num:
    """The tangent: x = nπ/2 + r, and tan r or -1/tan r."""
    n, s, c = of_quarter(b, x)
    even = (n & 1).is_zero()
    return by_libm_if_large(b, "tan", x, b.where(x.is_(0.0), x, b.where(even, s, -c) / b.where(even, c, s)))


def of_ratio(b: Body, y: Num, x: Num) -> Num:
    """atan(y/x) for y, x ≥ 0, not both 0 and not both infinite."""
    steep, flat = y > x * (math.sqrt(2) + 1), y < x * (math.sqrt(2) - 1)
    above = b.where(steep, -x, b.where(flat, y, y - x))
    below = b.where(steep, y, b.where(flat, x, y + x))
    high, low, _ = b.parts(HALF_PI)
    r = above / below
    z = r * r
    rest = b.fma(r * z, b.polynomial(ATAN, z), b.where(steep, low, b.where(flat, 0.0, low / 2)))
    return b.where(steep, high, b.where(flat, 0.0, high / 2)) + (r + rest)


def atan(b: Body, x: Num) -> Num:
    """The arc tangent."""
    return of_ratio(b, abs(x), b.num(1.0)).signed(x)


def atan2(b: Body, y: Num, x: Num) -> Num:
    """The angle of a point."""
    rise, run = abs(y), abs(x)
    both = rise.is_(math.inf) & run.is_(math.inf)
    none = rise.is_(0.0) & run.is_(0.0)
    large = (rise > 2.0 ** (b.format.bias - 4)) | (run > 2.0 ** (b.format.bias - 4))
    small = (rise < 2.0 ** (8 - b.format.bias)) & (run < 2.0 ** (8 - b.format.bias))
    scale = b.where(large, 0.125, b.where(small, 2.0 ** (b.format.fraction + 2), 1.0))
    rise = b.where(both, 1.0, rise) * scale
    run = b.where(both | none, 1.0, run) * scale
    angle = of_ratio(b, rise, run)
    high, low, _ = b.parts(PI)
    left = b.num(1.0).signed(x) < 0.0
    angle = b.where(left, (high - angle) + low, angle).signed(y)
    return b.where(x.is_nan() | y.is_nan(), x + y, angle)


def half_angle(b: Body, x: Num) -> tuple[Num, Num, Num]:
    """For |x| > ½: s = √((1 - |x|)/2), what it lacks, and asin s - s; for others x, 0 and asin x - x."""
    size = abs(x)
    outer = size > 0.5
    z = b.where(outer, (1.0 - size) * 0.5, size * size)
    root = b.sqrt(z)
    s = b.where(outer, root, size)
    lost = b.where(outer & (root > 0.0), b.fma(-root, root, z) / (root + root), 0.0)
    return s, lost, s * (z * b.polynomial(ASIN, z))


def asin(b: Body, x: Num) -> Num:
    """The arc sine."""
    s, lost, rest = half_angle(b, x)
    high, low, _ = b.parts(HALF_PI)
    outer = high - (2.0 * s - (low - 2.0 * (lost + rest)))
    return b.where(abs(x) > 0.5, outer, s + rest).signed(x)


def acos(b: Body, x: Num) -> Num:
    """The arc cosine."""
    s, lost, rest = half_angle(b, x)
    (high, low, _), (full, below, _) = b.parts(HALF_PI), b.parts(PI)
    negative = x < 0.0
    twice = 2.0 * (s + (lost + rest))
    outer = b.where(negative, full - (twice - below), twice)
    signed = b.where(negative, -rest, rest)
    inner = high - (x - (low - signed))
    return b.where(abs(x) > 0.5, outer, inner)
