"""Square systems: LU, solve, inverse and determinants."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import pliant
from pliant.core.build import trace
from pliant.core.types import Type
from pliant.errors import ShapeError
from pliant.ops.solve import Cofactor, CofactorRate, Det, Inv, Lu, Slogdet, Solve
from pliant.testing import check_primitive, reverse, run
from pliant.transforms.vmap import vmap
from tests.ops.test_triangular import well_posed

RNG = np.random.default_rng(0)
NUMPYS = {Inv(): np.linalg.inv, Det(): np.linalg.det, Slogdet(): np.linalg.slogdet}


@pytest.mark.parametrize("dtype", ["f64", "c128"])
@pytest.mark.parametrize("shape", [(3, 3), (2, 2, 2)])
def test_lu_factors_the_permuted_matrix(shape, dtype):
    check_primitive(Lu(), Type(dtype, shape), draw=well_posed(Type(dtype, shape)))
    a = RNG.standard_normal(shape) @ np.diag(np.arange(1.0, 1 + shape[-1]))
    lu, perm = run(trace(lambda x: Lu().apply(x), Type("f64", shape)), (a,))
    lower, upper = np.tril(lu, -1) + np.eye(shape[-1]), np.triu(lu)
    assert_allclose(lower @ upper, np.take_along_axis(a, perm[..., None], -2), atol=1e-12)


@pytest.mark.parametrize("dtype", ["f64", "c128"])
@pytest.mark.parametrize("lead", [(), (2,)])
@pytest.mark.parametrize("adjoint", [False, True])
def test_solve_obeys_the_laws(adjoint, lead, dtype):
    types = Type(dtype, (*lead, 3, 3)), Type(dtype, (*lead, 3, 2))
    check_primitive(
        Solve(adjoint),
        *types,
        draw=well_posed(*types),
        oracle=lambda a, b: np.linalg.solve(np.conj(np.swapaxes(a, -1, -2)) if adjoint else a, b),
    )


@pytest.mark.parametrize("dtype", ["f64", "c128"])
@pytest.mark.parametrize("shape", [(3, 3), (2, 2, 2), (1, 1)])
@pytest.mark.parametrize("op", [Inv(), Det(), Slogdet(), Cofactor()])
def test_functions_of_square_matrices_obey_the_laws(op, shape, dtype):
    type = Type(dtype, shape)
    check_primitive(op, type, draw=well_posed(type), oracle=NUMPYS.get(op), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", ["f64", "c128"])
@pytest.mark.parametrize("shape", [(3, 3), (2, 2, 2), (1, 1)])
def test_the_change_of_cofactors_obeys_the_laws(shape, dtype):
    types = (Type(dtype, shape),) * 2
    check_primitive(CofactorRate(), *types, draw=well_posed(*types), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("op", [Inv(), Det(), Slogdet(), Lu()])
def test_empty_matrices_and_empty_batches(op):
    check_primitive(op, Type("f64", (0, 0)), oracle=NUMPYS.get(op), derivatives=False)
    check_primitive(op, Type("f64", (0, 2, 2)), oracle=NUMPYS.get(op), derivatives=False)


@pytest.mark.parametrize("dtype", ["f32", "c64"])
@pytest.mark.parametrize("op", [Inv(), Det(), Slogdet()])
def test_single_precision_is_kept(op, dtype):
    check_primitive(op, Type(dtype, (2, 2)), draw=well_posed(Type(dtype, (2, 2))), derivatives=False)


def test_a_matrix_shared_by_a_batch_is_factored_once():
    fn = vmap(trace(Solve(), Type("f64", (3, 3)), Type("f64", (3, 2))), 5, (False, True))
    (solve,) = [n for n in walk(fn) if isinstance(n.op, Solve)]
    assert solve.args[0].shape == (3, 3)


def walk(fn):
    from pliant.core.ir import nodes

    return nodes(fn.results)


def test_the_gradient_of_a_determinant_of_a_singular_matrix_is_its_cofactors():
    a = np.array([[1.0, 2, 3], [2, 4, 6], [0, 1, 5]])
    (back,) = run(reverse(trace(Det(), Type("f64", (3, 3))), (True,)), (a, np.ones(())))
    assert_allclose(back, [[14, -10, 2], [-7, 5, -1], [0, 0, 0]], atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
@pytest.mark.parametrize("least", [1.0, 1e-3, 1e-9, 0.0])
def test_cofactors_of_large_matrices_are_right_however_close_to_singular(least, dtype):
    n = 70
    rows, columns = (np.linalg.qr(RNG.standard_normal((n, n)))[0] for _ in range(2))
    sizes = np.ones((2, 1, n))
    sizes[1, 0, 0] = least  # the other matrix of the stack is regular
    phases = np.exp(1j * np.arange(n)) if dtype == np.complex128 else np.ones(n)
    a = (phases[:, None] * ((rows * sizes) @ columns)).astype(dtype)
    back = pliant.grad(lambda x: np.sum(np.real(np.linalg.det(x))))(a)
    tolerance = 1e-3 if dtype == np.float32 else 1e-9
    assert_allclose(back, np.conj(Cofactor().array(np, a)), rtol=tolerance, atol=tolerance)


def test_cofactors_of_large_matrices_that_hold_nan_are_nan():
    a = np.eye(70)
    a[3, 5] = np.nan
    assert np.isnan(pliant.grad(np.linalg.det)(a)).any()


@pytest.mark.parametrize("rank", [0, 1, 2, 3, 4])
def test_second_derivatives_of_a_determinant_need_no_inverse(rank):
    a = RNG.standard_normal((4, rank)) @ RNG.standard_normal((rank, 4))
    e = RNG.standard_normal((4, 4))
    coefficients = np.polyfit(range(-2, 3), [np.linalg.det(a + t * e) for t in range(-2, 3)], 4)
    (_, along) = pliant.jvp(pliant.grad(np.linalg.det), (a,), (e,))
    assert_allclose(np.sum(along * e), 2 * coefficients[-3], rtol=1e-8, atol=1e-10)


def test_the_determinant_of_a_singular_matrix():
    sign, logabsdet = run(trace(lambda x: Slogdet().apply(x), Type("f64", (2, 2))), (np.ones((2, 2)),))
    assert (sign, logabsdet) == (0.0, -np.inf)
    lu, perm = run(trace(lambda x: Lu().apply(x), Type("f64", (2, 2))), (np.zeros((2, 2)),))
    assert_array_equal(lu, np.zeros((2, 2)))
    assert_array_equal(perm, [0, 1])


def test_a_singular_system_raises():
    fn = trace(Solve(), Type("f64", (2, 2)), Type("f64", (2, 1)))
    with pytest.raises(np.linalg.LinAlgError):
        run(fn, (np.zeros((2, 2)), np.ones((2, 1))))


def test_systems_that_do_not_fit_are_refused():
    with pytest.raises(ShapeError, match="different batch axes"):
        Solve().infer(Type("f64", (2, 3, 3)), Type("f64", (3, 1)))
