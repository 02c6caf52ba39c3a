"""The methods of `np.random.Generator`, for draws at run time: `rng` is what stands for one in a trace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from pliant.frontend.random import distributions as of
from pliant.frontend.random import ziggurat as zig
from pliant.frontend.random.bits import U64, Bits
from pliant.frontend.random.shapes import count_in, is_short, shape_of
from pliant.frontend.random.whole import WIDTHS, Short, from_to, masked, upto

MANY: Final = 10000
"""Things of which a sample is the end of a permutation, if it is no small part of them."""


def _each(rng: Any, one: Callable[..., Any], shape: Any, dtype: Any, *parameters: Any) -> Any:
    """What `one` draws, once where there is no shape, or for each element of one."""
    bits = Bits(rng.words, rng.half)
    if shape is None:
        made = one(bits, *parameters)
    else:
        made = np.empty(shape, dtype)
        _fill(made.reshape(-1), one, bits, [_flat(p, shape) for p in parameters])
    bits.store(rng.words, rng.half)
    return made


def _number(rng: Any, one: Callable[..., Any], size: Any, *parameters: Any) -> Any:
    shape = shape_of(size, parameters)
    made = _each(rng, one, shape, np.float64, *parameters)
    return float(made) if shape is None else made


def _scaled(rng: Any, one: Callable[..., Any], size: Any, loc: Any, scale: Any, *parameters: Any) -> Any:
    """What `one` draws, times `scale`, from `loc` on."""
    shape = shape_of(size, (loc, scale, *parameters))
    made = loc + scale * _each(rng, one, shape, np.float64, *parameters)
    return float(made) if shape is None else made


def _count(rng: Any, one: Callable[..., Any], size: Any, *parameters: Any) -> Any:
    shape = shape_of(size, parameters)
    made = _each(rng, one, shape, np.int64, *parameters)
    return int(made) if shape is None else made


def _filled(rng: Any, one: Callable[..., Any], short: Any, size: Any, dtype: Any, out: Any) -> Any:
    """What `one` draws, or `short` of 32 bits, written to `out` if it is given."""
    shape = shape_of(size, ()) if out is None else out.shape
    if not is_short(dtype):
        made = _number(rng, one, shape)
    elif short is None:
        raise NotImplementedError("exponential numbers of 32 bits")
    else:
        made = _each(rng, short, shape, np.float32)
        made = float(made) if shape is None else made
    if out is None:
        return made
    out[...] = made
    return out


def random(rng: Any, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
    return _filled(rng, Bits.uniform, Bits.uniform32, size, dtype, out)


def standard_normal(rng: Any, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
    return _filled(rng, zig.normal, zig.normal32, size, dtype, out)


def standard_exponential(
    rng: Any, size: Any = None, dtype: Any = np.float64, method: str = "zig", out: Any = None
) -> Any:
    if method == "inv":
        return _filled(rng, of.by_logarithm, None, size, dtype, out)
    return _filled(rng, zig.exponential, None, size, dtype, out)


def standard_gamma(rng: Any, shape: Any, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
    made = _number(rng, of.gamma, size if out is None else out.shape, shape)
    if out is None:
        return made
    out[...] = made
    return out


def standard_cauchy(rng: Any, size: Any = None) -> Any:
    return _number(rng, of.cauchy, size)


def standard_t(rng: Any, df: Any, size: Any = None) -> Any:
    return _number(rng, of.student, size, df)


def uniform(rng: Any, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
    return _scaled(rng, Bits.uniform, size, low, high - low)


def normal(rng: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
    return _scaled(rng, zig.normal, size, loc, scale)


def lognormal(rng: Any, mean: Any = 0.0, sigma: Any = 1.0, size: Any = None) -> Any:
    made = np.exp(normal(rng, mean, sigma, size))
    return made if np.ndim(made) else float(made)


def exponential(rng: Any, scale: Any = 1.0, size: Any = None) -> Any:
    return _scaled(rng, zig.exponential, size, 0.0, scale)


def rayleigh(rng: Any, scale: Any = 1.0, size: Any = None) -> Any:
    return _scaled(rng, of.rayleigh, size, 0.0, scale)


def laplace(rng: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
    return _number(rng, of.laplace, size, loc, scale)


def gumbel(rng: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
    return _number(rng, of.gumbel, size, loc, scale)


def logistic(rng: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
    return _number(rng, of.logistic, size, loc, scale)


def triangular(rng: Any, left: Any, mode: Any, right: Any, size: Any = None) -> Any:
    return _number(rng, of.triangular, size, left, mode, right)


def weibull(rng: Any, a: Any, size: Any = None) -> Any:
    return _number(rng, of.weibull, size, a)


def pareto(rng: Any, a: Any, size: Any = None) -> Any:
    return _number(rng, of.pareto, size, a)


def power(rng: Any, a: Any, size: Any = None) -> Any:
    return _number(rng, of.power, size, a)


def gamma(rng: Any, shape: Any, scale: Any = 1.0, size: Any = None) -> Any:
    return _scaled(rng, of.gamma, size, 0.0, scale, shape)


def chisquare(rng: Any, df: Any, size: Any = None) -> Any:
    return _scaled(rng, of.gamma, size, 0.0, 2.0, df / 2.0)


def f(rng: Any, dfnum: Any, dfden: Any, size: Any = None) -> Any:
    return _number(rng, of.fisher, size, dfnum, dfden)


def beta(rng: Any, a: Any, b: Any, size: Any = None) -> Any:
    return _number(rng, of.beta, size, a, b)


def poisson(rng: Any, lam: Any = 1.0, size: Any = None) -> Any:
    return _count(rng, of.poisson, size, lam)


def geometric(rng: Any, p: Any, size: Any = None) -> Any:
    return _count(rng, of.geometric, size, p)


def binomial(rng: Any, n: Any, p: Any, size: Any = None) -> Any:
    return _count(rng, of.binomial, size, n, p)


def negative_binomial(rng: Any, n: Any, p: Any, size: Any = None) -> Any:
    return _count(rng, of.negative_binomial, size, n, p)


def multinomial(rng: Any, n: Any, pvals: Any, size: Any = None) -> Any:
    pvals = np.asarray(pvals)
    made = np.zeros((count_in(size), len(pvals)), np.int64)
    bits = Bits(rng.words, rng.half)
    for row in range(len(made)):
        left, chance = n, 1.0
        for k in range(len(pvals) - 1):
            if left > 0:
                made[row, k] = of.binomial(bits, left, pvals[k] / chance)
                left = left - made[row, k]
                chance = chance - pvals[k]
        made[row, -1] = left
    bits.store(rng.words, rng.half)
    return made.reshape((*(shape_of(size, ()) or ()), len(pvals)))


def dirichlet(rng: Any, alpha: Any, size: Any = None) -> Any:
    alpha = np.asarray(alpha, np.float64)
    shape = (*(shape_of(size, ()) or ()), len(alpha))
    made = _number(rng, of.gamma, shape, alpha)
    total = np.zeros(shape[:-1])
    for k in range(len(alpha)):
        total = total + made[..., k]
    return made * (1.0 / total)[..., None]


def multivariate_normal(
    rng: Any, mean: Any, cov: Any, size: Any = None, check_valid: Any = None, tol: Any = None, *, method: str = "svd"
) -> Any:
    mean, cov = np.asarray(mean), np.asarray(cov)
    z = _number(rng, zig.normal, (count_in(size), len(mean)))
    if method == "svd":
        u, s, _ = np.linalg.svd(cov)
        factor = u * np.sqrt(s)
    elif method == "eigh":
        s, u = np.linalg.eigh(cov)
        factor = u * np.sqrt(s)
    else:
        factor = np.linalg.cholesky(cov)
    return (mean + z @ factor.T).reshape((*(shape_of(size, ()) or ()), len(mean)))


def integers(
    rng: Any, low: Any, high: Any = None, size: Any = None, dtype: Any = np.int64, endpoint: bool = False
) -> Any:
    if high is None:
        low, high = 0, low
    low, high = np.asarray(low)[()], np.asarray(high)[()]
    last = high if endpoint else high - 1
    if np.any(last < low):
        raise ValueError("low > high" if endpoint else "low >= high")
    shape = shape_of(size, (low, high))
    made: Any = np.int64 if dtype is int else dtype
    width = WIDTHS.get(np.dtype(dtype).name)
    if width is None:
        drawn = _each(rng, from_to, shape, np.uint64, low, last)
    else:
        drawn = _each(rng, Short(width).from_to, shape, np.uint64, low, last)
    if shape is not None:
        return drawn.astype(made)
    if dtype is int or dtype is bool:
        return dtype(np.int64(drawn))
    return np.dtype(made).type(drawn)


def choice(
    rng: Any, a: Any, size: Any = None, replace: bool = True, p: Any = None, axis: int = 0, shuffle: bool = True
) -> Any:
    is_number = np.ndim(a) == 0
    count = a if is_number else np.shape(a)[axis]
    if p is None:
        places = integers(rng, 0, count, size) if replace else _sample(rng, count, size, shuffle)
    else:
        p = np.asarray(p, np.float64)
        places = _likely(rng, p, size) if replace else _likely_sample(rng, p, size)
    if is_number:
        return places if np.ndim(places) else int(places)
    return np.take(np.asarray(a), places, axis)


def _likely(rng: Any, p: Any, size: Any) -> Any:
    """Places, each with its probability."""
    total = np.cumsum(p)
    return np.searchsorted(total / total[-1], random(rng, size), side="right")


def _likely_sample(rng: Any, p: Any, size: Any) -> Any:
    """So many places that differ, with their probabilities."""
    wanted = count_in(size)
    found, is_taken, count = np.zeros(wanted, np.int64), np.zeros(len(p), np.bool_), 0
    bits = Bits(rng.words, rng.half)
    while count < wanted:
        total = np.cumsum(np.where(is_taken, 0.0, p))
        total = total / total[-1]
        for _ in range(wanted - count):
            place = np.searchsorted(total, bits.uniform(), side="right")
            if not is_taken[place]:
                is_taken[place] = True
                found[count] = place
                count += 1
    bits.store(rng.words, rng.half)
    return found[0] if size is None else found.reshape(shape_of(size, ()))


def _sample(rng: Any, count: Any, size: Any, shuffle: bool) -> Any:
    """So many places that differ, each as likely as the others. R. W. Floyd, Comm. ACM 30(9), 1987."""
    wanted = count_in(size)
    if count > MANY and wanted > count // (50 if shuffle else 20):
        found = _permuted(rng, np.arange(count), max(count - wanted, 1), upto)[count - wanted :]
    else:
        found, is_taken = np.zeros(wanted, np.int64), np.zeros(count, np.bool_)
        bits = Bits(rng.words, rng.half)
        for k in range(wanted):
            last = count - wanted + k
            place = np.int64(upto(bits, U64(last)))
            place = np.int64(last) if is_taken[place] else place
            is_taken[place] = True
            found[k] = place
        bits.store(rng.words, rng.half)
        if shuffle:
            found = _permuted(rng, found, 1, upto)
    return found[0] if size is None else found.reshape(shape_of(size, ()))


def _permuted(rng: Any, x: Any, first: int = 1, draw: Callable[..., Any] = masked) -> Any:
    """A row of elements, each from `first` on in turn, from the last, exchanged with one before."""
    x = x.copy()
    bits = Bits(rng.words, rng.half)
    for k in range(len(x) - 1, first - 1, -1):
        other = np.int64(draw(bits, U64(k)))
        held = x[k]
        x[k] = x[other]
        x[other] = held
    bits.store(rng.words, rng.half)
    return x


def permutation(rng: Any, x: Any, axis: int = 0) -> Any:
    if np.ndim(x) == 0:
        return _permuted(rng, np.arange(x))
    x = np.asarray(x)
    return np.take(x, _permuted(rng, np.arange(x.shape[axis])), axis)


def shuffle(rng: Any, x: Any, axis: int = 0) -> None:
    if isinstance(x, list):
        x[:] = [x[k] for k in _permuted(rng, np.arange(len(x)))]
    else:
        x[...] = permutation(rng, x, axis)


def permuted(rng: Any, x: Any, axis: Any = None, out: Any = None) -> Any:
    x = np.asarray(x)
    if axis is None:
        made = _permuted(rng, x.reshape(-1)).reshape(x.shape)
    else:
        rows = np.moveaxis(x, axis, -1)
        table = np.array(rows).reshape(-1, rows.shape[-1])
        for n in range(len(table)):
            table[n] = _permuted(rng, table[n])
        made = np.moveaxis(table.reshape(rows.shape), -1, axis)
    if out is None:
        return made
    out[...] = made
    return out


def _flat(x: Any, shape: Any) -> Any:
    """A parameter, as a row of one for each element of a shape if it is an array."""
    return np.broadcast_to(x, shape).reshape(-1) if np.ndim(x) else x


def _fill(row: Any, one: Callable[..., Any], bits: Any, parameters: Any) -> None:
    """Draw each element of a row."""
    for n in range(len(row)):
        row[n] = one(bits, *[p[n] if np.ndim(p) else p for p in parameters])
