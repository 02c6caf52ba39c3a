"""Reductions of rows of loops of every kind: ended early, of a number of steps known at run time, of none or one,
with what reverse mode keeps given, nested, of any dtype. Values are NumPy's, gradients are differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.testing import check_gradient

T, N = 12, 5
RNG = np.random.default_rng(0)
scan: Any = pliant.scan
cumsum: Any = np.cumsum


def ended(x: Any) -> Any:
    """Rows of a loop that is left."""
    ys, c = np.zeros((T, N)), x
    for i in range(T):
        c = np.tanh(1.1 * c) + 0.05 * i
        if np.sum(c) > 3.5:
            break
        ys[i] = c
    return ys


def counted(x: Any) -> Any:
    """Rows of a loop of a number of steps known at run time; the last ones are zero."""
    ys, c = np.zeros((T, N)), x
    for i in range(int(np.sum(x * x)) + 3):
        c = np.tanh(1.1 * c) + 0.05 * i
        ys[i] = c
    return ys


def nested(x: Any) -> Any:
    """Rows that depend on a reduction of rows of a loop in each step."""
    ys, c = np.zeros((T, N)), x
    for i in range(T):
        rows = list[Any]()
        for _ in range(T):
            c = np.sin(c) + 0.1
            rows.append(c)
        c = np.mean(np.array(rows) ** 2, axis=0)
        ys[i] = c
    return ys


def one_step(x: Any) -> Any:
    """A single row."""
    ys = np.zeros((1, N))
    for i in range(1):
        ys[i] = np.sin(x) * 2.0
    return ys


MAKERS = (ended, counted, nested, one_step)


def logsumexp(y: Any) -> Any:
    m = np.max(y)
    return m + np.log(np.sum(np.exp(y - m)))


FOLDS: dict[str, Callable[[Any], Any]] = {
    "total": lambda y: np.sum(y * y),
    "columns": lambda y: np.sum(np.sum(y, axis=0) ** 2),
    "variance": lambda y: np.sum(np.var(y, axis=0)),
    "greatest": lambda y: np.max(y * np.arange(1.0, N + 1)),
    "product": lambda y: np.sum(np.prod(1.0 + y, axis=0)),
    "logsumexp": logsumexp,
    "running": lambda y: np.sum(cumsum(y, axis=0) ** 2),
    "last": lambda y: np.sum(y[-1] ** 3),
    "several": lambda y: np.sum(y[0]) * np.mean(y) + logsumexp(y),
}


@pytest.mark.parametrize("fold", FOLDS)
@pytest.mark.parametrize("make", MAKERS, ids=lambda f: f.__name__)
def test_rows_of_loops_of_every_kind(make: Callable[[Any], Any], fold: str) -> None:
    def f(x: Any) -> Any:
        return FOLDS[fold](make(x))

    x = np.linspace(0.2, 0.7, N)
    np.testing.assert_allclose(pliant.jit(f)(x), f(x), rtol=1e-13)
    check_gradient(f, x, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("fold", ["total", "columns", "running"])
def test_rows_of_no_steps(fold: str) -> None:
    def f(x: Any, length: int) -> Any:
        c, rows = scan(lambda c, _: (np.sin(c), c * 2.0), x, None, length=length)
        return FOLDS[fold](rows) + np.sum(c)

    x = np.linspace(0.2, 0.7, N)
    value, slope = pliant.value_and_grad(lambda x: f(x, 0))(x)
    np.testing.assert_allclose(value, np.sum(x))
    np.testing.assert_allclose(slope, np.ones(N))


@pytest.mark.parametrize("save", ["store", "carry", "sqrt", pliant.treeverse(3)])
@pytest.mark.parametrize("fold", FOLDS)
def test_rows_of_loops_with_what_reverse_mode_is_to_keep(fold: str, save: Any) -> None:
    def step(c: Any, v: Any) -> Any:
        c = np.tanh(1.1 * c + v)
        return c, c * v

    vs = np.linspace(-0.3, 0.5, T)

    def rows(x: Any) -> Any:
        made, c = list[Any](), x
        for v in vs:
            c, y = step(c, v)
            made.append(y)
        return np.array(made)

    x = np.linspace(0.2, 0.7, N)
    value, slope = pliant.value_and_grad(lambda x: FOLDS[fold](scan(step, x, vs, save=save)[1]))(x)
    np.testing.assert_allclose(value, FOLDS[fold](rows(x)), rtol=1e-12)
    way = RNG.normal(size=N)
    wanted = (FOLDS[fold](rows(x + 1e-6 * way)) - FOLDS[fold](rows(x - 1e-6 * way))) / 2e-6
    np.testing.assert_allclose(slope @ way, wanted, rtol=1e-6, atol=1e-8)


REDUCED: dict[str, Callable[[Any], Any]] = {
    "sum": lambda y: y.sum(axis=0),
    "prod": lambda y: y.prod(axis=0),
    "max": lambda y: y.max(axis=0),
    "argmin": lambda y: y.argmin(axis=0),
    "any": lambda y: (y == y[3]).any(axis=0),
    "count": lambda y: np.count_nonzero(y, axis=0),
    "cumsum": lambda y: cumsum(y, axis=0)[-1],
    "reversed": lambda y: y[::-2].sum(axis=0),
}


@pytest.mark.parametrize("dtype", ["float32", "int32", "uint8", "complex64", "complex128", "bool"])
@pytest.mark.parametrize("name", REDUCED)
def test_rows_of_every_dtype(name: str, dtype: str) -> None:
    """In the order of NumPy, so that sums of the columns are its own to the bit, and in its dtypes."""

    def f(x: Any) -> Any:
        ys = np.zeros((T, N), dtype)
        for i in range(T):
            ys[i] = x
            x = np.roll(x, 1) ^ x[0] if dtype == "bool" else np.roll(x, 1) + x[2]
        return REDUCED[name](ys)

    x = (RNG.normal(size=N) * 2).astype(dtype)
    wanted, made = f(x), pliant.jit(f)(x)
    assert made.dtype == wanted.dtype
    np.testing.assert_allclose(made, wanted, rtol=1e-5 if dtype in ("float32", "complex64") else 1e-12)
