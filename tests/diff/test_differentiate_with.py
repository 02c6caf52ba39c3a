"""One system inside another gives the derivatives that either gives alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant
import pliant.diff as diff
from pliant.diff import Constant, DifferentiateWith, SecondOrder, namespace
from pliant.errors import DifferentiationError, UnsupportedError
from tests.diff.systems import AUTOGRAD, DIFFERENCES, JAX_, MLX, PLIANT, STEP, TORCH, needs, of

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


@pytest.mark.parametrize(
    "kind", [of(diff.JAX, pytest.mark.jax, name="JAX"), of(diff.PyTorch, pytest.mark.torch, name="PyTorch")]
)
def test_plain_functions_inside_the_system_that_runs_them(kind: Any):
    inner = DifferentiateWith(lambda x, c: np.sin(x) * x * c, kind(plain=True))
    made = diff.gradient(around(inner), kind(), X)
    np.testing.assert_allclose(made, expected(), rtol=1e-6)


@pytest.mark.parametrize("outer", [PLIANT, STEP, DIFFERENCES, JAX_, TORCH, AUTOGRAD, MLX])
def test_forward_mode_through_another_system(outer: Any):
    made = diff.jvp(around(DifferentiateWith(wave, diff.ComplexStep())), outer, X, X)
    np.testing.assert_allclose(made, expected() @ X, rtol=max(1e-8, outer.abilities.tolerance[0]))


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


@pytest.mark.parametrize("backend", ["llvm", "reference"])
def test_an_array_that_the_function_keeps_is_not_handed_out(backend: str):
    kept = np.arange(3.0)
    inner = DifferentiateWith(lambda x: kept, diff.FiniteDifferences())
    made = pliant.jit(lambda x: inner(x), backend=backend)(X)
    made[:] = 7.0
    np.testing.assert_array_equal(kept, [0.0, 1.0, 2.0])


def test_a_function_that_returns_a_container_is_refused():
    with pytest.raises(UnsupportedError, match="returns one array, this one returns list"):
        DifferentiateWith(lambda x: [x], diff.Pliant())(X)


TWICE = [
    DIFFERENCES,
    AUTOGRAD,
    *[
        of(type(p.values[0])(m), *p.marks, name=f"{p.id}-{m}")
        for p in (PLIANT, JAX_, TORCH)
        for m in ("forward", "reverse")
    ],
]


@pytest.mark.parametrize("outer", TWICE)
@pytest.mark.parametrize("inner", [PLIANT, AUTOGRAD, JAX_, TORCH])
def test_second_derivatives_in_every_order_of_modes(inner: Any, outer: Any):
    f, tolerance = around(DifferentiateWith(wave, inner)), max(1e-10, outer.abilities.tolerance[1])
    want = diff.hessian(around(wave), diff.Pliant(), X)
    np.testing.assert_allclose(diff.hessian(f, outer, X), want, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(diff.hvp(f, outer, X, (X,))[0], want @ X, rtol=tolerance, atol=tolerance)


@needs("mlx")
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_second_derivatives_through_mlx(mode: Any):
    made = diff.hvp(around(DifferentiateWith(wave, diff.Pliant())), diff.MLX(mode), X, (X,))[0]
    np.testing.assert_allclose(made, diff.hvp(around(wave), diff.Pliant(), X, (X,))[0], rtol=1e-4)


def test_second_derivatives_along_directions_of_different_length():
    inner = DifferentiateWith(wave, diff.Pliant())
    made = inner.bend(X, 1e8 * X, 1e-8 * X, 2.0)
    np.testing.assert_allclose(made, X * X * 2 * (2 * np.cos(X) - X * np.sin(X)), rtol=1e-12)
    np.testing.assert_array_equal(inner.bend(X, 0 * X, X, 2.0), 0 * X)


@pytest.mark.parametrize("outer", [PLIANT, JAX_, TORCH, AUTOGRAD])
def test_second_derivatives_are_refused_where_the_inner_system_has_none(outer: Any):
    inner = DifferentiateWith(lambda x: x * x, diff.ComplexStep())
    with pytest.raises(UnsupportedError, match="ComplexStep cannot differentiate derivatives made by ComplexStep"):
        diff.hessian(lambda x: namespace(x).sum(inner(x)), outer, X)
    pair = DifferentiateWith(lambda x: x * x, SecondOrder(diff.FiniteDifferences(), diff.ComplexStep()))
    made = diff.hessian(lambda x: namespace(x).sum(pair(x)), outer, X)
    np.testing.assert_allclose(made, 2 * np.eye(3), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("outer", [PLIANT, JAX_, TORCH])
def test_second_derivatives_in_complex_numbers_are_refused(outer: Any):
    inner = DifferentiateWith(lambda x: x * x, diff.FiniteDifferences())
    with pytest.raises(UnsupportedError, match="only once where x is complex"):
        diff.hvp(lambda x: namespace(x).real(namespace(x).sum(inner(x))), outer, X + 1j, (X + 1j,))


def test_third_derivatives_are_refused_and_not_zero():
    inner = DifferentiateWith(lambda x: x * x, diff.FiniteDifferences())
    with pytest.raises(UnsupportedError, match="differentiated only twice"):
        diff.second_derivative(diff_of(inner), diff.Pliant(), 1.0)


def diff_of(f: Any) -> Any:
    return pliant.grad(lambda x: f(x))


@pytest.mark.parametrize("outer", [PLIANT, JAX_, TORCH, AUTOGRAD])
@pytest.mark.parametrize("inner", [PLIANT, JAX_, TORCH])
def test_complex_gradients_of_one_system_inside_another(inner: Any, outer: Any):
    def norm(f: Any) -> Any:
        return lambda z: namespace(z).sum(namespace(z).real(f(z * z, 1 + 2j) * namespace(z).conj(f(z * z, 1 + 2j))))

    z = np.array([0.3 + 0.2j, 0.5 - 1j])
    made = diff.gradient(norm(DifferentiateWith(wave, inner)), outer, z)
    np.testing.assert_allclose(made, diff.gradient(norm(wave), diff.Pliant(), z), rtol=1e-10)


def test_derivatives_in_a_constant_are_refused_and_not_zero():
    inner = DifferentiateWith(wave, diff.ComplexStep())
    with pytest.raises(UnsupportedError, match="with respect to its first argument"):
        diff.gradient(lambda c: np.sum(inner(X, c)), diff.Pliant(), X)


@pytest.mark.jax
def test_a_system_inside_a_system_inside_the_first():
    innermost = diff.DifferentiateWith(lambda x: np.sin(x) ** 2, diff.Pliant())
    inner = diff.DifferentiateWith(lambda x: innermost(x) + 1, diff.JAX())
    made = diff.jacobian(lambda x: inner(2.0 * x), diff.Pliant(), X)
    np.testing.assert_allclose(made, np.diag(2 * np.sin(4 * X)), atol=1e-12)


def branching(x: Any) -> Any:
    if x[0] > 0:
        return x**2
    return x


@pytest.mark.parametrize(
    "inner",
    [
        diff.Pliant(),
        diff.FiniteDifferences(),
        pytest.param(diff.JAX(plain=True), marks=pytest.mark.jax),
        pytest.param(diff.PyTorch(plain=True), marks=pytest.mark.torch),
    ],
    ids=lambda s: s.name,
)
def test_branches_inside_of_every_transformation(inner: Any):
    f, rows = DifferentiateWith(branching, inner), np.array([[1.0, 2.0], [-1.0, -2.0]])
    tolerance = 1e-6 if isinstance(inner, diff.FiniteDifferences) else 1e-12
    for transformed, wanted in (
        (pliant.jit(f), branching),
        (pliant.jacobian(f), pliant.jacobian(branching)),
        (pliant.grad(lambda x: f(x).sum()), pliant.grad(lambda x: branching(x).sum())),
        (pliant.hessian(lambda x: f(x).sum()), pliant.hessian(lambda x: branching(x).sum())),
    ):
        for x in rows:
            np.testing.assert_allclose(transformed(x), wanted(x), atol=tolerance)
        np.testing.assert_allclose(pliant.vmap(transformed)(rows), [wanted(x) for x in rows], atol=tolerance)


def test_a_complex_step_that_is_dropped_is_told_where_numpy_tells():
    def f(x: Any) -> Any:
        y = np.zeros(3)
        y[:] = x
        return np.sum(y**2)

    for ask in (
        lambda: diff.gradient(f, diff.ComplexStep(), X[:3]),
        lambda: diff.pushforward(f, diff.ComplexStep(), X[:3], (X[:3],)),
    ):
        with pytest.raises(DifferentiationError, match="drops the imaginary part of complex numbers"):
            ask()
