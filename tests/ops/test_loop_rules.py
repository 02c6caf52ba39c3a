"""Identities of loops."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.core.build import trace
from pliant.core.ir import Value, const, nodes
from pliant.core.types import Type
from pliant.ops import RULES
from pliant.ops.loop import Loop
from pliant.ops.reduce import reduce_sum
from pliant.ops.shape import broadcast, permute, reshape
from pliant.ops.update import add_slice
from pliant.passes import outward
from pliant.rewrite.engine import simplify
from pliant.testing import run

NUMBER = Type("f64")


def test_rows_in_another_order_are_stacked_and_read_as_they_lie() -> None:
    row = Type("f64", (2, 4))
    made = trace(lambda i, x: permute(x * 2.0, (1, 0)), Type("i64"), row)
    read = trace(lambda i, x: permute(x + 1.0, (1, 0)), Type("i64"), Type("f64", (4, 2)))

    def f(x: Value) -> Value:
        (stack,) = Loop(3, ("each",), ("stack",), made).apply(x)
        return Loop(3, ("each",), ("stack",), read).apply(stack)[0]

    fn = trace(f, row.stacked(3))
    rules = (*RULES, *outward.RULES)
    fast = simplify(simplify(fn, rules), rules)
    loops = [node.op for node in nodes(fast.results) if isinstance(node.op, Loop)]
    assert [node.op.name for loop in loops for node in nodes(loop.body.results)].count("permute") == 0
    x = np.arange(24.0).reshape(3, 2, 4)
    np.testing.assert_array_equal(run(fast, [x])[0], run(fn, [x])[0])


@pytest.mark.parametrize("kind", ["sum", "total", "prod", "max"])
def test_what_is_folded_in_another_order_is_folded_as_it_lies(kind: str) -> None:
    made = trace(lambda i, x: permute(x * 2.0, (1, 0)), Type("i64"), Type("f64", (2, 4)))
    fn = trace(lambda x: Loop(3, ("each",), (kind,), made).apply(x), Type("f64", (3, 2, 4)))
    fast = simplify(fn, RULES)
    (loop,) = [node.op for node in nodes(fast.results) if isinstance(node.op, Loop)]
    assert "permute" not in [node.op.name for node in nodes(loop.body.results)]
    x = np.random.default_rng(0).normal(size=(3, 2, 4))
    np.testing.assert_allclose(run(fast, [x])[0], run(fn, [x])[0], rtol=1e-13)


@pytest.mark.parametrize("kind", ["sum", "total", "prod", "max"])
def test_what_is_folded_in_another_shape_is_folded_in_its_own(kind: str) -> None:
    made = trace(lambda i, x: reshape(x * 2.0, (8,)), Type("i64"), Type("f64", (2, 4)))
    fn = trace(lambda x: Loop(3, ("each",), (kind,), made).apply(x), Type("f64", (3, 2, 4)))
    fast = simplify(fn, RULES)
    (loop,) = [node.op for node in nodes(fast.results) if isinstance(node.op, Loop)]
    assert "reshape" not in [node.op.name for node in nodes(loop.body.results)]
    x = np.random.default_rng(0).normal(size=(3, 2, 4))
    np.testing.assert_array_equal(run(fast, [x])[0], run(fn, [x])[0])


@pytest.mark.parametrize(("second", "ins"), [(4, ("each",)), (2, ("carry", "each"))])
def test_parts_of_zeros_that_are_added_to_are_sums_if_they_are_apart(second: int, ins: tuple[str, ...]) -> None:
    def step(i: Value, total: Value, x: Value) -> Value:
        return add_slice(add_slice(total, x, (1,)), x * 2.0, (second,))

    body = trace(step, Type("i64"), Type("f64", (9,)), Type("f64", (3,)))

    def f(x: Value) -> Value:
        return Loop(5, ("carry", "each"), ("last",), body).apply(broadcast(const(0.0, "f64"), (9,), ()), x)[0]

    fn = trace(f, Type("f64", (5, 3)))
    fast = simplify(fn, RULES)
    (loop,) = [node.op for node in nodes(fast.results) if isinstance(node.op, Loop)]
    assert loop.ins == ins
    x = np.random.default_rng(0).normal(size=(5, 3))
    np.testing.assert_array_equal(run(fast, [x])[0], run(fn, [x])[0])


def test_a_total_that_steps_read_is_carried() -> None:
    def step(i: Value, total: Value, x: Value) -> Value:
        return add_slice(total, x * reduce_sum(total, (0,)) + 1.0, (1,))

    body = trace(step, Type("i64"), Type("f64", (9,)), Type("f64", (3,)))

    def f(x: Value) -> Value:
        return Loop(5, ("carry", "each"), ("last",), body).apply(broadcast(const(0.0, "f64"), (9,), ()), x)[0]

    fn = trace(f, Type("f64", (5, 3)))
    fast = simplify(fn, RULES)
    (loop,) = [node.op for node in nodes(fast.results) if isinstance(node.op, Loop)]
    assert loop.ins == ("carry", "each")
    x = np.random.default_rng(0).normal(size=(5, 3))
    np.testing.assert_array_equal(run(fast, [x])[0], run(fn, [x])[0])
