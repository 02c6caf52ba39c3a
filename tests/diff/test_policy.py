"""What every system does in the odd cases: the same."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

import pliant
import pliant.diff as diff
from pliant.diff import Cache, Constant, Pliant, namespace
from pliant.errors import (
    ArgumentError,
    DifferentiationError,
    DTypeError,
    MutationError,
    ReadOnlyError,
    ShapeError,
    UnavailableError,
    UnsupportedError,
)
from tests.diff.systems import (
    AUTOGRAD,
    COMPLEX,
    DIFFERENCES,
    ENZYME,
    IN_PLACE,
    JAX_,
    PLIANT,
    PYTENSOR,
    READ_ONLY,
    STEP,
    TENSORFLOW,
    TWICE,
    every_system,
    of,
)

X = np.array([0.1, 0.2, 0.3])


def total(x: Any) -> Any:
    return namespace(x).sum(x * x)


def doubled(x: Any) -> Any:
    return 2 * x


def writing(x: Any) -> Any:
    x[0] = 3.0
    return namespace(x).sum(x * x)


def writing_constant(x: Any, c: Any) -> Any:
    c[0] = 3.0
    return namespace(x).sum(x * c)


@every_system
def test_gradient_of_a_function_independent_of_x_is_zero(system: Any):
    np.testing.assert_array_equal(diff.gradient(lambda x: 1.0, system, X), np.zeros(3))


@every_system
def test_jacobian_of_a_function_independent_of_x_is_zero(system: Any):
    np.testing.assert_array_equal(diff.jacobian(lambda x: namespace(x).zeros(2), system, X), np.zeros((2, 3)))


@every_system
@pytest.mark.parametrize("x", [np.arange(3), 3, True, np.int8(1)], ids=["array", "int", "bool", "scalar"])
def test_integers_cannot_be_differentiated(system: Any, x: Any):
    with pytest.raises(DifferentiationError, match="expected floats or complex numbers"):
        diff.gradient(total, system, x)


@every_system
def test_gradient_of_a_vector_valued_function_raises(system: Any):
    with pytest.raises(DifferentiationError, match=r"one real number, this one returns float64\[3\]"):
        diff.gradient(lambda x: x * x, system, X)


@every_system
def test_derivative_in_several_numbers_raises(system: Any):
    with pytest.raises(DifferentiationError, match="expected x to be one number"):
        diff.derivative(total, system, X)


@pytest.mark.parametrize("system", READ_ONLY)
def test_writing_to_x_raises_and_leaves_it_alone(system: Any):
    x = X.copy()
    with pytest.raises(MutationError, match="writes to x"):
        diff.gradient(writing, system, x)
    np.testing.assert_array_equal(x, X)


@pytest.mark.parametrize("system", READ_ONLY)
def test_writing_to_a_constant_raises_and_leaves_it_alone(system: Any):
    c = X.copy()
    with pytest.raises(MutationError, match="writes to x"):
        diff.gradient(writing_constant, system, X, Constant(c))
    np.testing.assert_array_equal(c, X)


def test_pliant_differentiates_through_local_writes():
    x, c = X.copy(), X.copy()
    np.testing.assert_allclose(diff.gradient(writing, Pliant(), x), [0.0, 0.4, 0.6])
    np.testing.assert_allclose(diff.gradient(writing_constant, Pliant(), x, Constant(c)), [3.0, 0.2, 0.3])
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(c, X)


@every_system
def test_derivatives_at_empty_x_are_empty(system: Any):
    assert diff.gradient(total, system, np.zeros(0)).shape == (0,)
    assert diff.jacobian(lambda x: x * x, system, np.zeros((2, 0))).shape == (2, 0, 2, 0)


@pytest.mark.parametrize("system", TWICE)
def test_hessian_at_empty_x_is_empty(system: Any):
    assert diff.hessian(total, system, np.zeros(0)).shape == (0, 0)


@pytest.mark.parametrize("system", COMPLEX)
def test_complex_gradient_is_by_real_and_imaginary_part(system: Any):
    assert diff.gradient(lambda z: namespace(z).real(z * z), system, 1 + 1j) == pytest.approx(2 - 2j, rel=1e-6)


@pytest.mark.parametrize("system", [*COMPLEX, AUTOGRAD])
def test_jacobian_of_a_holomorphic_function_is_its_derivative(system: Any):
    z = np.array([1 + 2j, 0.5 - 1j])
    np.testing.assert_allclose(diff.jacobian(lambda z: z * z * 1j, system, z), np.diag(2j * z), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("system", [*COMPLEX, AUTOGRAD, of(diff.Pliant("reverse")), of(diff.Pliant("forward"))])
def test_complex_jacobians_are_along_real_directions(system: Any):
    z = np.array([1 + 2j, 0.5 - 1j])
    got = diff.jacobian(lambda z: namespace(z).conj(z) * z * (1 + 1j), system, z)
    np.testing.assert_allclose(got, np.diag(2 * z.real * (1 + 1j)), rtol=1e-6, atol=1e-8)
    got = diff.jacobian(lambda x: namespace(x).sum(x * x) * (1 + 2j), system, X)
    np.testing.assert_allclose(got, 2 * X * (1 + 2j), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("system", [*COMPLEX, AUTOGRAD])
def test_jacobians_of_real_results_of_complex_x_are_refused(system: Any):
    with pytest.raises(
        DifferentiationError, match=r"expected a complex result of complex x, got float64\[2\] of complex128\[2\]"
    ):
        diff.jacobian(lambda z: namespace(z).real(z * z), system, np.array([1 + 2j, 0.5 - 1j]))


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_complex_hessians_are_the_same_in_both_modes(mode: Any):
    def f(z: Any) -> Any:
        return np.sum(np.abs(z) ** 2 * z.real * z.imag[::-1])

    z = np.array([1 + 2j, 0.5 - 1j])
    np.testing.assert_allclose(diff.hessian(f, diff.Pliant(mode), z), pliant.hessian(f)(z), rtol=1e-12)


@pytest.mark.parametrize("system", [*COMPLEX, AUTOGRAD])
@pytest.mark.parametrize("operator", ["pushforward", "pullback", "hvp"])
def test_complex_seeds_of_what_is_real_are_refused(operator: str, system: Any):
    with pytest.raises(DTypeError, match=rf"{operator}: the (co)?tangent is complex128\[3\], expected float64"):
        getattr(diff, operator)(total if operator == "hvp" else doubled, system, X, (1j * X,))


@pytest.mark.parametrize("x", [np.array([0.0, 2.0]), X])
def test_complex_step_refuses_complex_results(x: Any):
    def turning(x: Any) -> Any:
        return np.exp(1j * x)

    def filling(y: Any, x: Any) -> None:
        y[:] = turning(x)

    step, size = diff.ComplexStep(), x.size
    expected = rf"real numbers, this one returns complex128\[{size}\]"
    for call in (
        lambda: diff.jacobian(turning, step, x),
        lambda: diff.pushforward(turning, step, x, (x,)),
        lambda: diff.pullback(turning, step, x, (x,)),
        lambda: diff.jacobian(turning, diff.Sparse(step), x),
        lambda: diff.jacobian(filling, step, x, y=np.empty(size, complex)),
    ):
        with pytest.raises(DifferentiationError, match=expected):
            call()
    with pytest.raises(DifferentiationError, match=r"real numbers, this one returns complex128\[\]"):
        diff.gradient(lambda x: np.sum(1j * x), step, x)


def test_complex_step_refuses_memory_in_which_the_step_would_be_zero():
    def cached(x: Any, buffer: Any) -> Any:
        buffer[:] = x * x
        return np.sum(buffer)

    def filling(y: Any, x: Any) -> None:
        y[:] = x * x

    step, short = diff.ComplexStep(), np.empty(3, np.float32)
    with pytest.raises(DifferentiationError, match="of float32 is too short for the steps of x, of float64"):
        diff.gradient(cached, step, X, Cache(short))
    with pytest.raises(DifferentiationError, match="of float32 is too short for the steps of x, of float64"):
        diff.jacobian(filling, step, X, y=short)
    np.testing.assert_allclose(diff.gradient(cached, step, X, Cache(np.empty(3))), 2 * X)
    np.testing.assert_allclose(diff.gradient(cached, step, X.astype("f4"), Cache(short)), 2 * X, rtol=1e-6)


def test_complex_step_is_long_enough_for_each_x():
    def weighted(x: Any, w: Any) -> Any:
        return np.sum(x * w)

    made = diff.gradient(weighted, diff.ComplexStep(), X, diff.Active(X.astype(np.float32)))
    np.testing.assert_allclose(made, [X, X], rtol=1e-6)


def test_complex_step_refuses_complex_x():
    with pytest.raises(DifferentiationError, match="expected real x, got complex128"):
        diff.gradient(lambda z: (z * z).real, diff.ComplexStep(), 1 + 1j)


@every_system
@pytest.mark.parametrize(
    "x",
    [X[::-1], np.arange(6.0)[::2], np.broadcast_to(1.5, 3), np.asfortranarray(np.arange(6.0).reshape(2, 3))],
    ids=["reversed", "strided", "read-only", "fortran"],
)
def test_any_memory_layout_gives_the_same_gradient(system: Any, x: Any):
    np.testing.assert_allclose(diff.gradient(total, system, x), 2 * x, rtol=1e-6)


@every_system
def test_another_byte_order_gives_the_same_gradient(system: Any):
    np.testing.assert_allclose(diff.gradient(total, system, X.astype(">f8")), 2 * X, rtol=1e-6)


@every_system
def test_results_are_no_views_of_arguments(system: Any):
    x, t = X.copy(), np.ones(3)
    prep = diff.prepare_jacobian(lambda x: x, system, x)
    (y, jacobian), (dy,) = prep.value_and(x), diff.pushforward(lambda x: x, system, x, (t,))
    x[:], t[:], jacobian[0, 0] = 9.0, 9.0, 9.0
    np.testing.assert_allclose(y, X, rtol=1e-6)
    np.testing.assert_allclose(dy, np.ones(3), rtol=1e-6)


@every_system
def test_cotangents_are_no_views_of_seeds_and_constants(system: Any):
    t, c = np.ones(3), X.copy()
    prep = diff.prepare_pullback(_shifted, system, X, (t,), Constant(c))
    for _ in range(3):
        y, (g,) = prep.value_and(X, (t,), c)
        assert not np.shares_memory(g, t)
        assert not np.shares_memory(y, c)
    y, (g,) = diff.value_and_pullback(_shifted, system, X, (t,), Constant(c))
    np.testing.assert_allclose(g, t, rtol=1e-6)
    y, (g,) = diff.value_and_pullback(lambda x, c: c, system, X, (t,), Constant(c))
    assert not np.shares_memory(y, c)
    point = diff.prepare_pullback_same_point(_shifted, system, X, (t,), Constant(c))
    assert not np.shares_memory(point((t,))[0], t)


def _shifted(x: Any, c: Any) -> Any:
    return x + c


@every_system
def test_every_call_makes_a_gradient_of_its_own(system: Any):
    prep = diff.prepare_gradient(lambda x: namespace(x).sum(x), system, X)
    for _ in range(3):
        prep(X)[0] = 9.0
    np.testing.assert_allclose(prep(X), np.ones(3), rtol=1e-6)


@pytest.mark.parametrize("system", READ_ONLY)
def test_a_prepared_call_that_writes_to_a_constant_raises_and_leaves_it_alone(system: Any):
    c = X.copy()
    prep = diff.prepare_gradient(writing_constant, system, X, Constant(c))
    for _ in range(2):
        with pytest.raises(MutationError, match="writes to x"):
            prep(X, c)
    np.testing.assert_array_equal(c, X)


@every_system
def test_a_prepared_gradient_of_a_vector_of_one_raises(system: Any):
    prep = diff.prepare_gradient(lambda x: (x * x)[:1], system, X)
    for _ in range(2):
        with pytest.raises(DifferentiationError, match="one real number"):
            prep(X)


@pytest.mark.parametrize("system", [DIFFERENCES, STEP])
def test_gradients_by_columns_take_memory_of_order_n(system: Any):
    x = np.ones(2000)
    prep = diff.prepare_gradient(total, system, x)
    prep(x)
    tracemalloc.start()
    prep(x)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50 * x.nbytes


@every_system
def test_single_precision_stays_single(system: Any):
    g = diff.gradient(total, system, X.astype(np.float32))
    assert g.dtype == np.float32
    np.testing.assert_allclose(g, 2 * X, rtol=2e-3)


@every_system
def test_a_call_after_an_error_is_right(system: Any):
    def f(x: Any, fails: Any) -> Any:
        if fails:
            raise RuntimeError("mine")
        return total(x)

    with pytest.raises(RuntimeError, match="mine"):
        diff.gradient(f, system, X, Constant(True))
    np.testing.assert_allclose(diff.gradient(f, system, X, Constant(False)), 2 * X, rtol=1e-6)


@every_system
def test_captured_arrays_are_read_again(system: Any):
    weights = np.array([1.0, 2.0, 3.0])

    def f(x: Any) -> Any:
        return namespace(x).sum(namespace(x).asarray(weights) * x)

    diff.gradient(f, system, X)
    weights[0] = 5.0
    np.testing.assert_allclose(diff.gradient(f, system, X), weights, rtol=1e-6)


@pytest.mark.parametrize("system", [AUTOGRAD, TENSORFLOW, PYTENSOR, ENZYME])
def test_systems_without_memory_refuse_it(system: Any):
    with pytest.raises(UnsupportedError, match="no Cache"):
        diff.gradient(lambda x, b: total(x), system, X, Cache(np.zeros(3)))


@pytest.mark.parametrize("system", [JAX_])
def test_out_of_an_immutable_array_raises(system: Any):
    import jax.numpy as jnp

    with pytest.raises(UnsupportedError, match="is immutable"):
        diff.gradient(total, system, X, out=jnp.zeros(3))


def test_a_missing_package_names_what_installs_it():
    from pliant.diff.optional import package

    with pytest.raises(UnavailableError, match="pip install no-such-thing"):
        package("no_such_package", "Nothing", "no-such-thing")


def test_what_is_no_context_raises():
    with pytest.raises(ArgumentError, match="wrap it"):
        diff.gradient(total, Pliant(), X, 3.0)


def test_seeds_are_a_tuple():
    with pytest.raises(ArgumentError, match=r"one seed t is the tuple"):
        diff.pushforward(total, Pliant(), X, X)


@every_system
def test_seeds_of_another_shape_raise(system: Any):
    with pytest.raises(ShapeError, match=r"the tangent has shape \[2\], x has \[3\]"):
        diff.pushforward(total, system, X, (np.ones(2),))
    with pytest.raises(ShapeError, match=r"the cotangent has shape \[2\], the result \[3\]"):
        diff.pullback(lambda x: x * x, system, X, (np.ones(2),))


@every_system
def test_out_of_another_shape_raises(system: Any):
    with pytest.raises(ShapeError, match=r"out= has shape \[2\], the result \[3\]"):
        diff.gradient(total, system, X, out=np.zeros(2))


def test_second_order_of_two_libraries_raises_at_construction():
    with pytest.raises(UnsupportedError, match="Pliant cannot differentiate derivatives made by JAX"):
        diff.SecondOrder(Pliant(), diff.JAX())


@pytest.mark.parametrize("operator", ["derivative", "second_derivative", "prepare_derivative", "value_and_derivative"])
def test_derivatives_by_one_number_take_no_active(operator: str):
    with pytest.raises(ArgumentError, match="derivative: differentiates by one number, x, and takes no Active"):
        getattr(diff, operator)(lambda x, a: x * a, Pliant(), 3.0, diff.Active(2.0))


def test_systems_are_made_of_systems():
    sparse: Any = diff.Sparse(Pliant())
    for make, text in (
        (lambda: diff.Sparse(sparse), r"Sparse: expected a system, got Sparse\(Pliant\)"),
        (lambda: diff.Sparse(Pliant), "Sparse: expected a system, got the class Pliant"),
        (lambda: diff.SecondOrder(sparse, Pliant()), r"SecondOrder: expected a system, got Sparse\(Pliant\)"),
        (lambda: diff.Mixed(Pliant(), np), "Mixed: expected a system, got module"),  # type: ignore[arg-type]
    ):
        with pytest.raises(ArgumentError, match=text):
            make()


def test_a_class_is_no_system():
    with pytest.raises(ArgumentError, match="expected a system after f, got the class Pliant"):
        diff.gradient(total, Pliant, X)


@every_system
def test_a_function_that_returns_nothing_is_told_so(system: Any):
    with pytest.raises(DifferentiationError, match=r"this one returns None\nhint: return the value"):
        diff.gradient(lambda x: None, system, X)
    with pytest.raises(DifferentiationError, match=r"this one returns \(\)"):
        diff.jacobian(lambda x: (), system, X)


@pytest.mark.parametrize("system", IN_PLACE)
def test_a_function_that_is_to_fill_y_and_returns_an_array_is_told_so(system: Any):
    def returning(y: Any, x: Any) -> Any:
        return x * 2

    with pytest.raises(ArgumentError, match="y=: expected a function that fills its first argument and returns noth"):
        diff.jacobian(returning, system, X, y=np.zeros(3))


def test_a_function_may_return_the_y_that_it_fills():
    for system in (Pliant(), diff.FiniteDifferences(), diff.JAX(plain=True)):
        made = diff.jacobian(lambda y, x: np.multiply(x, 2, out=y), system, X, y=np.zeros(3))
        np.testing.assert_allclose(made, 2 * np.eye(3), atol=1e-9)
        made = diff.jacobian(lambda y, x: (y.__setitem__(0, x[0]), 0)[1], system, X, y=np.zeros(1))
        np.testing.assert_allclose(made, [[1.0, 0.0, 0.0]], atol=1e-9)


def test_wrong_keywords_and_preparations_are_named():
    hint = r"gradient: got an unexpected keyword argument 'c'\nhint: what f takes beside x follows x"
    with pytest.raises(ArgumentError, match=hint):
        diff.gradient(total, Pliant(), X, c=2.0)  # type: ignore[call-arg]
    with pytest.raises(ArgumentError, match=hint):
        diff.prepare_gradient(total, Pliant(), X, c=2.0)  # type: ignore[call-arg]
    with pytest.raises(ArgumentError, match="expected prep= from prepare_gradient, got function"):
        diff.gradient(total, Pliant(), X, prep=total)  # type: ignore[arg-type]


def test_an_empty_tuple_of_seeds_is_refused():
    with pytest.raises(ArgumentError, match="expected a tuple of seeds, got an empty one"):
        diff.pullback(np.sin, Pliant(), X, ())


def test_what_cannot_be_written_is_no_out():
    with pytest.raises(DTypeError, match="out= has dtype int64, the result float64"):
        diff.gradient(total, Pliant(), X, out=np.zeros(3, np.int64))
    with pytest.raises(ReadOnlyError, match="out= cannot be written: it is read-only"):
        diff.gradient(total, Pliant(), X, out=np.broadcast_to(0.0, 3))
    with pytest.raises(UnsupportedError, match="out= cannot be written: float is immutable"):
        diff.derivative(np.sin, Pliant(), 1.0, out=0.0)


@pytest.mark.parametrize(
    "system",
    [
        PLIANT,
        pytest.param(diff.JAX(plain=True), id="JAX", marks=pytest.mark.jax),
        pytest.param(diff.PyTorch(plain=True), id="PyTorch", marks=pytest.mark.torch),
    ],
)
def test_a_function_may_return_a_python_number(system: Any):
    def f(x: Any) -> Any:
        return float(x[0]) ** 2

    expected = [2 * X[0], 0.0, 0.0]
    np.testing.assert_allclose(diff.gradient(f, system, X), expected)
    prep = diff.prepare_gradient(f, system, X)
    for _ in range(3):
        y, g = prep.value_and(X)
        np.testing.assert_allclose(g, expected)
        assert isinstance(y, np.float64)

    def whole(x: Any) -> Any:
        return int(x[0] > 0) + 1

    np.testing.assert_array_equal(diff.gradient(whole, system, X), np.zeros(3))


def test_the_complex_step_says_which_floats_it_takes():
    with pytest.raises(DifferentiationError, match="expected float32 or float64, got float16"):
        diff.gradient(total, diff.ComplexStep(), X.astype(np.float16))


@pytest.mark.jax
def test_references_of_jax_are_filled():
    import jax

    def fill(y: Any, x: Any) -> None:
        y[...] = x * x

    with jax.enable_x64(True):
        for x in (X, jax.numpy.asarray(X)):
            y, out = jax.new_ref(jax.numpy.zeros(3)), jax.new_ref(jax.numpy.zeros((3, 3), np.float32))
            made, jacobian = diff.value_and_jacobian(fill, diff.JAX(), x, y=y, out=out)
            assert made is y
            assert jacobian is out
            np.testing.assert_allclose(y[...], X * X)
            np.testing.assert_allclose(out[...], np.diag(2 * X), rtol=1e-6)
        wrong = jax.new_ref(jax.numpy.zeros((3, 3), int))
        with pytest.raises(DTypeError, match="out= has dtype int64, the result float64"):
            diff.jacobian(fill, diff.JAX(), X, y=y, out=wrong)
        with pytest.raises(ShapeError, match=r"out= has shape \[3\], the result \[3, 3\]"):
            diff.jacobian(fill, diff.JAX(), X, y=y, out=y)
