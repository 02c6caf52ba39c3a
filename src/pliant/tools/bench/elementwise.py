"""Twenty elementwise and reduction kernels, at sizes from 10³ to 10⁷ in float32 and float64."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np

from pliant.tools.bench.case import Array, Case

SIZES: Final = (10**3, 10**4, 10**5, 10**6, 10**7)
DTYPES: Final = ("float32", "float64")


def axpy(xp: Any, x: Array, y: Array) -> Array:
    """2.5 x + y."""
    return 2.5 * x + y


def polynomial(xp: Any, x: Array, y: Array) -> Array:
    """A polynomial of degree 4, less y."""
    return (((0.5 * x + 0.25) * x - 1.5) * x + 2.0) * x - y


def divide(xp: Any, x: Array, y: Array) -> Array:
    """x / (1 + y²)."""
    return x / (1 + y * y)


def length(xp: Any, x: Array, y: Array) -> Array:
    """The length of (x, y)."""
    return xp.sqrt(x * x + y * y)


def leaky(xp: Any, x: Array) -> Array:
    """x, a tenth of it where it is negative."""
    return xp.where(x > 0, x, 0.1 * x)


def exponential(xp: Any, x: Array) -> Array:
    """exp x."""
    return xp.exp(x)


def softplus(xp: Any, x: Array) -> Array:
    """log(1 + exp(-|x|))."""
    return xp.log1p(xp.exp(-xp.abs(x)))


def waves(xp: Any, x: Array, y: Array) -> Array:
    """sin x cos y."""
    return xp.sin(x) * xp.cos(y)


def gelu(xp: Any, x: Array) -> Array:
    """The Gaussian error unit, by a tanh."""
    return 0.5 * x * (1 + xp.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))


def normal_density(xp: Any, x: Array, y: Array) -> Array:
    """The normal density of x - y."""
    return xp.exp(-0.5 * (x - y) ** 2) * 0.3989422804


def neighbours(xp: Any, x: Array) -> Array:
    """Each element's mean with its neighbours."""
    return 0.5 * x[1:-1] + 0.25 * (x[:-2] + x[2:])


def transposed(xp: Any, x: Array, y: Array) -> Array:
    """A transposed matrix plus another."""
    return square(x).T + square(y)


def total(xp: Any, x: Array) -> Array:
    """Σ x."""
    return xp.sum(x)


def inner(xp: Any, x: Array, y: Array) -> Array:
    """Σ x y."""
    return xp.sum(x * y)


def squares(xp: Any, x: Array, y: Array) -> Array:
    """Σ (y - exp(sin x))²."""
    return xp.sum((y - xp.exp(xp.sin(x))) ** 2)


def largest(xp: Any, x: Array, y: Array) -> Array:
    """max |x - y|."""
    return xp.max(xp.abs(x - y))


def variance(xp: Any, x: Array) -> Array:
    """The variance of x."""
    return xp.mean((x - xp.mean(x)) ** 2)


def log_sum_exp(xp: Any, x: Array) -> Array:
    """log Σ exp x."""
    top = xp.max(x)
    return top + xp.log(xp.sum(xp.exp(x - top)))


def row_sums(xp: Any, x: Array, y: Array) -> Array:
    """The sums of the rows of a product."""
    return xp.sum(square(x) * square(y), axis=1)


def column_sums(xp: Any, x: Array, y: Array) -> Array:
    """The sums of its columns."""
    return xp.sum(square(x) * square(y), axis=0)


KERNELS: Final[tuple[Callable[..., Array], ...]] = (
    axpy, polynomial, divide, length, leaky, exponential, softplus, waves, gelu, normal_density, neighbours, transposed,
    total, inner, squares, largest, variance, log_sum_exp, row_sums, column_sums,
)  # fmt: skip
ONE_ARRAY: Final = (leaky, exponential, softplus, gelu, neighbours, total, variance, log_sum_exp)


def square(x: Array) -> Array:
    """The longest beginning of a vector that is a square matrix."""
    n = int(math.sqrt(x.shape[0]))  # numba knows no isqrt
    return x[: n * n].reshape(n, n)


def cases(sizes: tuple[int, ...] = SIZES) -> Iterator[Case]:
    """Every kernel in both dtypes at these sizes; the same numbers in every run."""
    for dtype in DTYPES:
        for size in sizes:
            rng = np.random.default_rng(size)
            x, y = (rng.standard_normal(size).astype(dtype) for _ in range(2))
            for fn in KERNELS:
                args = (x,) if fn in ONE_ARRAY else (x, y)
                yield Case("kernels", fn.__name__, fn, args, size)
