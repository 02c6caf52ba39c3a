"""Ufuncs of `scipy.special` that are formulas of other functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from pliant.core.ir import Value
from pliant.frontend.array import fresh
from pliant.frontend.functions import ufuncs
from pliant.frontend.functions.common import xp

_HALF_LOG_2PI: Final = 0.5 * math.log(2 * math.pi)
_STIRLING: Final = (-691 / 360360, 1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12)
_EXPREL: Final = tuple([1 / math.factorial(k) for k in range(14, 0, -1)])
_LOGREL: Final = tuple([(-1) ** k / (k + 1) for k in range(14, -1, -1)])
_FAR: Final = (-135135.0, 10395.0, -945.0, 105.0, -15.0, 3.0, -1.0, 0.0)

# Wichura 1988, Algorithm AS 241: numerators and denominators of quantiles, highest powers first.
_MIDDLE: Final = (
    (2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4, 4.5921953931549871457e4,
     1.3731693765509461125e4, 1.9715909503065514427e3, 1.3314166789178437745e2, 3.3871328727963666080),
    (5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4, 2.1213794301586595867e4,
     5.3941960214247511077e3, 6.8718700749205790830e2, 4.2313330701600911252e1, 1.0),
)  # fmt: skip
_OUTER: Final = (
    (7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1, 1.27045825245236838258,
     3.64784832476320460504, 5.76949722146069140550, 4.63033784615654529590, 1.42343711074968357734),
    (1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2, 1.48103976427480074590e-1,
     6.89767334985100004550e-1, 1.67638483018380384940, 2.05319162663775882187, 1.0),
)  # fmt: skip
_OUTERMOST: Final = (
    (2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3, 2.65321895265761230930e-2,
     2.96560571828504891230e-1, 1.78482653991729133580, 5.46378491116411436990, 6.65790464350110377720),
    (2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5, 7.86869131145613259100e-4,
     1.48753612908506148525e-2, 1.36929880922735805310e-1, 5.99832206555887937690e-1, 1.0),
)  # fmt: skip


def _named(name: str) -> Callable[..., Any]:
    """A ufunc of `scipy.special` that has a builder, of arrays."""
    build = ufuncs.NAMED_UFUNCS[name]
    return lambda *xs: fresh(build(*[x.value for x in xs]), is_array=True)


_gammaln, _ndtr = _named("gammaln"), _named("ndtr")


def _power_series(coefficients: Sequence[float], x: Any) -> Any:
    """A polynomial, the coefficients of its highest powers first."""
    total: Any = coefficients[0]
    for c in coefficients[1:]:
        total = total * x + c
    return total


def _ratio(parts: tuple[Sequence[float], Sequence[float]], x: Any) -> Any:
    return _power_series(parts[0], x) / _power_series(parts[1], x)


def _log_ndtr(x: Any) -> Any:
    """The logarithm of the normal distribution function, by its asymptotic series far below 0."""
    bound = -20.0 if x.dtype == np.float64 else -10.0
    is_far, is_above = x < bound, x > 0
    far = xp.where(is_far, x, bound)
    tail = xp.log1p(_power_series(_FAR, 1 / (far * far)))
    below = -0.5 * far * far - xp.log(-far) - _HALF_LOG_2PI + tail
    near = xp.log(_ndtr(xp.where(is_far | is_above, 0.0, x)))
    return xp.where(is_far, below, xp.where(is_above, xp.log1p(-_ndtr(-xp.abs(x))), near))


def _quantile(q: Any, tail: Any) -> Any:
    """The quantile of the normal distribution for the probability ½ + q; tail: the smaller of that and its rest."""
    r = xp.sqrt(-xp.log(tail))
    out = xp.where(r <= 5, _ratio(_OUTER, r - 1.6), _ratio(_OUTERMOST, r - 5.0))
    is_outside = tail == 0
    out = xp.where(is_outside, np.inf, out)
    return xp.where(xp.abs(q) <= 0.425, q * _ratio(_MIDDLE, 0.180625 - q * q), xp.copysign(out, q))


def _ndtri(p: Any) -> Any:
    return _quantile(p - 0.5, xp.minimum(p, 1 - p))


def _erfinv(y: Any) -> Any:
    return math.sqrt(0.5) * _quantile(0.5 * y, 0.5 * (1 - xp.abs(y)))


def _erfcinv(y: Any) -> Any:
    return math.sqrt(0.5) * _quantile(0.5 * (1 - y), 0.5 * xp.minimum(y, 2 - y))


def _gamma_sign(x: Any) -> Any:
    """The sign of Γ; NaN at its poles below 0."""
    whole = xp.floor(x)
    is_pole = (whole == x) & (x < 0)
    return xp.where(is_pole, np.nan, xp.where((x < 0) & (whole % 2 != 0), -1.0, 1.0))


def _gamma(x: Any) -> Any:
    return xp.copysign(1.0, xp.where(x == 0, x, 1.0)) * _gamma_sign(x) * xp.exp(_gammaln(x))


def _rgamma(x: Any) -> Any:
    """1 / Γ(x); where x is small by reflection, which is smooth at the poles of Γ."""
    is_small = x < 0.5
    some = xp.where(is_small & ~xp.isinf(x), x, 0.0)
    wave, size = _sine(some) / math.pi, xp.exp(_gammaln(1 - some))
    small = xp.where(xp.isinf(size) & (wave == 0), 0.0, wave * size)
    return xp.where(is_small, small, xp.exp(-_gammaln(xp.where(is_small, 1.0, x))))


def _sine(x: Any) -> Any:
    """sin πx, which is 0 at whole numbers."""
    whole = xp.rint(x)
    return xp.where(whole % 2 != 0, -1.0, 1.0) * xp.sin(math.pi * (x - whole))


def _loggamma(x: Any) -> Any:
    return xp.where(x < 0, np.nan, _gammaln(x))


def _stirling(x: Any) -> Any:
    """What is left of log Γ(x) by Stirling's formula, for x ≥ 10."""
    return _power_series(_STIRLING, 1 / (x * x)) / x


def _betaln(a: Any, b: Any) -> Any:
    """log |B(a, b)|: where the larger one is large, log Γ(a) − log Γ(a + b) by Stirling's formula, which cancels."""
    is_first = a > b
    large, small = xp.where(is_first, a, b), xp.where(is_first, b, a)
    is_large = (large >= 10) & (small > 0)
    top, rest = xp.where(is_large, large, 10.0), xp.where(is_large, small, 1.0)
    total = top + rest
    ratio = (0.5 - top) * xp.log1p(rest / top) - rest * xp.log(total) + rest + _stirling(top) - _stirling(total)
    return _gammaln(small) + xp.where(is_large, ratio, _gammaln(large) - _gammaln(large + small))


def _beta(a: Any, b: Any) -> Any:
    return _gamma_sign(a) * _gamma_sign(b) * _gamma_sign(a + b) * xp.exp(_betaln(a, b))


def _binom(n: Any, k: Any) -> Any:
    """n over k, for real numbers: 1 / ((n + 1) B(n − k + 1, k + 1)), elsewhere by reflection."""
    is_inside = (k >= 0) & (k <= n)
    some_n, some_k = xp.where(is_inside, n, 0.0), xp.where(is_inside, k, 0.0)
    inside = xp.exp(-xp.log1p(some_n) - _betaln(1 + some_n - some_k, 1 + some_k))
    is_beside = (n > -1) & ~is_inside
    gap = xp.where(is_beside, xp.where(k < 0, -k, k - n), 1.0)
    beside = _sine(gap) / math.pi * xp.exp(_betaln(1 + xp.where(is_beside, n, 0.0), gap))
    sign = _gamma_sign(n + 1) * _gamma_sign(k + 1) * _gamma_sign(n - k + 1)
    below = sign * xp.exp(_gammaln(n + 1) - _gammaln(k + 1) - _gammaln(n - k + 1))
    below = xp.where((k < 0) & (xp.floor(k) == k), 0.0, below)
    below = xp.where((n < 0) & (xp.floor(n) == n), np.nan, below)
    return xp.where(is_inside, inside, xp.where(is_beside, beside, below))


def _relative(x: Any, y: Any, rest: Any, at_zero: Any) -> Any:
    """x log(x / y) + rest; what it is where x is 0; ∞ outside of the domain."""
    is_inside = (x > 0) & (y > 0)
    inside = x * xp.log(xp.where(is_inside, x, 1.0) / xp.where(is_inside, y, 1.0)) + rest
    outside = xp.where((x == 0) & (y >= 0), at_zero, np.inf)
    return xp.where(xp.isnan(x) | xp.isnan(y), np.nan, xp.where(is_inside, inside, outside))


def _rel_entr(x: Any, y: Any) -> Any:
    return _relative(x, y, 0.0, 0.0 * x)


def _kl_div(x: Any, y: Any) -> Any:
    return _relative(x, y, y - x, y)


def _huber(delta: Any, r: Any) -> Any:
    size = xp.abs(r)
    inside = xp.where(size <= delta, 0.5 * r * r, delta * (size - 0.5 * delta))
    return xp.where(delta < 0, np.inf, inside)


def _pseudo_huber(delta: Any, r: Any) -> Any:
    size = xp.hypot(xp.where((delta == 0) & (r == 0), 1.0, delta), r)
    return xp.where(delta < 0, np.inf, delta * r * (r / (size + delta)))


def _near(series: Sequence[float], bound: float, power: Any, x: Any) -> tuple[Any, Any]:
    """Whether power · x is near 0, and x times a power series in that there."""
    u = power * x
    is_near = (xp.abs(u) < bound) | (power == 0)
    some = xp.where(is_near, x, 0.0)
    return is_near, some * _power_series(series, power * xp.where(xp.isinf(some), 0.0, some))


def _boxcox(x: Any, power: Any) -> Any:
    log = xp.log(x)
    is_near, near = _near(_EXPREL, 0.3, power, log)
    some = xp.where(is_near, 1.0, power)
    return xp.where(is_near, near, xp.expm1(some * log) / some)


def _inv_boxcox(x: Any, power: Any) -> Any:
    is_near, near = _near(_LOGREL, 0.05, power, x)
    some = xp.where(is_near, 1.0, power)
    return xp.exp(xp.where(is_near, near, xp.log1p(some * x) / some))


def _exprel(x: Any) -> Any:
    is_near = xp.abs(x) < 0.3
    some = xp.where(is_near, 1.0, x)
    return xp.where(is_near, _power_series(_EXPREL, xp.where(is_near, x, 0.0)), xp.expm1(some) / some)


FORMULAS: Final[dict[str, Callable[..., Any]]] = {
    "log_ndtr": _log_ndtr,
    "ndtri": _ndtri,
    "erfinv": _erfinv,
    "erfcinv": _erfcinv,
    "gamma": _gamma,
    "loggamma": _loggamma,
    "rgamma": _rgamma,
    "beta": _beta,
    "betaln": _betaln,
    "binom": _binom,
    "rel_entr": _rel_entr,
    "kl_div": _kl_div,
    "huber": _huber,
    "pseudo_huber": _pseudo_huber,
    "boxcox": _boxcox,
    "inv_boxcox": _inv_boxcox,
    "exprel": _exprel,
    "i0": xp.i0,
    "cbrt": xp.cbrt,
    "exp2": xp.exp2,
}
"""Ufunc of `scipy.special` → the same of arrays of one dtype of floats."""


def _builder(formula: Callable[..., Any]) -> ufuncs.Builder:
    def build(*xs: Value) -> Value:
        return formula(*[fresh(x, is_array=True) for x in xs]).value

    return build


NAMED_UFUNCS: Final[dict[str, ufuncs.Builder]] = {
    **ufuncs.NAMED_UFUNCS,
    **{name: _builder(formula) for name, formula in FORMULAS.items()},
}
"""Ufuncs of `scipy.special`."""
