"""Matrices of some ten rows, and small complex ones: the numbers of the oracle, NumPy's errors, nothing read elsewhere."""

from __future__ import annotations

import ctypes
import itertools
import mmap
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import pliant
from pliant.backends.llvm import BACKEND
from pliant.core.build import trace
from pliant.core.types import DTYPES, Type
from pliant.kernel.ir import Host
from pliant.ops.solve import Cofactor, Det, Lu, Slogdet, Solve
from pliant.ops.triangular import Cholesky, TriangularSolve
from pliant.testing import run

RNG = np.random.default_rng(0)
NAMES = {np.dtype(v): k for k, v in DTYPES.items()}
FLOATS = ["float64", "float32", "complex128", "complex64"]
SIZES = [1, 2, 5, 9, 10, 13, 16, 17, 31, 32]


def assert_native(op, *xs):
    """Compiled, `op` gives what the oracle gives, to a tolerance relative to the largest number."""
    fn = trace(lambda *vs: op.apply(*vs), *(Type(NAMES[x.dtype], x.shape) for x in xs))
    compiled = BACKEND.compile(fn)
    assert not [step for step in compiled.program.steps if isinstance(step, Host)]
    tolerance = 2e-3 if xs[0].dtype in (np.float32, np.complex64) else 1e-11
    for got, wanted in zip(compiled(xs), run(fn, xs), strict=True):
        assert_allclose(got, wanted, rtol=tolerance, atol=tolerance * np.abs(wanted).max(initial=0))


def numbers(dtype, *shape):
    x = RNG.standard_normal(shape)
    return (x + 1j * RNG.standard_normal(shape) if dtype[0] == "c" else x).astype(dtype)


def definite(a):
    return (a @ np.conj(np.swapaxes(a, -1, -2)) + 4 * np.eye(a.shape[-1])).astype(a.dtype)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtype", FLOATS)
def test_every_size(n, dtype):
    a = numbers(dtype, 3, n, n)
    assert_native(Lu(), a)
    assert_native(Det(), a)
    assert_native(Slogdet(), a)
    assert_native(Cofactor(), a)
    assert_native(Cholesky(), np.tril(definite(a)) + np.triu(a, 1))  # the upper triangle is not read


@pytest.mark.parametrize("n", [33, 50, 64])
@pytest.mark.parametrize("dtype", ["float64", "float32", "complex64"])
def test_larger_sizes(n, dtype):
    a = (numbers(dtype, 2, n, n) / 2 + np.sqrt(n) * np.eye(n)).astype(dtype)
    a *= 1.1 / np.abs(np.linalg.det(a.astype(complex)))[:, None, None] ** (1 / n)
    for op in (Lu(), Det(), Cofactor(), Slogdet()):
        assert_native(op, a)
    assert_native(Solve(), a, a[:, :, 5:])
    assert_native(Cholesky(), definite(a))


@pytest.mark.parametrize("dtype", ["float64", "complex64"])
@pytest.mark.parametrize(("n", "k"), [(3, 1), (9, 0), (12, 3), (17, 16), (32, 33), (10, 100)])
def test_right_sides(n, k, dtype):
    a, b = (numbers(dtype, 2, n, n) / n + 2 * np.eye(n)).astype(dtype), numbers(dtype, 2, n, k)
    for adjoint in (True, False):
        assert_native(Solve(adjoint), a, b)
        for lower, unit in itertools.product((True, False), (True, False)):
            other = a + (np.triu if lower else np.tril)(np.full_like(a, np.nan), 1 if lower else -1)
            assert_native(TriangularSolve(lower, adjoint, unit), other, b)


@pytest.mark.parametrize("lead", [(), (1,), (7,), (2, 1, 3), (0,), (2, 0)])
def test_stacks(lead):
    for op in (Lu(), Det()):
        assert_native(op, numbers("float64", *lead, 11, 11))
    assert_native(Cholesky(), definite(numbers("complex128", *lead, 4, 4)))


@pytest.mark.parametrize("n", [9, 16, 19])
def test_rows_are_exchanged_as_lapack_does(n):
    places = np.stack([np.eye(n)[RNG.permutation(n)] for _ in range(20)])
    for a in (places, places * RNG.integers(1, 4, (20, 1, n)), places + 0j):
        assert_array_equal(pliant.jit(np.linalg.det)(a), [round(np.linalg.det(x.real)) for x in a])
        fn = trace(lambda v: Lu().apply(v), Type(NAMES[a.dtype], a.shape))
        for got, wanted in zip(BACKEND.compile(fn)([a]), run(fn, [a]), strict=True):
            assert_array_equal(got, wanted)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("n", [3, 9, 20])
def test_singular_matrices(n, dtype):
    zeros, ones, low = np.zeros((2, n, n), dtype), np.ones((n, n), dtype), np.eye(n, dtype=dtype)
    low[n // 2] = 0
    for a in (zeros, ones, low):
        assert_array_equal(pliant.jit(np.linalg.det)(a), np.linalg.det(a))
        assert_array_equal(pliant.jit(np.linalg.slogdet)(a), np.linalg.slogdet(a))
        for f in (np.linalg.inv, lambda x: np.linalg.solve(x, x)):
            with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
                pliant.jit(f)(a)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("n", [4, 12, 25])
def test_badly_scaled_matrices(n, dtype):
    scales = 10.0 ** RNG.integers(-12, 12, (2, n))
    a = numbers(dtype, n, n)
    for x in (a * scales[0], a * scales[0][:, None], a * 1e-160, a * 1e140 / n):
        b = x @ np.ones(n, dtype)
        assert_allclose(pliant.jit(np.linalg.slogdet)(x)[1], np.linalg.slogdet(x)[1], rtol=1e-12)
        y = pliant.jit(np.linalg.solve)(x, b)
        assert np.abs(x @ y - b).max() <= 1e-12 * (np.abs(x) @ np.abs(y)).max()
    gram = definite(a) * scales[0] * scales[0][:, None]
    factor = pliant.jit(np.linalg.cholesky)(gram)
    assert_allclose(factor, np.linalg.cholesky(gram), rtol=1e-9, atol=1e-14 * np.abs(factor).max())


@pytest.mark.parametrize("dtype", ["float64", "complex64"])
def test_nan_and_infinity_reach_the_result(dtype):
    a = definite(numbers(dtype, 3, 12, 12))
    a[1, 7, 7] = np.nan
    for f in (np.linalg.det, np.linalg.inv, np.linalg.cholesky, lambda x: np.linalg.solve(x, x[..., :2])):
        assert_array_equal(np.isfinite(pliant.jit(f)(a)).reshape(3, -1).all(-1), [True, False, True])
    a[1, 7, 7] = np.inf
    assert_array_equal(np.isfinite(pliant.jit(np.linalg.det)(a)), [True, False, True])


@pytest.mark.parametrize("n", [9, 24])
def test_one_bad_matrix_of_a_stack_raises_as_in_numpy(n):
    a = numbers("float64", 5, n, n)
    gram = definite(a)
    a[3, :, 4] = 0
    gram[2, n - 1, n - 1] = -1
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        pliant.jit(np.linalg.inv)(a)
    with pytest.raises(np.linalg.LinAlgError, match="Matrix is not positive definite"):
        pliant.jit(np.linalg.cholesky)(gram)


def test_arrays_with_gaps_and_transposed_ones():
    wide = numbers("float64", 6, 30, 30)
    for a in (wide[::2, ::2, ::2], wide[:, :12, :12].swapaxes(1, 2), wide[:, 11::-1, 5:17]):
        assert_allclose(pliant.jit(np.linalg.inv)(a), np.linalg.inv(a), rtol=1e-8, atol=1e-9)
        assert_allclose(pliant.jit(lambda x: np.linalg.cholesky(x @ x.mT))(a), np.linalg.cholesky(a @ a.mT), atol=1e-9)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("n", [3, 7, 12, 32])
@pytest.mark.parametrize("missing", [1, 2])
def test_cofactors_of_singular_matrices(n, dtype, missing):
    low = numbers(dtype, n, n - missing) @ numbers(dtype, n - missing, n) / n
    for a in (low, np.diag(np.arange(n)).astype(dtype), np.zeros((n, n), dtype)):
        fn = trace(lambda v: Cofactor()(v), Type(NAMES[a.dtype], a.shape))
        size = np.prod(np.sort(np.linalg.svd(a)[1])[missing:])
        assert_allclose(BACKEND.compile(fn)([a])[0], run(fn, [a])[0], atol=1e-11 * size)


FUNCTIONS = {
    "cholesky": lambda a: np.linalg.cholesky(a @ np.conj(a).T + np.eye(len(a))),
    "solve": lambda a: np.linalg.solve(a, a[:, :2] ** 2),
    "inv": np.linalg.inv,
    "det": np.linalg.det,
    "slogdet": lambda a: np.linalg.slogdet(a)[1],
}


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("n", [3, 10, 18])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients(name, n, dtype):
    f, a, along = FUNCTIONS[name], numbers(dtype, n, n) / n + np.eye(n), numbers(dtype, n, n)
    weights = numbers("float64", *np.shape(f(a)))

    def loss(x):
        y = f(x) * weights
        return (y.real**2).sum() + (y.imag * weights).sum()

    slope = np.vdot(along, pliant.grad(loss)(a)).real
    wanted = (loss(a + 1e-6 * along) - loss(a - 1e-6 * along)) / 2e-6
    assert_allclose(slope, wanted, rtol=1e-6, atol=1e-6 * abs(loss(a)))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="uses mprotect")
@pytest.mark.parametrize("is_at_end", [True, False])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
@pytest.mark.parametrize("n", [9, 11, 18])
def test_nothing_is_touched_outside_the_arrays(n, dtype, is_at_end):
    libc, page = ctypes.CDLL(None, use_errno=True), mmap.PAGESIZE
    a = definite(numbers(dtype, 3, n, n))
    inside = -(-a.nbytes // page)
    pages = mmap.mmap(-1, (inside + 2) * page)
    start = ctypes.addressof(ctypes.c_char.from_buffer(pages))
    place = (inside + 1) * page - a.nbytes if is_at_end else page
    guarded = np.frombuffer(pages, dtype, a.size, place).reshape(a.shape)
    guarded[...] = a
    walls = [ctypes.c_void_p(start), ctypes.c_void_p(start + (inside + 1) * page)]

    def inverted(x, y):
        x[...] = np.linalg.inv(np.linalg.cholesky(y))

    def turned(x, y):
        x[...] = np.linalg.qr(np.linalg.eigh(y)[1])[0]

    assert [libc.mprotect(wall, page, 0) for wall in walls] == [0, 0]
    try:
        det = pliant.jit(np.linalg.det)(guarded)
        pliant.jit(inverted)(guarded, a)
        pliant.jit(turned)(a.copy(), guarded)
        pliant.jit(turned)(guarded, a)
        pliant.jit(inverted)(guarded, a)
        pliant.jit(inverted)(a, a)
        assert_array_equal(guarded, a)
        assert_allclose(det * np.linalg.det(a) ** 2, 1, rtol=5e-2 if dtype in ("float32", "complex64") else 1e-9)
        pliant.jit(inverted)(guarded, definite(guarded))
    finally:
        _ = [libc.mprotect(wall, page, 3) for wall in walls]
