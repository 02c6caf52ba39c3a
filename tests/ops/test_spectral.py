"""Eigenvalues and singular values: what does not depend on the choice of vectors has derivatives."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pliant.core.build import trace
from pliant.core.types import DTYPES, Type
from pliant.ops.matrix import adjoint, products, scale_columns
from pliant.ops.spectral import Eig, Eigh, Eigvals, Eigvalsh, SingularValues, Svd
from pliant.testing import check_primitive, reverse, run, sample
from pliant.transforms.dead import eliminate_dead
from tests.ops.composed import CubeByEigh, CubeBySvd, EigvalshOfPositive, SquaresByEig

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("dtype", ["f64", "c128"])
@pytest.mark.parametrize("op", [CubeByEigh(), EigvalshOfPositive()])
def test_functions_of_hermitian_matrices_obey_the_laws(op, dtype):
    check_primitive(op, Type(dtype, (3, 3)), rtol=1e-4, atol=1e-3, low=-1, high=1)


@pytest.mark.parametrize("dtype", ["f64", "c128"])
def test_functions_of_any_eigenvalues_obey_the_laws(dtype):
    check_primitive(SquaresByEig(), Type(dtype, (3, 3)), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", ["f64", "c128"])
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (2, 3, 2)])
@pytest.mark.parametrize("full", [False, True])
def test_functions_of_singular_vectors_obey_the_laws(full, shape, dtype):
    check_primitive(CubeBySvd(full), Type(dtype, shape), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", ["f64", "c128"])
def test_singular_values_obey_the_laws(dtype):
    check_primitive(SingularValues(), Type(dtype, (4, 3)), oracle=np.linalg.svdvals, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", ["f64", "c128"])
def test_eigenvalues_alone_obey_the_laws(dtype):
    def draw(rng):
        return [sample(rng, Type(dtype, (3, 3)), -1, 1) + np.diag([1, 4, 8]).astype(DTYPES[dtype])]

    def oracle(a):
        return np.linalg.eigvals(a).astype(complex)

    check_primitive(Eigvals(), Type(dtype, (3, 3)), draw=draw, oracle=oracle, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("op", [Eigh(), Eigvalsh(), Eig(), Eigvals(), Svd(), Svd(True), SingularValues()])
def test_empty_matrices_and_empty_batches(op):
    check_primitive(op, Type("f64", (0, 0)), derivatives=False)
    check_primitive(op, Type("f64", (0, 2, 2)), derivatives=False)


@pytest.mark.parametrize("op", [Eigh(), Eigvalsh(), Eig(), Eigvals(), Svd(), SingularValues()])
def test_single_precision_is_kept(op):
    check_primitive(op, Type("f32", (2, 2)), draw=lambda rng: [np.diag([1, 2]).astype("f4")], derivatives=False)


def test_a_function_of_equal_eigenvalues_has_its_gradient():
    def square(x):
        w, v = Eigh().apply(x)
        return products(scale_columns(v, w * w), adjoint(v))

    ct = RNG.standard_normal((3, 3))
    fn = trace(lambda x: products(*Eigh().apply(x)[1:], adjoint(Eigh().apply(x)[1])), Type("f64", (3, 3)))
    (back,) = run(reverse(fn, (True,)), (np.eye(3), ct))
    assert_allclose(back, np.zeros((3, 3)), atol=1e-12)  # v·vᴴ is 1, whatever v is
    (back,) = run(reverse(trace(lambda x: Eigvalsh()(x), Type("f64", (3, 3))), (True,)), (np.eye(3), np.ones(3)))
    assert_allclose(back, np.eye(3), atol=1e-12)  # the trace


def test_vectors_that_nobody_reads_are_not_computed():
    eigh = eliminate_dead(trace(lambda x: Eigh().apply(x)[0], Type("f64", (3, 3))))
    svd = eliminate_dead(trace(lambda x: Svd().apply(x)[1], Type("f64", (3, 2))))
    eig = eliminate_dead(trace(lambda x: Eig().apply(x)[0], Type("f64", (3, 3))))
    assert isinstance(eigh.results[0].op, Eigvalsh)
    assert isinstance(eig.results[0].op, Eigvals)
    assert isinstance(svd.results[0].op, SingularValues)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_eigenvalues_are_numpys_to_the_bit_with_its_loop_and_without(dtype, monkeypatch):
    a = np.random.default_rng(0).normal(size=(6, 5, 5)).astype(dtype)
    wanted = np.linalg.eigvals(a)
    out = np.empty(wanted.shape, np.result_type(dtype, np.complex64))
    Eigvals().into(np, out, a)
    np.testing.assert_array_equal(out, wanted)
    out[...] = 0
    monkeypatch.setattr(np.linalg, "_umath_linalg", None)
    monkeypatch.setattr(np.linalg, "eigvals", lambda a: wanted)
    Eigvals().into(np, out, a)
    np.testing.assert_array_equal(out, wanted)


def test_eigenvalues_that_are_no_numbers_are_errors(monkeypatch):
    out = np.empty(2, complex)
    with pytest.raises(np.linalg.LinAlgError, match="infs or NaNs"):
        Eigvals().into(np, out, np.full((2, 2), np.nan))
    loop = type("Loops", (), {"eigvals": staticmethod(lambda a, signature: np.full(2, np.nan + 0j))})
    monkeypatch.setattr(np.linalg, "_umath_linalg", loop)
    with pytest.raises(np.linalg.LinAlgError, match="did not converge"):
        Eigvals().into(np, out, np.eye(2))
