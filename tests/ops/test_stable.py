"""Stable rules fire inside the default set, agree with their left sides, and save the hard cases."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.core.build import trace
from pliant.core.ir import Function, Value
from pliant.core.types import Type
from pliant.ops import stable
from pliant.ops.elementwise import add
from pliant.ops.power import sqrt
from pliant.ops.stable import Logistic, Softplus
from pliant.ops.transcendental import exp, expm1, log, log1p
from pliant.pipeline import before_derivatives, optimise
from pliant.rewrite.explain import Log
from pliant.rewrite.rule import Rule
from pliant.testing import check_gradient, check_primitive
from pliant.transforms.evaluate import evaluate
from tests.programs.programs import f64, gradient

HARD = np.array([-1000.0, -40.0, -1e-20, 0.0, 1e-20, 1.0, 40.0, 1000.0])
H = f64(len(HARD))


def values(fn: Function, *xs: Any) -> Any:
    return evaluate(fn, xs, np)[0]


def rules() -> list[Any]:
    return [pytest.param(r, id=r.name) for r in stable.RULES]


@pytest.mark.parametrize("rule", rules())
def test_the_sides_of_a_rule_agree_where_nothing_overflows(rule: Rule) -> None:
    sides: Callable[..., Any] = rule.sides  # type: ignore[assignment]
    count = sides.__code__.co_argcount
    left, right = (trace(lambda *xs, i=i: sides(*xs)[i], *[f64(5)] * count) for i in (0, 1))
    xs = [np.random.default_rng(k).uniform(0.05, 0.95, 5) for k in range(count)]
    np.testing.assert_allclose(values(left, *xs), values(right, *xs), rtol=1e-13)


@pytest.mark.parametrize("rule", rules())
def test_a_rule_fires_inside_the_default_set(rule: Rule) -> None:
    sides: Callable[..., Any] = rule.sides  # type: ignore[assignment]
    log_of = Log()
    optimise(trace(lambda *xs: sides(*xs)[0], *[f64(5)] * sides.__code__.co_argcount), log_of)
    assert log_of.fired[rule.name]


def test_complex_operands_are_left_alone() -> None:
    fn = trace(lambda z: log(1.0 + z), Type("c128", (3,)))
    assert optimise(fn) == fn


@pytest.mark.parametrize("op", [Logistic(), Softplus()])
def test_primitive_obeys_the_laws(op: Any) -> None:
    check_primitive(op, f64(3, 2))
    check_primitive(op, f64())


LOGISTIC = [
    lambda x: 1.0 / (1.0 + exp(-x)),
    lambda x: 1.0 / (exp(-x) + 1.0),
    lambda x: exp(x) / (1.0 + exp(x)),
    lambda x: 1.0 - 1.0 / (1.0 + exp(x)),
]


@pytest.mark.parametrize("f", LOGISTIC)
def test_every_way_to_write_the_logistic_function_is_found(f: Callable[[Value], Value]) -> None:
    fn = before_derivatives(trace(f, H))
    assert fn == trace(lambda x: Logistic()(x), H)
    slope = values(optimise(gradient(fn)), HARD)
    np.testing.assert_allclose(slope, np.exp(-np.abs(HARD)) / (1 + np.exp(-np.abs(HARD))) ** 2, rtol=1e-14)


SOFTPLUS = [
    lambda x: log(1.0 + exp(x)),
    lambda x: log1p(exp(x)),
    lambda x: -log(1.0 / (1.0 + exp(x))),
    lambda x: -log(1.0 - 1.0 / (1.0 + exp(-x))),
    lambda x: -log1p(-(1.0 / (1.0 + exp(-x)))),
]


@pytest.mark.parametrize("f", SOFTPLUS)
def test_every_way_to_write_softplus_is_found(f: Callable[[Value], Value]) -> None:
    fn = before_derivatives(trace(f, H))
    np.testing.assert_allclose(values(fn, HARD), np.logaddexp(0, HARD), rtol=1e-15)
    slope = values(optimise(gradient(fn)), HARD)
    e = np.exp(-np.abs(HARD))
    np.testing.assert_allclose(slope, np.where(HARD < 0, e, 1) / (1 + e), rtol=1e-14)


def test_log_of_a_sum_of_exponentials_does_not_overflow() -> None:
    fn = optimise(trace(lambda x, y: log(exp(x) + exp(y)), H, H))
    np.testing.assert_allclose(values(fn, HARD, HARD[::-1].copy()), np.logaddexp(HARD, HARD[::-1]))


def test_small_numbers_keep_their_digits() -> None:
    tiny = np.full(len(HARD), 1e-20)
    np.testing.assert_array_equal(values(optimise(trace(lambda x: log(1.0 + x), H)), tiny), tiny)
    np.testing.assert_array_equal(values(optimise(trace(lambda x: log(1.0 - x), H)), tiny), -tiny)
    np.testing.assert_array_equal(values(optimise(trace(lambda x: exp(x) - 1.0, H)), tiny), tiny)


def test_roots_of_squares_have_a_derivative_at_zero() -> None:
    fn = before_derivatives(trace(lambda x: sqrt(x * x), H))
    np.testing.assert_array_equal(values(gradient(fn), HARD), np.sign(HARD))


def test_inverse_pairs_cancel() -> None:
    fn = trace(lambda x: add(log(exp(x)), log1p(expm1(x))), H)
    assert optimise(fn) == trace(lambda x: x + x, H)


SQUARES: tuple[tuple[Callable[..., Any], float], ...] = (
    (lambda x: np.sqrt(x) ** 2, 1.0),
    (lambda x: np.square(np.sqrt(x)), 1.0),
    (lambda x: np.exp(-((np.sqrt(x) / 0.5) ** 2)), -4.0),
    (lambda x: np.exp(-((0.5 * np.sqrt(x)) ** 2)), -0.25),
    (lambda x: np.sqrt(x) ** 3 + x, 1.0),
    (lambda x: np.sqrt(x) ** 4 - x, -1.0),
    (lambda x: (-np.sqrt(x)) ** 2, 1.0),
)


@pytest.mark.parametrize(("f", "slope"), SQUARES)
def test_squares_of_roots_have_the_derivative_at_zero_that_differences_have(
    f: Callable[..., Any], slope: float
) -> None:
    assert pliant.grad(f)(0.0) == pytest.approx(slope)
    assert pliant.grad(f)(2.0) == pytest.approx((f(2.0 + 1e-6) - f(2.0 - 1e-6)) / 2e-6)
    with np.errstate(invalid="ignore"):
        assert np.isnan(pliant.jit(f)(-1.0)) and np.isnan(pliant.grad(f)(-1.0))
    xs = np.array([0.0, 5e-324, 1e-300, 0.3, 2.0, 7.0, 1e300, np.inf])
    with np.errstate(invalid="ignore", over="ignore"):
        np.testing.assert_allclose(pliant.jit(f)(xs), f(xs), rtol=1e-13)
    assert pliant.jit(lambda x: np.sqrt(x) ** 2)(xs).tolist() == xs.tolist()


def test_the_gradient_of_a_kernel_of_distances() -> None:
    def kernel(p: Any) -> Any:
        d = p[:, None] - p[None, :]
        return np.sum(np.exp(-(np.sqrt(d[..., 0] ** 2 + d[..., 1] ** 2) ** 2) / 0.81))

    check_gradient(kernel, np.array([[0.0, 1.0], [2.5, 0.3], [1.0, 1.0]]))
