"""numpy.linalg in traced functions: the same results, in value, dtype and shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy import linalg
from numpy.testing import assert_allclose

import pliant
from pliant.errors import DTypeError, ShapeError, UnsupportedError
from tests.frontend.functions.numpys import KINDS, assert_as_numpy, drawn, regular

SQUARE = [
    linalg.inv, linalg.det, linalg.slogdet, linalg.matrix_transpose, linalg.trace, linalg.diagonal, linalg.svdvals,
    linalg.matrix_rank,
]  # fmt: skip


def gram(a):
    """A Hermitian matrix that is positive definite."""
    return (a @ np.conj(np.swapaxes(a, -1, -2))).astype(a.dtype)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lead", [(), (2,), (0,), (2, 1)])
@pytest.mark.parametrize("f", SQUARE, ids=lambda f: f.__name__)
def test_functions_of_square_matrices(f, lead, kind):
    assert_as_numpy(f, regular(kind, *lead, 3, 3))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lead", [(), (2,), (0,)])
def test_functions_of_hermitian_matrices(lead, kind):
    a = gram(regular(kind, *lead, 3, 3))
    assert_as_numpy(linalg.cholesky, a)
    assert_as_numpy(lambda x: linalg.cholesky(x, upper=True), a)
    assert_as_numpy(lambda x: linalg.eigh(x, "U").eigenvalues, a)
    assert_as_numpy(lambda x: np.abs(linalg.eigh(x)[1]), a)
    assert_as_numpy(linalg.eigvalsh, a)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (2, 4, 3)])
def test_factorisations_of_any_matrix(shape, kind):
    (a,) = drawn(kind, shape)
    for mode in ("reduced", "complete", "r"):
        assert_as_numpy(lambda x, m=mode: linalg.qr(x, m), a)
    for full in (True, False):
        assert_as_numpy(lambda x, f=full: linalg.svd(x, full_matrices=f).S, a)
        assert_as_numpy(lambda x, f=full: tuple(map(np.abs, linalg.svd(x, f))), a)
    assert_as_numpy(lambda x: linalg.svd(x, compute_uv=False), a)
    assert_as_numpy(linalg.pinv, a)


@pytest.mark.parametrize("kind", KINDS)
def test_solutions(kind):
    a, stack = regular(kind, 3, 3), regular(kind, 2, 3, 3)
    vector, matrix, many = drawn(kind, (3,), (3, 2), (5, 1, 3, 2))
    for left, right in ((a, vector), (a, matrix), (a, many), (stack, vector), (stack, matrix), (stack, many)):
        assert_as_numpy(linalg.solve, left, right)
    tall, wide, right = drawn(kind, (5, 3), (3, 5), (5, 2))
    assert_as_numpy(linalg.lstsq, tall, right)
    assert_as_numpy(linalg.lstsq, tall, right[:, 0])
    assert_as_numpy(linalg.lstsq, wide, vector)
    square = regular(kind, 6, 6)
    assert_as_numpy(linalg.tensorsolve, square.reshape(2, 3, 6), drawn(kind, (2, 3))[0])
    assert_as_numpy(linalg.tensorinv, square.reshape(2, 3, 3, 2))


@pytest.mark.parametrize("n", [0, 1, 2, 5, -1, -2])
@pytest.mark.parametrize("kind", KINDS)
def test_powers_of_matrices(kind, n):
    assert_as_numpy(lambda x: linalg.matrix_power(x, n), regular(kind, 2, 3, 3))


TURN = np.array([[1.0, -2.0, 0.0], [2.0, 1.0, 0.5], [0.0, 0.0, 3.0]])
SYMMETRIC = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 1.0]])
SEVERAL = np.stack([SYMMETRIC, SYMMETRIC @ np.diag([1.0, 2.0, 3.0])])


@pytest.mark.parametrize("kind", ["f4", "f8", "c16"])
@pytest.mark.parametrize("a", [TURN, SYMMETRIC, SEVERAL, np.stack([SYMMETRIC, TURN]), np.zeros((0, 0))])
def test_eigenvalues_are_real_if_all_of_them_are(a, kind):
    a = a.astype(kind)
    assert_as_numpy(linalg.eig, a)
    assert_as_numpy(linalg.eigvals, a)


def test_eigenvalues_that_become_complex_in_a_later_call():
    f = pliant.jit(lambda a: linalg.eigvals(a) * 2)
    for a in (SYMMETRIC, TURN, SYMMETRIC + 1, TURN.T):
        got, expected = f(a), linalg.eigvals(a) * 2
        assert got.dtype == expected.dtype
        assert_allclose(got, expected, atol=1e-12)


@pytest.mark.parametrize("kind", ["f8", "c16"])
def test_eigenvalues_are_complex_where_data_cannot_decide(kind):
    def swept(a):
        for _ in range(200):
            a = a + 0.01 * linalg.eigvals(a).real
        return a

    several = SEVERAL.astype(kind)
    w, v = pliant.vmap(linalg.eig)(several)
    assert (w.dtype, v.dtype) == (np.complex128, np.complex128)
    assert_allclose(several @ v, v * w[:, None], atol=1e-12)
    assert pliant.trace(linalg.eigvals, several[0]).results[0].dtype == "c128"
    assert_allclose(pliant.jit(swept)(SYMMETRIC), swept(SYMMETRIC))


def _share_of_first(a):
    w, v = linalg.eig(a)
    order = np.argsort(w)[::-1]
    return w[order[0]] / w.sum() + float(w.max()) + np.sum(v[:, order[0]] ** 4)


def test_gradients_of_real_eigenvalues():
    for a in (SYMMETRIC, SEVERAL[1]):
        value, gradient = pliant.value_and_grad(_share_of_first)(a)
        assert_allclose(value, _share_of_first(a))
        steps = 1e-6 * np.eye(9).reshape(9, 3, 3)
        slopes = [(_share_of_first(a + d) - _share_of_first(a - d)) / 2e-6 for d in steps]
        assert_allclose(gradient, np.reshape(slopes, (3, 3)), atol=1e-7)
        assert_allclose(pliant.grad(_share_of_first)(a), gradient)


@pytest.mark.parametrize(
    ("f", "shapes"),
    [
        (linalg.inv, [(0, 0)]),
        (linalg.det, [(0, 0)]),
        (linalg.slogdet, [(0, 0)]),
        (linalg.cholesky, [(0, 0)]),
        (linalg.eigh, [(0, 0)]),
        (linalg.qr, [(0, 3)]),
        (linalg.svd, [(3, 0)]),
        (linalg.pinv, [(0, 3)]),
        (linalg.solve, [(3, 3), (3, 0)]),
        (linalg.matrix_rank, [(0, 3)]),
    ],
)
def test_empty_matrices(f, shapes):
    assert_as_numpy(f, *drawn("f8", *shapes))


def test_the_gradient_of_a_gaussian_likelihood():
    def loss(a, y):
        k = a @ a.T + np.eye(3)
        return y @ linalg.solve(k, y) + linalg.slogdet(k).logabsdet

    a, y = drawn("f8", (3, 3), (3,))
    k = a @ a.T + np.eye(3)
    inverse = linalg.inv(k)
    wanted = 2 * (inverse - np.outer(inverse @ y, inverse @ y)) @ a
    assert_allclose(pliant.grad(loss)(a, y), wanted, atol=1e-12)


WRONG: dict[str, Callable[[Any], Any]] = {
    "inv": linalg.inv,
    "det": linalg.det,
    "slogdet": linalg.slogdet,
    "cholesky": linalg.cholesky,
    "eig": linalg.eig,
    "eigvalsh": linalg.eigvalsh,
    "solve": lambda x: linalg.solve(x, x),
    "matrix_power": lambda x: linalg.matrix_power(x, 2),
    "power 0 of a vector": lambda x: linalg.matrix_power(x[0], 0),
    "svd of a vector": lambda x: linalg.svd(x[0]),
    "pinv of a vector": lambda x: linalg.pinv(x[0]),
    "cond of a vector": lambda x: linalg.cond(x[0]),
    "qr of a number": lambda x: linalg.qr(x[0, 0]),
    "lstsq of rank 3": lambda x: linalg.lstsq(x[None], x[0]),
    "lstsq of other rows": lambda x: linalg.lstsq(x, x[0]),
    "tensorinv": lambda x: linalg.tensorinv(x, ind=1),
    "tensorinv of a singular one": lambda x: linalg.tensorinv(x[:, :2], ind=1),
    "tensorsolve": lambda x: linalg.tensorsolve(x, x[0]),
    "a vector in a chain": lambda x: linalg.multi_dot([x, x[0], x.T, x]),
    "a number at the end of a chain": lambda x: linalg.multi_dot([x, x.T, x[0, 0]]),
    "a stack in a chain": lambda x: linalg.multi_dot([x[None], x.T, x]),
}


@pytest.mark.parametrize("f", WRONG.values(), ids=WRONG.keys())
def test_what_is_no_matrix_is_caught_as_numpys_error(f: Callable[[Any], Any]) -> None:
    def attempt(x: Any) -> Any:
        try:
            f(x)
        except linalg.LinAlgError:
            return -x
        return x

    x = np.ones((2, 3))
    assert_allclose(attempt(x), -x)
    assert_allclose(pliant.jit(attempt)(x), -x)
    with pytest.raises(linalg.LinAlgError):
        pliant.jit(f)(x)


def test_chains_of_two_are_products():
    for f in (lambda x: linalg.multi_dot([x[0], x[1]]), lambda x: linalg.multi_dot([x[None], x.T])):
        assert_as_numpy(f, np.arange(6.0).reshape(2, 3))
    with pytest.raises(ShapeError, match="at least two arrays"):
        pliant.jit(lambda x: linalg.multi_dot([x]))(np.ones((2, 2)))


def test_wrong_operands_are_explained():
    with pytest.raises(ShapeError, match="is not square"):
        pliant.jit(linalg.inv)(np.ones((2, 3)))
    with pytest.raises(ShapeError, match="less than two axes"):
        pliant.jit(linalg.cholesky)(np.ones(3))
    with pytest.raises(DTypeError, match="float16 is unsupported"):
        pliant.jit(linalg.inv)(np.ones((2, 2), np.float16))
    with pytest.raises(UnsupportedError, match="mode 'raw'"):
        pliant.jit(lambda x: linalg.qr(x, "raw"))(np.ones((2, 2)))
    with pytest.raises(linalg.LinAlgError, match="not positive definite"):
        pliant.jit(linalg.cholesky)(-np.eye(2))
