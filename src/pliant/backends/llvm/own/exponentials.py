"""exp, exp2, expm1 and the hyperbolic functions: x = k·log 2 + r, then a polynomial in r and 2ᵏ by its bits."""

from __future__ import annotations

import math
from typing import Final

from pliant.backends.llvm.own.coefficients import EXP, EXP2, INVERSE_LN2, LN2
from pliant.backends.llvm.own.formula import Body, Num

TWICE_EXP_OF_TWICE: Final = {t: tuple([math.ldexp(c, n + 1) for n, c in enumerate(cs)]) for t, cs in EXP.items()}
"""2p(2r) for the polynomial p of `EXP`: (e²ʳ - 1)/2 is r + r²·2p(2r)."""


def power_of_two(b: Body, k: Num) -> Num:
    """2ᵏ for a whole k whose power is a normal number."""
    f = b.format
    # the sum has k + bias in its lowest bits, which become the exponent
    return ((k + (2.0**f.fraction + f.bias)).bits() << f.fraction).num()


def power_of_rounded(b: Body, rounded: Num, less: int = 0) -> Num:
    """2ᵏ/2ⁿ, which is to be a normal number, for n = `less`. rounded: k + the format's rounder."""
    return ((rounded.bits() << b.format.fraction) + b.num(2.0**-less).bits()).num()


def whole(b: Body, x: Num) -> Num:
    """The nearest whole number to one that is not large."""
    return (x + b.format.rounder) - b.format.rounder


def scaled(b: Body, x: Num, rounded: Num, factor: Num | None = None) -> Num:
    """(1 + x)·2ᵏ, or (1 + x·factor)·2ᵏ, also where 2ᵏ is no normal number. rounded: k + the format's rounder."""
    f = b.format
    start = b.num(f.rounder).bits()
    if b.has_scale:
        return b.scaled(b.fma(x, factor, 1.0) if factor else x + 1.0, rounded.bits() - start)
    twice = (rounded.bits() - start) + 2 * f.bias  # k, and the biases of two exponents
    half = twice >> 1
    first, second = ((part << f.fraction).num() for part in (half, twice - half))
    return (b.fma(x * first, factor, first) if factor else b.fma(x, first, first)) * second


def limits(b: Body) -> tuple[float, float]:
    """Exponents of two from which on powers are 0, and infinite."""
    return -float(b.format.bias + b.format.fraction + 3), float(b.format.bias + 4)


def reduced(b: Body, x: Num) -> tuple[Num, Num, Num]:
    """k + the format's rounder, x less most of k·log 2, and r = x - k·log 2, for which |r| ≤ log 2 / 2."""
    rounded = b.fma(x, b.parts(INVERSE_LN2)[0], b.format.rounder)
    k = rounded - b.format.rounder
    high, low, _ = b.parts(LN2)
    near = b.fma(k, -high, x)
    return rounded, near, b.fma(k, -low, near)


def bounded(b: Body, x: Num) -> Num:
    """x, but no further out than where exp x is 0 or infinite."""
    low, high = limits(b)
    return x.at_least(low * math.log(2)).at_most(high * math.log(2))


def exp(b: Body, x: Num, less: int = 0) -> Num:
    """eˣ/2ⁿ for n = `less`."""
    rounded, _, r = reduced(b, bounded(b, x))
    p = b.fma(r * r, b.polynomial(EXP, r), r)
    return scaled(b, p, rounded - float(less) if less else rounded)


def exp2(b: Body, x: Num) -> Num:
    """2ˣ."""
    low, high = limits(b)
    x = x.at_least(low).at_most(high)
    rounded = x + b.format.rounder
    r = x - (rounded - b.format.rounder)
    return scaled(b, r, rounded, b.polynomial(EXP2, r))


def near_one(b: Body, x: Num, *, twice: bool = False) -> tuple[Num, Num, Num]:
    """k + the format's rounder, near and rest, such that eˣ = 2ᵏ(1 + near + rest), between √½ and √2 but for the power,
    or the same of e²ˣ and 2 near + 2 rest. near is exact, and so is 2ᵏ·near + 2ᵏ - 1 wherever it is as small."""
    table, times = (TWICE_EXP_OF_TWICE, 2.0) if twice else (EXP, 1.0)
    rounded = b.fma(x, times * b.parts(INVERSE_LN2)[0], b.format.rounder)
    k = rounded - b.format.rounder
    high, low, _ = b.parts(LN2)
    near, less = b.fma(k, -high / times, x), k * (-low / times)
    r = near + less
    return rounded, near, b.fma(r * r, b.polynomial(table, r), less)


def expm1(b: Body, x: Num, *, half: bool = False) -> Num:
    """eˣ - 1, or half of that, which is finite a little longer."""
    low, high = -float(b.format.fraction + 4), (b.format.bias + 2.4) * math.log(2)  # from there on both are infinite
    rounded, near, rest = near_one(b, x.at_least(low).at_most(high))
    power = power_of_rounded(b, rounded, less=2)
    quarter = b.fma(power, rest, b.fma(power, near, power - 0.25))
    is_near, p = rounded.is_(b.format.rounder), near + rest
    return b.where(is_near, p * 0.5, quarter * 2.0) if half else b.where(is_near, p, quarter * 4.0).signed(x)


def sinh(b: Body, x: Num) -> Num:
    """(eˣ - e⁻ˣ)/2."""
    size = abs(x)
    e = expm1(b, size, half=True)
    some = e.at_most(2.0 ** (b.format.fraction + 10))  # from there on the quotient is ½
    made = e + some / b.fma(some, 2.0, 1.0)
    return b.where(size < 2.0 ** -(b.format.fraction // 2 + 1), size, made).signed(x)


def cosh(b: Body, x: Num) -> Num:
    """(eˣ + e⁻ˣ)/2."""
    e = exp(b, abs(x), less=1)
    return e + 0.25 / e


def sinh_cosh(b: Body, x: Num) -> tuple[Num, Num]:
    """Both, of what is so small that eˣ is finite."""
    size = abs(x)
    e = expm1(b, size, half=True)
    inverse = 1.0 / b.fma(e, 2.0, 1.0)  # e⁻ˣ
    s = b.where(size < 2.0 ** -(b.format.fraction // 2 + 1), size, b.fma(e, inverse, e))
    return s.signed(x), b.fma(inverse, 0.5, e + 0.5)


def tanh(b: Body, x: Num) -> Num:
    """h/(h + 1) for h = (e²ˣ - 1)/2."""
    sign = x.bits() & -(1 << (b.format.bits - 1))
    size = (x.bits() ^ sign).num().at_most(0.5 * (b.format.fraction + 3) * math.log(2))
    rounded, near, rest = near_one(b, size, twice=True)
    power = power_of_rounded(b, rounded)
    h = b.fma(power, rest, b.fma(power, near, b.fma(power, 0.5, -0.5)))
    return ((h / (h + 1.0)).bits() | sign).num()
