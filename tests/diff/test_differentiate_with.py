"""One system inside another gives the derivatives that either gives alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant
import pliant.diff as diff
from pliant.diff import Constant, DifferentiateWith, namespace
from pliant.errors import UnsupportedError
from tests.diff.systems import AUTOGRAD, DIFFERENCES, JAX_, MLX, PLIANT, STEP, TORCH

X = np.array([0.1, 0.2, 0.3])


def wave(x: Any, c: Any) -> Any:
    return namespace(x).sin(x) * x * c


def around(inner: Any) -> Any:
    return lambda x: namespace(x).sum(inner(x * x, 2.0) * x)


def expected() -> Any:
    return diff.gradient(around(wave), diff.ComplexStep(), X)


@pytest.mark.parametrize("outer", [PLIANT, DIFFERENCES, STEP, JAX_, TORCH, AUTOGRAD, MLX])
@pytest.mark.parametrize("inner", [PLIANT, DIFFERENCES, STEP, AUTOGRAD, JAX_, TORCH])
def test_gradient_of_one_system_inside_another(inner: Any, outer: Any):
    made = diff.gradient(around(DifferentiateWith(wave, inner)), outer, X)
    np.testing.assert_allclose(made, expected(), rtol=1e-5)


@pytest.mark.parametrize("outer", [PLIANT, STEP, TORCH])
def test_forward_mode_through_another_system(outer: Any):
    made = diff.jvp(around(DifferentiateWith(wave, diff.ComplexStep())), outer, X, X)
    np.testing.assert_allclose(made, expected() @ X, rtol=1e-10)


@pytest.mark.parametrize("outer", [PLIANT, JAX_, TORCH])
def test_jacobian_through_another_system(outer: Any):
    inner = DifferentiateWith(wave, diff.FiniteDifferences())
    reverse = type(outer)("reverse")
    made = diff.jacobian(lambda x, c: inner(x * x, c), reverse, X, Constant(2.0))
    np.testing.assert_allclose(made, diff.jacobian(lambda x: wave(x * x, 2.0), diff.ComplexStep(), X), rtol=1e-6)


def test_it_runs_inside_compiled_functions_and_batches():
    inner = DifferentiateWith(wave, diff.ComplexStep())
    np.testing.assert_allclose(pliant.jit(lambda x: inner(x, 2.0) + 1)(X), wave(X, 2.0) + 1)
    np.testing.assert_allclose(inner(X, 2.0), wave(X, 2.0))


def test_a_function_that_returns_a_container_is_refused():
    with pytest.raises(UnsupportedError, match="returns one array, this one returns list"):
        DifferentiateWith(lambda x: [x], diff.Pliant())(X)


@pytest.mark.parametrize("outer", [PLIANT, TORCH])
def test_second_derivatives_are_refused_and_not_zero(outer: Any):
    inner = DifferentiateWith(lambda x: x * x, diff.ComplexStep())
    with pytest.raises(UnsupportedError, match="differentiated only once"):
        diff.hessian(lambda x: namespace(x).sum(inner(x)), outer, X)


def test_derivatives_in_a_constant_are_refused_and_not_zero():
    inner = DifferentiateWith(wave, diff.ComplexStep())
    with pytest.raises(UnsupportedError, match="with respect to its first argument"):
        diff.gradient(lambda c: np.sum(inner(X, c)), diff.Pliant(), X)
