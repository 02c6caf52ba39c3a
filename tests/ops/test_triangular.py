"""Triangular systems, Cholesky and QR: values, laws, and which triangle is read."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import solve_triangular

from pliant.core.build import trace
from pliant.core.types import DTYPES, Type
from pliant.errors import DTypeError, ShapeError
from pliant.ops.triangular import Cholesky, Qr, QrTriangle, TriangularSolve, cholesky
from pliant.testing import check_primitive, reverse, run, sample
from pliant.transforms.dead import eliminate_dead
from tests.ops.composed import CholeskyOfPositive

RNG = np.random.default_rng(0)


def well_posed(*types):
    """Operands whose first is far from singular."""

    def draw(rng):
        a, *rest = (sample(rng, t, -1, 1) for t in types)
        return [a + 3 * np.eye(a.shape[-1], dtype=a.dtype), *rest]

    return draw


@pytest.mark.parametrize("dtype", ["f64", "c128"])
@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("adjoint", [False, True])
@pytest.mark.parametrize("lower", [False, True])
def test_triangular_solve_is_scipys_and_obeys_the_laws(lower, adjoint, unit, dtype):
    types = Type(dtype, (3, 3)), Type(dtype, (3, 2))
    check_primitive(
        TriangularSolve(lower, adjoint, unit),
        *types,
        draw=well_posed(*types),
        oracle=lambda a, b: solve_triangular(a, b, trans=2 * adjoint, lower=lower, unit_diagonal=unit),
    )


def test_stacked_triangular_systems():
    types = Type("f64", (2, 1, 3, 3)), Type("f64", (2, 1, 3, 2))
    check_primitive(TriangularSolve(True), *types, draw=well_posed(*types))


def test_a_zero_on_the_diagonal_is_singular():
    fn = trace(TriangularSolve(True), Type("f64", (2, 2)), Type("f64", (2, 1)))
    with pytest.raises(np.linalg.LinAlgError):
        run(fn, (np.array([[1.0, 0], [1, 0]]), np.ones((2, 1))))


@pytest.mark.parametrize("dtype", ["f64", "c128"])
@pytest.mark.parametrize("lead", [(), (2,)])
def test_cholesky_obeys_the_laws(lead, dtype):
    check_primitive(
        CholeskyOfPositive(),
        Type(dtype, (*lead, 3, 4)),
        oracle=lambda x: np.linalg.cholesky(x @ np.conj(np.swapaxes(x, -1, -2)) + np.eye(3)),
    )


@pytest.mark.parametrize("dtype", ["f32", "c64"])
def test_cholesky_keeps_single_precision(dtype):
    four = 4 * np.eye(3, dtype=DTYPES[dtype])
    check_primitive(Cholesky(), Type(dtype, (3, 3)), draw=lambda rng: [four], derivatives=False)


def test_cholesky_reads_one_triangle_and_has_a_symmetric_gradient():
    x = RNG.standard_normal((3, 3))
    a = x @ x.T + np.eye(3)
    fn = trace(Cholesky(), Type("f64", (3, 3)))
    assert_allclose(run(fn, (np.tril(a),))[0], np.linalg.cholesky(a))
    upper = trace(lambda v: cholesky(v, upper=True), Type("f64", (3, 3)))
    assert_allclose(run(upper, (np.triu(a),))[0], np.linalg.cholesky(a).T)
    (back,) = run(reverse(fn, (True,)), (a, RNG.standard_normal((3, 3))))
    assert_allclose(back, back.T, atol=1e-12)


def test_cholesky_of_an_indefinite_matrix_raises():
    with pytest.raises(np.linalg.LinAlgError):
        run(trace(Cholesky(), Type("f64", (2, 2))), (-np.eye(2),))


@pytest.mark.parametrize("dtype", ["f64", "c128"])
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (2, 3, 2)])
@pytest.mark.parametrize("complete", [False, True])
def test_qr_obeys_the_laws(complete, shape, dtype):
    mode = "complete" if complete else "reduced"
    is_determined = not complete or shape[-2] <= shape[-1]
    check_primitive(
        Qr(complete),
        Type(dtype, shape),
        oracle=lambda a: np.linalg.qr(a, mode),
        derivatives=is_determined,
        rtol=1e-5,
        atol=1e-6,
    )


@pytest.mark.parametrize("dtype", ["f64", "c128"])
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (2, 3, 2)])
@pytest.mark.parametrize("complete", [False, True])
def test_the_triangle_of_qr_alone_obeys_the_laws(complete, shape, dtype):
    check_primitive(
        QrTriangle(complete),
        Type(dtype, shape),
        oracle=lambda a: np.linalg.qr(a, "complete" if complete else "reduced").R,
        rtol=1e-5,
        atol=1e-6,
    )


@pytest.mark.parametrize("complete", [False, True])
def test_orthonormal_columns_that_nobody_reads_are_not_computed(complete):
    (r,) = eliminate_dead(trace(lambda x: Qr(complete).apply(x)[1], Type("f64", (3, 2)))).results
    assert r.op == QrTriangle(complete)


def test_tangents_keep_a_complete_qr_a_factorisation():
    from pliant.transforms.jvp import jvp

    a, da = RNG.standard_normal((2, 4, 2))
    q, r, dq, dr = run(jvp(trace(lambda v: Qr(True).apply(v), Type("f64", (4, 2))), (True,)), (a, da))
    assert_allclose(dq @ r + q @ dr, da, atol=1e-12)
    assert_allclose(dq.T @ q + q.T @ dq, np.zeros((4, 4)), atol=1e-12)


@pytest.mark.parametrize("op", [Cholesky(), Qr(), Qr(True), QrTriangle(), QrTriangle(True)])
def test_empty_matrices_and_empty_batches(op):
    check_primitive(op, Type("f64", (0, 0)), derivatives=False)
    check_primitive(op, Type("f64", (0, 2, 2)), derivatives=False)


def test_wrong_operands_are_refused():
    with pytest.raises(ShapeError, match="not square"):
        Cholesky().infer(Type("f64", (2, 3)))
    with pytest.raises(ShapeError, match="at least two axes"):
        Qr().infer(Type("f64", (3,)))
    with pytest.raises(ShapeError, match="a has 3 rows"):
        TriangularSolve(True).infer(Type("f64", (3, 3)), Type("f64", (2, 1)))
    with pytest.raises(DTypeError, match="not defined for ints"):
        Cholesky().infer(Type("i64", (2, 2)))
