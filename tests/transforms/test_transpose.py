"""Reverse mode is the transpose of forward mode."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.core.build import trace
from pliant.core.ir import const, nodes, param
from pliant.ops.elementwise import convert
from pliant.ops.reduce import reduce_sum
from pliant.ops.transcendental import exp, sin
from pliant.transforms.evaluate import evaluate
from pliant.transforms.jvp import jvp
from pliant.transforms.transpose import linearize, pull, vjp
from tests.programs.programs import PROGRAMS, SMOOTH, f64, gradient
from tests.transforms.test_jvp import arguments

F3 = f64(3)


@pytest.mark.parametrize("name", [f.__name__ for f in SMOOTH])
def test_cotangents_are_the_transpose_of_tangents(name: str) -> None:
    fn = PROGRAMS[name]()
    active = tuple(p.type.is_float for p in fn.params)
    xs, directions = arguments(name), arguments(name, 1)
    dxs = [d for d, a in zip(directions, active, strict=True) if a]
    count = len(fn.results)
    dys = evaluate(jvp(fn, active), (*xs, *dxs), np)[count:]
    cts = [np.random.default_rng(7).normal(size=r.type.shape) for r in fn.results]

    def back(*args):
        _, found = vjp(fn, args[: len(xs)], args[len(xs) :], active)
        return tuple(c for c in found if c is not None)

    pulled = trace(back, *(p.type for p in fn.params), *(r.type for r in fn.results))
    cxs = evaluate(pulled, (*xs, *cts), np)
    left = sum(np.sum(c * d) for c, d in zip(cts, dys, strict=True))
    right = sum(np.sum(c * d) for c, d in zip(cxs, dxs, strict=True))
    np.testing.assert_allclose(left, right, rtol=1e-10)


@pytest.mark.parametrize("name", ["elementwise", "softmax", "logistic_loss", "updates"])
def test_second_derivatives_are_symmetric(name: str) -> None:
    fn = PROGRAMS[name]()
    xs = arguments(name)
    active = (True, *(False for _ in xs[1:]))
    hessian = jvp(gradient(fn, active), active)
    u, v = arguments(name, 2)[0], arguments(name, 3)[0]
    across = [evaluate(hessian, (*xs, d), np)[-1] for d in (u, v)]
    np.testing.assert_allclose(np.sum(across[0] * v), np.sum(across[1] * u), rtol=1e-9, atol=1e-12)


def test_a_result_that_does_not_depend_has_no_cotangent() -> None:
    fn = trace(lambda x, y: exp(y), F3, F3)
    _, cts = vjp(fn, fn.params, fn.results, (True, True))
    assert cts[0] is None
    assert cts[1] is not None


def test_integers_end_the_cotangent() -> None:
    assert gradient(trace(lambda x: convert(convert(x, "i64"), "f64"), F3)).results == ()


def test_cotangents_of_a_value_read_twice_are_added() -> None:
    fn = gradient(trace(lambda x: reduce_sum(x * 2.0 + x * 3.0), F3))
    np.testing.assert_array_equal(evaluate(fn, (np.zeros(3),), np)[0], [5.0] * 3)


def test_a_result_given_twice_gets_both_cotangents() -> None:
    x = param(f64())
    y = x * 2.0
    (ct,) = pull((y, y), (x,), (const(1.0, "f64"), const(10.0, "f64")))
    assert ct is not None
    np.testing.assert_array_equal(evaluate(trace(lambda: ct), (), np)[0], 22.0)


def test_linearize_separates_what_is_known_from_what_is_linear() -> None:
    fn = trace(lambda x: sin(x) * x, F3)
    x = param(F3)
    ys, (dx,), (dy,) = linearize(fn, (x,), (True,))
    assert dy is not None
    linear = {n for n in nodes([dy]) if any(dx is v for m in nodes(n.values) for v in m.values)}
    assert linear.isdisjoint(nodes(ys))


def test_derivatives_keep_the_users_line() -> None:
    fn = gradient(trace(lambda x: reduce_sum(sin(x)), F3))
    origins = {n.origin.short for n in nodes(fn.results) if n.op.name == "cos"}
    assert len(origins) == 1
    assert origins.pop().startswith("test_transpose.py:")
