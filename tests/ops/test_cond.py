"""Branches: lazy, all laws on both sides, derivatives that keep one branch's residuals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pliant.core.build import trace
from pliant.core.ir import Function, Value, const, nodes
from pliant.core.scope import scope
from pliant.core.types import Type
from pliant.errors import ShapeError
from pliant.ops import RULES
from pliant.ops.compare import greater
from pliant.ops.cond import Cond
from pliant.ops.custom import CustomJvp, stop_gradient
from pliant.ops.loop import Loop
from pliant.ops.reduce import reduce_sum
from pliant.ops.select import Select, select
from pliant.ops.shape import broadcast
from pliant.ops.solve import solve
from pliant.ops.transcendental import cos, exp, log, sin
from pliant.pipeline import optimise
from pliant.rewrite.engine import simplify
from pliant.testing import check_primitive, run
from pliant.transforms.transpose import linearize
from pliant.transforms.vmap import vmap
from tests.programs.programs import f64, gradient

RNG = np.random.default_rng(0)


def then(x: Value, y: Value) -> tuple[Value, ...]:
    return sin(x) * exp(y), reduce_sum(x)


def otherwise(x: Value, y: Value) -> tuple[Value, ...]:
    return cos(x) * x * y, y


BRANCHES = Cond(trace(then, f64(3), f64()), trace(otherwise, f64(3), f64()))
BOOL = Type("bool")


@pytest.mark.parametrize("condition", [True, False])
def test_all_laws_hold_for_branches(condition: bool) -> None:
    def draw(rng: np.random.Generator) -> list[Any]:
        return [np.bool_(condition), rng.uniform(0.3, 1.0, 3), np.float64(rng.uniform(0.3, 1.0))]

    check_primitive(BRANCHES, BOOL, f64(3), f64(), draw=draw)


def test_all_laws_hold_for_branches_over_mixed_batches() -> None:
    check_primitive(BRANCHES, BOOL, f64(3), f64(), low=0.3, high=1.0)


def counted(fn: Function, name: str) -> list[int]:
    """How often a primitive occurs in each branch of each cond."""
    conds = [n.op for n in nodes(fn.results) if isinstance(n.op, Cond)]
    return [sum(n.op.name == name for n in nodes(b.results)) for op in conds for b in op.branches]


def test_only_one_branch_is_run() -> None:
    singular = trace(lambda a, b: solve(a, b), f64(2, 2), f64(2, 1))
    op = Cond(singular, trace(lambda a, b: b, f64(2, 2), f64(2, 1)))
    fn = trace(op.apply, BOOL, f64(2, 2), f64(2, 1))
    zeros, ones = np.zeros((2, 2)), np.ones((2, 1))
    assert (run(fn, [np.bool_(False), zeros, ones])[0] == 1).all()
    with pytest.raises(np.linalg.LinAlgError):
        run(fn, [np.bool_(True), zeros, ones])


def test_derivatives_are_branches_too() -> None:
    fn = trace(lambda c, x, y: reduce_sum(BRANCHES.apply(c, x, y)[0]), BOOL, f64(3), f64())
    back = optimise(gradient(fn))
    assert [n.op.name for n in nodes(back.results) if n.op.name in ("exp", "sin", "cos", "select")] == []
    assert sum(counted(back, "exp")) == 1


def test_residuals_of_both_branches_share_their_places() -> None:
    fn = trace(lambda c, x, y: reduce_sum(BRANCHES.apply(c, x, y)[0]), BOOL, f64(3), f64())
    back = optimise(gradient(fn))
    ahead = max((n for n in nodes(back.results) if isinstance(n.op, Cond)), key=lambda n: len(n.types))
    assert sum(t.size for t in ahead.types) <= 2 * 3 + 1


def test_the_gradient_of_a_batched_condition_has_no_nan_from_the_other_branch() -> None:
    op = Cond(trace(lambda x: log(x), f64()), trace(lambda x: x * 2.0, f64()))
    fn = trace(lambda x: op(greater(x, const(0, "f64")), x), f64())
    batch = vmap(fn, 3, (True,))
    (g,) = run(gradient(trace(lambda x: reduce_sum(batch(x)[0]), f64(3))), [np.array([2.0, 0.0, -1.0])])
    np.testing.assert_array_equal(g, [0.5, 2.0, 2.0])


def test_branches_of_literals_are_opened() -> None:
    fn = trace(lambda x, y: BRANCHES.apply(const(True, "bool"), x, y), f64(3), f64())
    assert not any(isinstance(n.op, Cond) for n in nodes(optimise(fn).results))


def test_branches_inside_loops_inside_branches_keep_all_laws() -> None:
    def step(i: Value, x: Value, a: Value) -> tuple[Value, ...]:
        up = trace(lambda x, a: sin(x) * a, f64(), f64())
        down = trace(lambda x, a: x * x * a, f64(), f64())
        return Cond(up, down).apply(greater(x, const(0.5, "f64")), x, a)

    loop = Loop(4, ("carry", "const"), ("last",), trace(step, Type("i64"), f64(), f64()))
    outer = Cond(trace(loop.apply, f64(), f64()), trace(lambda x, a: a * a * x, f64(), f64()))
    check_primitive(
        outer, BOOL, f64(), f64(), draw=lambda rng: [np.bool_(rng.random() < 0.5), np.float64(0.9), np.float64(1.3)]
    )


def test_custom_derivatives_inside_branches_are_used() -> None:
    body = trace(lambda x: stop_gradient(x), f64())
    custom = CustomJvp(body, trace(lambda x, dx: dx * 7.0, f64(), f64()))
    op = Cond(trace(custom.apply, f64()), trace(lambda x: x, f64()))
    (g,) = run(gradient(trace(lambda x: op(greater(x, const(0, "f64")), x), f64())), [np.float64(1.0)])
    assert g == 7.0


@pytest.mark.parametrize(
    ("op", "types", "message"),
    [
        (BRANCHES, (f64(), f64(3), f64()), "the condition must be bool"),
        (BRANCHES, (BOOL, f64(2), f64()), "operands are"),
        (
            Cond(trace(lambda x: x, f64()), trace(lambda x: reduce_sum(x, ()) * x, f64(2))),
            (BOOL, f64()),
            "operands are",
        ),
        (
            Cond(trace(lambda x: x, f64(2)), trace(lambda x: reduce_sum(x), f64(2))),
            (BOOL, f64(2)),
            r"one branch makes \(f64\[2\]\), the other \(f64\[\]\)",
        ),
    ],
)
def test_branches_that_do_not_fit_are_refused(op: Cond, types: Any, message: str) -> None:
    with pytest.raises(ShapeError, match=message):
        trace(op.apply, *types)


def test_branches_on_one_condition_become_one() -> None:
    op = Cond(trace(lambda x: (sin(x) * exp(x),), f64(3)), trace(lambda x: (x * 2.0,), f64(3)))
    back = gradient(trace(lambda x, c: reduce_sum(op(c, x)), f64(3), BOOL))
    fast = optimise(back)
    assert len([n for n in nodes(fast.results) if isinstance(n.op, Cond)]) == 1
    for condition in (True, False):
        xs = [RNG.normal(size=3), np.bool_(condition)]
        np.testing.assert_allclose(run(fast, xs)[0], run(back, xs)[0])


def test_branches_on_one_condition_stay_apart_where_the_second_depends_on_the_first_in_another_way() -> None:
    op = Cond(trace(lambda x: (sin(x) * exp(x),), f64(3)), trace(lambda x: (x * 2.0,), f64(3)))

    def twice(x: Value, c: Value) -> Value:
        y = op(c, x)
        return reduce_sum(y * y)

    back = gradient(trace(twice, f64(3), BOOL))
    for condition in (True, False):
        xs = [RNG.normal(size=3), np.bool_(condition)]
        np.testing.assert_allclose(run(optimise(back), xs)[0], run(back, xs)[0])


def test_a_derivative_takes_only_the_operands_that_a_branch_of_it_reads() -> None:
    fn = trace(
        lambda c, x, y, z: Cond(
            trace(lambda x, y, z: (x * y,), f64(3), f64(), f64(9)),
            trace(lambda x, y, z: (x + reduce_sum(z),), f64(3), f64(), f64(9)),
        ).apply(c, x, y, z),
        BOOL, f64(3), f64(), f64(9),
    )  # fmt: skip
    with scope():
        _, _, (dy,) = linearize(fn, fn.params, (False, True, False, False))
        assert isinstance(dy, Value)
        assert [a.type for a in dy.args] == [BOOL, f64(), f64(3)]


def test_branches_that_become_one_take_a_common_operand_once() -> None:
    op = Cond(trace(lambda x, y: (sin(x) * y,), f64(3), f64(3)), trace(lambda x, y: (x * y,), f64(3), f64(3)))

    def twice(x: Value, c: Value) -> Value:
        return op(c, x, op(c, x, x * 0.5))

    fn = trace(twice, f64(3), BOOL)
    fast = optimise(fn)
    (both,) = [n for n in nodes(fast.results) if isinstance(n.op, Cond)]
    assert len(set(both.args)) == len(both.args)
    for condition in (True, False):
        xs = [RNG.normal(size=3), np.bool_(condition)]
        np.testing.assert_allclose(run(fast, xs)[0], run(fn, xs)[0])


def test_what_is_chosen_by_the_condition_of_a_branch_is_made_in_it() -> None:
    """A loop that is left early keeps what it carries: the branch hands it on, and no element is chosen one by one."""
    then = trace(lambda x, y: (x, y * 0.0 + 1.0), f64(3), f64(3))
    otherwise = trace(lambda x, y: (broadcast(const(0.0, "f64"), (3,), ()), y + x), f64(3), f64(3))

    def f(x: Value, y: Value, z: Value) -> tuple[Value, ...]:
        condition = greater(reduce_sum(x), 0.0)
        a, b = Cond(then, otherwise).apply(condition, x, y)
        return select(condition, a, z), select(condition, a, b), select(condition, b, a), a

    fn = trace(f, f64(3), f64(3), f64(3))
    made = simplify(fn, RULES)
    xs = [RNG.normal(size=3) for _ in range(3)]
    for sign in (1.0, -1.0):
        given = [sign * abs(xs[0]), *xs[1:]]
        np.testing.assert_array_equal(run(made, given), run(fn, given))
    assert sum([isinstance(node.op, Select) for node in nodes(made.results)]) == 1  # of b and a: neither is nothing
