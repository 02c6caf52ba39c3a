"""Values that only one branch reads are computed there, and choices become branches where that saves work."""

from __future__ import annotations

import numpy as np

from pliant.core.build import trace
from pliant.core.ir import Function, Value, nodes
from pliant.core.types import Type
from pliant.core.verify import verify
from pliant.ops.compare import greater
from pliant.ops.cond import Cond
from pliant.ops.contract import dot_general
from pliant.ops.loop import Loop
from pliant.ops.select import select
from pliant.ops.shape import broadcast
from pliant.ops.transcendental import cos, exp, sin
from pliant.passes.sink import sink
from pliant.pipeline import before_derivatives, optimise
from pliant.testing import run
from tests.programs.programs import f64, gradient


def choice() -> Cond:
    return Cond(trace(lambda a, b: a + 1.0, f64(3), f64(3)), trace(lambda a, b: b * 2.0, f64(3), f64(3)))


def names(fn: Function) -> set[str]:
    return {n.op.name for n in nodes(fn.results)}


def same(before: Function, after: Function) -> None:
    verify(after)
    for p in (-1.0, 1.0):
        xs = [np.float64(p), *(np.random.default_rng(0).uniform(0.1, 0.9, q.type.shape) for q in before.params[1:])]
        for a, b in zip(run(before, xs), run(after, xs), strict=True):
            np.testing.assert_array_equal(a, b)


def test_what_one_branch_reads_moves_into_it() -> None:
    fn = trace(lambda p, x: choice()(greater(p, 0.0), sin(exp(x)), cos(x)), f64(), f64(3))
    after = sink(fn)
    assert names(after).isdisjoint({"sin", "exp", "cos"})
    (node,) = [n for n in nodes(after.results) if isinstance(n.op, Cond)]
    assert {"sin", "exp"} <= names(node.op.then)
    assert "cos" in names(node.op.otherwise)
    same(fn, after)


def test_what_others_read_stays() -> None:
    def program(p: Value, x: Value) -> tuple[Value, ...]:
        shared, own = exp(x), sin(x)
        return choice()(greater(p, 0.0), own * shared, shared), own

    fn = trace(program, f64(), f64(3))
    after = sink(fn)
    assert {"exp", "sin"} <= names(after)
    assert "mul" not in names(after)
    same(fn, after)


def test_branches_inside_branches_and_loops_take_in_what_is_theirs() -> None:
    def step(i: Value, x: Value, p: Value) -> Value:
        inner = choice()(greater(p, 0.5), sin(x), x)
        return choice()(greater(p, 0.0), cos(inner), x)

    op = Loop(3, ("carry", "const"), ("last",), trace(step, Type("i64"), f64(3), f64()))
    fn = trace(lambda p, x: op(x, p), f64(), f64(3))
    after = sink(fn)
    (loop,) = [n.op for n in nodes(after.results) if isinstance(n.op, Loop)]
    assert names(loop.body).isdisjoint({"sin", "cos"})
    same(fn, after)


def test_a_choice_by_one_condition_with_much_work_becomes_a_branch() -> None:
    def program(p: Value, x: Value) -> Value:
        product = dot_general(x, x, ((1,), (0,)))
        return select(broadcast(greater(p, 0.0), x.shape, ()), product, x)

    fn = trace(program, f64(), f64(70, 70))
    after = optimise(fn)
    assert "dot" not in names(after)
    same(fn, after)
    assert "select" in names(optimise(trace(lambda p, x: select(greater(p, 0.0), sin(x), x), f64(), f64())))


def test_gradients_run_one_branch() -> None:
    def program(p: Value, x: Value) -> Value:
        return choice()(greater(p, 0.0), sin(exp(x)), cos(x))

    fn = trace(lambda p, x: dot_general(program(p, x), program(p, x), ((0,), (0,))), f64(), f64(3))
    back = optimise(gradient(before_derivatives(fn)))
    assert names(back).isdisjoint({"sin", "exp", "cos"})
    same(gradient(fn), back)
