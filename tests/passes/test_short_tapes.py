"""Stacks that a loop's derivative reads are made again in blocks: the same values and gradients, bit by bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pytest

import pliant
from pliant.core.ir import Function
from pliant.core.verify import verify
from pliant.passes import short_tapes
from pliant.pipeline import optimise
from pliant.rewrite.explain import Log
from pliant.testing import run

Program: TypeAlias = Callable[..., Any]


def logistic(x: Any, r: Any) -> Any:
    for i in range(r.shape[0]):
        x = r[i] * x * (1.0 - x)
    return x.sum()


def logistic_down(x: Any, r: Any) -> Any:
    for i in range(r.shape[0] - 1, -1, -1):
        x = r[i] * x * (1.0 - x)
    return x.sum()


def coupled(x: Any, r: Any) -> Any:
    """Two states, of which the second reads the first."""
    y = x[::-1].copy()
    for i in range(r.shape[0]):
        x, y = x + 0.1 * y * x, y - 0.1 * x * r[i]
    return (x * y).sum()


def scaled(x: Any, r: Any) -> Any:
    """A sum over all elements, kept for each step, and a scalar state that need not be run again."""
    size = 1.0
    for i in range(r.shape[0]):
        size = np.sqrt(x @ x) * size + 1.0
        x = x * x / size + r[i]
    return x.sum() * size


def recursion(x: Any, r: Any) -> Any:
    """Durbin's, for a vector that need not be an autocorrelation."""
    y = np.zeros_like(r)
    a, b = -r[0], 1.0 + x[0]
    y[0] = a
    for k in range(1, r.shape[0]):
        b = (1.0 - a * a) * b
        a = -(r[k] + np.flip(r[:k]) @ y[:k]) / b
        y[:k] += a * np.flip(y[:k])
        y[k] = a
    return y.sum()


def orthogonal(x: Any, r: Any) -> Any:
    """Gram and Schmidt's method: a loop in the loop, and arrays that hold at the end what it needs."""
    a, n = np.outer(r, x), x.shape[0]
    for k in range(n):
        a[k, k] += 1.0
    q, t = np.zeros_like(a), np.zeros((n, n))
    for k in range(n):
        t[k, k] = np.sqrt(a[:, k] @ a[:, k])
        q[:, k] = a[:, k] / t[k, k]
        for j in range(k + 1, n):
            t[k, j] = q[:, k] @ a[:, j]
            a[:, j] -= q[:, k] * t[k, j]
    return q.sum() + t.sum()


def sweeps(x: Any, r: Any) -> Any:
    """Elements changed in place one after the other, by neighbours."""
    for i in range(r.shape[0]):
        for j in range(1, x.shape[0] - 1):
            x[j] = x[j] * (x[j - 1] - x[j + 1]) + r[i]
    return x.sum()


def stacked(x: Any, r: Any) -> Any:
    """Rows that are results too, a sum of the steps and a maximum."""

    def step(x: Any, r: Any) -> tuple[Any, Any]:
        x = x * (1.0 - x) * r
        return x, x * x

    made: Any = pliant.scan(step, x, r)
    last, rows = made[0], made[1]
    return (rows * x).sum() + last.max() * rows.max()


def nested(x: Any, r: Any) -> Any:
    """A loop whose step holds a loop with a tape of its own."""
    for _ in range(3):
        for i in range(r.shape[0]):
            x = r[i] * x * (1.0 - x)
        x = x * x
    return x.sum()


PROGRAMS: tuple[Program, ...] = (
    logistic, logistic_down, coupled, scaled, recursion, orthogonal, sweeps, stacked, nested,
)  # fmt: skip


@pytest.fixture
def everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stacks of any size are made again, if that saves memory."""
    monkeypatch.setattr(short_tapes, "FAR", 1)
    monkeypatch.setattr(short_tapes, "MOST", 10_000)


def arguments(n: int, steps: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    return rng.uniform(0.2, 0.8, n), rng.uniform(0.1, 0.4, steps)


def of(program: Program) -> Program:
    """A new function, for which nothing is compiled yet, that leaves its arguments alone."""

    def fresh(x: Any, r: Any) -> Any:
        return program(x.copy(), r)

    return fresh


def in_blocks(program: Program, *args: Any) -> int:
    """How many of its loops' stacks are made in blocks."""
    log = Log()
    verify(optimise(traced(program, *args), log))
    return log.fired["tape_in_blocks"]


def traced(program: Program, *args: Any) -> Function:
    """Its value and gradient, as they come from the transformations."""
    return pliant.trace(pliant.value_and_grad(of(program), argnums=(0, 1)), *args)


@pytest.mark.parametrize("steps", [36, 37])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_gradients_stay_the_same(
    program: Program, steps: int, everywhere: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    args = arguments(20, steps)
    fast = pliant.value_and_grad(of(program), argnums=(0, 1))(*args)
    monkeypatch.setattr(short_tapes, "FAR", 1 << 60)
    slow = pliant.value_and_grad(of(program), argnums=(0, 1))(*args)
    np.testing.assert_allclose(fast[0], slow[0], rtol=1e-14)
    for got, want in zip(fast[1], slow[1], strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_stacks_of_these_are_made_in_blocks(program: Program, everywhere: None) -> None:
    assert in_blocks(program, *arguments(20, 36)) > 0


@pytest.mark.parametrize("program", [logistic, coupled, recursion, orthogonal], ids=lambda program: program.__name__)
def test_no_bit_of_them_changes(program: Program, everywhere: None, monkeypatch: pytest.MonkeyPatch) -> None:
    args = arguments(20, 37)
    fn = traced(program, *args)
    fast = run(optimise(fn), args)
    monkeypatch.setattr(short_tapes, "FAR", 1 << 60)
    for got, want in zip(fast, run(optimise(fn), args), strict=True):
        np.testing.assert_array_equal(got, want)


def test_long_stacks_that_take_long_to_make_again_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def waves(x: Any, r: Any) -> Any:
        for i in range(r.shape[0]):
            x = np.sin(x) * r[i]
        return x.sum()

    monkeypatch.setattr(short_tapes, "FAR", 1)
    assert in_blocks(waves, *arguments(100, 36)) == 0


def test_short_stacks_are_kept() -> None:
    assert in_blocks(logistic, *arguments(100, 36)) == 0


def test_long_stacks_are_made_again() -> None:
    assert in_blocks(logistic, *arguments(1000, 1000)) == 1


def test_the_workspace_of_a_long_loop_is_smaller() -> None:
    text = str(pliant.explain(pliant.grad(of(logistic)), *arguments(1000, 2000)))
    (found,) = [line for line in text.splitlines() if line.startswith("workspace")]
    assert int(found.split()[1]) < 2 * 1000 * 2000  # bytes; the states are four times that
