"""Eigenvalues and vectors of Hermitian matrices of some ten rows, beside NumPy's."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import pliant
from pliant.ops.spectral import Eigh, Eigvalsh
from tests.backends.llvm.factored import FLOATS, native, numbers


def hermitian(a):
    """What the lower triangles say."""
    low = np.tril(a, -1)
    on = np.eye(a.shape[-1], dtype=a.dtype) * a.real.astype(a.dtype)
    return low + np.conj(np.swapaxes(low, -1, -2)) + on


def assert_decomposes(a):
    """Values and vectors belong to the lower triangles, and the values to those of NumPy."""
    tolerance = 1e-5 if a.dtype in (np.float32, np.complex64) else 1e-13
    n, (w, v) = a.shape[-1], native(Eigh(), a)
    whole, wanted = hermitian(np.tril(a)), np.linalg.eigvalsh(a)
    size = np.maximum(np.abs(wanted).max(-1, initial=0), np.finfo(a.dtype).tiny)[..., None]
    assert_allclose(w / size, wanted / size, atol=tolerance * n)
    assert_allclose(native(Eigvalsh(), a)[0] / size, wanted / size, atol=tolerance * n)
    assert_allclose(np.conj(np.swapaxes(v, -1, -2)) @ v, np.broadcast_to(np.eye(n), a.shape), atol=tolerance * n)
    scaled = whole / size[..., None]
    assert_allclose(scaled @ v, v * (w / size)[..., None, :], atol=tolerance * n)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 9, 17, 32])
@pytest.mark.parametrize("dtype", FLOATS)
def test_every_size(n, dtype):
    a = numbers(dtype, 3, n, n)
    assert_decomposes(np.tril(a) + np.triu(np.full_like(a, np.nan), 1))  # the upper triangle is not read


@pytest.mark.parametrize("n", [2, 4, 9, 24])
@pytest.mark.parametrize("dtype", FLOATS)
def test_values_that_are_equal_or_far_apart(n, dtype):
    ones, steps = np.ones((n, n)), np.arange(n)[::-1]
    graded = 10.0 ** -np.abs(np.subtract.outer(3.0 * steps, 0 * steps))
    cases = [0 * ones, ones, np.eye(n), np.diag(steps), np.diag(steps % 2), graded + graded.T, np.eye(n) + 1e-3 * ones]
    assert_decomposes(np.stack(cases).astype(dtype))


@pytest.mark.parametrize("dtype", FLOATS)
def test_very_large_and_very_small_matrices(dtype):
    least, largest = (-36, 37) if dtype in ("float32", "complex64") else (-300, 306)
    a = numbers(dtype, 6, 6)
    scales = [10.0**least, 10.0 ** (largest / 2), 10.0**largest]
    assert_decomposes(np.stack([(a * scale).astype(dtype) for scale in scales]))
    mixed = np.kron(np.diag(scales), np.ones((2, 2)))
    assert_decomposes(mixed.astype(dtype))


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("n", [2, 3, 6, 12])
def test_signs_of_vectors_are_those_of_numpy(n, dtype):
    a = hermitian(numbers(dtype, 4, n, n))
    assert_allclose(native(Eigh(), a)[1], np.linalg.eigh(a).eigenvectors, atol=1e-11)


@pytest.mark.parametrize("lead", [(), (1,), (2, 1, 3), (0,), (2, 0)])
def test_stacks(lead):
    a = numbers("float64", *lead, 4, 4)
    w, v = native(Eigh(), a)
    assert_allclose(w, np.linalg.eigh(a)[0], atol=1e-12)
    assert v.shape == a.shape


def test_no_rows():
    for got, wanted in zip(
        pliant.jit(np.linalg.eigh)(np.zeros((2, 0, 0))), np.linalg.eigh(np.zeros((2, 0, 0))), strict=True
    ):
        assert_array_equal(got, wanted)


@pytest.mark.parametrize("f", [np.linalg.eigh, np.linalg.eigvalsh])
def test_matrices_with_nan_do_not_converge(f):
    a = np.ones((3, 4, 4))
    a[1, 2, 0] = np.nan
    for g in (f, pliant.jit(f)):
        with pytest.raises(np.linalg.LinAlgError, match="Eigenvalues did not converge"):
            g(a)
    assert_array_equal(pliant.jit(np.linalg.eigvalsh)(np.array([[np.nan]])), [np.nan])


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("n", [3, 10])
def test_derivatives(n, dtype):
    a, along = hermitian(numbers(dtype, 2, n, n)), hermitian(numbers(dtype, 2, n, n))
    weights = numbers(dtype, n, n)

    def loss(x):
        w, v = np.linalg.eigh(x)
        return np.sum(w**3) + np.sum(np.abs(weights @ v) ** 2 * np.arange(n))

    wanted = (loss(a + 1e-6 * along) - loss(a - 1e-6 * along)) / 2e-6
    assert_allclose(np.vdot(pliant.grad(loss)(a), along).real, wanted, rtol=1e-5)
    assert_allclose(pliant.jvp(loss, (a,), (along,))[1], wanted, rtol=1e-5)
