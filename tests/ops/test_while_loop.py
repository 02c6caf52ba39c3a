"""While loops: values, forward mode, masked batches, and the reason why there is no reverse mode."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.core.build import trace
from pliant.core.ir import Value, const, nodes
from pliant.core.types import Type
from pliant.errors import DifferentiationError, ShapeError
from pliant.ops.compare import greater, less
from pliant.ops.elementwise import absolute, add
from pliant.ops.while_loop import WhileLoop
from pliant.testing import check_primitive, run
from pliant.transforms.dead import eliminate_dead
from tests.programs.programs import f64, gradient

I64 = Type("i64")


def newton() -> WhileLoop:
    """The square root of a, and how many steps it took."""

    def test(a: Value, x: Value, n: Value) -> Value:
        return greater(absolute(x * x - a), const(1e-12, "f64"))

    def body(a: Value, x: Value, n: Value) -> tuple[Value, ...]:
        return 0.5 * (x + a / x), add(n, 1)

    types = (f64(), f64(), I64)
    return WhileLoop(trace(test, *types), trace(body, *types), ("const", "carry", "carry"))


def test_values_text_and_batches_follow_the_laws() -> None:
    check_primitive(newton(), f64(), f64(), I64, low=0.5, high=3.0, derivatives=False)


def test_forward_mode_goes_through() -> None:
    from pliant.transforms.jvp import jvp

    fn = trace(lambda a: newton().apply(a, a, const(0, "i64"))[0], f64())
    y, dy = run(jvp(fn, (True,)), [np.float64(3.0), np.float64(1.0)])
    np.testing.assert_allclose([y, dy], [np.sqrt(3), 0.5 / np.sqrt(3)])


def test_reverse_mode_names_the_bounded_loop() -> None:
    fn = trace(lambda a: newton().apply(a, a, const(0, "i64"))[0], f64())
    with pytest.raises(DifferentiationError, match="max_steps"):
        gradient(fn)


def test_counting_has_a_zero_gradient() -> None:
    def test(n: Value, x: Value) -> Value:
        return less(n, const(5, "i64"))

    op = WhileLoop(trace(test, I64, f64()), trace(lambda n, x: (add(n, 1),), I64, f64()), ("carry", "const"))
    fn = trace(lambda x: x * x + 0.0 * x, f64())
    assert run(trace(lambda x: op.apply(const(0, "i64"), x), f64()), [np.float64(2.0)])[0] == 5
    assert run(gradient(fn), [np.float64(2.0)])[0] == 4.0


def test_carries_that_nobody_needs_are_dropped() -> None:
    fn = eliminate_dead(trace(lambda a: newton().apply(a, a, const(0, "i64"))[0], f64()))
    (node,) = [n for n in nodes(fn.results) if isinstance(n.op, WhileLoop)]
    assert node.op.ins == ("const", "carry")


def test_a_body_that_changes_the_state_is_refused() -> None:
    op = WhileLoop(trace(lambda x: greater(x, const(0, "f64")), f64()), trace(lambda x: (x, x), f64()), ("carry",))
    with pytest.raises(ShapeError, match="carries after a step"):
        trace(op.apply, f64())
