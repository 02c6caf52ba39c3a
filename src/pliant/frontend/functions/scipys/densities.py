"""scipy.stats: distributions of numbers, as formulas of their densities, functions and quantiles."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, final

from pliant.frontend.array import fresh
from pliant.frontend.functions.scipys.common import doubles, xp
from pliant.frontend.functions.special import NAMED_UFUNCS

INF: Final = math.inf
_LOG_2PI: Final = math.log(2 * math.pi)
Formula = Callable[..., Any]


def special(name: str) -> Formula:
    """A ufunc of `scipy.special`, of arrays of doubles."""
    build = NAMED_UFUNCS[name]

    def made(*xs: Any) -> Any:
        return fresh(build(*[v.value for v in xp.broadcast_arrays(*map(doubles, xs))]), is_array=True)

    return made


_betaln, _erf, _erfc, _gammaln, _log_expit, _log_ndtr, _logit, _ndtr, _ndtri, _xlog1py, _xlogy = map(special, (
    "betaln", "erf", "erfc", "gammaln", "log_expit", "log_ndtr", "logit", "ndtr", "ndtri", "xlog1py", "xlogy",
))  # fmt: skip


@final
@dataclass(frozen=True)
class Distribution:
    """A distribution. log: of the standard density, or the probability; other formulas are of the standard one too, and
    all have the shape parameters last. support: the least and the greatest value; is_valid: whether shape parameters
    are such; end: whether there is an end of the support at a value, where the density is a power of the distance to
    it, that distance, the power, and the logarithm of what that is multiplied by."""

    log: Formula
    shapes: tuple[str, ...] = ()
    support: Formula = lambda *_: (-INF, INF)
    is_valid: Formula = lambda *shapes: all_of(*[s > 0 for s in shapes])
    end: Formula | None = None
    cdf: Formula | None = None
    sf: Formula | None = None
    logcdf: Formula | None = None
    logsf: Formula | None = None
    ppf: Formula | None = None
    isf: Formula | None = None
    is_discrete: bool = False


def all_of(*conditions: Any) -> Any:
    """Whether conditions hold, element by element; of none, True."""
    made: Any = True
    for c in conditions:
        made = made & c
    return made


def _positive(*_: Any) -> tuple[float, float]:
    return 0.0, INF


def _unit(*_: Any) -> tuple[float, float]:
    return 0.0, 1.0


def _is_probability(p: Any) -> Any:
    return (p >= 0) & (p <= 1)


def _normal(y: Any) -> Any:
    return -0.5 * y * y - 0.5 * _LOG_2PI


def _student(y: Any, df: Any) -> Any:
    some = xp.where(xp.isinf(df), 1.0, df)
    inside = -0.5 * xp.log(some) - _betaln(some / 2, 0.5) - (some + 1) / 2 * xp.log1p(y * y / some)
    return xp.where(xp.isinf(df), _normal(y), inside)


def _inverse_gamma(y: Any, a: Any) -> Any:
    some = xp.where(y == 0, 1.0, y)
    return xp.where(y == 0, -INF, -(a + 1) * xp.log(some) - _gammaln(a) - 1 / some)


def _lognormal(y: Any, s: Any) -> Any:
    log = xp.log(xp.where(y == 0, 1.0, y))
    return xp.where(y == 0, -INF, -0.5 * (log / s) ** 2 - xp.log(s) - log - 0.5 * _LOG_2PI)


def _logistic(y: Any) -> Any:
    return _log_expit(y) + _log_expit(-y)


def _laplace_tail(y: Any) -> Any:
    half = 0.5 * xp.exp(xp.where(y > 0, -y, y))
    return xp.where(y > 0, half, 1 - half)


def _laplace_quantile(q: Any) -> Any:
    return xp.where(q > 0.5, -xp.log(2 * (1 - q)), xp.log(2 * q))


def _cauchy_quantile(q: Any) -> Any:
    is_inner = xp.abs(q - 0.5) < 0.25
    beside = xp.where(is_inner, 0.25, xp.where(q > 0.5, q - 1, q))
    return xp.where(is_inner, xp.tan(math.pi * (0.5 - q)), 1 / xp.tan(math.pi * beside))


def _binomial(k: Any, n: Any, p: Any) -> Any:
    return -xp.log1p(n) - _betaln(n - k + 1, k + 1) + _xlogy(k, p) + _xlog1py(n - k, -p)


def _beta_end(y: Any, a: Any, b: Any) -> tuple[Any, Any, Any, Any]:
    is_low = y == 0
    away, beside = xp.where(is_low, y, 1 - y), xp.where(is_low, 1 - y, y)
    power, rest = xp.where(is_low, a - 1, b - 1), xp.where(is_low, b - 1, a - 1)
    return is_low | (y == 1), away, power, _xlogy(rest, xp.where(beside > 0, beside, 1.0)) - _betaln(a, b)


CONTINUOUS: Final = {
    "norm": Distribution(
        _normal, cdf=_ndtr, sf=lambda y: _ndtr(-y), logcdf=_log_ndtr, logsf=lambda y: _log_ndtr(-y), ppf=_ndtri,
        isf=lambda q: -_ndtri(q),
    ),
    "t": Distribution(_student, ("df",)),
    "gamma": Distribution(
        lambda y, a: _xlogy(a - 1, y) - y - _gammaln(a), ("a",), _positive,
        end=lambda y, a: (y == 0, y, a - 1, -y - _gammaln(a)),
    ),
    "chi2": Distribution(
        lambda y, df: _xlogy(df / 2 - 1, y) - y / 2 - _gammaln(df / 2) - math.log(2) * df / 2, ("df",), _positive,
        end=lambda y, df: (y == 0, y, df / 2 - 1, -y / 2 - _gammaln(df / 2) - math.log(2) * df / 2),
    ),
    "invgamma": Distribution(_inverse_gamma, ("a",), _positive),
    "beta": Distribution(
        lambda y, a, b: _xlog1py(b - 1, -y) + _xlogy(a - 1, y) - _betaln(a, b), ("a", "b"), _unit, end=_beta_end
    ),
    "expon": Distribution(
        lambda y: -y, (), _positive, cdf=lambda y: -xp.expm1(-y), sf=lambda y: xp.exp(-y), logsf=lambda y: -y,
        ppf=lambda q: -xp.log1p(-q), isf=lambda q: -xp.log(q),
    ),
    "uniform": Distribution(lambda y: 0 * y, (), _unit, cdf=lambda y: y, ppf=lambda q: q),
    "laplace": Distribution(
        lambda y: math.log(0.5) - xp.abs(y), cdf=lambda y: _laplace_tail(-y), sf=_laplace_tail, ppf=_laplace_quantile,
        isf=lambda q: -_laplace_quantile(q),
    ),
    "logistic": Distribution(
        _logistic, cdf=lambda y: xp.exp(_log_expit(y)), sf=lambda y: xp.exp(_log_expit(-y)), logcdf=_log_expit,
        logsf=lambda y: _log_expit(-y), ppf=_logit, isf=lambda q: -_logit(q),
    ),
    "cauchy": Distribution(
        lambda y: -math.log(math.pi) - 2 * xp.log(xp.hypot(1.0, y)), cdf=lambda y: xp.arctan2(1.0, -y) / math.pi,
        sf=lambda y: xp.arctan2(1.0, y) / math.pi, ppf=lambda q: -_cauchy_quantile(q), isf=_cauchy_quantile,
    ),
    "lognorm": Distribution(
        _lognormal, ("s",), _positive, cdf=lambda y, s: _ndtr(xp.log(y) / s), sf=lambda y, s: _ndtr(-xp.log(y) / s),
        logcdf=lambda y, s: _log_ndtr(xp.log(y) / s), logsf=lambda y, s: _log_ndtr(-xp.log(y) / s),
        ppf=lambda q, s: xp.exp(s * _ndtri(q)), isf=lambda q, s: xp.exp(-s * _ndtri(q)),
    ),
    "halfnorm": Distribution(
        lambda y: math.log(2) + _normal(y), (), _positive, cdf=lambda y: _erf(y * math.sqrt(0.5)),
        sf=lambda y: _erfc(y * math.sqrt(0.5)), ppf=lambda q: _ndtri((1 + q) / 2), isf=lambda q: -_ndtri(q / 2),
    ),
    "weibull_min": Distribution(
        lambda y, c: xp.log(c) + _xlogy(c - 1, y) - y**c, ("c",), _positive,
        end=lambda y, c: (y == 0, y, c - 1, xp.log(c) - y**c), cdf=lambda y, c: -xp.expm1(-(y**c)),
        sf=lambda y, c: xp.exp(-(y**c)), logsf=lambda y, c: -(y**c), ppf=lambda q, c: (-xp.log1p(-q)) ** (1 / c),
        isf=lambda q, c: (-xp.log(q)) ** (1 / c),
    ),
    "rayleigh": Distribution(
        lambda y: xp.log(y) - 0.5 * y * y, (), _positive, end=lambda y: (y == 0, y, 1.0, -0.5 * y * y),
        cdf=lambda y: -xp.expm1(-0.5 * y * y),
        sf=lambda y: xp.exp(-0.5 * y * y), logsf=lambda y: -0.5 * y * y, ppf=lambda q: xp.sqrt(-2 * xp.log1p(-q)),
        isf=lambda q: xp.sqrt(-2 * xp.log(q)),
    ),
    "pareto": Distribution(
        lambda y, b: xp.log(b) - (b + 1) * xp.log(y), ("b",), lambda *_: (1.0, INF), cdf=lambda y, b: 1 - y**-b,
        sf=lambda y, b: y**-b, ppf=lambda q, b: (1 - q) ** (-1 / b), isf=lambda q, b: q ** (-1 / b),
    ),
    "gumbel_r": Distribution(
        lambda y: -y - xp.exp(-y), cdf=lambda y: xp.exp(-xp.exp(-y)), sf=lambda y: -xp.expm1(-xp.exp(-y)),
        logcdf=lambda y: -xp.exp(-y), ppf=lambda q: -xp.log(-xp.log(q)), isf=lambda q: -xp.log(-xp.log1p(-q)),
    ),
}  # fmt: skip
"""Name → distribution of a density."""

DISCRETE: Final = {
    "poisson": Distribution(
        lambda k, mu: _xlogy(k, mu) - _gammaln(k + 1) - mu, ("mu",), _positive, lambda mu: mu >= 0, is_discrete=True
    ),
    "bernoulli": Distribution(
        lambda k, p: _xlogy(k, p) + _xlog1py(1 - k, -p), ("p",), _unit, _is_probability, cdf=lambda k, p: 1 - p,
        sf=lambda k, p: p, is_discrete=True,
    ),
    "binom": Distribution(
        _binomial, ("n", "p"), lambda n, p: (0.0, n),
        lambda n, p: (n >= 0) & (xp.floor(n) == n) & _is_probability(p), is_discrete=True,
    ),
    "nbinom": Distribution(
        lambda k, n, p: -xp.log(n + k) - _betaln(n, k + 1) + n * xp.log(p) + _xlog1py(k, -p), ("n", "p"), _positive,
        lambda n, p: (n > 0) & (p > 0) & (p <= 1), is_discrete=True,
    ),
    "geom": Distribution(
        lambda k, p: _xlog1py(k - 1, -p) + xp.log(p), ("p",), lambda p: (1.0, INF), lambda p: (p > 0) & (p <= 1),
        cdf=lambda k, p: -xp.expm1(xp.log1p(-p) * k), sf=lambda k, p: xp.exp(xp.log1p(-p) * k),
        logsf=lambda k, p: xp.log1p(-p) * k, is_discrete=True,
    ),
}  # fmt: skip
"""Name → distribution of whole numbers."""
