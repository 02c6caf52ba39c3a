"""Elements that a step writes and the next one reads are passed on: the same numbers, the same errors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.core.inner import functions_of
from pliant.core.ir import Function, nodes
from pliant.core.verify import verify
from pliant.errors import IndexRangeError
from pliant.ops.loop import Loop
from pliant.passes.passed_on import passed_on
from pliant.pipeline import COMPILE, PASSED_ON, run_passes
from pliant.testing import check_gradient
from pliant.transforms.evaluate import evaluate

Program = Callable[..., Any]
BEFORE = COMPILE[: COMPILE.index(PASSED_ON)]
X = np.random.default_rng(0).normal(size=12)


def forward(x: Any) -> Any:
    y = np.zeros(12)
    for i in range(11):
        y[i + 1] = 0.5 * y[i] + x[i]
    return y


def backward(x: Any) -> Any:
    y = np.ones(12)
    for i in range(10, -1, -1):
        y[i] = max(y[i + 1] - 0.3, x[i])
    return y


def table(x: Any) -> Any:
    f = np.zeros((13, 12))
    for i in range(1, 13):
        for j in range(1, 12):
            f[i, j] = max(f[i - 1, j - 1] + x[i - 1] * x[j], f[i - 1, j] - 0.2, f[i, j - 1] - 0.3)
    return f


def triangle(x: Any) -> Any:
    f = np.zeros((12, 12))
    for i in range(12):
        for j in range(i, 11):
            f[i, j + 1] = 0.5 * f[i, j] + x[j]
    return f


def added(x: Any) -> Any:
    y = 1.0 * x
    for i in range(11):
        y[i + 1] += 0.5 * y[i]
    return y


def written_twice(x: Any) -> Any:
    y = np.zeros(12)
    for i in range(10):
        y[i + 1] = x[i] + 0.25 * y[i]
        y[i + 2] = x[i] * 2
    return y


def in_strides(x: Any) -> Any:
    y = np.zeros(24)
    for i in range(1, 12):
        y[2 * i] = 0.5 * y[2 * i - 2] + x[i]
    return y


def whole(x: Any) -> Any:
    y = np.zeros(12, np.int64)
    for i in range(11):
        y[i + 1] = (3 * y[i] + i) % 7
    return x[y]


PASSED: list[Program] = [forward, backward, table, triangle, added, written_twice, in_strides, whole]


def two_before(x: Any) -> Any:
    y = np.ones(12)
    for i in range(2, 12):
        y[i] = 0.5 * y[i - 2] + x[i]
    return y


def at_places(x: Any) -> Any:
    y, places = np.ones(12), np.abs(x * 4).astype(np.int64)
    for i in range(11):
        y[places[i + 1]] = 0.5 * y[places[i]] + x[i]
    return y


def ahead(x: Any) -> Any:
    y = 1.0 * x
    for i in range(11):
        y[i] = 0.5 * y[i + 1]
    return y


def moving(x: Any) -> Any:
    y, k = np.ones(24), 0
    for i in range(11):
        y[i + k + 1] = 0.5 * y[i + k] + x[i]
        k = k + 1
    return y


NOT_PASSED: list[Program] = [two_before, at_places, ahead, moving]


def carried(fn: Function) -> int:
    """How many values all loops carry."""
    held = [(node.op, inner) for node in nodes(fn.results) for inner in functions_of(node.op).values()]
    own = sum([len(node.op.carries) for node in nodes(fn.results) if isinstance(node.op, Loop)])
    return own + sum([carried(inner) for _, inner in held])


@pytest.mark.parametrize("f", [*PASSED, *NOT_PASSED], ids=lambda f: f.__name__)
def test_results_are_those_of_the_loop_as_it_was(f: Program) -> None:
    fn = run_passes(BEFORE, pliant.trace(f, X))
    new = passed_on(fn)
    verify(new, "passed-on")
    assert (carried(new) > carried(fn)) == (f in PASSED)
    for made, wanted in zip(evaluate(new, (X,), np), evaluate(fn, (X,), np), strict=True):
        np.testing.assert_array_equal(made, wanted)
    np.testing.assert_allclose(pliant.jit(f)(X), f(X), rtol=1e-14)


@pytest.mark.parametrize("f", [f for f in (*PASSED, *NOT_PASSED) if f is not whole], ids=lambda f: f.__name__)
def test_gradients_agree_with_differences(f: Program) -> None:
    shape: tuple[int, ...] = f(X).shape
    weights: Any = np.cos(np.arange(math.prod(shape))).reshape(shape)

    def weighted(x: Any) -> Any:
        return np.sum(weights * f(x))

    check_gradient(weighted, X)
    stacked = np.stack([X, X[::-1]])
    made = pliant.vmap(pliant.grad(weighted))(stacked)
    np.testing.assert_allclose(made[1], pliant.grad(weighted)(stacked[1]), rtol=1e-12)


@pytest.mark.parametrize("n", [0, 1, 2, 12])
def test_loops_of_any_number_of_steps(n: int) -> None:
    def f(x: Any, start: Any, n: Any) -> Any:
        y = np.zeros(12)
        for i in range(start, start + n):
            y[i + 1 - start] = 0.5 * y[i - start] + x[i - start]
        return y

    def reverse(x: Any, start: Any, n: Any) -> Any:
        y = np.zeros(14)
        for i in range(n):
            y[n - i] = 0.5 * y[n - i + 1] + x[i]
        return y

    n = min(n, 11)
    for program in (f, reverse):
        np.testing.assert_allclose(pliant.jit(program)(X, 3, n), program(X, 3, n), rtol=1e-14)


@pytest.mark.parametrize("first", [-1, 11, 12])
def test_an_index_out_of_range_is_refused_where_the_user_wrote_it(first: int) -> None:
    def f(x: Any, first: Any) -> Any:
        y = 1.0 * x
        for i in range(3):
            y[first + i + 2] = 0.5 * y[first + i + 1]
        return y

    made = pliant.jit(f)
    if first < 0:
        np.testing.assert_allclose(made(X, first), f(X, first))
    else:
        with pytest.raises(IndexRangeError, match=r"y\[first \+ i \+ [12]\]"):
            made(X, first)


def test_a_loop_without_steps_reads_nothing() -> None:
    def f(x: Any, first: Any, n: Any) -> Any:
        y = 1.0 * x
        for i in range(n):
            y[first + i + 1] = 0.5 * y[first + i]
        return y

    made = pliant.jit(f)
    np.testing.assert_array_equal(made(X, 99, 0), X)
    np.testing.assert_allclose(made(X, 2, 5), f(X, 2, 5))
