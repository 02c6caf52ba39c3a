"""Gradients of linear algebra in traced functions, batched and differentiated again."""

from __future__ import annotations

import numpy as np
import pytest
from numpy import linalg
from numpy.testing import assert_allclose

import pliant

STEP = 1e-5


def gram(a):
    """A symmetric matrix that is positive definite."""
    return a @ a.T + np.eye(3)


FUNCTIONS = {
    "cholesky": lambda a: (linalg.cholesky(gram(a)) ** 2 * np.arange(9).reshape(3, 3)).sum(),
    "eigh": lambda a: (linalg.eigh(gram(a))[0] ** 3).sum() + linalg.eigh(gram(a))[1][0, 0] ** 2,
    "svd": lambda a: linalg.svd(a).S[0] ** 2 + (linalg.svd(a).U @ linalg.svd(a).Vh)[0, 1],
    "qr": lambda a: linalg.qr(a).R[0, 1] ** 2 + linalg.qr(a).Q[0, 2],
    "inv": lambda a: linalg.inv(a)[0].sum(),
    "det": lambda a: linalg.det(a) ** 2,
    "slogdet": lambda a: linalg.slogdet(gram(a)).logabsdet,
    "solve": lambda a: linalg.solve(a, a[0] ** 2).sum() ** 2,
    "pinv": lambda a: linalg.pinv(a[:, :2])[0].sum(),
    "lstsq": lambda a: linalg.lstsq(a[:, :2], a[:, 2])[0].sum() ** 2,
    "matrix_power": lambda a: linalg.matrix_power(a, 3)[0, 1],
    "nuclear norm": lambda a: linalg.norm(a, "nuc"),
    "cond": lambda a: linalg.cond(a),
    "eigvals": lambda a: (np.abs(linalg.eigvals(a)) ** 2).sum(),
    "fft2": lambda a: (np.abs(np.fft.fft2(a)) ** 4).sum(),
    "rfft": lambda a: (np.fft.irfft(np.fft.rfft(a) ** 2, 3) ** 2).sum(),
    "convolve": lambda a: (np.convolve(a[0], a[1], "same") ** 2).sum(),
    "einsum": lambda a: np.einsum("ij,jk,ki", a, a**2, a),
    "kron": lambda a: (np.kron(a, a) ** 2).sum(),
    "cross": lambda a: (np.cross(a, a[::-1]) ** 2).sum(),
}

MATRICES = np.random.default_rng(3).standard_normal((3, 3, 3)) + np.diag([3.0, 1, 2])


def differences(f, x):
    """The derivative of `f` by differences, the axes of x last."""
    columns = []
    for i in np.ndindex(x.shape):
        e = np.zeros(x.shape)
        e[i] = STEP
        columns.append((f(x + e) - f(x - e)) / (2 * STEP))
    return np.moveaxis(np.reshape(columns, (*x.shape, *np.shape(columns[0]))), (0, 1), (-2, -1))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_hessians_and_batches(name):
    f, x = FUNCTIONS[name], MATRICES[0]
    g = pliant.grad(f)
    assert_allclose(pliant.jit(f)(x), f(x), rtol=1e-10)
    wanted = differences(f, x)
    assert_allclose(g(x), wanted, rtol=1e-4, atol=1e-6 * np.abs(wanted).max())
    wanted = differences(g, x)
    assert_allclose(pliant.hessian(f)(x), wanted, rtol=1e-4, atol=1e-6 * np.abs(wanted).max())
    assert_allclose(pliant.vmap(g)(MATRICES), np.stack([g(m) for m in MATRICES]), rtol=1e-8, atol=1e-8)
