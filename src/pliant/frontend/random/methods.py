"""Methods of `np.random.Generator` that draw numbers of a distribution: `rng` is what stands for one in a trace."""

from __future__ import annotations

from typing import Any

import numpy

from pliant.frontend.parameters import count_in, of_one_only, sizes, unchecked
from pliant.frontend.random import distributions as of
from pliant.frontend.random.bits import bits_of
from pliant.frontend.random.checks import chance, floats, not_negative, positive
from pliant.frontend.random.drawing import count, filled, number, scaled
from pliant.frontend.random.ziggurat import normal32

np: Any = numpy  # or what a trace has in its place


def random(rng: Any, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
    """Numbers from 0 up to 1."""
    return filled(rng, of.uniform, of.uniform32, size, dtype, out)


def standard_normal(rng: Any, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
    """Numbers of mean 0 and variance 1."""
    return filled(rng, of.normal, normal32, size, dtype, out)


def standard_exponential(
    rng: Any, size: Any = None, dtype: Any = np.float64, method: str = "zig", out: Any = None
) -> Any:
    """Numbers of mean 1."""
    if method == "inv":
        return filled(rng, of.by_logarithm, None, size, dtype, out)
    return filled(rng, of.exponential, None, size, dtype, out)


def standard_gamma(rng: Any, shape: Any, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
    """Gamma numbers of scale 1."""
    shape = not_negative("shape", shape)
    return filled(rng, of.gamma, None, size, dtype, out, shape)


def standard_cauchy(rng: Any, size: Any = None) -> Any:
    """Quotients of normal numbers."""
    return number(rng, of.cauchy, size)


def standard_t(rng: Any, df: Any, size: Any = None) -> Any:
    """Student's t."""
    df = positive("df", df)
    return number(rng, of.student, size, df)


def uniform(rng: Any, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
    """Numbers from `low` up to `high`."""
    low, high = floats(low), floats(high)
    width = high - low
    if not np.all(np.isfinite(width)):
        raise OverflowError("high - low range exceeds valid bounds" if rng.is_new else "Range exceeds valid bounds")
    if rng.is_new and np.any(np.signbit(width)):
        raise ValueError("high - low < 0")
    return scaled(rng, of.uniform, size, low, width)


def normal(rng: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
    """Normal numbers."""
    loc = floats(loc)
    scale = not_negative("scale", scale)
    return scaled(rng, of.normal, size, loc, scale)


def lognormal(rng: Any, mean: Any = 0.0, sigma: Any = 1.0, size: Any = None) -> Any:
    """Numbers whose logarithms are normal."""
    sigma = not_negative("sigma", sigma)
    made = np.exp(normal(rng, mean, sigma, size))
    return made if np.ndim(made) else float(made)


def exponential(rng: Any, scale: Any = 1.0, size: Any = None) -> Any:
    """Numbers of mean `scale`."""
    scale = not_negative("scale", scale)
    return scaled(rng, of.exponential, size, 0.0, scale)


def rayleigh(rng: Any, scale: Any = 1.0, size: Any = None) -> Any:
    """Lengths of pairs of normal numbers."""
    scale = not_negative("scale", scale)
    return scaled(rng, of.rayleigh, size, 0.0, scale)


def laplace(rng: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
    """Exponential numbers of either sign."""
    loc = floats(loc)
    scale = not_negative("scale", scale)
    return number(rng, of.laplace, size, loc, scale)


def gumbel(rng: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
    """Greatest of many."""
    loc = floats(loc)
    scale = not_negative("scale", scale)
    return number(rng, of.gumbel, size, loc, scale)


def logistic(rng: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
    """Numbers whose logits are uniform."""
    loc = floats(loc)
    scale = not_negative("scale", scale)
    return number(rng, of.logistic, size, loc, scale)


def triangular(rng: Any, left: Any, mode: Any, right: Any, size: Any = None) -> Any:
    """Numbers whose density is a triangle."""
    left, mode, right = floats(left), floats(mode), floats(right)
    if np.any(left > mode):
        raise ValueError("left > mode")
    if np.any(mode > right):
        raise ValueError("mode > right")
    if np.any(left == right):
        raise ValueError("left == right")
    return number(rng, of.triangular, size, left, mode, right)


def weibull(rng: Any, a: Any, size: Any = None) -> Any:
    """Powers of exponential numbers."""
    a = not_negative("a", a)
    return number(rng, of.weibull, size, a)


def pareto(rng: Any, a: Any, size: Any = None) -> Any:
    """Exponentials of exponential numbers, less 1."""
    a = positive("a", a)
    return number(rng, of.pareto, size, a)


def power(rng: Any, a: Any, size: Any = None) -> Any:
    """Powers of uniform numbers."""
    a = positive("a", a)
    return number(rng, of.power, size, a)


def gamma(rng: Any, shape: Any, scale: Any = 1.0, size: Any = None) -> Any:
    """Gamma numbers."""
    shape = not_negative("shape", shape)
    scale = not_negative("scale", scale)
    return scaled(rng, of.gamma, size, 0.0, scale, shape)


def chisquare(rng: Any, df: Any, size: Any = None) -> Any:
    """Sums of squares of normal numbers."""
    df = positive("df", df)
    return scaled(rng, of.gamma, size, 0.0, 2.0, df / 2.0)


def f(rng: Any, dfnum: Any, dfden: Any, size: Any = None) -> Any:
    """Quotients of such sums."""
    dfnum = positive("dfnum", dfnum)
    dfden = positive("dfden", dfden)
    return number(rng, of.fisher, size, dfnum, dfden)


def beta(rng: Any, a: Any, b: Any, size: Any = None) -> Any:
    """Numbers from 0 to 1, of two shapes."""
    a = positive("a", a)
    b = positive("b", b)
    return number(rng, of.beta, size, a, b)


def poisson(rng: Any, lam: Any = 1.0, size: Any = None) -> Any:
    """Numbers of events."""
    lam = floats(lam)
    if not np.all(lam >= 0):
        raise ValueError("lam < 0 or lam is NaN")
    if np.any(lam > of.MOST):
        raise ValueError("lam value too large")
    return count(rng, of.poisson, size, lam)


def geometric(rng: Any, p: Any, size: Any = None) -> Any:
    """Trials until one succeeds."""
    p = floats(p)
    if not np.all((p > 0) & (p <= 1)):
        raise ValueError("p <= 0, p > 1 or p contains NaNs")
    return count(rng, of.geometric if rng.is_new else of.geometric_by_logarithm, size, p)


def binomial(rng: Any, n: Any, p: Any, size: Any = None) -> Any:
    """Trials that succeed."""
    n = np.asarray(not_negative("n", n)).astype(np.int64)[()]
    one = of.binomial if rng.is_new else of.drawn_binomial
    return count(rng, one, size, n, chance("p", p))


def negative_binomial(rng: Any, n: Any, p: Any, size: Any = None) -> Any:
    """Trials that fail until n succeed."""
    n, p = positive("n", n), floats(p)
    if not np.all((p > 0) & (p <= 1)):
        raise ValueError("p <= 0, p > 1 or p contains NaNs")
    if np.any((1 - p) / p * (n + 10.0 * np.sqrt(n)) > of.MOST):
        raise ValueError("n too large or p too small, see Generator.negative_binomial Notes")
    return count(rng, of.negative_binomial, size, n, p)


def multinomial(rng: Any, n: Any, pvals: Any, size: Any = None) -> Any:
    """Trials of each of several results."""
    pvals = np.asarray(pvals, np.float64)
    if np.ndim(n) or pvals.ndim != 1:
        raise of_one_only()
    if n < 0:
        raise ValueError("n < 0")
    if not np.all((pvals >= 0) & (pvals <= 1)):
        raise ValueError("pvals < 0, pvals > 1 or pvals contains NaNs")
    if np.sum(pvals[:-1]) > 1.0 + 1e-12:
        raise ValueError("sum(pvals[:-1]) > 1.0")
    made = np.zeros((count_in(size), len(pvals)), np.int64)
    bits = bits_of(rng.parts)
    for row in range(len(made)):
        left, rest = n, 1.0
        for k in range(len(pvals) - 1):
            if left > 0:
                made[row, k] = of.binomial(bits, left, pvals[k] / rest)
                left = left - made[row, k]
                rest = rest - pvals[k]
        made[row, -1] = left
    bits.store(rng.parts)
    return made.reshape((*sizes(size), len(pvals)))


def dirichlet(rng: Any, alpha: Any, size: Any = None) -> Any:
    """Shares of 1."""
    alpha = np.asarray(alpha, np.float64)
    if rng.is_new and np.any(alpha < 0):
        raise ValueError("alpha < 0")
    if not rng.is_new and np.any(alpha <= 0):
        raise ValueError("alpha <= 0")
    shape = (*sizes(size), len(alpha))
    if rng.is_new and np.max(alpha) < 0.1:
        return _broken(rng, alpha, size).reshape(shape)
    made = number(rng, of.gamma, shape, alpha)
    total = np.zeros(shape[:-1])
    for k in range(len(alpha)):
        total = total + made[..., k]
    return made * (1.0 / total)[..., None]


def _broken(rng: Any, alpha: Any, size: Any) -> Any:
    """Shares of 1, by breaking a stick: the sums of what is left are beta numbers."""
    made = np.zeros((count_in(size), len(alpha)))
    rests = np.cumsum(alpha[::-1])[::-1]
    bits = bits_of(rng.parts)
    for row in range(len(made)):
        left = 1.0
        for k in range(len(alpha) - 1):
            if rests[k + 1] > 0:
                share = of.beta(bits, alpha[k], rests[k + 1])
                made[row, k] = left * share
                left = left * (1.0 - share)
        made[row, -1] = left
    bits.store(rng.parts)
    return made


def multivariate_normal(
    rng: Any, mean: Any, cov: Any, size: Any = None, check_valid: Any = None, tol: Any = None, *, method: str = "svd"
) -> Any:
    """Normal numbers of a covariance."""
    mean, cov = np.asarray(mean), np.asarray(cov)
    if check_valid not in (None, "ignore") or tol is not None:
        raise unchecked()
    if method not in ("svd", "eigh", "cholesky"):
        raise ValueError("method must be one of {'eigh', 'svd', 'cholesky'}")
    if mean.ndim != 1:
        raise ValueError("mean must be 1 dimensional")
    if cov.ndim != 2 or cov.shape[0] != cov.shape[1]:
        raise ValueError("cov must be 2 dimensional and square")
    if len(mean) != len(cov):
        raise ValueError("mean and cov must have same length")
    z = number(rng, of.normal, (count_in(size), len(mean)))
    if method == "svd":
        u, s, _ = np.linalg.svd(cov)
        factor = u * np.sqrt(s)
    elif method == "eigh":
        s, u = np.linalg.eigh(cov)
        factor = u * np.sqrt(s)
    else:
        factor = np.linalg.cholesky(cov)
    return (mean + z @ factor.T).reshape((*sizes(size), len(mean)))
