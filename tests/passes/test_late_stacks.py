"""Stacks of what steps find of carries, read as rows of what they leave: the same numbers, one array."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.core.build import trace
from pliant.core.ir import Function, Value, Values, nodes
from pliant.core.types import Type
from pliant.core.verify import verify
from pliant.ops.loop import Loop
from pliant.ops.transcendental import sin
from pliant.passes.late_stacks import late_stacks
from pliant.passes.rows_inside import rows_inside
from pliant.testing import check_gradient
from pliant.transforms.dead import eliminate_dead
from pliant.transforms.evaluate import evaluate

T, N = 7, 8
I64, ROW = Type("i64"), Type("f64", (N,))
scan: Any = pliant.scan


def delayed(depth: int, length: int, *, reverse: bool, ahead: bool) -> Function:
    """A loop that keeps all that steps find of a carry and of those that follow it; another reads it, in either order."""

    def first(i: Value, x: Value, *state: Value) -> Values:
        y = sin(state[0]) + x
        return (y, *state[: depth - 1], y, *state)

    def second(i: Value, *rows: Value) -> Values:
        total = rows[0]
        for k, row in enumerate(rows[1:]):
            total = 0.5 * total + row * float(k + 1)
        return (total,)

    kinds: Any = ("each", *("carry",) * depth)
    outs: Any = (*("last",) * depth, *("stack",) * (depth + 1))
    made = Loop(length, kinds, outs, trace(first, I64, *(ROW,) * (depth + 1)), reverse)
    ins: Any = ("carry", *("each",) * (depth + 1))
    reads = Loop(length, ins, ("last",), trace(second, I64, *(ROW,) * (depth + 2)), reverse == ahead)

    def f(x: Value, *starts: Value) -> Values:
        rows = made.apply(x, *starts)
        return (*rows[:depth], *reads.apply(starts[0], *rows[depth:]))

    return trace(f, Type("f64", (length, N)), *(ROW,) * depth)


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("length", [0, 1, 2, 3, 4, T])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("ahead", [False, True])
def test_late_stacks_are_rows_of_another(
    depth: int, length: int, monkeypatch: pytest.MonkeyPatch, *, reverse: bool, ahead: bool
) -> None:
    fn = delayed(depth, length, reverse=reverse, ahead=ahead)
    new = late_stacks(fn)
    verify(new)
    stacks = [op.outs.count("stack") for n in nodes(new.results) if isinstance(op := n.op, Loop)]
    assert max(stacks) == 1 or length <= depth
    monkeypatch.setattr("pliant.passes.rows_inside.ROOM", 0)
    inside = eliminate_dead(rows_inside(new))
    verify(inside)
    draw = np.random.default_rng(0)
    xs = tuple([draw.normal(size=p.type.shape) for p in fn.params])
    for got in (evaluate(new, xs, np), evaluate(inside, xs, np)):
        for a, b in zip(got, evaluate(fn, xs, np), strict=True):
            np.testing.assert_array_equal(a, b)


def workspace(f: Callable[..., Any], *args: Any) -> int:
    """Bytes that a call needs beside its arguments."""
    words = re.findall(r"([0-9,]+) bytes (?:allocated|of workspace)", pliant.explain(f, *args).memory)
    return sum(int(word.replace(",", "")) for word in words)


LONG, WIDE = 300, 50
STEPS: dict[str, Callable[[Any], Any]] = {
    "tanh": lambda c: np.tanh(0.9 * c + 0.1),
    "logistic": lambda c: 3.1 * c * (1 - c),
    "newton": lambda c: 0.5 * (c + 2 / c),
}  # fmt: skip


def differences(step: Callable[[Any], Any], x: Any) -> Any:
    rows = list[Any]()
    for _ in range(LONG):
        x = step(x)
        rows.append(x)
    apart: Any = np.diff(np.stack(rows), axis=0)
    return np.sum(apart**2)


def errors(step: Callable[[Any], Any], x: Any) -> Any:
    total = 0.0
    for t in range(LONG):
        x = step(x)
        total = total + np.sum((x - np.sin(0.1 * t)) ** 2)
    return total


def delays(step: Callable[[Any], Any], x: Any) -> Any:
    a, b, c, total = x, x, x, 0.0
    for _ in range(LONG):
        a, b, c = step(a), a, b
        total = total + np.sum((a - 2 * b + c) ** 2)
    return total


@pytest.mark.parametrize("loss", [differences, errors, delays], ids=lambda f: f.__name__)
@pytest.mark.parametrize("step", STEPS)
def test_a_gradient_keeps_each_carry_once(step: str, loss: Callable[..., Any]) -> None:
    def f(x: Any) -> Any:
        return loss(STEPS[step], x)

    x = np.linspace(0.3, 0.6, WIDE)
    assert workspace(pliant.grad(f), x) < 1.3 * 8 * LONG * WIDE
    short = np.linspace(0.3, 0.6, 3)
    np.testing.assert_allclose(pliant.jit(f)(short), f(short), rtol=1e-9)


@pytest.mark.parametrize("loss", [differences, errors, delays], ids=lambda f: f.__name__)
def test_derivatives_to_the_second_order(loss: Callable[..., Any]) -> None:
    def f(x: Any) -> Any:
        return loss(STEPS["tanh"], x)

    x = np.linspace(0.1, 0.9, 40)
    check_gradient(f, x)
    way, h = np.cos(np.arange(40.0)), 1e-6
    slope = (pliant.grad(f)(x + h * way) - pliant.grad(f)(x - h * way)) / (2 * h)
    np.testing.assert_allclose(pliant.hvp(f)(x, way), slope, rtol=1e-5, atol=1e-7)


def nested(x: Any) -> Any:
    total = 0.0
    for _ in range(12):
        for _ in range(60):
            before, x = x, np.tanh(0.9 * x + 0.1)
            total = total + np.sum((x - before) ** 2)
    return total


def test_late_rows_in_a_loop_of_loops() -> None:
    x = np.linspace(0.1, 0.9, 40)
    np.testing.assert_allclose(pliant.jit(nested)(x), nested(x), rtol=1e-12)
    check_gradient(nested, x)
    assert workspace(pliant.grad(nested), x) < 1.3 * 8 * 12 * 60 * 40


def counted(x: Any, steps: Any) -> Any:
    total = 0.0
    for _ in range(min(steps, LONG)):
        before, x = x, np.tanh(0.9 * x + 0.1)
        total = total + np.sum((x - before) ** 2)
    return total


def test_late_rows_of_a_number_of_steps_known_at_run_time() -> None:
    x = np.linspace(0.1, 0.9, WIDE)
    for steps in (0, 1, 2, LONG, LONG + 1):
        np.testing.assert_allclose(pliant.jit(counted)(x, steps), counted(x, steps), rtol=1e-12)
        way, h = np.cos(np.arange(float(WIDE))), 1e-6
        slope = (counted(x + h * way, steps) - counted(x - h * way, steps)) / (2 * h)
        np.testing.assert_allclose(pliant.grad(counted)(x, steps) @ way, slope, rtol=1e-6, atol=1e-9)
