"""What is made of a loop's rows, made in the loop: the values and derivatives of NumPy's way, and no array of rows."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant

T, N = 12, 9
cumsum: Any = np.cumsum
cumprod: Any = np.cumprod
trapezoid: Any = np.trapezoid
scan: Any = pliant.scan
X = np.random.default_rng(0).normal(size=T)
TABLE = np.random.default_rng(1).normal(size=(T, N))
WEIGHTS = np.random.default_rng(2).normal(size=T)
MATRIX = np.random.default_rng(3).normal(size=(N, 3))
START = np.random.default_rng(4).normal(size=N)


def written(x: Any) -> Any:
    ys, c = np.zeros((T, N)), START * x[0]
    for i in range(T):
        c = np.tanh(c * 0.9 + x[i])
        ys[i] = c
    return ys


def appended(x: Any) -> Any:
    ys, c = list[Any](), START * x[0]
    for v in x:
        c = np.tanh(c * 0.9 + v)
        ys.append(c)
    return np.array(ys)


def _step(c: Any, v: Any) -> Any:
    c = np.tanh(c * 0.9 + v)
    return c, c


def scanned(x: Any) -> Any:
    return scan(_step, START * x[0], x)[1]


def scanned_back(x: Any) -> Any:
    return scan(_step, START * x[0], x, reverse=True)[1]


MAKERS = (written, appended, scanned, scanned_back)


def logsumexp(y: Any, axis: Any = None) -> Any:
    m = y.max(axis=axis)
    return m + np.log(np.exp(y - m).sum(axis=axis))


def guarded_logsumexp(y: Any) -> Any:
    m = y.max(axis=0)
    m = np.where(np.isfinite(m), m, 0.0)
    return m + np.log(np.exp(y - m).sum(axis=0))


def softmax_weighted(y: Any) -> Any:
    e: Any = np.exp(y - y.max(axis=0))
    return (e * np.arange(1.0, y.shape[1] + 1)).sum(axis=0) / e.sum(axis=0)


FOLDS: dict[str, Callable[[Any], Any]] = {
    "logsumexp": logsumexp,
    "logsumexp of each": lambda y: logsumexp(y, 0).sum(),
    "logaddexp": lambda y: np.logaddexp.reduce(y, axis=0).sum(),
    "weighted by exponentials": lambda y: softmax_weighted(y).sum(),
    "variance": lambda y: y.var(),
    "deviation of each": lambda y: y.std(axis=0).sum(),
    "variance by hand": lambda y: ((y - y.mean(axis=0)) ** 2).mean(),
    "variance of rows": lambda y: y.var(axis=1).sum(),
    "norm of rows": lambda y: np.linalg.norm(y, axis=1).max(),
    "differences": lambda y: (np.diff(y, axis=0) ** 2).sum(),
    "second differences": lambda y: (y[2:] - 2 * y[1:-1] + y[:-2]).max(),
    "autocorrelation": lambda y: (y[5:] * y[:-5]).mean(),
    "running sum": lambda y: cumsum(y, axis=0).max() + cumsum(y, axis=0)[-1].sum(),
    "running product": lambda y: cumprod(1 + 0.1 * y, axis=0)[-1].sum(),
    "flat": lambda y: (y.ravel() ** 2).sum() + y.argmax() + np.vdot(y, TABLE),
    "product with a vector": lambda y: np.tanh(y @ START).sum(),
    "product with a matrix": lambda y: np.tanh(y @ MATRIX).sum(),
    "trapezoids": lambda y: trapezoid(y, axis=0).sum(),
    "average": lambda y: np.average(y, axis=0, weights=np.arange(1.0, T + 1)).sum(),
    "reversed columns": lambda y: (y[:, ::-1] * TABLE).sum(),
}  # fmt: skip


def program_of(f: Callable[..., Any], *args: Any) -> str:
    text = str(pliant.explain(f, *args))
    return text[text.index("after the passes") : text.index("arrays captured")]


@pytest.mark.parametrize("fold", FOLDS)
@pytest.mark.parametrize("make", MAKERS, ids=lambda f: f.__name__)
def test_values_and_derivatives_are_those_of_the_rows(make: Callable[[Any], Any], fold: str) -> None:
    def f(x: Any) -> Any:
        return FOLDS[fold](make(x))

    def slow(x: Any) -> Any:
        return FOLDS[fold](np.asarray(make(x)))

    np.testing.assert_allclose(pliant.jit(f)(X), slow(X), rtol=1e-12)
    way, h = np.sin(np.arange(float(T))), 1e-6
    slope = (slow(X + h * way) - slow(X - h * way)) / (2 * h)
    assert pliant.grad(f)(X) @ way == pytest.approx(slope, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("fold", FOLDS)
def test_no_array_of_rows_is_made(fold: str) -> None:
    program = program_of(lambda x: FOLDS[fold](appended(x)), X)
    assert f"f64[{T}, {N}] = loop" not in program
    assert program.count("_in_its_loop") > 0


SPECIAL: dict[str, Callable[[Any], Any]] = {
    "logsumexp": logsumexp,
    "of each": lambda y: logsumexp(y, 0),
    "guarded": guarded_logsumexp,
    "weighted": softmax_weighted,
    "variance": lambda y: y.var(),
    "of each column": lambda y: y.var(axis=0),
    "place": lambda y: y.argmax() + 100 * y.argmin(),
    "first": lambda y: (y > 0).argmax(axis=0),
}
NUMBERS = [0.0, 1.0, -2.0, 3.5, np.nan, np.inf, -np.inf, -0.0, 800.0, -900.0]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("name", SPECIAL)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_rows_with_nan_and_infinities_fold_as_numpy_does(name: str, dtype: str, *, reverse: bool) -> None:
    draw, f = np.random.default_rng(0), SPECIAL[name]
    compiled = pliant.jit(lambda x: f(scan(lambda c, v: (c, v * 1), 0.0, x, reverse=reverse)[1]))
    for few in (NUMBERS[:4], [*NUMBERS[:4], -np.inf], [-np.inf], NUMBERS):
        x = draw.choice(few, size=(5, 3)).astype(dtype)
        wanted = f(x)
        np.testing.assert_allclose(compiled(x), wanted, rtol=1e-12 if dtype == "float64" else 1e-5, atol=1e-6)
        assert compiled(x).dtype == wanted.dtype


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "bool", "complex128"])
@pytest.mark.parametrize("reverse", [False, True])
def test_some_rows_are_kept_in_an_array_of_their_own(dtype: str, *, reverse: bool) -> None:
    x = np.random.default_rng(0).integers(0, 5, size=(11, 3)).astype(dtype)
    for rows in (
        slice(None, None, 3),
        slice(1, 9, 4),
        slice(None, None, -3),
        slice(-3, None),
        slice(2, 4),
        slice(8, 2, -2),
    ):
        got = pliant.jit(lambda x, rows=rows: scan(lambda c, v: (c, v), 0.0, x, reverse=reverse)[1][rows])(x)
        np.testing.assert_array_equal(got, x[rows])
        assert got.dtype == x.dtype


def test_every_tenth_row_costs_a_tenth_of_the_memory() -> None:
    memory = pliant.explain(lambda x: pliant.map(lambda v: np.sin(v), x)[::10], np.ones((1000, 100))).memory
    numbers = [int(word.replace(",", "")) for word in memory.split("\n")[0].split() if word[0].isdigit()]
    assert sum(numbers[:2]) < 0.3 * 800_000


def _changed(kind: int, y: Any) -> Any:
    """One operation on rows."""
    n = y.shape[0]
    able: list[Callable[[], Any]] = [
        lambda: np.sin(y), lambda: y * y, lambda: y - TABLE[:n], lambda: y[1:] - y[:-1], lambda: cumsum(y, axis=0),
        lambda: y - y.mean(axis=1, keepdims=True), lambda: y[:, ::-1], lambda: np.where(y > 0.1, y, 0.5 * y),
        lambda: y[2 : n - 1], lambda: np.exp(0.5 * y),
    ]  # fmt: skip
    return able[kind % len(able)]()


def _drawn(draw: random.Random, y: Any) -> Any:
    """A few operations on rows, then a number."""
    for _ in range(draw.randint(0, 3)):
        y = _changed(draw.randint(0, 9), y)
    ends: list[Callable[[], Any]] = [
        lambda: y.sum(), lambda: (y**2).mean(), lambda: y.max(), lambda: y.var(), lambda: y.std(axis=0).sum(),
        lambda: logsumexp(y), lambda: y[-1].sum(), lambda: np.linalg.norm(y), lambda: (y[::3] ** 2).sum(),
        lambda: np.ptp(y), lambda: np.logaddexp.reduce(y.ravel()), lambda: y.ravel().argmax() + 0.1 * y.sum(),
    ]  # fmt: skip
    return draw.choice(ends)()


@pytest.mark.parametrize("seed", range(40))
def test_random_programs_over_rows(seed: int) -> None:
    make = MAKERS[seed % len(MAKERS)]

    def f(x: Any) -> Any:
        draw, y = random.Random(seed), make(x)
        return _drawn(draw, y) + _drawn(draw, y)

    def slow(x: Any) -> Any:
        draw, y = random.Random(seed), np.asarray(make(x))
        return _drawn(draw, y) + _drawn(draw, y)

    np.testing.assert_allclose(pliant.jit(f)(X), slow(X), rtol=1e-11)
    way, h = np.cos(np.arange(float(T))), 1e-6
    slope = (slow(X + h * way) - slow(X - h * way)) / (2 * h)
    assert pliant.grad(f)(X) @ way == pytest.approx(slope, rel=2e-4, abs=1e-5)


@pytest.mark.parametrize("fold", ["logsumexp", "variance", "differences", "flat"])
def test_folds_of_a_batch_are_those_of_each_problem(fold: str) -> None:
    xs = np.stack([X, X[::-1], 2 * X])
    got = pliant.vmap(lambda x: FOLDS[fold](scanned(x)))(xs)
    np.testing.assert_allclose(got, [FOLDS[fold](np.asarray(scanned(x))) for x in xs], rtol=1e-12)


def test_a_loop_in_a_loop_folds_its_rows() -> None:
    def f(x: Any) -> Any:
        total = 0.0
        for k in range(3):
            total = total + logsumexp(appended(x * (k + 1))) + appended(x - k).var()
        return total

    np.testing.assert_allclose(pliant.jit(f)(X), f(X), rtol=1e-12)
    assert f"f64[{T}, {N}] = loop" not in program_of(f, X)
