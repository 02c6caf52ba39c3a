"""Searches go into loops and branches, take long programs in parts, and offer programs that take less memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pliant
from pliant import ops
from pliant.core.build import trace
from pliant.core.ir import Function, Value
from pliant.core.types import Type
from pliant.kernel.price import price
from pliant.ops.transcendental import cos, exp, sin
from pliant.pipeline import fold
from pliant.rewrite.explain import Log
from pliant.rewrite.search import SEGMENT, Search, in_parts, operations

ALL = (*ops.RULES, *ops.EQUALITIES)


def search() -> Search:
    return Search(ALL, price, fold, Log())


def test_the_body_of_a_loop_and_the_arms_of_a_branch_are_looked_at() -> None:
    def f(x: Any, A: Any) -> Any:
        for _ in range(10):
            x = np.exp(x) * np.exp(-2.0 * x) if x.sum() > 0 else (A @ A) @ x
        return x

    fn = pliant.trace(f, np.ones(4), np.ones((4, 4)))
    assert str(fn).count("exp(") == 2
    best = search().best(fn)
    assert str(best).count("exp(") == 1
    x, A = np.linspace(-1, 1, 4), np.linspace(-0.3, 0.2, 16).reshape(4, 4)
    assert_allclose(pliant.evaluate(best, x, A)[0], f(x, A), rtol=1e-12)


def test_long_programs_are_taken_in_parts() -> None:
    def f(x: Value) -> Value:
        for _ in range(SEGMENT):
            x = exp(x * 0.1) * exp(x * 0.2) - cos(x)
        return x

    fn = trace(f, Type("f64", (3,)))
    looking = search()
    looking.terms = 4000
    best = looking.best(fn)
    assert looking.report.graphs == -(-len(operations(fn)) // SEGMENT)
    x = np.array([0.1, 0.2, 0.3])
    assert_allclose(pliant.evaluate(best, x)[0], pliant.evaluate(fn, x)[0], rtol=1e-9)
    assert sum(map(price, best.nodes)) < 0.9 * sum(map(price, fn.nodes))


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_a_program_in_parts_is_the_program(size: int) -> None:
    def f(x: Value, y: Value) -> tuple[Value, ...]:
        a = sin(x) + y
        return a, exp(a) * x, cos(y), x

    fn = trace(f, Type("f64", (3,)), Type("f64", (3,)))
    parts = list[Function]()

    def kept(part: Function) -> Function:
        parts.append(part)
        return part

    assert in_parts(fn, size, kept) == fn
    assert len(parts) == -(-5 // size)


def test_programs_that_make_smaller_arrays_are_offered() -> None:
    def f(A: Any, B: Any, v: Any) -> Any:
        return (A @ B) @ v

    fn = pliant.trace(f, np.ones((200, 2)), np.ones((2, 200)), np.ones((200, 300)))
    made = search().programs(fn, bounds=True)
    largest = [max(t.bytes for node in p.nodes if node.args for t in node.types) for p in made]
    assert largest == sorted(largest, reverse=True)


def test_results_of_a_cheapest_way_that_nobody_added() -> None:
    def f(x: Any) -> Any:
        return pliant.fori_loop(0, 6, lambda i, c: np.sin(c) * x[0] + c, x[1], save=pliant.treeverse(2))

    x = np.array([0.3, 0.7])
    np.testing.assert_allclose(pliant.optimize(pliant.grad(f))(x), pliant.grad(f)(x), rtol=1e-13)
