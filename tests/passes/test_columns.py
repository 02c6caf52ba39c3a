"""Loops over columns: arrays are carried with their columns as rows where that pays, and mean the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.core.ir import Function, nodes
from pliant.core.verify import verify
from pliant.ops.loop import Loop
from pliant.ops.while_loop import WhileLoop
from pliant.passes.columns import columns_as_rows
from pliant.pipeline import BEFORE_DERIVATIVES, run_passes
from pliant.testing import run

M, N = 12, 10
Program = Callable[..., Any]


def recursion(x: Any) -> Any:
    """Forward along rows."""
    y = np.zeros_like(x)
    for j in range(1, x.shape[1]):
        y[:, j] = x[:, j] + x[:, j - 1] * y[:, j - 1]
    return y


def backward(x: Any) -> Any:
    """Backward along rows, but for the first and the last, from a start of its own."""
    y = np.zeros_like(x)
    y[:, -1] = 1.0
    for j in range(x.shape[1] - 3, -1, -1):
        y[1:-1, j] = np.sin(y[1:-1, j + 1]) + x[1:-1, j] * y[1:-1, j + 2]
    return y


def orthogonal(x: Any) -> Any:
    """An inner loop over the columns to the right."""
    x = x.copy()
    for k in range(x.shape[1]):
        x[:, k] /= np.sqrt(x[:, k] @ x[:, k])
        for j in range(k + 1, x.shape[1]):
            x[:, j] -= x[:, k] * (x[:, k] @ x[:, j])
    return x


def branching(x: Any) -> Any:
    """Another formula in the first step, where the array is written in a branch."""
    y = np.zeros_like(x)
    for j in range(x.shape[1]):
        if j == 0:
            y[:, 0] = x[:, 0]
        else:
            y[:, j] = 0.5 * y[:, j - 1] + x[:, j] ** 2
    return y


def planes(x: Any) -> Any:
    """Planes of an array of rank 3."""
    z = np.zeros((2, *x.shape))
    z[0, :, 0] = x[:, 0]
    for k in range(1, x.shape[1]):
        z[:, :, k] += 0.3 * z[:, :, k - 1] ** 2 + x[:, k]
    return z


def chained(x: Any) -> Any:
    """One loop after another."""
    return backward(recursion(x))


def to_the_right(x: Any) -> Any:
    """All columns that are left, and one."""
    x = x.copy()
    for k in range(x.shape[1] - 1):
        x[:, k + 1 :] -= 0.1 * x[:, k, None]
        x[:, k] *= 2.0
    return x


def to_the_end(x: Any) -> Any:
    """Sweeps of which the end is found on the way: a while loop around one over columns."""
    y, change = np.zeros_like(x), 1.0
    while change > 1e-3:
        old = y[0, 1] * 1.0
        for j in range(1, x.shape[1]):
            y[:, j] = x[:, j] + 0.5 * np.sin(y[:, j - 1]) + 0.01 * y[:, j]
        change = abs(y[0, 1] - old)
    return y


def searching(x: Any) -> Any:
    """A while loop over columns."""
    x, j = x.copy(), 1
    while j < N and x[0, j] < 50.0:
        x[:, j] += 0.9 * x[:, j - 1]
        j += 1
    return x


def along_rows(x: Any) -> Any:
    """Rows, which lie in one piece already."""
    y = np.zeros_like(x)
    for i in range(1, x.shape[0]):
        y[i] = x[i] + 0.5 * y[i - 1]
    return y


def both_ways(x: Any) -> Any:
    """Rows and columns of one array."""
    x = x.copy()
    for k in range(1, N):
        x[:, k] += x[:, k - 1]
        x[k, :] += x[k - 1, :]
    return x


def apart(x: Any) -> Any:
    """Columns that do not depend on each other."""
    y = np.zeros_like(x)
    for j in range(x.shape[1]):
        y[:, j] = x[:, j] * j
    return y


def looked_at(x: Any) -> Any:
    """The whole array in each step."""
    x = x.copy()
    for j in range(1, x.shape[1]):
        x[:, j] += 0.1 * x[:, j - 1] + 0.001 * x.sum()
    return x


def few_steps(x: Any) -> Any:
    """Two columns of many."""
    x = x.copy()
    for j in range(1, 3):
        x[:, j] += np.sin(x[:, j - 1])
    return x


def asked(x: Any) -> Any:
    """The condition of a while loop reads the array."""
    x, j = x.copy(), 1
    while j < N and x.sum() < 1000.0:
        x[:, j] += 0.9 * x[:, j - 1]
        j += 1
    return x


TURNED: tuple[Program, ...] = (recursion, backward, orthogonal, branching, planes, chained, to_the_right, to_the_end)
LEFT: tuple[Program, ...] = (along_rows, both_ways, apart, looked_at, few_steps, searching, asked)


def matrix(seed: int = 0) -> Any:
    return np.random.default_rng(seed).uniform(0.1, 1.0, (M, N))


def before(f: Program) -> Function:
    """A program as it comes to the pass."""
    passes = BEFORE_DERIVATIVES[: [p.name for p in BEFORE_DERIVATIVES].index("columns")]
    return run_passes(passes, pliant.trace(f, matrix()))


def carried(fn: Function) -> set[tuple[int, ...]]:
    """The shapes of the arrays that the outermost loops carry."""
    loops = [node for node in nodes(fn.results) if isinstance(node.op, Loop | WhileLoop)]
    found = {a.shape for n in loops for a, kind in zip(n.args, n.op.ins, strict=True) if kind == "carry"}
    return {shape for shape in found if shape}


@pytest.mark.parametrize("f", TURNED)
def test_columns_become_rows(f: Program) -> None:
    shapes = carried(columns_as_rows(before(f)))
    assert shapes in ({(N, M)}, {(N, 2, M)})


@pytest.mark.parametrize("f", LEFT)
def test_other_loops_stay_as_they_are(f: Program) -> None:
    fn = before(f)
    assert columns_as_rows(fn) == fn


@pytest.mark.parametrize("f", TURNED)
def test_the_program_means_the_same(f: Program) -> None:
    fn = before(f)
    for got, want in zip(run(verify(columns_as_rows(fn)), [matrix()]), run(fn, [matrix()]), strict=True):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("f", TURNED + LEFT)
def test_values_are_those_of_numpy(f: Program) -> None:
    np.testing.assert_allclose(pliant.jit(f)(matrix()), f(matrix()), rtol=1e-13)


@pytest.mark.parametrize("f", TURNED + LEFT)
def test_gradients_are_those_of_differences(f: Program) -> None:
    x, way, step = matrix(), matrix(1), 1e-6
    weights = np.random.default_rng(2).normal(size=f(x).shape)
    slope = float((weights * (f(x + step * way) - f(x - step * way))).sum()) / (2 * step)
    got = pliant.grad(lambda x: (weights * f(x)).sum())(x)
    np.testing.assert_allclose((got * way).sum(), slope, rtol=1e-6)


@pytest.mark.parametrize("f", TURNED)
def test_batches_are_those_of_a_python_loop(f: Program) -> None:
    xs = np.stack([matrix(seed) for seed in range(3)])
    np.testing.assert_allclose(pliant.vmap(f)(xs), np.stack([f(x) for x in xs]), rtol=1e-13)
