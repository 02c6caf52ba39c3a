"""Logarithms and the inverse hyperbolic functions: x = m·2ᵉ with m near 1, then a polynomial in (m - 1)/(m + 1)."""

from __future__ import annotations

import math

from pliant.backends.llvm.own.coefficients import INVERSE_LN2, INVERSE_LN10, LN2, LOG, LOG10_2
from pliant.backends.llvm.own.formula import Bits, Body, Num


def split(b: Body, x: Num) -> tuple[Num, Num]:
    """e and m, for a normal x: x = m·2ᵉ and √½ ≤ m < √2."""
    f = b.format
    root = b.num(math.sqrt(0.5)).bits()
    one = b.num(1.0).bits()
    moved = x.bits() + (one - root)
    m = ((moved & ((1 << f.fraction) - 1)) + root).num()
    return exponent(b, moved), m


def exponent(b: Body, moved: Bits) -> Num:
    """The exponent among the bits of a number, put below the point of a large power of two, which is taken off."""
    large = 2.0**b.format.fraction
    return ((moved >> b.format.fraction) | b.num(large).bits()).num() - (large + b.format.bias)


def normal(b: Body, x: Num) -> tuple[Num, Num]:
    """x as a normal number, and how many powers of two it has too much."""
    shift = float(b.format.fraction + 2)
    small = x < b.format.least
    return b.where(small, x * 2.0**shift, x), b.where(small, shift, 0.0)


def near_one(b: Body, f: Num) -> tuple[Num, Num]:
    """log(1 + f) as the sum of f and another number, for √½ ≤ 1 + f < √2."""
    s = f / (f + 2.0)
    z = s * s
    half = (f * 0.5) * f
    return f, b.fma(s, b.fma(z, b.polynomial(LOG, z), half), -half)


def of_parts(b: Body, e: Num, f: Num) -> Num:
    """e·log 2 + log(1 + f)."""
    high, low, _ = b.parts(LN2)
    first, rest = near_one(b, f)
    return b.fma(e, high, first + b.fma(e, low, rest))


def at_the_ends(b: Body, x: Num, made: Num) -> Num:
    """A logarithm of x, where x is 0, infinite or no positive number."""
    made = b.where(x < math.inf, made, x)
    return b.where(x.compare("ugt", 0.0), made, b.where(x.is_(0.0), -math.inf, math.nan))


def log(b: Body, x: Num) -> Num:
    """The natural logarithm."""
    scaled, shift = normal(b, x)
    e, m = split(b, scaled)
    return at_the_ends(b, x, of_parts(b, e - shift, m - 1.0))


def log_of_pair(b: Body, x: Num, lost: Num, rest: Num) -> Num:
    """log(x + lost + rest) for a normal x, each no larger than the last digit of the one before."""
    e, m = split(b, x)
    power = inverse_power(b, x, m)
    return of_parts(b, e, b.fma(rest, power, b.fma(lost, power, m - 1.0)))


def inverse_power(b: Body, x: Num, m: Num) -> Num:
    """2⁻ᵉ for x = m·2ᵉ; 0 for the least one."""
    return ((m.bits() - x.bits()) + b.num(2.0).bits()).num() * 0.5  # 2¹⁻ᵉ, or 0 instead of 2⁻ᵇⁱᵃˢ


def scaled_log(b: Body, x: Num, factor: tuple[float, float, float], unit: tuple[float, float, float]) -> Num:
    """log x times a factor; unit: that of 2."""
    scaled, shift = normal(b, x)
    e, m = split(b, scaled)
    e = e - shift
    first, rest = near_one(b, m - 1.0)
    product = first * factor[0]
    below = b.fma(first, factor[0], -product) + b.fma(rest, factor[0], first * factor[1])
    whole = e * unit[0]
    more = b.fma(e, unit[0], -whole) + e * unit[1]
    total = whole + product
    lost = (whole - total) + product  # exact: e is 0, or the product is smaller
    return at_the_ends(b, x, total + (lost + (more + below)))


def log2(b: Body, x: Num) -> Num:
    """The logarithm to the base 2."""
    return scaled_log(b, x, b.parts(INVERSE_LN2), (1.0, 0.0, 0.0))


def log10(b: Body, x: Num) -> Num:
    """The logarithm to the base 10."""
    return scaled_log(b, x, b.parts(INVERSE_LN10), b.parts(LOG10_2))


def log1p(b: Body, x: Num) -> Num:
    """log(1 + x) = k·log 2 + log(1 + f), f = 2⁻ᵏ·x + (2⁻ᵏ - 1), which is rounded once."""
    f = b.format
    u = x + 1.0
    moved = u.bits() + (b.num(1.0).bits() - b.num(math.sqrt(0.5)).bits())
    power = b.num(4.0).bits() - ((moved & -(1 << f.fraction)) - b.num(1.0).bits())  # 2²⁻ᵏ is a normal number
    first = b.fma(x * 0.25, power.num(), b.fma(power.num(), 0.25, -1.0))
    made = at_the_ends(b, u, of_parts(b, exponent(b, moved), first))
    return b.where(abs(x) < 2.0 ** -(f.fraction + 2), x, made)


def asinh(b: Body, x: Num) -> Num:
    """log(x + √(x² + 1))."""
    size = abs(x)
    large = size > 2.0 ** (b.format.fraction // 2 + 2)
    square = size * size
    less = b.where(large, size - 1.0, size + square / (b.sqrt(square + 1.0) + 1.0))
    return (log1p(b, less) + b.where(large, math.log(2), 0.0)).signed(x)


def acosh(b: Body, x: Num) -> Num:
    """log(x + √(x² - 1))."""
    large = x > 2.0 ** (b.format.fraction // 2 + 2)
    t = x - 1.0
    made = log1p(b, b.where(large, t, t + b.sqrt(b.fma(t, t, t + t)))) + b.where(large, math.log(2), 0.0)
    return b.where(x < 1.0, math.nan, made)


def atanh(b: Body, x: Num) -> Num:
    """log((1 + x)/(1 - x))/2."""
    size = abs(x)
    return (log1p(b, (size + size) / (1.0 - size)) * 0.5).signed(x)
