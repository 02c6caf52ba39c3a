"""The functions of `np.random`, and `RandomState`, draw at run time what NumPy draws."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np
import pytest
from numpy import random
from numpy.random import RandomState, rand

import pliant
from tests.frontend.test_distributions import assert_same

A: Final = np.linspace(0.5, 1.5, 12).reshape(4, 3)
P: Final = [0.1, 0.2, 0.3, 0.4]

CASES: Final[dict[str, Callable[[Any], Any]]] = {
    "rand": lambda r: (r.rand(), r.rand(3, 2)),
    "randn": lambda r: (r.randn(), r.randn(3), r.randn(2, 2)),
    "random": lambda r: (r.random(), r.random(3), r.random_sample((2,))),
    "randint": lambda r: (r.randint(5), r.randint(2, 9, size=4), r.randint(0, 2**40, size=3)),
    "randint of 32 bits": lambda r: r.randint(5, size=3, dtype=np.int32),
    "randint of 8 bits": lambda r: (
        r.randint(0, 10, 5, np.uint8), r.randint(-100, 100, 9, np.int8), r.randint(0, 256, 3, np.uint8),
        r.randint([0, 4], [1, 256], dtype=np.uint8), r.randint(7, dtype=np.uint8),
    ),
    "randint of bits": lambda r: (r.randint(0, 2, 40, dtype=bool), r.randint(1, dtype=bool), r.randint(2, dtype=bool)),
    "of one number": lambda r: (
        r.randint(1), r.randint(5, 6, 3), r.randint([0, 4, 0], [1, 5, 2**40]), r.choice(1), r.choice(1, 3),
        r.choice(1, 1, replace=False), r.permutation(1),
    ),
    "of no number": lambda r: (
        r.randint(0, size=0), r.randint(5, size=(2, 0)), r.choice(0, 0), r.choice([], 0), r.choice(5, (2, 0)),
        r.choice(A[0], 0, False, [1, 0, 0]), r.normal(size=0), r.poisson(3, 0), r.rand(0), r.permutation(0),
    ),
    "of rank 0": lambda r: (r.randint(5, size=()), r.choice(5, ()), r.choice(A[0], ()), r.choice(5, (), False)),
    "of no width": lambda r: (
        r.uniform(1, 1), r.uniform(2, 1), r.normal(3, 0), r.exponential(0.0), r.gamma(0.0), r.gamma([0, 1], 0.0),
        r.weibull(0.0), r.triangular(0, 0, 1), r.triangular(0, 1, 1), r.laplace(0, 0),
    ),
    "normal": lambda r: (r.normal(1, 2, 3), r.normal(A, A), r.standard_normal(3000)),
    "uniform": lambda r: r.uniform(-1, 1, 5),
    "choice": lambda r: (r.choice(5), r.choice(A[0], 4), r.choice(9, 4, replace=False), r.choice(9, replace=False)),
    "choice by chances": lambda r: (r.choice(4, 3, p=P), r.choice(4, 2, replace=False, p=P)),
    "permutation": lambda r: (r.permutation(9), r.permutation(A)),
    "exponential": lambda r: (r.exponential(2.0), r.standard_exponential(4)),
    "gamma": lambda r: (r.gamma(2.5, size=50), r.gamma(0.5, size=50), r.standard_gamma(1.0, 3)),
    "beta": lambda r: (r.beta(0.5, 0.5, 30), r.beta(2, 3, 30)),
    "poisson": lambda r: (r.poisson(3, 20), r.poisson(30, 50)),
    "binomial": lambda r: (r.binomial(10, 0.3, 20), r.binomial(1000, 0.3, 300)),
    "binomial, none or all": lambda r: (
        r.binomial(0, 0.5), r.binomial(10, 0.0), r.binomial(10, 1.0), r.binomial([0, 40], [0, 1]), r.poisson([0, 3.0]),
        r.multinomial(5, [0, 1.0, 0]),
    ),
    "geometric": lambda r: (r.geometric(1.0), r.geometric(0.5, 9), r.geometric(0.02, 30), r.geometric([1e-9, 0.4])),
    "negative_binomial": lambda r: r.negative_binomial(4, 0.4, 9),
    "multinomial": lambda r: r.multinomial(9, [0.2, 0.3, 0.5]),
    "multivariate_normal": lambda r: (
        r.multivariate_normal([1.0, 2], np.eye(2)), r.multivariate_normal([0.0], [[4.0]], size=(2, 2)),
    ),
    "dirichlet": lambda r: r.dirichlet([1, 2, 3.0]),
    "of normal numbers": lambda r: (r.standard_t(3, 9), r.chisquare(3, 9), r.standard_cauchy(5), r.lognormal(0, 1, 9)),
    "of exponential numbers": lambda r: (r.weibull(2, 9), r.pareto(2, 9), r.power(2, 9), r.rayleigh(1, 9)),
    "of uniform numbers": lambda r: (
        r.laplace(0, 1, 9), r.gumbel(0, 1, 9), r.logistic(0, 1, 9), r.triangular(0, 1, 2, 9), r.f(2, 3, 9),
    ),
}  # fmt: skip


def state(r: Any) -> Any:
    """What a state is, but for a number that is left."""
    kind, key, place, has_other, _ = r.get_state()
    return kind, key.tolist(), place, has_other


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    """The state of `np.random`, which others use too, is what it was."""
    before = np.random.get_state()
    yield
    np.random.set_state(before)


@pytest.mark.parametrize("draw", CASES.values(), ids=CASES)
def test_states_draw_as_numpys_do(draw: Callable[[Any], Any]) -> None:
    rng, other = RandomState(4), RandomState(4)
    compiled = pliant.jit(draw)
    for _ in range(2):
        assert_same(compiled(rng), draw(other))
        assert state(rng) == state(other)


def walk(n: int) -> Any:
    np.random.seed(n)
    x = 0.0
    for _ in range(n):
        if random.rand() < 0.5:
            x += np.random.randn() * rand()
    return x, np.random.randint(100)


def test_the_functions_of_numpy_draw_at_run_time() -> None:
    compiled = pliant.jit(walk)
    for n in (5, 700):
        np.testing.assert_allclose(compiled(n), walk(n), rtol=1e-12)
    compiled(700)
    after = np.random.random()
    walk(700)
    assert np.random.random() == after


def test_states_are_made_inside() -> None:
    def f(x: Any, seed: int) -> Any:
        r = np.random.RandomState(3)
        return r.normal(size=3) + x + r.rand() + RandomState(seed).rand()

    np.testing.assert_allclose(pliant.jit(f)(1.0, 5), f(1.0, 5), rtol=1e-13)


def test_gradients_draw_anew_at_each_call() -> None:
    def loss(w: Any) -> Any:
        return ((w * np.random.randn(3)) ** 2).sum()

    np.random.seed(0)
    made = [pliant.grad(loss)(np.ones(3)) for _ in range(2)]
    np.random.seed(0)
    np.testing.assert_allclose(made, [2 * np.random.randn(3) ** 2 for _ in range(2)], rtol=1e-12)


def draws(n: int) -> Any:
    total = 0.0
    for k in range(n):
        total += np.random.randint(n - k) + np.random.binomial(n - k - 1, 0.3) + np.random.rand()
        if np.random.choice(k + 1) == 0:
            total += np.random.randint(0, k + 1, dtype=np.uint8)
    return total


def test_ranges_of_one_number_draw_nothing_in_loops() -> None:
    np.random.seed(1)
    made = pliant.jit(draws)(20), np.random.random()
    np.random.seed(1)
    assert made == (draws(20), np.random.random())


def test_gradients_draw_in_ranges_of_one_number() -> None:
    def loss(w: Any, m: int) -> Any:
        return (w * np.random.randint(m) + w**2 * np.random.rand()).sum()

    np.random.seed(0)
    made = pliant.grad(loss)(np.ones(3), 1)
    np.random.seed(0)
    np.testing.assert_allclose(made, np.full(3, 2 * np.random.rand()), rtol=1e-12)


def test_states_without_a_seed_differ_at_each_call() -> None:
    def of_state(x: Any, seed: Any = None) -> Any:
        return x + RandomState(seed).rand(2)

    def of_numpy(x: Any) -> Any:
        np.random.seed()
        return x + np.random.rand(2)

    for f in (pliant.jit(of_state), pliant.jit(of_numpy)):
        assert len({float(y) for _ in range(5) for y in f(0.0)}) == 10
    np.testing.assert_allclose(pliant.jit(of_state)(0.0, 7), of_state(0.0, 7))


def test_multivariate_normal_has_the_mean_and_covariance() -> None:
    cov = np.array([[2.0, 0.5], [0.5, 1.0]])
    np.random.seed(0)
    made = pliant.jit(lambda m: np.random.multivariate_normal(m, cov, 20000))(np.array([1.0, 2.0]))
    np.testing.assert_allclose(made.mean(0), [1, 2], atol=0.03)
    np.testing.assert_allclose(np.cov(made.T), cov, atol=0.05)


def test_sizes_that_data_decide() -> None:
    def f(x: Any) -> Any:
        k = (x > 0).sum()
        np.random.seed(1)
        drawn = np.random.random(5 - k), np.random.normal(0, 1, (k, 2)), np.random.randint(0, 5, k), np.random.randn(k)
        rng = np.random.default_rng(int(k))
        return *drawn, rng.normal(size=k), rng.choice(5, k), rng.permutation(k), rng.random(len(x[x > 0]))

    compiled = pliant.jit(f)
    for x in (np.array([1.0, -1, 2]), np.array([1.0, 1, 2]), np.array([0.0, -1, -2])):
        assert_same(compiled(x), f(x))


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda r: r.randint(0), "high <= 0"),
        (lambda r: r.randint(-1), "high <= 0"),
        (lambda r: r.randint(5, 5), "low >= high"),
        (lambda r: r.randint(0, 300, dtype=np.uint8), "high is out of bounds for uint8"),
        (lambda r: r.randint(0, [300, 2], dtype=np.uint8), "high is out of bounds for uint8"),
        (lambda r: r.randint(0, 3, dtype=float), r"Unsupported dtype dtype\('float64'\) for randint"),
        (lambda r: r.choice([]), "'a' cannot be empty unless no samples are taken"),
        (lambda r: r.choice([[1]]), "a must be 1-dimensional"),
        (lambda r: r.choice(A[0], 2, False, [1, 0, 0]), "Fewer non-zero entries in p than size"),
        (lambda r: r.uniform(0, np.inf), "Range exceeds valid bounds"),
        (lambda r: r.dirichlet([0.0, 1.0]), "alpha <= 0"),
        (lambda r: r.permutation(3.0), "x must be an integer or at least 1-dimensional"),
    ],
)
def test_errors_are_numpys(draw: Callable[[Any], Any], message: str) -> None:
    for call in (draw, pliant.jit(draw)):
        with pytest.raises((ValueError, TypeError, IndexError, OverflowError), match=message):
            call(RandomState(0))


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="Seed must be between 0 and"):
        pliant.jit(lambda s: np.random.seed(s))(-1)
    for draw in (lambda: np.random.get_state()[2], lambda: np.random.hypergeometric(3, 4, 5)):
        with pytest.raises(pliant.PliantError, match="would draw once"):
            pliant.jit(draw)()
    with pytest.raises(AttributeError, match="nothing"):
        pliant.jit(lambda: np.random.nothing())()  # pyright: ignore[reportAttributeAccessIssue]
