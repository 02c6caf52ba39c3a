"""The logarithm of the gamma function and its derivative: Stirling's series from 8 on, and below what Γ(x + 1) = x·Γ(x)
says. Arguments below 0 are reflected, which is only computed where there are some."""

from __future__ import annotations

import math
from typing import Final

from pliant.backends.llvm.own.circular import sine_cosine
from pliant.backends.llvm.own.coefficients import DIGAMMA, LOG_GAMMA, STIRLING
from pliant.backends.llvm.own.formula import Body, Num
from pliant.backends.llvm.own.logarithms import log

FAR: Final = 8
"""From here on series are used."""


def log_gamma(b: Body, x: Num) -> Num:
    """log |Γ(x)|; ∞ at the poles, and -∞ at -∞, as SciPy."""
    size = abs(x)
    made = of_size(b, size)

    def reflected() -> list[Num]:
        """Γ(x)·Γ(-x) = -π/(x·sin πx)."""
        sine, _ = sine_cosine(b, fraction(b, size) * math.pi)
        other = (math.log(math.pi) - log(b, abs(sine) * size)) - made
        other = b.where(size < 2.0 ** -(b.format.fraction + 8), made, other)
        return [b.where(x < 0.0, b.where(size.is_(math.inf), x, other), made)]

    return b.unless(x.compare("oge", 0.0), [made], reflected)[0]


def fraction(b: Body, x: Num) -> Num:
    """x less the nearest whole number."""
    return x - b.intrinsic("rint", x)


def of_size(b: Body, x: Num) -> Num:
    """log Γ(x) for x ≥ 0: near 2 a polynomial, between there and the series the logarithm of a product more or less."""
    far, low = x.compare("oge", float(FAR)), x < 1.5
    lowest = x < 0.5
    near, product = b.where(low, b.where(lowest, x + 2.0, x + 1.0), x), b.where(low, x, 1.0)
    product = b.where(lowest, product * (x + 1.0), product)
    for n in range(1, FAR - 1):
        less = x - float(n)
        is_factor = less.compare("oge", 1.5)
        near, product = b.where(is_factor, less, near), b.where(is_factor, product * less, product)
    logarithm = log(b, b.where(far, x, product))
    t = near - 2.0
    short = b.fma(t, b.polynomial(LOG_GAMMA, t), b.where(low, -logarithm, logarithm))
    inverse = 1.0 / x
    rest = b.fma(inverse, b.polynomial(STIRLING, inverse * inverse), (math.log(2 * math.pi) - 1) / 2)
    return b.where(far, b.fma(x - 0.5, logarithm - 1.0, rest), short)


def digamma(b: Body, x: Num) -> Num:
    """The derivative of log Γ(x); NaN at the poles but for 0, as SciPy."""
    made = digamma_of_size(b, b.where(x < 0.0, 1.0 - x, x))

    def reflected() -> list[Num]:
        """ψ(x) = ψ(1 - x) - π·cot πx."""
        part = fraction(b, x)
        sine, cosine = sine_cosine(b, part * math.pi)
        other = b.where(part.is_(0.0), math.nan, made - cosine / sine * math.pi)
        return [b.where(x < 0.0, other, made)]

    return b.unless(x.compare("oge", 0.0), [made], reflected)[0]


def digamma_of_size(b: Body, x: Num) -> Num:
    """ψ(x) for x ≥ 0: the series of a number y = x + n that is far, less 1/x + … + 1/(y - 1) as one quotient."""
    is_near = x < float(FAR)
    y, above, below = b.where(is_near, x + 1.0, x), b.num(0.0), b.num(1.0)
    for n in range(1, FAR):
        more = x + float(n)
        is_part = more < float(FAR)
        above = b.where(is_part, b.fma(above, more, below), above)
        below = b.where(is_part, below * more, below)
        y = b.where(is_part, x + float(n + 1), y)
    inverse = 1.0 / y
    z = inverse * inverse
    far = log(b, y) - b.fma(inverse, 0.5, z * b.polynomial(DIGAMMA, z))
    return (far - above / below) - b.where(is_near, 1.0 / x, 0.0)
