"""Q and R of matrices of some ten rows: the numbers and signs of NumPy's, and derivatives."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import pliant
from pliant.ops.triangular import Qr, QrTriangle
from tests.backends.llvm.factored import FLOATS, native, numbers


def native_qr(a, mode):
    """Q and R by loops in the program."""
    return native(Qr(complete=mode == "complete"), a)


def assert_as_numpy(a, mode="reduced", size=None):
    tolerance = 1e-4 if a.dtype in (np.float32, np.complex64) else 1e-12
    (q, r), (wanted_q, wanted_r) = native_qr(a, mode), np.linalg.qr(a, mode=mode)
    assert_allclose(q, wanted_q, rtol=tolerance, atol=tolerance)
    assert_allclose(r, wanted_r, rtol=tolerance, atol=tolerance * np.abs(wanted_r).max(initial=0))
    assert_array_equal(native(QrTriangle(complete=mode == "complete"), a)[0], r)


@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (3, 3), (5, 3), (3, 5), (1, 4), (4, 1), (8, 8), (9, 9), (17, 12)])
@pytest.mark.parametrize("dtype", FLOATS)
def test_every_shape(shape, dtype):
    a = numbers(dtype, 3, *shape)
    assert_as_numpy(a)
    assert_as_numpy(a, "complete")


@pytest.mark.parametrize("dtype", FLOATS)
def test_many_rows(dtype):
    assert_as_numpy(numbers(dtype, 2, 32, 32))
    assert_as_numpy(numbers(dtype, 20, 31))


@pytest.mark.parametrize("lead", [(), (1,), (2, 1, 3), (0,), (2, 0)])
def test_stacks(lead):
    assert_as_numpy(numbers("float64", *lead, 4, 3))


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
@pytest.mark.parametrize("mode", ["reduced", "complete"])
def test_matrices_without_numbers(shape, mode):
    a = np.zeros(shape)
    for got, wanted in zip(
        pliant.jit(lambda x: np.linalg.qr(x, mode=mode))(a), np.linalg.qr(a, mode=mode), strict=True
    ):
        assert_array_equal(got, wanted)


@pytest.mark.parametrize("dtype", FLOATS)
def test_columns_that_are_zero_are_not_reflected(dtype):
    a = np.triu(numbers(dtype, 5, 5).real).astype(dtype)
    a[:, 2] = 0
    q, r = native_qr(a, "reduced")
    assert_array_equal(q, np.eye(5))
    assert_array_equal(r, a)


@pytest.mark.parametrize("dtype", FLOATS)
def test_badly_scaled_matrices(dtype):
    least, largest = (-37, 37) if dtype in ("float32", "complex64") else (-307, 306)
    a = numbers(dtype, 7, 5)
    scales = 10.0 ** np.linspace(least, largest, 5)
    scaled = (a * scales).astype(dtype)
    tolerance = 1e-3 if largest < 100 else 1e-12
    q, r = native_qr(scaled, "reduced")
    assert_allclose(np.conj(q.T) @ q, np.eye(5), atol=tolerance)
    assert_allclose(r, np.linalg.qr(scaled).R, rtol=tolerance)
    few = numbers(dtype, 5, 1) * 4 * np.finfo(dtype).smallest_subnormal
    q, _ = native_qr(few.astype(dtype), "complete")
    assert_allclose(np.conj(q.T) @ q, np.eye(5), atol=tolerance)


def test_rounding_errors_alone_have_orthonormal_columns():
    for a in (np.ones((32, 32)), np.outer(np.arange(1.0, 21), np.arange(20.0))):
        q, r = native_qr(a, "reduced")
        assert_allclose(q.T @ q, np.eye(len(a)), atol=1e-14)
        assert_allclose(q @ r, a, atol=1e-13 * a.max())


def test_nan_and_infinity_reach_the_result():
    q, r = pliant.jit(np.linalg.qr)(np.full((3, 3), np.nan))
    assert np.isnan(q).all()
    assert_array_equal(np.isnan(r), np.triu(np.ones((3, 3), bool)))
    q, r = pliant.jit(np.linalg.qr)(np.diag([1.0, np.inf, 2.0]))
    assert_array_equal(q, np.eye(3))
    assert_array_equal(r, np.diag([1.0, np.inf, 2.0]))


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("shape", [(4, 4), (6, 3), (3, 6)])
def test_derivatives(shape, dtype):
    a, along = numbers(dtype, 2, *shape), numbers(dtype, 2, *shape)
    weights = [numbers(dtype, *x.shape) for x in np.linalg.qr(a)]

    def loss(x):
        q, r = np.linalg.qr(x)
        return np.sum((q * weights[0]).real) + np.sum((r * weights[1]).real)

    wanted = (loss(a + 1e-6 * along) - loss(a - 1e-6 * along)) / 2e-6
    assert_allclose(np.vdot(pliant.grad(loss)(a), along).real, wanted, rtol=1e-6)
    assert_allclose(pliant.jvp(loss, (a,), (along,))[1], wanted, rtol=1e-6)
