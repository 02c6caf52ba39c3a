"""Stacks that the final arrays of loops hold are read there, and others are kept: gradients stay the same."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.core.build import trace
from pliant.core.inner import functions_of
from pliant.core.ir import Function, Value, const, nodes
from pliant.core.types import Type
from pliant.core.verify import verify
from pliant.ops.elementwise import Convert
from pliant.ops.index import gather, scatter_set
from pliant.ops.loop import Loop
from pliant.ops.reduce import reduce_sum
from pliant.ops.transcendental import sin
from pliant.pipeline import optimise
from pliant.testing import run
from tests.programs.programs import f64, gradient

I64 = Type("i64")
N = 6


def stacks(fn: Function) -> int:
    """How many stacks there are, in loops inside too."""
    found = 0
    for node in nodes(fn.results):
        if isinstance(node.op, Loop):
            found += node.op.outs.count("stack")
        found += sum(stacks(inner) for inner in functions_of(node.op).values())
    return found


def stacked(fn: Function) -> list[Type]:
    """The types of the stacks that its loops make."""
    found = list[Type]()
    for node in nodes(fn.results):
        if isinstance(node.op, Loop):
            found += [t for t, kind in zip(node.types, node.op.outs, strict=True) if kind == "stack"]
    return found


def number(n: int) -> Value:
    return const(n, "i64")


PLACES: dict[str, Callable[[Value], Value]] = {
    "i": lambda i: i,
    "i+1": lambda i: i + 1,
    "last-i": lambda i: number(N) - i,
    "0": lambda i: number(0),
    "2": lambda i: number(2),
    "unknown": lambda i: Convert("i64")(sin(Convert("f64")(i)) * 2.0 + 2.0),
}


def sweep(to: str, of: str, length: int, **settings: Any) -> Loop:
    """x[to] = sin(x[of]) · x[to], step by step."""

    def step(i: Value, x: Value) -> tuple[Value, ...]:
        read, old = gather(x, PLACES[of](i)), gather(x, PLACES[to](i))
        return (scatter_set(x, (PLACES[to](i),), sin(read) * old),)

    return Loop(length, ("carry",), ("last",), trace(step, I64, f64(N + 1)), **settings)


def gradients(fn: Function) -> Function:
    """The gradient, optimised, if it is that of the gradient as it was."""
    back = gradient(fn)
    fast = verify(optimise(back))
    xs = [np.random.default_rng(0).uniform(0.5, 1.5, p.type.shape) for p in fn.params]
    for a, b in zip(run(back, xs), run(fast, xs), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
    return fast


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("length", [0, 1, 2, N])
@pytest.mark.parametrize(("to", "of"), list(product(PLACES, PLACES)))
def test_gradients_of_sweeps_stay_the_same(to: str, of: str, length: int, reverse: bool) -> None:
    op = sweep(to, of, length, reverse=reverse)
    gradients(trace(lambda x: reduce_sum(op(x)), f64(N + 1)))


def test_what_is_written_once_is_not_stacked() -> None:
    def step(i: Value, x: Value, b: Value) -> tuple[Value, ...]:
        before = gather(x, i)
        return (scatter_set(x, (i + 1,), gather(b, i) * before * before),)

    op = Loop(N, ("carry", "const"), ("last",), trace(step, I64, f64(N + 1), f64(N)))
    fast = gradients(trace(lambda x, b: reduce_sum(op(x, b)), f64(N + 1), f64(N)))
    assert stacks(fast) == 0


def test_what_is_overwritten_later_is_stacked() -> None:
    op = sweep("i", "i+1", N)
    once = trace(lambda x: reduce_sum(op(x)), f64(N + 1))
    assert stacks(gradients(once)) > 0  # the factor x[i] is replaced in its own step

    def again(k: Value, x: Value) -> tuple[Value, ...]:
        def step(i: Value, x: Value) -> tuple[Value, ...]:
            return (scatter_set(x, (i + 1,), sin(gather(x, i))),)

        return Loop(N, ("carry",), ("last",), trace(step, I64, f64(N + 1))).apply(x)

    twice = Loop(2, ("carry",), ("last",), trace(again, I64, f64(N + 1)))
    assert stacks(gradients(trace(lambda x: reduce_sum(twice(x)), f64(N + 1)))) > 0


def triangle(reverse: bool, below: int) -> Loop:
    """x[i, j] = x[i, j] / x[j, j] for j < i, or j ≤ i: rows by what was made of rows above."""

    def outer(i: Value, x: Value) -> tuple[Value, ...]:
        def inner(j: Value, x: Value, n: Value, i: Value) -> tuple[Value, ...]:
            made = gather(x, i, j) * sin(gather(x, j, j))
            return (scatter_set(x, (i, j), made),)

        types = I64, f64(N, N), I64, I64
        loop = Loop(N, ("carry", "count", "const"), ("last",), trace(inner, *types))
        return loop.apply(x, i + below, i)

    return Loop(N, ("carry",), ("last",), trace(outer, I64, f64(N, N)), reverse)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("below", [0, 1])
def test_triangular_loops_know_their_bounds(reverse: bool, below: int) -> None:
    fast = gradients(trace(lambda x: reduce_sum(triangle(reverse, below)(x)), f64(N, N)))
    assert stacks(fast) > 0  # the factor x[i, j]


def test_second_derivatives_stay_the_same() -> None:
    fn = trace(lambda x: reduce_sum(triangle(False, 0)(x)), f64(N, N))
    back = gradient(fn)
    gradients(trace(lambda x: reduce_sum(back(x)[0] * back(x)[0]), f64(N, N)))


@pytest.mark.parametrize("reverse", [False, True])
def test_what_no_earlier_step_wrote_is_read_from_what_the_loop_begins_with(reverse: bool) -> None:
    def step(i: Value, x: Value) -> tuple[Value, ...]:
        place, before = (i, i + 1) if reverse else (i + 1, i)
        old = gather(x, place)
        return (scatter_set(x, (place,), old * old * gather(x, before)),)

    def sweeps(length: int) -> Function:
        once = Loop(N, ("carry",), ("last",), trace(step, I64, f64(N + 1)), reverse)
        body = trace(lambda k, x: once.apply(x), I64, f64(N + 1))
        return trace(lambda x: reduce_sum(Loop(length, ("carry",), ("last",), body)(x)), f64(N + 1))

    assert stacks(gradients(sweeps(1))) == 0
    assert stacks(gradients(sweeps(2))) > 0


def test_arrays_that_whiles_read_where_no_earlier_step_wrote_are_not_stacked() -> None:
    n = 40

    def f(x: Any) -> Any:
        y = x.copy()
        for i in range(n):
            s = 1.0
            while s < 5.0:
                s = s * (1.0 + y[n - 1 - i] ** 2)
            if i < n - 1 - i:
                y[i] *= s
        return y.sum()

    x = np.random.default_rng(0).uniform(0.5, 1.5, n)
    fast = optimise(pliant.trace(pliant.value_and_grad(f), x))
    assert not [t for t in stacked(fast) if t.size >= n * n]
    value, back = pliant.value_and_grad(f)(x)
    assert value == pytest.approx(f(x))
    differences = [(f(x + d) - f(x - d)) / 2e-6 for d in 1e-6 * np.eye(n)]
    np.testing.assert_allclose(back, differences, rtol=1e-6)
