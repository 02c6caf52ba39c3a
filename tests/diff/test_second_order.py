"""Systems in pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant.diff as diff
from pliant.diff import FiniteDifferences, Mixed, Pliant, SecondOrder, namespace
from tests.diff.systems import AUTOGRAD, JAX_, PLIANT, STEP, TENSORFLOW, TORCH, TWICE

X = np.array([0.1, 0.2, 0.3])


def f(x: Any) -> Any:
    return namespace(x).sum(namespace(x).sin(x) * x)


HESSIAN = np.diag(2 * np.cos(X) - X * np.sin(X))


@pytest.mark.parametrize("outer", ["forward", "reverse"])
@pytest.mark.parametrize("inner", ["forward", "reverse"])
@pytest.mark.parametrize(
    "system", [pytest.param(type(p.values[0]), id=p.id, marks=p.marks) for p in (PLIANT, JAX_, TORCH)]
)
def test_every_combination_of_modes_gives_the_same_hessian(system: Any, outer: Any, inner: Any):
    pair = SecondOrder(system(outer), system(inner))
    np.testing.assert_allclose(diff.hessian(f, pair, X), HESSIAN, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(diff.hvp(f, pair, X, (X,))[0], HESSIAN @ X, rtol=1e-10)


@pytest.mark.parametrize("inner", [PLIANT, AUTOGRAD, STEP, JAX_, TORCH])
def test_finite_differences_go_over_any_system(inner: Any):
    made = diff.hessian(f, SecondOrder(FiniteDifferences(), inner), X)
    np.testing.assert_allclose(made, HESSIAN, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("system", TWICE)
def test_second_derivatives_come_with_the_first_and_the_value(system: Any):
    y, dy, ddy = diff.value_derivative_and_second_derivative(lambda x: x * x * x, system, 2.0)
    np.testing.assert_allclose([y, dy, ddy], [8.0, 12.0, 12.0], rtol=1e-4)


def test_first_derivatives_of_a_pair_are_the_inner_ones():
    pair = SecondOrder(FiniteDifferences(), Pliant())
    np.testing.assert_array_equal(diff.gradient(f, pair, X), diff.gradient(f, Pliant(), X))


def test_mixed_uses_one_system_per_mode():
    mixed = Mixed(diff.ComplexStep(), Pliant("reverse"))
    np.testing.assert_array_equal(diff.jvp(f, mixed, X, X), diff.jvp(f, diff.ComplexStep(), X, X))
    np.testing.assert_array_equal(diff.gradient(f, mixed, X), diff.gradient(f, Pliant(), X))


@pytest.mark.parametrize("system", [PLIANT, AUTOGRAD, JAX_, TORCH, TENSORFLOW])
def test_operators_inside_differentiated_functions_are_differentiated(system: Any):
    def slope(x: Any) -> Any:
        return namespace(x).sum(diff.gradient(f, system, x)) + namespace(x).sum(diff.jvp(f, system, x, x)) + f(x)

    expected = HESSIAN.sum(0) + HESSIAN @ X + 2 * (np.sin(X) + X * np.cos(X))
    own = X if system.name == "Pliant" else system.array(X)  # PyTorch's tensors take the tape
    np.testing.assert_allclose(diff.gradient(slope, system, X), expected, rtol=1e-12)
    np.testing.assert_allclose(diff.prepare_gradient(slope, system, own)(own), expected, rtol=1e-6)
