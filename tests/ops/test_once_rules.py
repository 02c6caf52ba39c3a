"""What a loop or a branch is given, carries or makes twice."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant
from pliant.core.build import trace
from pliant.core.ir import Value, nodes
from pliant.core.types import Type
from pliant.errors import ShapeError
from pliant.ops import RULES
from pliant.ops.compare import less
from pliant.ops.cond import Cond
from pliant.ops.loop import Loop
from pliant.ops.while_loop import WhileLoop
from pliant.pipeline import optimise
from pliant.rewrite.engine import simplify
from pliant.testing import run

NUMBER = Type("f64")


def test_what_a_loop_is_given_twice_it_is_given_once() -> None:
    body = trace(lambda i, x, y, total, z: total + x * y + z, Type("i64"), NUMBER, NUMBER, NUMBER, NUMBER)

    def f(start: Value, x: Value) -> Value:
        return Loop(3, ("const", "const", "carry", "const"), ("last",), body).apply(x, x, start, x)[0]

    fn = trace(f, NUMBER, NUMBER)
    made = simplify(fn, RULES)
    (loop,) = [node for node in nodes(made.results) if isinstance(node.op, Loop)]
    assert len(loop.args) == 2
    xs = [np.float64(1.0), np.float64(2.0)]
    assert run(made, xs) == run(fn, xs)


def test_a_number_that_is_also_the_count_of_steps_is_given_once() -> None:
    index = Type("i64")
    body = trace(lambda i, n, m, total, k: total + n * m * k, index, index, index, index, index)

    def f(n: Value, start: Value) -> Value:
        return Loop(5, ("const", "count", "carry", "const"), ("last",), body).apply(n, n, start, n)[0]

    fn = trace(f, index, index)
    made = simplify(fn, RULES)
    (loop,) = [node.op for node in nodes(made.results) if isinstance(node.op, Loop)]
    assert loop.ins == ("count", "carry")
    xs = [np.int64(3), np.int64(2)]
    assert run(made, xs) == run(fn, xs)


def test_carries_that_start_and_step_alike_are_one() -> None:
    """Also where each reads the other: they are alike at every step if they were at the step before."""
    body = trace(lambda i, x, y, z: (x * y + 1.0, y * x + 1.0, z + x), Type("i64"), NUMBER, NUMBER, NUMBER)

    def f(start: Value) -> tuple[Value, ...]:
        return Loop(3, ("carry",) * 3, ("last",) * 3, body).apply(start, start, start)

    fn = trace(f, NUMBER)
    made = simplify(fn, RULES)
    assert [len(node.args) for node in nodes(made.results) if isinstance(node.op, Loop)] == [2]
    assert run(made, [np.float64(0.5)]) == run(fn, [np.float64(0.5)])


def test_carries_that_one_way_of_a_branch_tells_apart_stay_two() -> None:
    def step(x: Value, y: Value, unlike: Value) -> tuple[Value, ...]:
        is_small = less(x, 3.0)
        then = trace(lambda x, y: (x + 1.0, y + 1.0), NUMBER, NUMBER)
        other = trace(lambda x, y: (x + 1.0, y + 2.0), NUMBER, NUMBER)
        same = Cond(then, then).apply(is_small, x, y)
        return same[0], same[1], Cond(then, other).apply(is_small, x, unlike)[1]

    test = trace(lambda x, y, z: less(x, 9.0), NUMBER, NUMBER, NUMBER)
    loop = WhileLoop(test, trace(step, NUMBER, NUMBER, NUMBER), ("carry",) * 3)
    fn = trace(lambda x: loop.apply(x, x, x), NUMBER)
    made = simplify(fn, RULES)
    assert [len(node.args) for node in nodes(made.results) if isinstance(node.op, WhileLoop)] == [2]
    assert run(made, [np.float64(0.5)]) == run(fn, [np.float64(0.5)])


def test_what_a_branch_is_given_or_makes_twice_it_has_once() -> None:
    then = trace(lambda x, y: (x * y, x * x), NUMBER, NUMBER)
    otherwise = trace(lambda x, y: (x + y, y + y), NUMBER, NUMBER)
    fn = trace(lambda x: Cond(then, otherwise).apply(less(x, 1.0), x, x), NUMBER)
    made = simplify(fn, RULES)
    (branch,) = [node for node in nodes(made.results) if isinstance(node.op, Cond)]
    assert (len(branch.args), len(branch.values)) == (2, 1)
    assert [run(made, [np.float64(x)]) for x in (0.5, 3.0)] == [run(fn, [np.float64(x)]) for x in (0.5, 3.0)]


def filtered(z: Any, x: Any, y: Any, steps: Any) -> Any:
    for _ in range(steps):
        z = z * z + x
        keep = abs(z) < 2.0
        z, x, y = z[keep], x[keep], y[keep]
    return z, x, y


def filtered_in_place(z: Any, x: Any, y: Any, steps: Any) -> Any:
    out = np.zeros(len(x))
    for i in range(steps):
        if not len(z):
            break
        np.multiply(z, z, z)
        np.add(z, x, z)
        keep = abs(z) >= 2.0
        out[y[keep]] = i + 1
        np.logical_not(keep, keep)
        z, x, y = z[keep], x[keep], y[keep]
    return out, z, x, y


@pytest.mark.parametrize(("f", "masks"), [(filtered, 1), (filtered_in_place, 2)])
def test_arrays_that_steps_filter_by_one_mask_share_its_places(f: Any, masks: int) -> None:
    x = np.linspace(-3.0, 1.5, 40)
    args = [np.zeros(40), x, np.arange(40), np.int64(7)]
    wanted, got = f(*[a.copy() for a in args]), pliant.jit(f)(*[a.copy() for a in args])
    for a, b in zip(wanted, got, strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-12)
    assert str(optimise(pliant.trace(f, *args))).count("positions(") == masks


def test_arrays_of_other_lengths_are_refused_still() -> None:
    """Lengths that start apart, or that steps leave apart, are asked whether they are equal."""
    with pytest.raises(ShapeError, match="extents"):
        pliant.jit(apart)(np.arange(6.0), np.arange(6.0), np.int64(3))


def apart(x: Any, y: Any, steps: Any) -> Any:
    for _ in range(steps):
        keep = x > 1.0
        y = y[keep]
        x = x[x > 0.5]
    return x, y
