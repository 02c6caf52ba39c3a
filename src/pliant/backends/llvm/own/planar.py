"""Functions of complex numbers, from those of their parts. What is no finite number, or whose square is none, goes to
libm, one by one."""

from __future__ import annotations

import math
from typing import TypeAlias

from pliant.backends.llvm.own.circular import atan2, is_small, sine_cosine
from pliant.backends.llvm.own.exponentials import exp as exp_of_real
from pliant.backends.llvm.own.exponentials import sinh_cosh
from pliant.backends.llvm.own.formula import Body, Flag, Num
from pliant.backends.llvm.own.logarithms import log_of_pair
from pliant.backends.llvm.own.pairs import sum_of, times

Parts: TypeAlias = tuple[Num, Num]


def by_libm_unless(b: Body, fine: Flag, name: str, z: Parts, made: Parts) -> Parts:
    """A complex number, but what libm gives where a condition does not hold."""
    x, y = b.by_library(fine, made, name, z)
    return x, y


def is_moderate(b: Body, size: Num, less: int = 0) -> Flag:
    """Whether squares of a size are numbers with all their digits, and so are their last `less` digits; or it is 0."""
    middle = b.format.bias // 2
    return ((size > 2.0 ** (2 + less - middle)) | size.is_(0.0)) & (size < 2.0 ** (middle - 1))


def exp(b: Body, x: Num, y: Num) -> Parts:
    """The exponential: eˣ·(cos y + i·sin y)."""
    sine, cosine = sine_cosine(b, y)
    size = exp_of_real(b, x)
    fine = is_small(b, y) & (x < longest(b))
    return by_libm_unless(b, fine, "cexp", (x, y), (size * cosine, size * sine))


def longest(b: Body) -> float:
    """Up to here exponentials are finite."""
    return (b.format.bias + 0.5) * math.log(2)


def log(b: Body, x: Num, y: Num) -> Parts:
    """The logarithm: log(x² + y²)/2 and the angle. The sum has twice the digits, as it may be close to 1."""
    p, q = times(b, x, x), times(b, y, y)
    first, lost = sum_of(p.high, q.high), sum_of(p.low, q.low)
    second = sum_of(first.low, lost.high)
    size = abs(x) + abs(y)
    half = log_of_pair(b, first.high, second.high, second.low + lost.low) * 0.5
    real = b.where(size.is_(0.0), -math.inf, half)
    return by_libm_unless(b, is_moderate(b, size, b.format.fraction), "clog", (x, y), (real, atan2(b, y, x)))


def sqrt(b: Body, x: Num, y: Num) -> Parts:
    """The root t + i·y/(2t) of a number on the right, t = √((|x| + |z|)/2), and one like it of others."""
    p, q = abs(x), abs(y)
    t = b.sqrt((b.sqrt(b.fma(q, q, p * p)) + p) * 0.5)
    other = b.where(t > 0.0, q / (t + t), 0.0)
    left = x < 0.0
    made = b.where(left, other, t), b.where(left, t, other).signed(y)
    return by_libm_unless(b, is_moderate(b, p + q), "csqrt", (x, y), made)


def sinh(b: Body, x: Num, y: Num) -> Parts:
    """The hyperbolic sine: sinh x·cos y + i·cosh x·sin y."""
    return by_libm_unless(b, are_finite(b, x, y), "csinh", (x, y), sinh_cosh_of_parts(b, x, y)[0])


def cosh(b: Body, x: Num, y: Num) -> Parts:
    """The hyperbolic cosine: cosh x·cos y + i·sinh x·sin y."""
    return by_libm_unless(b, are_finite(b, x, y), "ccosh", (x, y), sinh_cosh_of_parts(b, x, y)[1])


def sin(b: Body, x: Num, y: Num) -> Parts:
    """The sine, -i·sinh(iz)."""
    imag, real = sinh_cosh_of_parts(b, y, x)[0]
    return by_libm_unless(b, are_finite(b, y, x), "csin", (x, y), (real, imag))


def cos(b: Body, x: Num, y: Num) -> Parts:
    """The cosine, cosh(iz)."""
    real, imag = sinh_cosh_of_parts(b, y, x)[1]
    return by_libm_unless(b, are_finite(b, y, x), "ccos", (x, y), (real, -imag))


def tanh(b: Body, x: Num, y: Num) -> Parts:
    """The hyperbolic tangent."""
    return by_libm_unless(b, are_squared(b, x, y), "ctanh", (x, y), tanh_of_parts(b, x, y))


def tan(b: Body, x: Num, y: Num) -> Parts:
    """The tangent, -i·tanh(iz)."""
    imag, real = tanh_of_parts(b, y, x)
    return by_libm_unless(b, are_squared(b, y, x), "ctan", (x, y), (real, imag))


def are_finite(b: Body, x: Num, y: Num) -> Flag:
    """Whether the exponential of x is finite, and y a small angle."""
    return is_small(b, y) & (abs(x) < longest(b))


def are_squared(b: Body, x: Num, y: Num) -> Flag:
    """The same, of the square of the exponential."""
    return is_small(b, y) & (abs(x) < 0.5 * longest(b))


def sinh_cosh_of_parts(b: Body, x: Num, y: Num) -> tuple[Parts, Parts]:
    """The hyperbolic sine and cosine of what is not too large."""
    (s, c), (sine, cosine) = sinh_cosh(b, x), sine_cosine(b, y)
    return (s * cosine, c * sine), (c * cosine, s * sine)


def tanh_of_parts(b: Body, x: Num, y: Num) -> Parts:
    """(sinh x·cosh x + i·sin y·cos y) / (sinh²x + cos²y), of what is not too large."""
    (s, c), (sine, cosine) = sinh_cosh(b, x), sine_cosine(b, y)
    below = b.fma(s, s, cosine * cosine)
    return s * c / below, sine * cosine / below
