"""Native factorisations: the same numbers as the oracle, and errors for what has no answer."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pliant
from pliant.backends.llvm import BACKEND
from pliant.core.build import trace
from pliant.core.types import DTYPES, Type
from pliant.kernel.ir import Host
from pliant.ops.solve import Det, Inv, Lu, Slogdet, Solve
from pliant.ops.triangular import Cholesky, TriangularSolve
from pliant.testing import run, sample

RNG = np.random.default_rng(0)
SYSTEMS = [
    *(TriangularSolve(lower, adjoint) for lower in (True, False) for adjoint in (True, False)),
    TriangularSolve(lower=True, adjoint=True, unit=True),
    TriangularSolve(lower=False, unit=True),
    Solve(),
    Solve(adjoint=True),
]


def assert_native(op, *xs):
    """Compiled, `op` gives what the oracle gives, without leaving native code."""
    fn = trace(lambda *vs: op.apply(*vs), *(Type(pliant_name(x), x.shape) for x in xs))
    compiled = BACKEND.compile(fn)
    assert not [step for step in compiled.program.steps if isinstance(step, Host)]
    tolerance = 2e-4 if xs[0].dtype in (np.float32, np.complex64) else 1e-11
    for got, wanted in zip(compiled(xs), run(fn, xs), strict=True):
        assert_allclose(got, wanted, rtol=tolerance, atol=tolerance)


def pliant_name(x):
    """The IR name of an array's dtype."""
    return {np.dtype(v): k for k, v in DTYPES.items()}[x.dtype]


def square(dtype, *shape):
    """Matrices far from singular."""
    x = sample(RNG, Type(dtype, shape), -1, 1)
    return x + 4 * np.eye(shape[-1], dtype=x.dtype)


@pytest.mark.parametrize("dtype", ["f64", "f32", "c128", "c64"])
@pytest.mark.parametrize("op", SYSTEMS)
def test_systems(op, dtype):
    assert_native(op, square(dtype, 2, 3, 3), sample(RNG, Type(dtype, (2, 3, 2))))


@pytest.mark.parametrize("op", [SYSTEMS[0], Solve()])
@pytest.mark.parametrize(("lead", "n", "k"), [((), 1, 1), ((), 70, 3), ((2, 1, 2), 2, 1), ((), 3, 0), ((), 0, 2)])
def test_systems_of_any_size(op, lead, n, k):
    assert_native(op, square("f64", *lead, n, n), sample(RNG, Type("f64", (*lead, n, k))))


@pytest.mark.parametrize("dtype", ["f64", "f32", "c128", "c64"])
@pytest.mark.parametrize("shape", [(3, 3), (2, 3, 3), (1, 1), (0, 2, 2), (70, 70), (2, 66, 66)])
def test_factorisations(shape, dtype):
    a = sample(RNG, Type(dtype, shape))
    assert_native(Lu(), a)
    gram = a @ np.conj(np.swapaxes(a, -1, -2)) + 2 * np.eye(shape[-1], dtype=a.dtype)
    assert_native(Cholesky(), np.tril(gram) + np.triu(a, 1))


@pytest.mark.parametrize("dtype", ["f64", "c128"])
@pytest.mark.parametrize("op", [Inv(), Det(), Slogdet()])
def test_functions_of_square_matrices(op, dtype):
    assert_native(op, square(dtype, 2, 4, 4))


def test_a_matrix_is_factored_once_for_all_that_solve_with_it():
    from pliant.backends.llvm import lapack
    from pliant.backends.llvm.compiler import can
    from pliant.kernel.build import build
    from pliant.kernel.ir import Routine

    def both(a, b):
        return Solve()(a, b), Solve(adjoint=True)(a, b), *Slogdet().apply(a)

    program = build(trace(both, Type("f64", (3, 3)), Type("f64", (3, 2))), can, lapack.who_has)
    factored = [s for s in program.steps if isinstance(s, Routine) and isinstance(s.node.op, Lu)]
    assert len(factored) == 1


def test_a_singular_determinant_is_zero():
    assert pliant.jit(np.linalg.det)(np.ones((2, 2))) == 0.0


def test_what_has_no_answer_raises_linalgerror_at_the_users_line():
    with pytest.raises(np.linalg.LinAlgError, match=r"not positive definite[\s\S]*np\.linalg\.cholesky\(x"):
        pliant.jit(lambda x: np.linalg.cholesky(x))(np.array([[1.0, 2], [2, 1]]))
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        pliant.jit(np.linalg.solve)(np.ones((2, 2)), np.ones(2))
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        pliant.jit(np.linalg.inv)(np.zeros((3, 2, 2)))
