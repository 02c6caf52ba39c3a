"""Singular values and vectors of matrices of some ten rows, beside NumPy's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

import pliant
from pliant.ops.spectral import SingularValues, Svd
from tests.backends.llvm.factored import FLOATS, RNG, native, numbers


def adjoint(a):
    return np.conj(np.swapaxes(a, -1, -2))


def assert_decomposes(a, full=False):
    """Vectors are orthonormal, the product is the matrix, values are NumPy's, to some units of the last place."""
    (u, s, vh), wanted = native(Svd(full), a), np.linalg.svd(a)[1]
    assert (u.shape, s.shape, vh.shape) == tuple(x.shape for x in np.linalg.svd(a, full_matrices=full))
    tolerance = 4 * (max(a.shape[-2:]) + 4) * np.finfo(a.dtype).eps
    size, k = np.maximum(wanted.max(-1, initial=0), np.finfo(a.dtype).tiny)[..., None], s.shape[-1]
    for vectors in (u, adjoint(vh)):
        assert_allclose(
            adjoint(vectors) @ vectors,
            np.broadcast_to(np.eye(vectors.shape[-1]), (*a.shape[:-2], *[vectors.shape[-1]] * 2)),
            atol=tolerance,
        )
    assert_allclose((u[..., :k] * (s / size)[..., None, :]) @ vh[..., :k, :], a / size[..., None], atol=tolerance)
    assert_allclose(s / size, wanted / size, atol=tolerance)
    assert (np.diff(s, axis=-1) <= 0).all()
    if max(a.shape[-2:]) * a.itemsize <= 256:
        assert_allclose(native(SingularValues(), a)[0] / size, wanted / size, atol=tolerance)


@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (3, 3), (2, 5), (5, 2), (1, 7), (7, 1), (8, 8), (9, 16), (17, 9)])
@pytest.mark.parametrize("dtype", FLOATS)
def test_every_shape(shape, dtype):
    a = numbers(dtype, 2, *shape)
    assert_decomposes(a)
    assert_decomposes(a, full=True)


@pytest.mark.parametrize("dtype", ["float64", "complex64"])
def test_many_rows(dtype):
    assert_decomposes(numbers(dtype, 2, 32, 32))
    assert_decomposes(numbers(dtype, 40, 12), full=True)


@pytest.mark.parametrize("shape", [(4, 4), (6, 3), (3, 6), (11, 11)])
@pytest.mark.parametrize("dtype", FLOATS)
def test_equal_values_and_values_far_apart(shape, dtype):
    ones, steps = np.ones(shape), np.arange(shape[1])
    low = numbers(dtype, shape[0], 2) @ numbers(dtype, 2, shape[1])
    cases = [
        0 * ones,
        ones,
        np.eye(*shape),
        ones * 10.0**-steps,
        ones * (steps == 1),
        low,
        np.eye(*shape) + 1e-3 * ones,
    ]
    cases += [numbers(dtype, *shape) * 10.0 ** -(3.0 * steps), 10.0 ** -(3.0 * np.arange(shape[0]))[:, None] * ones]
    for full in (False, True):
        assert_decomposes(np.stack(cases).astype(dtype), full)


@pytest.mark.parametrize("n", [3, 12])
@pytest.mark.parametrize("dtype", FLOATS)
def test_very_large_and_very_small_matrices(n, dtype):
    least, largest = (-36, 37) if dtype in ("float32", "complex64") else (-300, 306)
    a, scales = numbers(dtype, n, n), [10.0**least, 10.0 ** (largest / 2), 10.0**largest]
    assert_decomposes(np.stack([(a * scale).astype(dtype) for scale in scales]))
    assert_decomposes((a * np.resize(scales, n)).astype(dtype))
    least = np.finfo(dtype).smallest_subnormal
    tiny = (a.real * 64 * least).astype(dtype)
    u, s, vh = native(Svd(), tiny)
    assert_allclose((u * s) @ vh, tiny, atol=8 * least * n)
    assert_allclose(adjoint(u) @ u, np.eye(n), atol=1e-5)


def test_small_values_of_scaled_columns_have_all_their_digits():
    a = numbers("float64", 6, 6) * 10.0 ** -np.arange(0, 60, 10)
    exact = np.linalg.svd(np.linalg.qr(a * 10.0 ** np.arange(0, 60, 10))[0] @ np.eye(6))[1]
    s = pliant.jit(np.linalg.svdvals)(a)
    assert_allclose(s[0], np.linalg.svd(a)[1][0], rtol=1e-14)
    assert_allclose(np.prod(s * 1e25), abs(np.linalg.det(a * 1e25)) * np.prod(exact), rtol=1e-12)


@settings(deadline=None, max_examples=40)
@given(st.data(), st.tuples(st.integers(1, 6), st.integers(1, 6)), st.booleans())
def test_any_matrix(data, shape, full):
    elements = st.one_of(st.integers(-2, 2).map(float), st.floats(-1e100, 1e100), st.floats(-1, 1, width=16))
    assert_decomposes(data.draw(arrays("f8", shape, elements=elements)), full)


@pytest.mark.parametrize("lead", [(), (1,), (2, 1, 3), (0,), (2, 0)])
def test_stacks(lead):
    a = numbers("float64", *lead, 4, 3)
    for got, wanted in zip(native(Svd(), a), np.linalg.svd(a, full_matrices=False), strict=True):
        assert got.shape == wanted.shape
    assert_allclose(native(SingularValues(), a)[0], np.linalg.svdvals(a), atol=1e-13)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
@pytest.mark.parametrize("full", [False, True])
def test_matrices_without_numbers(shape, full):
    a = np.zeros(shape)
    got, wanted = pliant.jit(lambda x: np.linalg.svd(x, full_matrices=full))(a), np.linalg.svd(a, full_matrices=full)
    for x, y in zip(got, wanted, strict=True):
        assert_array_equal(x, y)


@pytest.mark.parametrize("n", [1, 4, 12])
@pytest.mark.parametrize("f", [np.linalg.svd, np.linalg.svdvals, np.linalg.pinv])
def test_matrices_with_nan_do_not_converge(f, n):
    a = np.ones((3, n, n))
    a[1, -1, 0] = np.nan
    for g in (f, pliant.jit(f)):
        with pytest.raises(np.linalg.LinAlgError, match="SVD did not converge"):
            g(a)


@pytest.mark.parametrize("n", [1, 4, 12])
def test_values_of_infinity_are_nan(n):
    a = numbers("float64", 2, n, n)
    a[1, -1, 0] = np.inf
    for f in (np.linalg.svdvals, lambda x: np.linalg.svd(x)[1]):  # not compared with NumPy: LAPACK may never end
        values = pliant.jit(f)(a)
        assert_allclose(values[0], f(a[0]), rtol=1e-12)
        assert np.isnan(values[1]).all()


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("shape", [(3, 3), (5, 3), (3, 10), (11, 11)])
def test_derivatives(shape, dtype):
    a, along = numbers(dtype, 2, *shape), numbers(dtype, 2, *shape)
    weights = numbers(dtype, shape[0], shape[0])

    def loss(x):
        u, s, vh = np.linalg.svd(x, full_matrices=False)
        rank = s.shape[-1]
        powers = np.abs(weights @ u) ** 2 * np.arange(rank) + np.abs(weights[:1, :1] * vh[..., 0])[..., None, :] ** 2
        return np.sum(s**3) + np.sum(powers)

    wanted = (loss(a + 1e-6 * along) - loss(a - 1e-6 * along)) / 2e-6
    assert_allclose(np.vdot(pliant.grad(loss)(a), along).real, wanted, rtol=1e-5)
    assert_allclose(pliant.jvp(loss, (a,), (along,))[1], wanted, rtol=1e-5)


@pytest.mark.parametrize("full", [False, True])
def test_a_batch_is_as_a_loop(full):
    a = numbers("float64", 5, 4, 3)
    f = pliant.jit(lambda x: np.linalg.svd(x, full_matrices=full))
    for got, wanted in zip(pliant.vmap(f)(a), zip(*[f(x) for x in a], strict=True), strict=True):
        assert_array_equal(got, np.stack(wanted))


@pytest.mark.parametrize(
    "f",
    [
        lambda a: np.sum(np.linalg.pinv(a) ** 2),
        lambda a: np.sum(np.linalg.lstsq(a, a[:, :1] ** 2 + 1, rcond=None)[0] ** 2),
        lambda a: np.sum(pliant.grad(np.linalg.det)(a[:3] @ a[:3].T) ** 2),
    ],
    ids=["pinv", "lstsq", "second derivative of det"],
)
@pytest.mark.parametrize("shape", [(5, 3), (3, 6)])
def test_what_is_made_of_singular_values_has_native_gradients(shape, f):
    a, along = RNG.standard_normal(shape), RNG.standard_normal(shape)
    wanted = (f(a + 1e-6 * along) - f(a - 1e-6 * along)) / 2e-6
    assert_allclose(np.vdot(pliant.grad(f)(a), along), wanted, rtol=1e-5, atol=1e-6)
    assert "0 calls into Python" in str(pliant.explain(pliant.grad(f), a))
