"""Roots, lengths and powers."""

from __future__ import annotations

import math

from pliant.backends.llvm.own.coefficients import CBRT, EXP2, INVERSE_LN2, LOG_REST, TWO_THIRDS
from pliant.backends.llvm.own.exponentials import limits, power_of_two, scaled, whole
from pliant.backends.llvm.own.formula import Body, Num
from pliant.backends.llvm.own.logarithms import normal, split
from pliant.backends.llvm.own.pairs import Pair, quotient, summed


def cbrt(b: Body, x: Num) -> Num:
    """∛x: of a number from 1 to 8 by a polynomial and two of Newton's steps, times a power of two."""
    f = b.format
    size, shift = normal(b, abs(x))
    large = 2.0**f.fraction
    e = ((size.bits() >> f.fraction) | b.num(large).bits()).num() - (large + f.bias)
    one = b.num(1.0).bits()
    m = ((size.bits() & ((1 << f.fraction) - 1)) | one).num()
    third = whole(b, (e - 1.0) * (1 / 3))  # the whole part of e/3
    m = m * power_of_two(b, e - third * 3.0)
    y = b.polynomial(CBRT, m)
    for _ in range(2):
        y = y - (y - m / (y * y)) * (1 / 3)
    # the last step from the exact error of the cube
    square = y * y
    lost = b.fma(y, y, -square)
    cube = square * y
    error = ((cube - m) + b.fma(square, y, -cube)) + lost * y
    y = y - error / (square * 3.0)
    scale = power_of_two(b, third) * b.where(shift > 0.0, 2.0 ** -((f.fraction + 2) / 3), 1.0)
    made = (y * scale).signed(x)
    return b.where((abs(x) < math.inf) & (abs(x) > 0.0), made, x)


def hypot(b: Body, x: Num, y: Num) -> Num:
    """√(x² + y²) without overflow: of numbers scaled by a power of two, and then made exact."""
    p, q = abs(x), abs(y)
    a, c = b.where(p > q, p, q), b.where(p > q, q, p)
    middle, fraction = b.format.bias // 2, b.format.fraction
    large, small = a > 2.0**middle, a < 2.0 ** (fraction + 2 - middle)
    far = 2.0 ** (middle + fraction + 12)
    up, down = b.where(small, far, b.where(large, 1 / far, 1.0)), b.where(small, 1 / far, b.where(large, far, 1.0))
    a, c = a * up, c * up
    square = a * a
    h = b.sqrt(b.fma(c, c, square))
    # h² - a² - c², exact but for the last sum
    own = h * h
    error = ((own - square) - c * c) + ((b.fma(h, h, -own) - b.fma(a, a, -square)) - b.fma(c, c, -(c * c)))
    h = b.where(h > 0.0, h - error / (h + h), h)
    made = b.where(x.is_nan() | y.is_nan(), x + y, h * down)
    return b.where(p.is_(math.inf) | q.is_(math.inf), math.inf, made)


def log2_pair(b: Body, x: Num) -> Pair:
    """The logarithm of x > 0 to the base 2 with twice the digits: 2s + ⅔s³ + … of s = (m - 1)/(m + 1)."""
    moved, shift = normal(b, x)
    e, m = split(b, moved)
    f = m - 1.0
    s = quotient(b, f, summed(b.num(2.0), f))
    z = s.times(s)
    third, below, _ = b.parts(TWO_THIRDS)
    first = Pair(s.high * 2.0, s.low * 2.0)
    second = s.times(z).times(Pair(b.num(third), b.num(below)))
    rest = (s.high * z.high) * (z.high * b.polynomial(LOG_REST, z.high))
    high, low, _ = b.parts(INVERSE_LN2)
    fraction = first.plus(second).plus(summed(rest, b.num(0.0))).times(Pair(b.num(high), b.num(low)))
    return summed(e - shift, fraction.high).plus(Pair(fraction.low, b.num(0.0)))


def size_of_power(b: Body, x: Num, y: Num) -> Num:
    """xʸ for a positive x, and y, that are finite."""
    power = log2_pair(b, x)
    product = power.high * y
    fits = abs(product) < 2.0 * b.format.bias
    lost = b.where(fits, b.fma(power.high, y, -product) + power.low * y, 0.0)
    low, high = limits(b)
    product = product.at_least(low).at_most(high)
    rounded = product + b.format.rounder
    r = (product - (rounded - b.format.rounder)) + lost
    return scaled(b, r, rounded, b.polynomial(EXP2, r))


def pow(b: Body, x: Num, y: Num) -> Num:
    """xʸ, with all the cases of IEEE 754."""
    size = abs(x)
    made = size_of_power(b, size, y)
    is_whole = b.intrinsic("trunc", y).is_(y)
    half = y * 0.5
    is_odd = is_whole & b.intrinsic("trunc", half).compare("une", half)
    grows = b.where(size > 1.0, y, -y) > 0.0
    at_an_end = size.is_(0.0) | size.is_(math.inf) | abs(y).is_(math.inf)
    made = b.where(at_an_end, b.where(grows, math.inf, 0.0), made)
    made = b.where(x < 0.0, b.where(is_whole | size.is_(math.inf), made, b.where(at_an_end, made, math.nan)), made)
    made = b.where(is_odd, made.signed(x), made)
    made = b.where(size.is_(1.0) & abs(y).is_(math.inf), 1.0, made)
    made = b.where(x.is_nan() | y.is_nan(), x + y, made)
    return b.where(x.is_(1.0) | y.is_(0.0), 1.0, made)
