"""Functions of Hermitian matrices have their derivatives also where eigenvalues are equal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import expm, expm_frechet

import pliant
from pliant.core.types import Type
from pliant.ops.spectral_function import FromSpectrum, function_of_hermitian
from pliant.pipeline import optimise
from pliant.rewrite.explain import Log
from pliant.testing import check_primitive

RNG = np.random.default_rng(0)
WEIGHTS = RNG.standard_normal((3, 3))
TURNED = np.linalg.qr(RNG.standard_normal((3, 3)))[0]
MATRICES = {
    "all equal": np.eye(3),
    "two equal": np.diag([1.0, 1.0, 3.0]),
    "two equal up to rounding": TURNED @ np.diag([1.0, 1.0, 2.0]) @ TURNED.T,
    "distinct": np.diag([1.0, 2.0, 4.0]),
    "zero": np.zeros((3, 3)),
}


def columns_scaled(a: Any) -> Any:
    w, v = np.linalg.eigh(a)
    return (v * np.exp(w)) @ v.conj().T


def by_diag(a: Any) -> Any:
    w, v = np.linalg.eigh(a)
    return v @ np.diag(np.exp(w)) @ v.conj().T


def rows_scaled(a: Any) -> Any:
    w, v = np.linalg.eigh(a)
    return v @ (np.exp(w)[:, None] * v.conj().T)


def by_einsum(a: Any) -> Any:
    w, v = np.linalg.eigh(a)
    return np.einsum("ij,j,kj->ik", v, np.exp(w), v.conj())


def in_two_halves(a: Any) -> Any:
    w, v = np.linalg.eigh(a)
    return (v * np.exp(0.5 * w)) @ (v * np.exp(0.5 * w)).conj().T


def of_shifted_values(a: Any) -> Any:
    w, v = np.linalg.eigh(a)
    return (v * np.exp(w - w.max())) @ v.conj().T * np.exp(w.max())


EXPONENTIALS = (columns_scaled, by_diag, rows_scaled, by_einsum, in_two_halves, of_shifted_values)


def direction(dtype: str) -> Any:
    e = RNG.standard_normal((3, 3)) + (1j * RNG.standard_normal((3, 3)) if dtype == "c16" else 0)
    return e + e.conj().T


@pytest.mark.parametrize("dtype", ["f8", "c16"])
@pytest.mark.parametrize("a", MATRICES.values(), ids=MATRICES.keys())
@pytest.mark.parametrize("f", EXPONENTIALS, ids=lambda f: f.__name__)
def test_the_exponential_of_a_hermitian_matrix_has_its_derivative(f, a, dtype):
    e = direction(dtype)
    gradient = pliant.grad(lambda a: np.sum(WEIGHTS * f(a)).real)(a.astype(dtype))
    assert_allclose(np.sum(gradient.conj() * e).real, np.sum(WEIGHTS * expm_frechet(a, e)[1]).real, rtol=1e-9)


def of_stacks(a: Any) -> Any:
    w, v = np.linalg.eigh(a)
    w = w - w.mean(-1, keepdims=True) + w.mean(-1, keepdims=True)
    return (v * np.exp(w)[..., None, :]) @ np.swapaxes(v, -1, -2)


@pytest.mark.parametrize("f", [of_stacks, pliant.vmap(columns_scaled)], ids=["stacked", "mapped"])
def test_stacked_matrices_have_their_derivatives(f):
    a = np.stack(list(MATRICES.values()))
    e = np.stack([direction("f8") for _ in a])
    gradient = pliant.grad(lambda a: np.sum(WEIGHTS * f(a)))(a)
    wanted = [np.sum(WEIGHTS * expm_frechet(x, d)[1]) for x, d in zip(a, e, strict=True)]
    assert_allclose(np.sum(gradient * e, (1, 2)), wanted, rtol=1e-9)
    (_, along) = pliant.jvp(pliant.grad(lambda a: np.sum(np.exp(np.linalg.eigvalsh(a)))), (a,), (e,))
    wanted = [np.sum(expm_frechet(x, d)[1] * d) for x, d in zip(a, e, strict=True)]
    assert_allclose(np.sum(along * e, (1, 2)), wanted, rtol=1e-9)


@pytest.mark.parametrize("a", MATRICES.values(), ids=MATRICES.keys())
def test_sums_over_eigenvalues_have_second_derivatives(a):
    e = direction("f8")
    (_, along) = pliant.jvp(pliant.grad(lambda a: np.sum(np.exp(np.linalg.eigvalsh(a)))), (a,), (e,))
    assert_allclose(np.sum(along * e), np.sum(expm_frechet(a, e)[1] * e), rtol=1e-9)


@pytest.mark.parametrize("dtype", ["f64", "c128"])
def test_from_spectrum_obeys_the_laws(dtype):
    a = direction({"f64": "f8", "c128": "c16"}[dtype])
    types = Type(dtype, (3, 3)), Type(dtype, (3,)), Type(dtype, (3,))
    operands = [a, RNG.standard_normal(3).astype(a.dtype), np.zeros(3, a.dtype)]
    check_primitive(FromSpectrum(), *types, draw=lambda rng: operands, derivatives=False)


@pytest.mark.parametrize(
    "f",
    [
        lambda w, v: (v * np.arange(3.0)) @ v.T,
        lambda w, v: (v * np.cumsum(w)) @ v.T,
        lambda w, v: (v * w) @ v,
        lambda w, v: (v * w[::-1]) @ v.T,
        lambda w, v: v @ v.T,
    ],
)
def test_what_is_no_function_of_the_matrix_is_left_alone(f):
    log = Log()
    optimise(pliant.trace(lambda a: f(*np.linalg.eigh(a)), np.eye(3)), log)
    assert not log.fired[function_of_hermitian.name]


def test_the_value_is_what_was_written():
    a = MATRICES["two equal up to rounding"]
    for f in EXPONENTIALS:
        assert_allclose(pliant.jit(f)(a), expm(a), rtol=1e-12)


@pytest.mark.parametrize("name", ["all equal", "two equal", "two equal up to rounding", "zero"])
def test_what_has_no_formula_for_equal_values_is_nan(name: str):
    second = pliant.hvp(lambda a: np.sum(columns_scaled(a) * WEIGHTS))(MATRICES[name], np.ones((3, 3)))
    assert np.isnan(second).all()


def test_second_derivatives_of_matrix_functions():
    def gradient(a: Any) -> Any:
        return pliant.grad(lambda a: np.sum(columns_scaled(a) * (WEIGHTS + WEIGHTS.T)))(a)

    a, da = TURNED @ np.diag([0.3, 1.0, 2.1]) @ TURNED.T, WEIGHTS + WEIGHTS.T
    second = pliant.hvp(lambda a: np.sum(columns_scaled(a) * (WEIGHTS + WEIGHTS.T)))(a, da)
    assert_allclose(second, (gradient(a + 1e-5 * da) - gradient(a - 1e-5 * da)) / 2e-5, rtol=1e-7, atol=1e-7)
