"""Folds over rows: values as NumPy's, derivatives as differences, ties and zeros, batches, no rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant
from pliant import folds
from pliant.testing import check_gradient

X = np.random.default_rng(0).normal(size=(5, 3))
WANTED: dict[str, Any] = {
    "total": lambda x: np.sum(x, 0),
    "product": lambda x: np.prod(x, 0),
    "maximum": lambda x: np.max(x, 0),
    "minimum": lambda x: np.min(x, 0),
    "argmax": lambda x: np.argmax(x, 0),
    "argmin": lambda x: np.argmin(x, 0),
    "logsumexp": lambda x: np.log(np.sum(np.exp(x), 0)),
    "moments": lambda x: (np.mean(x, 0), np.var(x, 0)),
}


@pytest.mark.parametrize("name", WANTED)
def test_folds_are_what_numpy_computes(name: str) -> None:
    def f(x: Any) -> Any:
        return pliant.reduce(getattr(folds, name), None, x)

    for g in (f, pliant.jit(f)):
        for a, b in zip(np.atleast_2d(g(X)), np.atleast_2d(WANTED[name](X)), strict=True):
            np.testing.assert_allclose(a, b)


@pytest.mark.parametrize("name", ["maximum", "argmin", "logsumexp"])
def test_folds_of_a_batch_are_those_of_each_problem(name: str) -> None:
    def f(x: Any) -> Any:
        return pliant.reduce(getattr(folds, name), None, x)

    np.testing.assert_allclose(pliant.vmap(f)(np.stack([X, -X])), [f(X), f(-X)])


@pytest.mark.parametrize("name", [n for n in WANTED if not n.startswith("arg")])
def test_folds_have_the_derivatives_of_differences(name: str) -> None:
    def f(x: Any) -> Any:
        made = pliant.reduce(getattr(folds, name), None, x)
        return np.sum((made[0] * made[1] if name == "moments" else made) ** 2)

    check_gradient(f, X)
    np.testing.assert_allclose(pliant.hvp(f)(X, X), _hvp(f, X), rtol=1e-5, atol=1e-7)


def _hvp(f: Any, x: Any) -> Any:
    step = 1e-6
    slope = pliant.grad(f)
    return (slope(x + step * x) - slope(x - step * x)) / (2 * step)


def test_averages_with_weights() -> None:
    v = np.random.default_rng(1).normal(size=(5, 2))

    def f(x: Any, v: Any) -> Any:
        return pliant.reduce(folds.softmax_weighted, None, (x, v))

    weights = np.exp(X[:, 0]) / np.sum(np.exp(X[:, 0]))
    np.testing.assert_allclose(f(X[:, 0], v), weights @ v)
    check_gradient(lambda x, v: np.sum(f(x, v) ** 2), X[:, 0].copy(), v)
    check_gradient(lambda x, v: np.sum(f(x, v) ** 2), X[:, 0].copy(), v, argnums=1)


def test_ties_share_and_zeros_count() -> None:
    def best(x: Any) -> Any:
        return pliant.reduce(folds.maximum, None, x)

    np.testing.assert_allclose(pliant.grad(best)(np.array([2.0, 1.0, 2.0, 2.0])), [1 / 3, 0, 1 / 3, 1 / 3])

    def product(x: Any) -> Any:
        return pliant.reduce(folds.product, None, x)

    np.testing.assert_allclose(pliant.grad(product)(np.array([2.0, 0.0, 3.0])), [0, 6, 0])
    np.testing.assert_allclose(pliant.grad(product)(np.array([0.0, 0.0, 3.0])), [0, 0, 0])


def test_large_exponents_do_not_overflow() -> None:
    x = np.array([1000.0, -np.inf, 1001.0])
    np.testing.assert_allclose(pliant.reduce(folds.logsumexp, None, x), 1001.3132616875182)
    slope = pliant.grad(lambda x: pliant.reduce(folds.logsumexp, None, x))(x)
    np.testing.assert_allclose(slope, [0.26894142, 0, 0.73105858])


def test_folds_of_no_rows_are_what_they_start_from() -> None:
    none = np.zeros((0, 2))
    np.testing.assert_array_equal(pliant.reduce(folds.total, None, none), [0, 0])
    np.testing.assert_array_equal(pliant.reduce(folds.maximum, None, none), [-np.inf, -np.inf])
    assert pliant.reduce(folds.total, None, np.zeros(3, np.int8)).dtype == np.int64


def test_a_fold_of_a_function_and_a_fold_of_ones_own() -> None:
    norm = folds.Fold(lambda x: 0.0, lambda s, x: s + x * x, np.sqrt)

    def f(x: Any) -> Any:
        return pliant.reduce(norm.of(np.sin), None, x)

    np.testing.assert_allclose(f(X[0]), np.linalg.norm(np.sin(X[0])))
    check_gradient(f, X[0])
    assert bool(pliant.jit(lambda x: pliant.reduce(folds.any_.of(lambda x: x > 9), None, x))(X[0])) is False
    assert bool(pliant.reduce(folds.all_.of(lambda x: x < 9), None, X[0])) is True


@pytest.mark.parametrize("backend", ["reference", "llvm"])
def test_extrema_of_bools_that_steps_make(backend: str):
    def f(x: Any) -> Any:
        y = np.equal.accumulate(x)
        return np.minimum.accumulate(y), np.maximum.accumulate(~y[::-1]), np.min(y), np.max(~y)

    for n in range(16):
        x = np.array([n & 1, n & 2, n & 4, n & 8], bool)
        for got, want in zip(pliant.jit(f, backend=backend)(x), f(x), strict=True):
            np.testing.assert_array_equal(got, want)
