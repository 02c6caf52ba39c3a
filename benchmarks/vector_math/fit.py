"""`python -m benchmarks.vector_math.fit`: the polynomials of `pliant.backends.llvm.own`, as a Python module.

Each is the interpolant at Chebyshev points of a function computed to sixty digits; that is nearly the
best polynomial of its degree.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, getcontext
from fractions import Fraction
from pathlib import Path
from typing import Final, final

import numpy as np

getcontext().prec = 60
Real = Callable[[Decimal], Decimal]
TARGET: Final = Path("src/pliant/backends/llvm/own/coefficients.py")
SMALL: Final = Decimal("1e-70")


def series(first: Decimal, ratio: Callable[[int], Decimal]) -> Decimal:
    """The sum of terms, each the one before it times `ratio(n)`."""
    total, term, n = first, first, 0
    while abs(term) > SMALL:
        n += 1
        term *= ratio(n)
        total += term
    return total


def arctan(x: Decimal) -> Decimal:
    """atan x for |x| ≤ 1/2, by Euler's series."""
    z = x * x / (1 + x * x)
    return series(x / (1 + x * x), lambda n: z * 2 * n / (2 * n + 1))


PI: Final = 4 * (4 * arctan(Decimal(1) / 5) - arctan(Decimal(1) / 239))
LN2: Final = Decimal(2).ln()


def sine_rest(z: Decimal) -> Decimal:
    """(sin r - r)/r³ for z = r²."""
    return series(Decimal(-1) / 6, lambda n: -z / ((2 * n + 2) * (2 * n + 3)))


def cosine_rest(z: Decimal) -> Decimal:
    """(cos r - 1 + r²/2)/r⁴ for z = r²."""
    return series(Decimal(1) / 24, lambda n: -z / ((2 * n + 3) * (2 * n + 4)))


def exponential_rest(r: Decimal) -> Decimal:
    """(exp r - 1 - r)/r²."""
    return series(Decimal(1) / 2, lambda n: r / (n + 2))


def power_rest(r: Decimal) -> Decimal:
    """(2^r - 1)/r."""
    return LN2 + LN2**2 * r * exponential_rest(LN2 * r)


def logarithm_rest(z: Decimal) -> Decimal:
    """(log((1+s)/(1-s)) - 2s)/s³ for z = s²."""
    total, power, n = Decimal(0), Decimal(1), 3
    while power > SMALL:
        total += 2 * power / n
        power, n = power * z, n + 2
    return total


def logarithm_rest_of_rest(z: Decimal) -> Decimal:
    """(log((1+s)/(1-s)) - 2s - 2s³/3)/s⁵ for z = s²."""
    total, power, n = Decimal(0), Decimal(1), 5
    while power > SMALL:
        total += 2 * power / n
        power, n = power * z, n + 2
    return total


def arctangent_rest(z: Decimal) -> Decimal:
    """(atan r - r)/r³ for z = r²."""
    total, power, n = Decimal(0), Decimal(-1), 3
    while abs(power) > SMALL:
        total += power / n
        power, n = power * -z, n + 2
    return total


def arcsine_rest(z: Decimal) -> Decimal:
    """(asin r - r)/r³ for z = r²."""
    term, total, n = Decimal(1), Decimal(0), 1
    while term > SMALL:
        term *= Decimal(2 * n - 1) / (2 * n)
        total += term / (2 * n + 1)
        term, n = term * z, n + 1
    return total


def cube_root(x: Decimal) -> Decimal:
    """∛x."""
    return (x.ln() / 3).exp()


def bernoulli(count: int) -> list[Decimal]:
    """The numbers B₂, B₄, …"""
    found = [Fraction(1)]
    for n in range(1, 2 * count + 1):
        found.append(-sum([math.comb(n + 1, k) * b for k, b in enumerate(found)], Fraction(0)) / (n + 1))
    return [Decimal(b.numerator) / b.denominator for b in found[2::2]]


BERNOULLI: Final = bernoulli(40)
FAR: Final = 70  # from here on Stirling's series has sixty digits


def stirling(x: Decimal) -> Decimal:
    """log Γ(x) for x > 0 less (x - ½)·log x - x + log(2π)/2."""
    if x >= FAR:
        return sum([b / (2 * k * (2 * k - 1)) / x ** (2 * k - 1) for k, b in enumerate(BERNOULLI, 1)], Decimal(0))
    half = Decimal("0.5")
    return stirling(x + 1) + (x + half) * (x + 1).ln() - 1 - (x + half) * x.ln()


def log_gamma_quotient(t: Decimal) -> Decimal:
    """log Γ(2 + t)/t."""
    x = 2 + t
    return (stirling(x) + (x - Decimal("0.5")) * x.ln() - x + (2 * PI).ln() / 2) / t


def stirling_rest(z: Decimal) -> Decimal:
    """x·(log Γ(x) less the beginning of its series) for z = 1/x²."""
    x = 1 / z.sqrt()
    return x * stirling(x)


def digamma_rest(z: Decimal) -> Decimal:
    """x²·(log x - 1/(2x) - ψ(x)) for z = 1/x²."""
    x = 1 / z.sqrt()
    return x * x * below_logarithm(x)


def below_logarithm(x: Decimal) -> Decimal:
    """log x - 1/(2x) - ψ(x) for x > 0."""
    if x >= FAR:
        return sum([b / (2 * k) / x ** (2 * k) for k, b in enumerate(BERNOULLI, 1)], Decimal(0))
    more = x + 1
    return below_logarithm(more) - more.ln() + x.ln() + (1 / more + 1 / x) / 2


def interpolant(f: Real, low: Decimal, high: Decimal, count: int) -> list[Decimal]:
    """Coefficients, the constant first, of the polynomial that agrees with f at `count` Chebyshev points."""
    angles = [(2 * k + 1) * PI / (2 * count) for k in range(count)]
    middle, half = (low + high) / 2, (high - low) / 2
    points = [middle + half * _cosine(a) for a in angles]
    divided = [f(x) for x in points]
    for n in range(1, count):
        for k in range(count - 1, n - 1, -1):
            divided[k] = (divided[k] - divided[k - 1]) / (points[k] - points[k - n])
    made = [Decimal(0)] * count
    for value, point in zip(reversed(divided), reversed(points), strict=True):
        shifted = [Decimal(0), *made[:-1]]
        made = [s - point * c for s, c in zip(shifted, made, strict=True)]
        made[0] += value
    return made


def _cosine(a: Decimal) -> Decimal:
    return 1 - a * a / 2 + a**4 * cosine_rest(a * a)


@final
@dataclass(frozen=True)
class Fit:
    """One polynomial: its name, what it is near to and where, how many coefficients it has for f64 and f32."""

    name: str
    f: Real
    low: Decimal
    high: Decimal
    counts: tuple[int, int]


EIGHTH: Final = Decimal(2).sqrt() - 1  # tan(π/8)
S: Final = (Decimal(2).sqrt() - 1) / (Decimal(2).sqrt() + 1)  # of the largest argument of a logarithm
FITS: Final = (
    Fit("EXP", exponential_rest, -LN2 / 2, LN2 / 2, (10, 5)),
    Fit("EXP2", power_rest, Decimal("-0.5"), Decimal("0.5"), (13, 7)),
    Fit("LOG", logarithm_rest, Decimal(0), S * S, (7, 3)),
    Fit("LOG_REST", logarithm_rest_of_rest, Decimal(0), S * S, (7, 3)),
    Fit("SIN", sine_rest, Decimal(0), PI * PI / 4, (8, 5)),
    Fit("SIN_QUARTER", sine_rest, Decimal(0), PI * PI / 16, (6, 4)),
    Fit("COS_QUARTER", cosine_rest, Decimal(0), PI * PI / 16, (6, 4)),
    Fit("ATAN", arctangent_rest, Decimal(0), EIGHTH * EIGHTH, (11, 5)),
    Fit("ASIN", arcsine_rest, Decimal(0), Decimal("0.25"), (13, 6)),
    Fit("CBRT", cube_root, Decimal(1), Decimal(8), (6, 4)),
    Fit("LOG_GAMMA", log_gamma_quotient, Decimal("-0.5"), Decimal("0.5"), (22, 10)),
    Fit("STIRLING", stirling_rest, Decimal(0), Decimal(1) / 64, (7, 3)),
    Fit("DIGAMMA", digamma_rest, Decimal(0), Decimal(1) / 64, (8, 4)),
)
PARTS: Final = {"LN2": LN2, "PI": PI, "HALF_PI": PI / 2, "INVERSE_LN2": 1 / LN2, "INVERSE_LN10": 1 / Decimal(10).ln(),
                "LOG10_2": LN2 / Decimal(10).ln(), "TWO_THIRDS": Decimal(2) / 3}  # fmt: skip
POSITIVE_PARTS: Final = {"PI_DOWN": PI}


def in_parts(x: Decimal, dtype: type[np.floating], *, is_positive: bool = False) -> tuple[float, ...]:
    """Three numbers of a format whose sum is x. is_positive: all of them, if x is."""
    found = list[float]()
    for _ in range(3):
        part = float(dtype(x))
        if is_positive and Decimal(part) > x:
            part = float(np.nextafter(part, 0, dtype=dtype))
        found.append(part)
        x -= Decimal(part)
    return tuple(found)


def text() -> str:
    """The module."""
    lines = ['"""Polynomials of the vector functions. Written by `python -m benchmarks.vector_math.fit`."""', ""]
    lines += ["from __future__ import annotations", "", "from typing import Final", ""]
    for fit in FITS:
        lines.append(f"{fit.name}: Final = {{")
        for dtype, count in zip(("f64", "f32"), fit.counts, strict=True):
            made = interpolant(fit.f, fit.low, fit.high, count)
            rounded = [float(c) if dtype == "f64" else float(np.float32(c)) for c in made]
            lines += [f'    "{dtype}": (', *[f"        {c!r}," for c in rounded], "    ),"]
        lines.append("}")
    for name, x in (PARTS | POSITIVE_PARTS).items():
        is_positive = name in POSITIVE_PARTS
        parts = {d: in_parts(x, t, is_positive=is_positive) for d, t in (("f64", np.float64), ("f32", np.float32))}
        lines += [f"{name}: Final = {{", *[f'    "{d}": {p!r},' for d, p in parts.items()], "}"]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    TARGET.write_text(text())
