"""One system inside another gives the derivatives that either gives alone."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

import pliant
import pliant.diff as diff
from pliant.diff import Constant, DifferentiateWith, SecondOrder, namespace
from pliant.errors import ArgumentError, DifferentiationError, UnsupportedError
from tests.diff.systems import AUTOGRAD, CASADI, DIFFERENCES, JAX_, MLX, PLIANT, STEP, SYMPY, TORCH, needs, of

X = np.array([0.1, 0.2, 0.3])
HAS_JAX = find_spec("jax") is not None


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


A = np.array([[2.0, 0.5], [0.5, 1.0]])


def factor(a: Any) -> Any:
    return np.linalg.cholesky(a)


def total(inner: Any) -> Any:
    return lambda a: (inner(a @ a.T + a.T @ a) ** 3).sum()


def test_the_type_of_a_result_is_found_by_a_run_at_the_values_at_hand():
    expected = pliant.grad(total(factor))(A)
    inner = DifferentiateWith(factor, diff.FiniteDifferences())
    np.testing.assert_allclose(pliant.grad(total(inner))(A), expected, rtol=1e-5)
    np.testing.assert_allclose(diff.gradient(total(inner), diff.Pliant(), A), expected, rtol=1e-5)
    np.testing.assert_allclose(pliant.jit(lambda a: inner(a @ a))(A), factor(A @ A), rtol=1e-12)


@pytest.mark.jax
def test_the_type_of_a_result_is_found_at_what_jax_differentiates_now():
    import jax

    inner = DifferentiateWith(lambda x: np.linalg.cholesky(x), diff.FiniteDifferences())
    made = jax.grad(total(inner))(jax.numpy.asarray(A))
    np.testing.assert_allclose(made, pliant.grad(total(factor))(A), rtol=1e-4)


@pytest.mark.parametrize("told", [A, pliant.jit(factor)(A).astype(np.float64), np.zeros((2, 2))])
def test_the_type_of_a_result_may_be_told(told: Any):
    inner = DifferentiateWith(factor, diff.FiniteDifferences(), like=told)
    stack = np.stack([A, 2 * A])
    np.testing.assert_allclose(pliant.vmap(total(inner))(stack), [total(factor)(a) for a in stack], rtol=1e-12)


def test_a_type_that_cannot_be_found_is_asked_for():
    inner = DifferentiateWith(factor, diff.FiniteDifferences())
    with pytest.raises(
        ArgumentError, match="factor is run at ones to find the type of its result, and raises LinAlg"
    ) as e:
        pliant.vmap(total(inner))(np.stack([A, A]))
    assert e.match("in <lambda>: called here")
    assert e.match(r"hint: tell the type: DifferentiateWith\(f, system, like=...\)")


def test_results_of_another_type_than_before_are_refused():
    inner = DifferentiateWith(lambda x: x[x > 0], diff.FiniteDifferences())
    f = pliant.jit(lambda x: inner(x))
    np.testing.assert_array_equal(f(X), X)
    with pytest.raises(ArgumentError, match=r"expected a result f64\[3\], as before, got f64\[2\]"):
        f(X - 0.15)
    told = DifferentiateWith(lambda x: x, diff.FiniteDifferences(), like=np.zeros(2))
    with pytest.raises(ArgumentError, match=r"expected a result f64\[2\], as before, got f64\[3\]"):
        pliant.jit(lambda x: told(x))(X)


def mixed(x: Any, options: Any, name: str, *, power: float, is_odd: bool = False) -> Any:
    made = options["factor"] * namespace(x).sin(x) * options["more"][0] ** power
    return made * x if name == "times" and not is_odd else made


def around_mixed(inner: Any) -> Any:
    return lambda x, c: namespace(x).sum(inner(x * x, {"factor": c, "more": [2.0]}, "times", power=3.0) * x)


JAX_PLAIN = of(diff.JAX(plain=True), pytest.mark.jax, name="JAX-plain")
TORCH_PLAIN = of(diff.PyTorch(plain=True), pytest.mark.torch, name="PyTorch-plain")


@pytest.mark.parametrize("outer", [PLIANT, DIFFERENCES, STEP, JAX_, TORCH, AUTOGRAD, JAX_PLAIN, TORCH_PLAIN])
def test_constants_are_containers_text_and_keywords(outer: Any):
    inner = DifferentiateWith(mixed, diff.FiniteDifferences())
    for c in (2.0, 3.0):
        made = diff.gradient(around_mixed(inner), outer, X, Constant(c))
        np.testing.assert_allclose(made, diff.gradient(around_mixed(mixed), diff.Pliant(), X, Constant(c)), rtol=1e-5)


def test_constants_of_text_choose_between_functions():
    inner = DifferentiateWith(mixed, diff.Pliant())
    f = pliant.jit(lambda x: inner(x, {"factor": 1.0, "more": [2.0]}, "", power=1.0) + inner(
        x, {"factor": 1.0, "more": [2.0]}, "times", power=1.0, is_odd=True))  # fmt: skip
    np.testing.assert_allclose(f(X), 4 * np.sin(X))
    with pytest.raises(ArgumentError, match="must be hashable, got set"):
        inner(X, {1}, "", power=1.0)


def test_what_a_function_reads_from_outside_is_read_again_also_with_text():
    scale = np.ones(3)
    inner = DifferentiateWith(lambda x, name: x * scale, diff.JAX() if HAS_JAX else diff.Pliant())
    np.testing.assert_allclose(inner(X, "a"), X)
    scale[:] = 2.0
    np.testing.assert_allclose(inner(X, "a"), 2 * X)


@pytest.mark.parametrize("outer", [JAX_PLAIN, TORCH_PLAIN])
def test_plain_functions_call_it_in_every_mode(outer: Any):
    inner = DifferentiateWith(wave, diff.FiniteDifferences())

    def f(x: Any, c: Any) -> Any:
        return inner(x * x, c) * x

    def one(x: Any, c: Any) -> Any:
        return np.sum(f(x, c))

    for mode in ("forward", "reverse"):
        system = type(outer)(mode, plain=True)
        want = diff.jacobian(lambda x, c: wave(x * x, c) * x, diff.Pliant(), X, Constant(2.0))
        np.testing.assert_allclose(diff.jacobian(f, system, X, Constant(2.0)), want, rtol=1e-4, atol=1e-5)
        want = diff.hessian(around(wave), diff.Pliant(), X)
        np.testing.assert_allclose(diff.hessian(one, system, X, Constant(2.0)), want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("outer", [CASADI, SYMPY])
def test_libraries_of_expressions_say_that_they_cannot_run_it(outer: Any):
    inner = DifferentiateWith(wave, diff.ComplexStep())
    with pytest.raises(UnsupportedError, match="wave is a DifferentiateWith: CasADi and SymPy") as error:
        diff.gradient(around(inner), outer, X)
    assert error.match("test_differentiate_with.py")


@pytest.mark.jax
def test_it_runs_in_programs_given_to_jax():
    import jax

    inner = DifferentiateWith(wave, diff.ComplexStep())
    with jax.enable_x64(True):
        made = jax.jit(jax.grad(pliant.to_jax(lambda x: np.sum(inner(x * x, 2.0) * x))))(jax.numpy.asarray(X))
    np.testing.assert_allclose(made, expected(), rtol=1e-10)
