"""Short loops over large arrays, written out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.core.inner import functions_of
from pliant.core.ir import nodes
from pliant.ops.loop import Loop
from pliant.passes.written_out import written_out
from pliant.pipeline import DEAD, SIMPLIFY
from pliant.rewrite.explain import Log
from pliant.testing import check_gradient

N = 1031


def loops(f: Callable[..., Any], *args: Any) -> int:
    """How many loops are left of a function's program."""
    fn = pliant.trace(f, *args)
    for step in (DEAD, SIMPLIFY):
        fn = step.run(fn, Log())
    todo, count = [written_out(fn)], 0
    while todo:
        found = nodes(todo.pop().results)
        count += sum([isinstance(node.op, Loop) for node in found])
        todo += [inner for node in found for inner in functions_of(node.op).values()]
    return count


def horner(x: Any, c: Any) -> Any:
    y = np.zeros_like(x)
    for a in c:
        y = y * x + a
    return y


def downwards(x: Any, c: Any) -> Any:
    y = x
    for i in range(len(c) - 1, -1, -1):
        y = np.sin(y) * c[i] + i
    return y


def two_that_change_places(x: Any, c: Any) -> Any:
    a, b, s = x, x * 2, 0.0
    for i in range(len(c)):
        a, b = b, a * c[i] - b
        s += c[i]
    return a + s * b


def windows(x: Any, c: Any) -> Any:
    n = len(x) - len(c)
    y = np.zeros(n)
    for i in range(len(c)):
        y += c[i] * x[i : n + i]
    return np.concatenate([y, x[:1]])


def in_another_loop(x: Any, c: Any) -> Any:
    y = x
    for _ in range(40):
        for a in c:
            y = np.tanh(y + a)
        y = np.roll(y, 1)
    return y


@pytest.mark.parametrize(
    ("f", "left"),
    [(horner, 0), (downwards, 0), (two_that_change_places, 0), (windows, 0), (in_another_loop, 1)],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_steps_are_one_pass_over_memory(f: Callable[..., Any], left: int) -> None:
    rng = np.random.default_rng(0)
    x, c = rng.random(N), rng.random(7)
    assert loops(f, x, c) == left
    np.testing.assert_allclose(pliant.jit(f)(x, c), f(x, c), rtol=1e-12)
    for argnum in (0, 1):
        check_gradient(lambda x, c: np.sum(np.cos(0.1 * f(x, c))), x, c, argnums=argnum)
    xs = np.stack([x, x[::-1]])
    np.testing.assert_allclose(pliant.vmap(f, (0, None))(xs, c), [f(x, c) for x in xs], rtol=1e-12)


def smoothed(x: Any, c: Any) -> Any:
    for a in c:
        x = x + a * np.roll(x, 1)
    return x


def sums(x: Any, c: Any) -> Any:
    for a in c:
        x = x * (a / np.sum(x))
    return x


@pytest.mark.parametrize(
    ("f", "size", "steps"),
    [(smoothed, N, 7), (sums, N, 7), (horner, 100, 7), (horner, N, 30)],
    ids=["of other places", "of all places", "of few elements", "of many steps"],
)
def test_other_loops_stay(f: Callable[..., Any], size: int, steps: int) -> None:
    rng = np.random.default_rng(0)
    x, c = rng.random(size), rng.random(steps)
    assert loops(f, x, c) == 1
    np.testing.assert_allclose(pliant.jit(f)(x, c), f(x, c), rtol=1e-12)
