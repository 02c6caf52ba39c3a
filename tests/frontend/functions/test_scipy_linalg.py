"""scipy.linalg inside traced functions: values as SciPy's, gradients as differences, batches as one after the other."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy
import scipy.linalg as la
from scipy import linalg
from scipy.linalg import inv

import pliant
from pliant.errors import ArgumentError, DomainError, MatrixError, UnsupportedError
from pliant.testing import check_gradient

RNG = np.random.default_rng(0)
S = (lambda a: a @ a.T / 2 + np.eye(4))(RNG.normal(size=(4, 4)))
OTHER = (lambda a: a @ a.T / 2 + np.eye(4))(RNG.normal(size=(4, 4)))
B, V = RNG.normal(size=(4, 2)), RNG.normal(size=4)

FORMS: dict[str, Callable[[Any], Any]] = {
    "inv": lambda a: inv(a),
    "inv of a symmetric one": lambda a: scipy.linalg.inv(a + np.tril(a, -1), assume_a="sym"),
    "inv of a triangle": lambda a: la.inv(a, assume_a="pos", lower=True),
    "solve": lambda a: la.solve(a, V),
    "solve, positive": lambda a: linalg.solve(a, B, assume_a="pos"),
    "solve, transposed": lambda a: la.solve(a + np.tril(a), a[0], transposed=True),
    "solve of a lower triangle": lambda a: la.solve(a, B, assume_a="lower triangular"),
    "solve of a diagonal": lambda a: la.solve(a, B, assume_a="diagonal"),
    "solve of three diagonals": lambda a: la.solve(a, B, assume_a="tridiagonal"),
    "det": lambda a: la.det(a / 3),
    "cholesky": lambda a: la.cholesky(a),
    "cholesky, lower": lambda a: la.cholesky(a, True, False, False),
    "cho_factor": lambda a: la.cho_factor(a)[0],
    "cho_solve": lambda a: la.cho_solve(la.cho_factor(a), B),
    "cho_solve, lower": lambda a: la.cho_solve(la.cho_factor(a, lower=True), V),
    "solve_triangular": lambda a: la.solve_triangular(a, V),
    "solve_triangular, unit": lambda a: la.solve_triangular(a, B, lower=True, unit_diagonal=True, trans="T"),
    "norm": lambda a: la.norm(a),
    "norm 1": lambda a: la.norm(a, 1),
    "norm along an axis": lambda a: la.norm(a, axis=1, check_finite=False),
    "eigh": lambda a: la.eigh(a)[0],
    "vectors of eigh": lambda a: np.abs(la.eigh(a)[1]),
    "eigh of two": lambda a: la.eigh(a, OTHER)[0],
    "vectors of eigh of two": lambda a: np.abs(la.eigh(OTHER, a)[1]),
    "eigh of two, type 2": lambda a: np.abs(la.eigh(OTHER, a, type=2)[1]),
    "eigh of two, type 3": lambda a: np.abs(la.eigh(OTHER, a, type=3, lower=False)[1]),
    "some of eigh": lambda a: la.eigh(a, subset_by_index=[1, 2])[0],
    "some of its vectors": lambda a: np.abs(la.eigh(a, subset_by_index=(0, 1))[1]),
    "eigvalsh": lambda a: la.eigvalsh(a),
    "eig": lambda a: la.eig(a)[0].real.sum(),
    "eigvals": lambda a: np.sum(np.abs(la.eigvals(a + np.tril(a)))),
    "svd": lambda a: la.svd(a)[1],
    "vectors of svd": lambda a: np.abs(la.svd(a + np.tril(a), full_matrices=False)[0]),
    "svd, values alone": lambda a: la.svd(a, compute_uv=False),
    "svdvals": lambda a: la.svdvals(a),
    "qr": lambda a: la.qr(a)[0],
    "r of qr": lambda a: la.qr(a[:, :2], mode="r")[0],
    "qr, economic": lambda a: la.qr(a[:, :3], mode="economic")[1],
    "pinv": lambda a: la.pinv(a[:, :3]),
    "lstsq": lambda a: la.lstsq(a[:, :3], V)[0],
    "residuals": lambda a: la.lstsq(a[:, :3], V)[1],
    "residuals of two": lambda a: la.lstsq(a[:, :3], B)[1],
    "rank": lambda a: la.lstsq(a, B)[2] * a[0, 0],
    "singular values of lstsq": lambda a: la.lstsq(a, B)[3],
    "lu_factor": lambda a: la.lu_factor(a[::-1])[0],
    "pivots": lambda a: la.lu_factor(a[::-1])[1] * a[0, 0],
    "lu_solve": lambda a: la.lu_solve(la.lu_factor(a[::-1]), V),
    "lu_solve, transposed": lambda a: la.lu_solve(la.lu_factor(a[[1, 3, 0, 2]]), B, trans=1),
    "p of lu": lambda a: la.lu(a[[1, 3, 0, 2]])[0] * a[0, 0],
    "l of lu": lambda a: la.lu(a[::-1])[1],
    "lu, permuted": lambda a: la.lu(a[::-1], permute_l=True)[0],
    "expm": lambda a: la.expm(a / 10),
    "expm, squared": lambda a: la.expm(-a * 20)[0],
    "block_diag": lambda a: la.block_diag(a, V, 3.0, [[1, 2], [3, 4]]),
    "toeplitz": lambda a: la.toeplitz(a[0]),
    "toeplitz of two": lambda a: la.toeplitz(a[0], a[1, :3]),
    "circulant": lambda a: la.circulant(a[0]),
    "hankel": lambda a: la.hankel(a[0]),
    "hankel of two": lambda a: la.hankel(a[0], a[2]),
    "hilbert": lambda a: la.hilbert(4) @ a,
    "companion": lambda a: la.companion(a[0]),
    "khatri_rao": lambda a: la.khatri_rao(a, B[:, [0, 1, 1, 0]]),
    "solve_discrete_lyapunov": lambda a: la.solve_discrete_lyapunov(a / 20, OTHER),
    "solve_continuous_lyapunov": lambda a: la.solve_continuous_lyapunov(a, OTHER),
    "solve_sylvester": lambda a: la.solve_sylvester(a, OTHER[:2, :2], B),
    "solve_toeplitz": lambda a: la.solve_toeplitz(a[0], V),
    "solve_toeplitz of two": lambda a: la.solve_toeplitz((a[0], a[1]), B),
    "solve_banded": lambda a: la.solve_banded((1, 1), a[:3] + np.array([[0.0], [9.0], [0.0]]), V),
    "of what is known": lambda a: a @ la.inv(np.eye(4) * 2),
}  # fmt: skip
KINDS = {
    "solve": lambda a: la.solve(a, V + 2j * a[0]),
    "solve of a triangle": lambda a: la.solve(a, V, assume_a="her"),
    "solve_triangular": lambda a: la.solve_triangular(a, B, trans="C"),
    "solve_triangular, transposed": lambda a: la.solve_triangular(a, B, trans="T", lower=True),
    "cho_solve": lambda a: la.cho_solve(la.cho_factor(a), B),
    "eigh of two": lambda a: la.eigh(OTHER, a)[0],
    "lu_solve": lambda a: la.lu_solve(la.lu_factor(a[::-1]), B, trans=2),
    "toeplitz": lambda a: la.toeplitz(a[0]),
    "expm": lambda a: la.expm(a),
    "lyapunov": lambda a: la.solve_discrete_lyapunov(a / 20, a),
}


def agree(made: Any, wanted: Any, rtol: float = 1e-9) -> None:
    np.testing.assert_allclose(made, wanted, rtol=rtol, atol=rtol / 100)
    assert (np.shape(made), np.result_type(made)) == (np.shape(wanted), np.result_type(wanted))


@pytest.mark.parametrize("f", FORMS.values(), ids=FORMS)
def test_values_gradients_and_batches(f: Callable[[Any], Any]) -> None:
    agree(pliant.jit(f)(S), f(S))
    check_gradient(lambda a: np.sum(np.cos(f(a + a.T))), S / 2, rtol=1e-5, atol=1e-7)
    many = np.stack([S, S + 0.1 * np.eye(4)])
    agree(pliant.vmap(f)(many), np.stack([f(a) for a in many]))


@pytest.mark.parametrize("f", KINDS.values(), ids=KINDS)
def test_complex_matrices(f: Callable[[Any], Any]) -> None:
    a = S + 0.2j * (np.triu(OTHER, 1) - np.triu(OTHER, 1).T)
    agree(pliant.jit(f)(a), f(a))


@pytest.mark.parametrize(
    "name", ["inv", "solve", "cho_solve", "eigh", "lstsq", "svdvals", "expm", "toeplitz", "lu_solve"]
)
def test_single_precision_stays_it(name: str) -> None:
    a, f = S.astype(np.float32), FORMS[name]
    np.testing.assert_allclose(pliant.jit(f)(a), f(a), rtol=2e-4, atol=1e-5)


@pytest.mark.parametrize(
    "f",
    [
        lambda a: la.expm(a),
        lambda a: la.solve_sylvester(a, a, a),
        lambda a: la.solve_continuous_lyapunov(a, a),
        lambda a: la.solve_discrete_lyapunov(a, a),
    ],
)
def test_the_dtype_is_that_of_floats(f: Callable[[Any], Any]) -> None:
    assert pliant.jit(f)(S.astype(np.float32)).dtype == np.float32


def test_expm_of_nan_is_nan() -> None:
    assert np.all(np.isnan(pliant.jit(lambda a: la.expm(a))(np.full((2, 2), np.nan))))


def test_eigenvalues_are_complex_and_vectors_are_not() -> None:
    made, wanted = pliant.jit(lambda a: la.eig(a))(S), la.eig(S)
    assert [x.dtype for x in made] == [x.dtype for x in wanted]


def test_stacks_are_solved_matrix_by_matrix() -> None:
    many = np.stack([S, OTHER])
    agree(pliant.jit(lambda a: la.solve(a, B))(many), np.stack([la.solve(a, B) for a in many]))
    agree(pliant.jit(lambda a: la.solve_triangular(a, V))(many), np.stack([la.solve_triangular(a, V) for a in many]))


REFUSED: dict[str, tuple[Callable[[Any], Any], type[Exception], str]] = {
    "pivots of qr": (lambda a: la.qr(a, pivoting=True), UnsupportedError, "scipy.linalg.qr: pivoting=True is not"),
    "left vectors": (lambda a: la.eig(a, left=True), UnsupportedError, "scipy.linalg.eig: left=True is not supported"),
    "two of eig": (lambda a: la.eig(a, OTHER), UnsupportedError, "scipy.linalg.eig: b=… is not supported"),
    "by value": (lambda a: la.eigh(a, subset_by_value=(0, 1)), UnsupportedError, "eigh: subset_by_value=… is not"),
    "another keyword": (lambda a: la.inv(a, upper=True), ArgumentError, "scipy.linalg.inv: got an unexpected keyword"),
    "a mode": (lambda a: la.qr(a, mode="raw"), DomainError, "mode must be one of 'full', 'r', 'economic', got 'raw'"),
    "no square": (lambda a: la.inv(a[:2]), MatrixError, "is not square"),
    "no square of a loop": (lambda a: la.lu_factor(a[:2]), MatrixError, "is not square"),
    "no square of lu": (lambda a: la.lu(a[:2]), MatrixError, "scipy.linalg.lu: .* is not square"),
    "many of lu": (lambda a: la.lu(np.stack([a, a])), MatrixError, "scipy.linalg.lu: .* has more than two axes"),
    "many of lu_factor": (lambda a: la.lu_factor(np.stack([a, a])), MatrixError, "scipy.linalg.lu_factor: .* has more"),
    "no right side": (lambda a: la.solve_triangular(a, a[:2]), MatrixError, "solve_triangular: .* do not fit together"),
}  # fmt: skip


@pytest.mark.parametrize(("f", "kind", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused_is_told_at_the_users_line(f: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message) as caught:
        pliant.jit(f)(S)
    assert "test_scipy_linalg.py" in str(caught.value)
    assert "scipys" not in str(caught.value).partition("hint:")[0]


def test_scipy_is_not_imported() -> None:
    code = "import sys, numpy as np, pliant; pliant.jit(lambda x: x + 1)(np.ones(3)); print('scipy' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "False"
