"""What a generator draws at run time is what NumPy draws from the same state, and so is the state that is left."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

import pliant

A: Final = np.linspace(0.5, 1.5, 12).reshape(4, 3)
P: Final = [0.1, 0.2, 0.3, 0.4]

CASES: Final[dict[str, Callable[[Any], Any]]] = {
    "random, one": lambda r: r.random(),
    "random": lambda r: r.random((3, 5)),
    "random, none": lambda r: r.random((3, 0)),
    "random of 32 bits": lambda r: (r.random(7, dtype=np.float32), r.random(dtype=np.float32)),
    "random, out": lambda r: r.random(out=np.empty((2, 3))),
    "standard_normal": lambda r: r.standard_normal(5000),
    "standard_normal of 32 bits": lambda r: r.standard_normal(5000, dtype=np.float32),
    "standard_exponential": lambda r: r.standard_exponential((3, 500)),
    "standard_exponential, inv": lambda r: r.standard_exponential(5, method="inv"),
    "standard_cauchy": lambda r: r.standard_cauchy(20),
    "standard_t": lambda r: r.standard_t(3, 20),
    "standard_gamma": lambda r: (r.standard_gamma(2.5, 9), r.standard_gamma(1.0, 9), r.standard_gamma(0.0)),
    "normal": lambda r: (r.normal(), r.normal(1, 2, size=(2, 4, 3))),
    "normal of arrays": lambda r: (r.normal(A, 2.0), r.normal(A, A[0])),
    "lognormal": lambda r: (r.lognormal(), r.lognormal(0.3, 0.4, size=5)),
    "uniform": lambda r: (r.uniform(1, 5), r.uniform(A, 2), r.uniform([0, 1], [2.0, 3])),
    "of short parameters": lambda r: (
        r.uniform(np.int8(-100), np.int8(100), size=3),
        r.uniform(np.float32(0.1), np.float32(0.3)),
        r.gamma(np.float32(2.3), np.float32(0.7), size=3),
        r.beta(np.float32(0.3), np.float32(0.7), size=3),
        r.chisquare([1, 2, 3]),
    ),
    "of rank 0": lambda r: (r.normal(size=()), r.choice(5, size=()), r.integers(5, size=()), r.random(())),
    "of nothing": lambda r: (r.choice(0, 0), r.choice([], 0), r.permutation(0), r.normal(size=0)),
    "exponential": lambda r: (r.exponential(), r.exponential(A)),
    "rayleigh": lambda r: r.rayleigh(2.0, 5),
    "laplace": lambda r: r.laplace(1, 2, 50),
    "gumbel": lambda r: r.gumbel(1, 2, 50),
    "logistic": lambda r: r.logistic(1, 2, 50),
    "triangular": lambda r: r.triangular(0, 1, 3, size=50),
    "weibull": lambda r: (r.weibull(1.5, 50), r.weibull(0.0)),
    "pareto": lambda r: r.pareto(1.5, 50),
    "power": lambda r: r.power(1.5, 50),
    "gamma": lambda r: (r.gamma(3.0, 2.0, 200), r.gamma(0.3, 2.0, 200), r.gamma(A, 2.0)),
    "chisquare": lambda r: r.chisquare(3, 20),
    "f": lambda r: r.f(3, 5, 20),
    "beta": lambda r: (r.beta(0.5, 0.7, 50), r.beta(2, 0.7, 20)),
    "poisson": lambda r: (r.poisson(3), r.poisson(3, 50), r.poisson(30.5, 500), r.poisson([0, 1, 20.0])),
    "geometric": lambda r: (r.geometric(0.5, 50), r.geometric(0.05, 50)),
    "binomial": lambda r: (
        r.binomial(10, 0.3, 50),
        r.binomial(10, 0.8, 50),
        r.binomial([0, 5], 0.5),
        r.binomial(10.7, 0.5),
    ),
    "binomial, many": lambda r: (r.binomial(1000, 0.4, 3000), r.binomial(100000, 0.7, 3000)),
    "negative_binomial": lambda r: r.negative_binomial(5, 0.3, 50),
    "multinomial": lambda r: (r.multinomial(20, [0.2, 0.3, 0.5]), r.multinomial(20, [0.2, 0.3, 0.5], size=4)),
    "dirichlet": lambda r: (r.dirichlet([1.0, 2, 3]), r.dirichlet([1.0, 2, 3], 4)),
    "dirichlet of small shares": lambda r: (r.dirichlet([0.05, 0.02, 0.01]), r.dirichlet([0.09, 0.0, 0.08], (2, 2))),
    "multivariate_normal": lambda r: (
        r.multivariate_normal([1.0, 2], [[2, 0.5], [0.5, 1]]),
        r.multivariate_normal([1.0, 2], [[2, 0.5], [0.5, 1]], size=5, method="cholesky"),
        r.multivariate_normal([1.0, 2], [[2, 0.5], [0.5, 1]], size=(2, 2), method="eigh"),
    ),
    "integers": lambda r: (
        r.integers(7),
        r.integers(-3, 7, size=9),
        r.integers(4, 5, size=3),
        r.integers(5, dtype=int),
    ),
    "integers of 8 bits": lambda r: (
        r.integers(0, 255, size=9, endpoint=True, dtype=np.uint8),
        r.integers(-5, 5, size=11, dtype=np.int8),
    ),
    "integers of 16 bits": lambda r: r.integers(-500, 500, size=11, dtype=np.int16),
    "integers of 32 bits": lambda r: (
        r.integers(-500, 500, size=11, dtype=np.int32),
        r.integers(2**32, size=5, dtype=np.uint32),
    ),
    "integers of 64 bits": lambda r: (
        r.integers(3 * 10**9, size=200),
        r.integers(10**15, size=50),
        r.integers(2**64 - 1, size=5, dtype=np.uint64, endpoint=True),
        r.integers(0, 2**64, size=3, dtype=np.uint64),
        r.integers(2**64 - 5, 2**64, dtype=np.uint64),
    ),
    "bools": lambda r: (r.integers(0, 2, size=70, dtype=bool), r.integers(2, dtype=bool)),
    "integers of arrays": lambda r: r.integers([3, 5, 9], [10, 2**40, 12]),
    "choice": lambda r: (r.choice(10), r.choice(10, 4), r.choice(A), r.choice(A, (2, 2)), r.choice(A, 5, axis=1)),
    "choice by chances": lambda r: (r.choice(4, 6, p=P), r.choice([1.5, 2.5], p=[0.3, 0.7])),
    "choice of others": lambda r: (
        r.choice(50, 20, replace=False),
        r.choice(50, (4, 5), replace=False, shuffle=False),
        r.choice(50, replace=False),
        r.choice(20000, 3000, replace=False),
        r.choice(6, 4, replace=False, p=[0.1, 0.2, 0.05, 0.05, 0.3, 0.3]),
    ),
    "permutation": lambda r: (r.permutation(30), r.permutation(A), r.permutation(A, axis=1)),
    "permuted": lambda r: (r.permuted(A), r.permuted(A, axis=1), r.permuted(A, axis=0)),
}


def generators(seed: int) -> tuple[Any, Any]:
    """Two generators of one state, in which 32 bits are left of a word."""
    both = np.random.default_rng(seed), np.random.default_rng(seed)
    for rng in both:
        rng.integers(5)
    return both


def assert_same(made: Any, wanted: Any) -> None:
    """Of one type; equal, but for the last bits of functions."""
    assert type(made) is type(wanted)
    if type(made) is tuple:
        for one, other in zip(made, wanted, strict=True):
            assert_same(one, other)
        return
    one, other = np.asarray(made), np.asarray(wanted)
    assert (one.dtype, one.shape) == (other.dtype, other.shape)
    np.testing.assert_allclose(one, other, rtol=2e-6 if one.dtype == np.float32 else 1e-13)


@pytest.mark.parametrize("draw", CASES.values(), ids=CASES)
def test_draws_are_those_of_numpy(draw: Callable[[Any], Any]) -> None:
    rng, other = generators(4)
    compiled = pliant.jit(draw)
    for _ in range(2):
        assert_same(compiled(rng), draw(other))
        assert rng.bit_generator.state == other.bit_generator.state


def test_every_layer_of_the_ziggurats_is_met() -> None:
    for draw in (lambda r: r.standard_normal(200_000), lambda r: r.standard_exponential(200_000)):
        rng, other = generators(8)
        assert_same(pliant.jit(draw)(rng), draw(other))
        assert rng.bit_generator.state == other.bit_generator.state


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda r, x: r.normal(0, x), "scale < 0"),
        (lambda r, x: r.gamma(x), "shape < 0"),
        (lambda r, x: r.beta(1.0, x), "b <= 0"),
        (lambda r, x: r.poisson(x), "lam < 0 or lam is NaN"),
        (lambda r, x: r.poisson(x * -1e20), "lam value too large"),
        (lambda r, x: r.geometric(x), "p <= 0, p > 1 or p contains NaNs"),
        (lambda r, x: r.binomial(5, x), "p < 0, p > 1 or p is NaN"),
        (lambda r, x: r.triangular(0, x, 2), "left > mode"),
        (lambda r, x: r.uniform(0, x), "high - low < 0"),
        (lambda r, x: r.multinomial(x, [0.2, 0.8]), "n < 0"),
        (lambda r, x: r.multinomial(9, [0.9, 0.8, 0.1]), "> 1.0"),
        (lambda r, x: r.dirichlet([x, 1.0]), "alpha < 0"),
        (lambda r, x: r.negative_binomial(5, x + 1), "p <= 0"),
        (lambda r, x: r.choice(2, p=[x * np.nan, 1]), "contain NaN"),
        (lambda r, x: r.multivariate_normal(np.zeros(3), np.eye(2)), "mean and cov must have same length"),
        (lambda r, x: r.integers(0, 300, dtype=np.uint8), "high is out of bounds for uint8"),
        (lambda r, x: r.integers(-200, 100, dtype=np.int8), "low is out of bounds for int8"),
        (lambda r, x: r.integers(5, x + 1001, dtype=np.uint8), "high is out of bounds"),
        (lambda r, x: r.integers(5, x), "low >= high"),
        (lambda r, x: r.integers(x), "high <= 0"),
        (lambda r, x: r.integers(5, x, endpoint=True), "low > high"),
        (lambda r, x: r.choice(3, p=[x, 1, 1]), "Probabilities are not non-negative"),
        (lambda r, x: r.choice(3, p=[x + 2, 1, 1]), "Probabilities do not sum to 1"),
        (lambda r, x: r.choice(3, p=[0.5, 0.5]), "a and p must have same size"),
        (lambda r, x: r.choice(3, 5, replace=False), "Cannot take a larger sample than population"),
        (lambda r, x: r.choice(3, 2, replace=False, p=[0, 1, 0]), "Fewer non-zero entries in p than size"),
        (lambda r, x: r.choice(0), "a must be a positive integer"),
        (lambda r, x: r.normal(np.zeros(4), size=(2, 3)), "shape mismatch"),
    ],
)
def test_what_numpy_refuses_is_refused(draw: Any, message: str) -> None:
    rng, other = generators(1)
    for give in (draw, pliant.jit(draw)):
        with pytest.raises(ValueError, match=message):
            give(rng, -1.0 if message not in ("low >= high", "low > high") else -1)
        assert rng.bit_generator.state == other.bit_generator.state


def test_draws_of_no_number_end() -> None:
    for draw in (lambda r, x: r.gamma(x), lambda r, x: r.normal(0, x), lambda r, x: r.standard_t(x)):
        assert np.isnan(pliant.jit(draw)(np.random.default_rng(1), np.nan))


@pytest.mark.parametrize(
    ("draw", "kind", "message"),
    [
        (
            lambda r: r.hypergeometric(5, 6, 7),
            pliant.PliantError,
            "Generator.hypergeometric cannot be used at run time",
        ),
        (lambda r: r.spawn(2), pliant.PliantError, "Generator.spawn cannot be used at run time"),
        (lambda r: r.standard_exponential(3, dtype=np.float32), pliant.PliantError, "of 32 bits"),
        (lambda r: r.nothing(), AttributeError, "no attribute 'nothing'"),
        (lambda r: r.integers(3, dtype=float), TypeError, "Unsupported dtype"),
        (lambda r: r.multinomial([10, 20], [0.2, 0.8]), pliant.PliantError, "of several distributions"),
        (lambda r: r.multivariate_normal([0.0], [[1.0]], tol=1e-9), pliant.PliantError, "tol= of multivariate_normal"),
        (lambda r: r.uniform(0, np.inf), OverflowError, "range exceeds valid bounds"),
        (lambda r: r.random(3, dtype=np.int32), TypeError, "Unsupported dtype"),
    ],
)
def test_what_is_not_drawn_is_an_error(draw: Any, kind: Any, message: str) -> None:
    with pytest.raises(kind, match=message):
        pliant.jit(draw)(np.random.default_rng(0))


def test_other_bits_are_an_error() -> None:
    with pytest.raises(pliant.PliantError, match="random numbers of a MT19937 generator"):
        pliant.jit(lambda r: r.random())(np.random.Generator(np.random.MT19937(0)))


def test_functions_without_source_draw() -> None:
    rng, other = generators(2)
    f = eval("lambda r: r.integers(5) + r.random()")
    assert pliant.jit(f)(rng) == f(other)
