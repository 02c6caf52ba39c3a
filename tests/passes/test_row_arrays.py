"""Arrays whose rows a loop writes and reads again, and rows before those of a loop: no array of rows is made of them,
and values and derivatives are those of NumPy's way."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.core.ir import Value, nodes
from pliant.ops.loop import Loop
from pliant.passes.row_arrays import row_arrays, upward
from pliant.pipeline import RANGES, SIMPLIFY, run_passes
from tests.passes.test_row_flow import FOLDS, program_of

T, N = 12, 9
X = np.random.default_rng(0).normal(size=N)


def upward_rows(x: Any) -> Any:
    ys = np.zeros((T, N))
    ys[0] = x
    for t in range(1, T):
        ys[t] = np.cos(ys[t - 1]) * 0.9
    return ys


def downward_rows(x: Any) -> Any:
    ys = np.zeros((T, N))
    ys[-1], ys[-2] = x, 0.5 * x
    for t in range(T - 3, -1, -1):
        ys[t] = np.cos(ys[t + 1]) - 0.3 * ys[t + 2]
    return ys


def leapfrog(x: Any) -> Any:
    u = np.zeros((T, N))
    u[0] = x
    u[1] = x * 0.9
    for t in range(1, T - 1):
        u[t + 1] = 2 * u[t] - u[t - 1] - 0.1 * np.sin(u[t])
    return u


def listed(x: Any) -> Any:
    ys = [x]
    for t in range(T - 1):
        ys.append(np.cos(ys[-1]) + 0.1 * t * x)
    return np.array(ys)


def listed_in_twos(x: Any) -> Any:
    ys = [x, 0.5 * x]
    for _ in range(T - 2):
        ys.append(0.5 * ys[-1] - ys[-2])
    return np.stack(ys)


def preceded(x: Any) -> Any:
    ys, c = list[Any](), x
    for _ in range(T - 1):
        c = np.sin(c) * 1.2
        ys.append(c)
    return np.concatenate([x[None], np.array(ys)])


def followed(x: Any) -> Any:
    def step(c: Any, _: Any) -> Any:
        c = np.sin(c) * 1.2
        return c, c

    return np.concatenate([pliant.scan(step, x, np.zeros(T - 2), reverse=True)[1], x[None], 2 * x[None]])


FORWARD = (upward_rows, leapfrog, listed, listed_in_twos, preceded)
MAKERS = (*FORWARD, downward_rows, followed)
EITHER_WAY = ("differences", "logsumexp", "product with a vector", "variance")
IN_ORDER = ("flat", "running sum")


@pytest.mark.parametrize(("make", "fold"), [*product(MAKERS, EITHER_WAY), *product(FORWARD, IN_ORDER)])
def test_no_array_of_rows_is_made(make: Callable[[Any], Any], fold: str) -> None:
    def f(x: Any) -> Any:
        return FOLDS[fold](make(x))

    expected = FOLDS[fold](np.asarray(make(X)))
    np.testing.assert_allclose(pliant.jit(f)(X), expected, rtol=1e-12)
    program = program_of(f, X)
    assert not re.search(rf"f64\[({T}|{T - 1}|{T - 2}), {N}\].* = loop", program)


def _changed(kind: int, y: Any, table: Any) -> Any:
    """One operation on rows."""
    n = y.shape[0]
    able: list[Callable[[], Any]] = [
        lambda: np.sin(y), lambda: y * y, lambda: y - table[:n], lambda: y[1:] - y[:-1], lambda: y[:, ::-1],
        lambda: y - np.mean(y, axis=1, keepdims=True), lambda: y * (1.0 + (y > 0.1)), lambda: y[2 : n - 1],
        lambda: np.exp(0.5 * y), lambda: y[: n - 1], lambda: y[::-1], lambda: y[1:] * table[1:n], lambda: y[2:] - y[:-2],
    ]  # fmt: skip
    return able[kind]()


def _drawn(draw: random.Random, y: Any, table: Any) -> Any:
    """A few operations on rows, then a number."""
    for _ in range(draw.randint(0, 3)):
        y = _changed(draw.randint(0, 12), y, table) if y.shape[0] > 4 else y
    ends: list[Callable[[], Any]] = [
        lambda: y.sum(), lambda: y.max(), lambda: y.var(), lambda: y.std(axis=0).sum(), lambda: y[-1].sum(),
        lambda: (y[::3] ** 2).sum(), lambda: np.logaddexp.reduce(y.ravel()), lambda: y.prod() + y[0].sum() * y[1, 2],
        lambda: y.min() + 0.1 * y.sum(), lambda: y.min(axis=0).sum(),
        lambda: (y > 0.2).any() + 1.0 * (y < 5).all(axis=0).sum() + y.mean(),
    ]  # fmt: skip
    return draw.choice(ends)()


@pytest.mark.parametrize("seed", range(28))
def test_random_programs_over_rows(seed: int) -> None:
    make, table = MAKERS[seed % len(MAKERS)], np.cos(np.arange(T * N)).reshape(T, N)

    def f(x: Any) -> Any:
        draw, y = random.Random(seed), make(x)
        return _drawn(draw, y, table) + _drawn(draw, y, table)

    def slow(x: Any) -> Any:
        draw, y = random.Random(seed), np.asarray(make(x))
        return _drawn(draw, y, table) + _drawn(draw, y, table)

    np.testing.assert_allclose(pliant.jit(f)(X), slow(X), rtol=1e-11)
    way, h = np.cos(np.arange(float(N))), 1e-6
    slope = (slow(X + h * way) - slow(X - h * way)) / (2 * h)
    assert pliant.grad(f)(X) @ way == pytest.approx(slope, rel=2e-4, abs=1e-5)


def test_elements_that_tie_across_the_first_row_share_the_derivative() -> None:
    def f(x: Any) -> Any:
        ys = np.zeros((4, N))
        ys[0] = x
        for t in range(3):
            ys[t + 1] = ys[t] * 1.0
        return ys.max()

    np.testing.assert_allclose(pliant.grad(f)(X), (X.max() == X) * 1.0)


def test_what_a_row_that_is_left_out_would_make_is_not_in_the_gradient() -> None:
    def f(w: Any, x: Any) -> Any:
        ys = [np.zeros(16)]
        for _ in range(40):
            x = x * 1.1
            ys.append(x)
        return np.log(np.array(ys)[1:] * w).sum()

    assert pliant.grad(f)(2.0, np.ones(16)) == pytest.approx(40 * 16 / 2.0, rel=1e-13)


def _loop(place: Callable[[Value], Value], read: Callable[[Value], Value], rows: int) -> Loop:
    def f(x: Any) -> Any:
        def step(i: Any, ys: Any) -> Any:
            return ys.at[place(i)].set(ys[read(i)] * 0.5)

        return pliant.fori_loop(0, 5, step, x)

    fn = run_passes((RANGES, SIMPLIFY), pliant.trace(f, np.ones((rows, 3))))
    (loop,) = [n.op for n in nodes(fn.results) if isinstance(n.op, Loop)]
    return loop


OTHERS: list[tuple[Callable[[Any], Any], Callable[[Any], Any], int]] = [
    (lambda i: i + 1, lambda i: i + 1, 6),  # what no step has written yet
    (lambda i: i + 1, lambda i: i, 7),  # a row that no step writes lies behind
    (lambda i: i + 1, lambda i: 2 * i, 6),
    (lambda i: (3 * i) % 5, lambda i: i, 6),
    (lambda i: i + 6, lambda i: i, 11),  # too many rows to carry
]


@pytest.mark.parametrize(("place", "read", "rows"), OTHERS)
def test_other_arrays_stay(place: Any, read: Any, rows: int) -> None:
    assert not row_arrays(upward(_loop(place, read, rows)))


def test_steps_that_count_downward_are_run_in_reverse() -> None:
    loop = _loop(lambda i: 4 - i, lambda i: 5 - i, 6)
    assert not row_arrays(loop)
    (found,) = row_arrays(upward(loop))
    assert upward(loop).reverse
    assert (found.ahead, found.depth) == (1, 1)
