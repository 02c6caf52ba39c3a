"""What a loop reads row by row is made in it: gradients keep the rows, and no cotangents of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.core.ir import nodes
from pliant.ops.loop import Loop

T, N = 200, 40
X = np.random.default_rng(0).normal(size=T)
START = np.random.default_rng(1).normal(size=N)


def rows(x: Any) -> Any:
    ys, c = np.zeros((T, N)), START * x[0]
    for i in range(T):
        c = np.tanh(c * 0.9 + x[i])
        ys[i] = c
    return ys


def workspace(f: Callable[..., Any], *args: Any) -> int:
    """Bytes that a call needs beside its arguments."""
    words = re.findall(r"([0-9,]+) bytes (?:allocated|of workspace)", pliant.explain(f, *args).memory)
    return sum(int(word.replace(",", "")) for word in words)


LOSSES: dict[str, Callable[[Any], Any]] = {
    "greatest": lambda y: y.max(),
    "greatest of each": lambda y: y.max(axis=0).sum(),
    "greatest size": lambda y: np.abs(y).max(),
    "spread": lambda y: np.ptp(y),
    "variance": lambda y: y.var(),
    "norm": lambda y: np.linalg.norm(y),
    "squares": lambda y: (y**2).sum(),
    "several": lambda y: y.sum() + (y**2).sum() + y.max(),
}


@pytest.mark.parametrize("loss", LOSSES)
def test_a_gradient_keeps_one_array_of_rows(loss: str) -> None:
    def f(x: Any) -> Any:
        return LOSSES[loss](rows(x))

    assert workspace(pliant.grad(f), X) < 1.2 * 8 * T * N
    way, h = np.sin(np.arange(float(T))), 1e-6
    slope = (f(X + h * way) - f(X - h * way)) / (2 * h)
    assert pliant.grad(f)(X) @ way == pytest.approx(slope, rel=1e-4, abs=1e-6)


def test_inputs_of_a_loop_are_made_in_it() -> None:
    table = np.random.default_rng(0).normal(size=(T, N))

    def f(table: Any, w: Any) -> Any:
        c = np.zeros(N)
        for row in 2 * table * w - 1:
            c = np.tanh(c + row)
        return c

    np.testing.assert_allclose(pliant.jit(f)(table, START), f(table, START), rtol=1e-12)
    assert workspace(f, table, START) < 8 * N * 10


def test_what_takes_long_and_is_read_twice_is_made_once() -> None:
    table = np.random.default_rng(0).normal(size=(T, N))

    def f(table: Any) -> Any:
        logs = np.exp(table)
        c, d = np.zeros(N), np.zeros(N)
        for row in logs:
            c = np.tanh(c + row)
        for row in logs[::-1]:
            d = np.tanh(d * row)
        return c + d

    np.testing.assert_allclose(pliant.jit(f)(table), f(table), rtol=1e-12)
    program = pliant.explain(f, table).optimised
    held = [n for node in nodes(program.results) if isinstance(node.op, Loop) for n in nodes(node.op.body.results)]
    assert sum(n.op.name == "exp" for n in [*nodes(program.results), *held]) == 1


def test_arrays_read_and_written_row_by_row_are_given_row_by_row() -> None:
    def f(x: Any) -> Any:
        y = x * 2.0
        for i in range(6):
            y[i] = np.sin(y[i]) + x[i]
        return y

    x = np.linspace(0, 1, 6)
    np.testing.assert_allclose(pliant.jit(f)(x), f(x), rtol=1e-14)
    np.testing.assert_allclose(pliant.jacobian(f)(x), np.diag(2 * np.cos(2 * x) + 1), rtol=1e-12)


def test_an_array_that_is_written_in_place_is_the_callers() -> None:
    def f(x: Any) -> None:
        for i in range(5):
            x[i] = x[i] * 2 + 1

    x = np.arange(5.0)
    pliant.jit(f)(x)
    np.testing.assert_array_equal(x, np.arange(5.0) * 2 + 1)
