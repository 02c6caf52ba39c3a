"""What never changes in a loop is computed before it, where that saves work and cannot fail for nothing."""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from pliant.core.build import trace
from pliant.core.ir import Function, Value, const, nodes
from pliant.core.types import Type
from pliant.core.verify import verify
from pliant.ops.compare import less
from pliant.ops.contract import dot_general
from pliant.ops.index import gather
from pliant.ops.loop import Loop
from pliant.ops.shape import broadcast, concatenate, reshape
from pliant.ops.transcendental import exp, sin
from pliant.ops.while_loop import WhileLoop
from pliant.passes.hoist import hoist
from pliant.testing import run
from tests.programs.programs import f64

I64 = Type("i64")


def names(fn: Function) -> set[str]:
    return {n.op.name for n in nodes(fn.results)}


def same(before: Function, after: Function) -> None:
    verify(after)
    xs = [np.asarray(np.random.default_rng(0).uniform(0.1, 0.9, p.type.shape)) for p in before.params]
    for a, b in zip(run(before, xs), run(after, xs), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-14)


def body_of(fn: Function) -> Function:
    (op,) = [n.op for n in nodes(fn.results) if isinstance(n.op, Loop)]
    return op.body


def test_products_and_functions_of_constants_move_out() -> None:
    def step(i: Value, x: Value, w: Value) -> tuple[Value, ...]:
        square = dot_general(w, w, ((1,), (0,)))
        return (dot_general(square, x, ((1,), (0,))) + 2.0 * reduce(w),)

    def reduce(w: Value) -> Value:
        return sin(gather(w, const(0, "i64")))

    op = Loop(3, ("carry", "const"), ("last",), trace(step, I64, f64(3), f64(3, 3)))
    fn = trace(lambda x, w: op(x, w), f64(3), f64(3, 3))
    after = hoist(fn)
    assert {"dot", "sin"} <= names(after)
    assert "sin" not in names(body_of(after))
    same(fn, after)


def test_simple_operations_and_growing_ones_stay() -> None:
    def step(i: Value, x: Value, a: Value) -> tuple[Value, ...]:
        wide = broadcast(exp(a), (9, 9), (0,))
        return (x + wide,)

    op = Loop(3, ("carry", "const"), ("last",), trace(step, I64, f64(9, 9), f64(9)))
    fn = trace(lambda x, a: op(x, a), f64(9, 9), f64(9))
    after = hoist(fn)
    assert "exp" in names(after)
    assert "broadcast" in names(body_of(after))
    same(fn, after)


def test_inner_loops_give_to_outer_ones() -> None:
    def outer(i: Value, x: Value, a: Value) -> tuple[Value, ...]:
        inner = Loop(2, ("carry", "const"), ("last",), trace(lambda j, x, a: (x * exp(a),), I64, f64(), f64()))
        return inner.apply(x, a)

    op = Loop(3, ("carry", "const"), ("last",), trace(outer, I64, f64(), f64()))
    fn = trace(lambda x, a: op(x, a), f64(), f64())
    after = hoist(fn)
    assert "exp" in names(after)
    same(fn, after)


def test_conditions_of_while_loops_give_too() -> None:
    def test(x: Value, a: Value) -> Value:
        return less(x, exp(a) * 5.0)

    op = WhileLoop(trace(test, f64(), f64()), trace(lambda x, a: (x + sin(a),), f64(), f64()), ("carry", "const"))
    fn = trace(lambda x, a: op(x, a), f64(), f64())
    after = hoist(fn)
    assert {"exp", "sin"} <= names(after)
    same(fn, after)


def test_what_may_fail_stays_in_a_loop_that_may_not_run() -> None:
    def f(n: int, i: int, x: np.ndarray) -> float:
        return pliant.fori_loop(0, n, lambda k, total: total + np.sin(x[i]), 0.0)

    assert pliant.jit(f)(0, 9, np.ones(3)) == 0.0
    with pytest.raises(IndexError):
        pliant.jit(f)(1, 9, np.ones(3))


@pytest.mark.parametrize("count", [2, 9])
def test_what_is_joined_of_constants_moves_out(count: int) -> None:
    def step(i: Value, *parts: Value) -> tuple[Value, ...]:
        return (gather(concatenate(tuple([reshape(p, (1,)) for p in parts]), 0), i),)

    scalars = [Type("f64")] * count
    loop = Loop(count, ("const",) * count, ("stack",), trace(step, I64, *scalars))
    fn = trace(lambda *parts: loop(*parts), *scalars)
    same(fn, hoist(fn))
    assert "concatenate" not in names(body_of(hoist(fn)))
