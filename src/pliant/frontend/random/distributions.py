"""One number of each distribution, by the methods that NumPy uses, so that equal states give equal numbers.

Of parameters that a distribution does not have some number is drawn, in no time: the call is going to raise.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from pliant.frontend.sampled import Sampled

MOST: Final = 2.0**63 - 10 * 2.0**31.5
"""The greatest mean of events."""
LOG_GAMMA: Final = (
    8.333333333333333e-02, -2.777777777777778e-03, 7.936507936507937e-04, -5.952380952380952e-04,
    8.417508417508418e-04, -1.917526917526918e-03, 6.410256410256410e-03, -2.955065359477124e-02,
    1.796443723688307e-01, -1.39243221690590e00,
)  # fmt: skip
"""Of the series of Stirling."""


def uniform(bits: Any) -> Any:
    """From 0 up to 1."""
    return bits.uniform()


def uniform32(bits: Any) -> Any:
    """From 0 up to 1, of 32 bits."""
    return bits.uniform32()


def normal(bits: Any) -> Any:
    """Of mean 0 and variance 1."""
    return bits.normal()


def exponential(bits: Any) -> Any:
    """Of mean 1."""
    return bits.exponential()


@Sampled
def by_logarithm(bits: Any) -> Any:
    """An exponential number, as the logarithm of a uniform one."""
    return -np.log1p(-bits.uniform())


@Sampled
def cauchy(bits: Any) -> Any:
    """The quotient of two normal numbers."""
    x = bits.normal()
    return x / bits.normal()


@Sampled
def student(bits: Any, df: Any) -> Any:
    """A normal number by the root of the mean of squares of others."""
    x = bits.normal()
    return np.sqrt(df / 2.0) * x / np.sqrt(gamma(bits, df / 2.0))


@Sampled
def rayleigh(bits: Any) -> Any:
    """The length of two normal numbers."""
    return np.sqrt(2.0 * bits.exponential())


@Sampled
def weibull(bits: Any, a: Any) -> Any:
    """A power of an exponential number."""
    return bits.exponential() ** (1.0 / a) if a != 0.0 else 0.0


@Sampled
def pareto(bits: Any, a: Any) -> Any:
    """The exponential of an exponential number."""
    return np.expm1(bits.exponential() / a)


@Sampled
def power(bits: Any, a: Any) -> Any:
    """A power of a uniform number."""
    return (-np.expm1(-bits.exponential())) ** (1.0 / a)


@Sampled
def triangular(bits: Any, left: Any, mode: Any, right: Any) -> Any:
    """Whose density is a triangle."""
    width = right - left
    u = bits.uniform()
    if u <= (mode - left) / width:
        return left + np.sqrt(u * ((mode - left) * width))
    return right - np.sqrt((1.0 - u) * ((right - mode) * width))


@Sampled
def fisher(bits: Any, above: Any, below: Any) -> Any:
    """The quotient of two means of squares of normal numbers."""
    x = 2.0 * gamma(bits, above / 2.0)
    return x * below / (2.0 * gamma(bits, below / 2.0) * above)


@Sampled
def negative_binomial(bits: Any, n: Any, p: Any) -> Any:
    """How many trials fail until n have succeeded."""
    return poisson(bits, gamma(bits, n) * (1.0 - p) / p)


@Sampled
def gumbel(bits: Any, loc: Any, scale: Any) -> Any:
    """Of the greatest of many."""
    while True:
        u = 1.0 - bits.uniform()
        if u < 1.0:
            return loc - scale * np.log(-np.log(u))


@Sampled
def logistic(bits: Any, loc: Any, scale: Any) -> Any:
    """Whose logit is uniform."""
    while True:
        u = bits.uniform()
        if u > 0.0:
            return loc + scale * np.log(u / (1.0 - u))


@Sampled
def laplace(bits: Any, loc: Any, scale: Any) -> Any:
    """An exponential number of either sign."""
    while True:
        u = bits.uniform()
        if u >= 0.5:
            return loc - scale * np.log(2.0 - u - u)
        if u > 0.0:
            return loc + scale * np.log(u + u)


@Sampled
def gamma(bits: Any, shape: Any) -> Any:
    """A standard gamma number. G. Marsaglia and W. W. Tsang, ACM Trans. Math. Softw. 26(3), 2000."""
    if shape == 1.0:
        return bits.exponential()
    if not shape > 0.0:
        return shape * 0.0
    return _gamma_below(bits, shape) if shape < 1.0 else _gamma_above(bits, shape)


def _gamma_below(bits: Any, shape: Any) -> Any:
    while True:
        u = bits.uniform()
        v = bits.exponential()
        if u <= 1.0 - shape:
            x = u ** (1.0 / shape)
            if x <= v:
                return x
        else:
            y = -np.log((1.0 - u) / shape)
            x = (1.0 - shape + shape * y) ** (1.0 / shape)
            if x <= v + y:
                return x


def _gamma_above(bits: Any, shape: Any) -> Any:
    b = shape - 1.0 / 3.0
    c = 1.0 / np.sqrt(9.0 * b)
    while True:
        x = bits.normal()
        v = 1.0 + c * x
        while v <= 0.0:
            x = bits.normal()
            v = 1.0 + c * x
        v = v * v * v
        u = bits.uniform()
        if u < 1.0 - 0.0331 * (x * x) * (x * x):
            return b * v
        if np.log(u) < 0.5 * x * x + b * (1.0 - v + np.log(v)):
            return b * v


@Sampled
def beta(bits: Any, a: Any, b: Any) -> Any:
    """A beta number: by M. D. Jöhnk's method where both shapes are at most 1, else of two gamma numbers."""
    if not (a >= 0.0 and b >= 0.0):
        return np.nan
    if a <= 1.0 and b <= 1.0:
        return _beta_below(bits, a, b)
    x = gamma(bits, a)
    return x / (x + gamma(bits, b))


def _beta_below(bits: Any, a: Any, b: Any) -> Any:
    while True:
        u = bits.uniform()
        v = bits.uniform()
        x, y = u ** (1.0 / a), v ** (1.0 / b)
        if x + y <= 1.0 and u + v > 0.0:
            if x + y > 0.0:
                return x / (x + y)
            log_x, log_y = np.log(u) / a, np.log(v) / b
            most = np.maximum(log_x, log_y)
            log_x, log_y = log_x - most, log_y - most
            return np.exp(log_x - np.log(np.exp(log_x) + np.exp(log_y)))


@Sampled
def poisson(bits: Any, mean: Any) -> Any:
    """How many events there are."""
    if not (mean > 0.0 and mean <= MOST):
        return 0
    if mean >= 10.0:
        return _poisson_many(bits, mean)
    count, product, least = 0, bits.uniform(), np.exp(-mean)
    while product > least:
        count += 1
        product *= bits.uniform()
    return count


def _poisson_many(bits: Any, mean: Any) -> Any:
    """W. Hörmann, The transformed rejection method for generating Poisson random variables, 1993: PTRS."""
    root = np.sqrt(mean)
    b = 0.931 + 2.53 * root
    a = -0.059 + 0.02483 * b
    inverse = 1.1239 + 1.1328 / (b - 3.4)
    surely = 0.9277 - 3.6224 / (b - 2.0)
    while True:
        u = bits.uniform() - 0.5
        v = bits.uniform()
        side = 0.5 - np.abs(u)
        k = np.floor((2.0 * a / side + b) * u + mean + 0.43)
        if side >= 0.07 and v <= surely:
            return int(k)
        if k < 0.0 or (side < 0.013 and v > side):
            continue
        if np.log(v) + np.log(inverse) - np.log(a / (side * side) + b) <= -mean + k * np.log(mean) - log_gamma(k + 1.0):
            return int(k)


def log_gamma(x: Any) -> Any:
    """The logarithm of the gamma function of a number of at least 1."""
    if x == 1.0 or x == 2.0:
        return 0.0
    more = np.floor(7.0 - x) if x < 7.0 else 0.0
    at = x + more
    square = 1.0 / at * (1.0 / at)
    series = LOG_GAMMA[9]
    for k in range(8, -1, -1):
        series = series * square + LOG_GAMMA[k]
    found = series / at + 0.5 * math.log(2 * math.pi) + (at - 0.5) * np.log(at) - at
    while more > 0.0:
        at = at - 1.0
        more = more - 1.0
        found = found - np.log(at)
    return found


@Sampled
def geometric(bits: Any, p: Any) -> Any:
    """The number of the first trial that succeeds."""
    if p >= 1.0 / 3.0:
        return _tried(bits, p)
    return int(np.minimum(np.ceil(-bits.exponential() / np.log1p(-p)), MOST))


@Sampled
def geometric_by_logarithm(bits: Any, p: Any) -> Any:
    """The number of the first trial that succeeds, of a uniform number."""
    if p >= 1.0 / 3.0:
        return _tried(bits, p)
    fails = np.abs(1.0 - p)  # the logarithm of `1.0 - p` itself would become that of `1 + -p`, which has more digits
    return int(np.ceil(np.log1p(-bits.uniform()) / np.log(fails)))


def _tried(bits: Any, p: Any) -> Any:
    count, total, term, u = 1, p, p, bits.uniform()
    while u > total:
        term *= 1.0 - p
        total += term
        count += 1
    return count


@Sampled
def binomial(bits: Any, n: Any, p: Any) -> Any:
    """How many of n trials succeed; none is drawn where none can."""
    return drawn_binomial(bits, n, p) if n > 0 and p > 0.0 else 0


@Sampled
def drawn_binomial(bits: Any, n: Any, p: Any) -> Any:
    """How many of n trials succeed."""
    if n < 0 or not (p >= 0.0 and p <= 1.0):
        return 0
    if p <= 0.5:
        return _successes(bits, n, p)
    return n - _successes(bits, n, 1.0 - p)


def _successes(bits: Any, n: Any, p: Any) -> Any:
    return _few(bits, n, p) if p * n <= 30.0 else _many(bits, n, p)


def _few(bits: Any, n: Any, p: Any) -> Any:
    """By adding up probabilities."""
    q = 1.0 - p
    first = np.exp(n * np.log(q))
    mean = n * p
    bound = int(np.minimum(np.float64(n), mean + 10.0 * np.sqrt(mean * q + 1.0)))
    x, px, u = 0, first, bits.uniform()
    while u > px:
        x += 1
        if x > bound:
            x, px, u = 0, first, bits.uniform()
        else:
            u -= px
            px = (n - x + 1) * p * px / (x * q)
    return x


def _many(bits: Any, n: Any, p: Any) -> Any:
    """V. Kachitvichyanukul and B. W. Schmeiser, Binomial random variate generation, Comm. ACM 31(2), 1988: BTPE. A
    triangle in the middle, a parallelogram around it, and exponential tails."""
    q = 1.0 - p
    mode = n * p + p
    m = np.floor(mode)
    width = np.floor(2.195 * np.sqrt(n * p * q) - 4.6 * q) + 0.5
    center = m + 0.5
    left, right = center - width, center + width
    c = 0.134 + 20.5 / (15.3 + m)
    a = (mode - left) / (mode - left * p)
    left_slope = a * (1.0 + a / 2.0)
    a = (right - mode) / (right * q)
    right_slope = a * (1.0 + a / 2.0)
    until2 = width * (1.0 + 2.0 * c)
    until3 = until2 + c / left_slope
    until4 = until3 + c / right_slope
    while True:
        u = bits.uniform() * until4
        v = bits.uniform()
        if u <= width:
            return int(np.floor(center - width * v + u))
        if u <= until2:
            x = left + (u - width) / c
            v = v * c + 1.0 - np.abs(m - x + 0.5) / width
            y = np.floor(x)
            is_out = v > 1.0
        elif u <= until3:
            y = np.floor(left + np.log(v) / left_slope)
            is_out = y < 0.0 or v == 0.0
            v = v * (u - until2) * left_slope
        else:
            y = np.floor(right - np.log(v) / right_slope)
            is_out = y > n or v == 0.0
            v = v * (u - until3) * right_slope
        if not is_out and _is_below(v, y, m, n, p, center):
            return int(y)


def _is_below(v: Any, y: Any, m: Any, n: Any, p: Any, center: Any) -> Any:
    """Whether a height is below that of the distribution at y, as a part of that at its mode."""
    q = 1.0 - p
    variance = n * p * q
    k = np.abs(y - m)
    if k <= 20.0 or k >= variance / 2.0 - 1.0:
        return v <= _ratio(y, m, n, p)
    more = (k / variance) * ((k * (k / 3.0 + 0.625) + 1.0 / 6.0) / variance + 0.5)
    about = -k * k / (2.0 * variance)
    height = np.log(v)
    if height < about - more:
        return True
    if height > about + more:
        return False
    x, f, z, w = y + 1.0, m + 1.0, n + 1.0 - m, n - y + 1.0
    exact = center * np.log(f / x) + (n - m + 0.5) * np.log(z / w) + (y - m) * np.log(w * p / (x * q))
    return height <= exact + _series(f) + _series(z) + _series(x) + _series(w)


def _ratio(y: Any, m: Any, n: Any, p: Any) -> Any:
    """The probability of y beside that of m, by those between them."""
    s = p / (1.0 - p)
    a = s * (n + 1)
    ratio, at = 1.0, np.minimum(m, y)
    while at < np.maximum(m, y):
        at = at + 1.0
        if m < y:
            ratio = ratio * (a / at - s)
        else:
            ratio = ratio / (a / at - s)
    return ratio


def _series(x: Any) -> Any:
    """What Stirling's formula leaves of a factorial."""
    square = x * x
    return (13680.0 - (462.0 - (132.0 - (99.0 - 140.0 / square) / square) / square) / square) / x / 166320.0
