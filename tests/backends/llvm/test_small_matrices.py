"""Small matrices: the numbers of the oracle, at pivots and singular matrices too, and NumPy's errors."""

from __future__ import annotations

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


def native(op, *xs):
    """What compiled code and the oracle give."""
    fn = trace(lambda *vs: op.apply(*vs), *(Type(NAMES[x.dtype], x.shape) for x in xs))
    compiled = BACKEND.compile(fn)
    assert not [step for step in compiled.program.steps if isinstance(step, Host)]
    return compiled(xs), run(fn, xs)


def assert_native(op, *xs):
    tolerance = 1e-3 if xs[0].dtype == np.float32 else 1e-9
    for got, wanted in zip(*native(op, *xs), strict=True):
        assert_allclose(got, wanted, rtol=tolerance, atol=tolerance)


def matrices(n, dtype="float64", lead=(5,)):
    return RNG.standard_normal((*lead, n, n)).astype(dtype)


@pytest.mark.parametrize("n", range(1, 10))
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_size(n, dtype):
    a = matrices(n, dtype)
    assert_native(Lu(), a)
    assert_native(Det(), a)
    assert_native(Slogdet(), a)
    gram = a @ a.swapaxes(1, 2) + np.eye(n, dtype=dtype)
    assert_native(Cholesky(), np.tril(gram) + np.triu(a, 1))  # the upper triangle is not read


@pytest.mark.parametrize("n", range(1, 7))
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_cofactors(n, dtype):
    assert_native(Cofactor(), matrices(n, dtype))


@pytest.mark.parametrize("n", [1, 3, 8])
@pytest.mark.parametrize("k", [0, 1, 5, 16, 17])
def test_right_sides(n, k):
    a, b = matrices(n) + 4 * np.eye(n), RNG.standard_normal((5, n, k))
    assert_native(Solve(), a, b)
    assert_native(Solve(adjoint=True), a, b)
    for lower in (True, False):
        for adjoint in (True, False):
            for unit in (True, False):
                assert_native(TriangularSolve(lower, adjoint, unit), a, b)


@pytest.mark.parametrize("lead", [(), (1,), (2, 1, 3), (0,), (2, 0)])
def test_stacks(lead):
    a = matrices(4, lead=lead)
    for op in (Lu(), Det(), Cofactor()):
        assert_native(op, a)


@pytest.mark.parametrize("n", [2, 3, 5, 8])
def test_rows_are_exchanged_as_lapack_does(n):
    places = np.stack([np.eye(n)[RNG.permutation(n)] for _ in range(20)])
    for a in (places, places * RNG.integers(-3, 4, (20, 1, n)), RNG.integers(-1, 2, (200, n, n)).astype(float)):
        (lu, perm), (wanted, order) = native(Lu(), a)
        assert_array_equal(perm, order)
        assert_allclose(lu, wanted, atol=1e-14)
    assert_array_equal(pliant.jit(np.linalg.det)(places), np.linalg.det(places))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 6, 8])
def test_singular_determinants_are_zero(n):
    assert_array_equal(pliant.jit(np.linalg.det)(np.zeros((2, n, n))), 0)
    if n > 1:
        assert pliant.jit(np.linalg.det)(np.ones((n, n))) == 0


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("missing", [1, 2])
def test_gradient_of_a_singular_determinant(n, missing):
    low = RNG.standard_normal((n, n - missing)) @ RNG.standard_normal((n - missing, n))
    got = pliant.grad(lambda a: np.linalg.det(a))(low)
    minors = [[np.linalg.det(np.delete(np.delete(low, i, 0), j, 1)) for j in range(n)] for i in range(n)]
    assert_allclose(got, minors * np.fromfunction(lambda i, j: (-1) ** (i + j), (n, n)), atol=1e-12)


def test_nan_and_infinity_reach_the_result():
    a = np.array([[[1.0, np.nan], [2.0, 3.0]], [[np.inf, 1.0], [1.0, 1.0]], [[2.0, 0.0], [0.0, 2.0]]])
    assert_array_equal(np.isnan(pliant.jit(np.linalg.det)(a)), [True, False, False])
    assert np.isnan(pliant.jit(np.linalg.solve)(a[0], np.ones(2))).all()
    assert_array_equal(pliant.jit(np.linalg.cholesky)(a[0].T), np.linalg.cholesky(a[0].T))


@pytest.mark.parametrize("n", [1, 3, 8])
def test_one_bad_matrix_of_a_stack_raises_as_in_numpy(n):
    a = matrices(n) + 4 * np.eye(n)
    gram = a @ a.swapaxes(1, 2)
    a[3, :, 0] = 0
    gram[2] = -gram[2]
    for f, given in ((np.linalg.inv, a), (np.linalg.cholesky, gram)):
        for g in (f, pliant.jit(f)):
            with pytest.raises(np.linalg.LinAlgError):
                g(given)
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        pliant.jit(np.linalg.solve)(a, np.ones((5, n, 1)))


def test_filter_step_in_a_loop_with_its_gradient():
    def last_spread(spread, steps):
        a = np.array([[1.0, 0.1], [0.0, 1.0]])
        for _ in range(steps):
            spread = a @ spread @ a.T + 0.01 * np.eye(2)
            gain = np.linalg.solve(spread + np.eye(2), spread).T
            spread = (np.eye(2) - gain) @ spread
        return np.linalg.slogdet(spread)[1]

    start = np.array([[2.0, 0.3], [0.3, 1.0]])
    assert_allclose(pliant.jit(last_spread, static=("steps",))(start, 30), last_spread(start, 30), rtol=1e-12)
    slope = pliant.grad(lambda s: last_spread(s, 30))(start)
    step = 1e-6 * np.array([[0.0, 0.0], [0.0, 1.0]])
    wanted = (last_spread(start + step, 30) - last_spread(start - step, 30)) / 2e-6
    assert_allclose(slope[1, 1], wanted, rtol=1e-5)


@pytest.mark.parametrize("n", [3, 4, 6, 8])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("lead", [(32,), (45,), (2, 39)])
def test_large_stacks(n, dtype, lead):
    a = matrices(n, dtype, lead)
    assert_native(Det(), a)
    assert_native(Lu(), a)
    assert_native(Cofactor(), a)
    gram = a @ a.swapaxes(-1, -2) + np.eye(n, dtype=dtype)
    assert_native(Cholesky(), np.tril(gram) + np.triu(a, 1))


@pytest.mark.parametrize("n", [3, 5, 6])
def test_rows_of_a_large_stack_are_exchanged_as_lapack_does(n):
    a = RNG.integers(-1, 2, (203, n, n)).astype(float)
    a[7], a[40] = 0, np.eye(n)[::-1]
    (lu, perm), (wanted, order) = native(Lu(), a)
    assert_array_equal(perm, order)
    assert_allclose(lu, wanted, atol=1e-14)
    a[100, 1, 1] = np.nan
    assert_array_equal(np.isnan(pliant.jit(np.linalg.det)(a)), np.arange(203) == 100)


def test_one_bad_matrix_of_a_large_stack_raises_wherever_it_is():
    f, good = pliant.jit(np.linalg.cholesky), np.broadcast_to(np.eye(3), (45, 3, 3))
    assert_array_equal(f(good), good)
    for place in (0, 7, 8, 31, 36, 37, 40, 44):
        bad = good.copy()
        bad[place, 1, 1] = -1
        with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
            f(bad)
    assert_array_equal(f(good), good)
