"""Products by labels against NumPy's, with their gradients and errors."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pliant.core.build import trace
from pliant.core.types import Type
from pliant.errors import ShapeError
from pliant.ops import einsum as products
from pliant.ops.contract import Dot
from pliant.testing import reverse, run

RNG = np.random.default_rng(0)


def evaluated(f, *xs):
    """The function traced and run by NumPy."""
    return run(trace(f, *(Type({8: "f64", 16: "c128", 1: "bool"}[x.itemsize], x.shape) for x in xs)), xs)[0]


EINSUMS = [
    ("ij,jk", (2, 3), (3, 4)),
    ("ij,jk->ki", (2, 3), (3, 4)),
    ("...ij,...jk", (5, 2, 3), (1, 3, 4)),
    ("...ij,jk->k...i", (5, 2, 3), (3, 4)),
    ("ii", (3, 3)),
    ("ii->i", (3, 3)),
    ("iij->j", (3, 3, 2)),
    ("iii->i", (3, 3, 3)),
    ("ij->", (2, 3)),
    ("ba", (2, 3)),
    ("i,j", (2,), (3,)),
    ("ij,ij->i", (2, 3), (2, 3)),
    ("ij,j->ij", (2, 3), (1,)),
    ("ij,jk,kl->il", (2, 3), (3, 4), (4, 5)),
    ("abc,cd,def->abf", (2, 3, 4), (4, 5), (5, 6, 2)),
    ("ab,cd,ea->", (2, 3), (4, 5), (6, 2)),
    ("ij,jk", (2, 0), (0, 4)),
    (" i j , j k -> i k ", (2, 3), (3, 4)),
]


@pytest.mark.parametrize(("subscripts", "shapes"), [(s, shapes) for s, *shapes in EINSUMS])
def test_einsum_is_numpys(subscripts, shapes):
    xs = [RNG.standard_normal(s) for s in shapes]
    assert_allclose(
        evaluated(lambda *vs: products.einsum(subscripts, *vs), *xs), np.einsum(subscripts, *xs), atol=1e-12
    )


def test_einsum_of_bools():
    x, y = RNG.random((3, 4)) < 0.3, RNG.random((4, 2)) < 0.3
    assert_allclose(evaluated(lambda a, b: products.einsum("ij,jk->i", a, b), x, y), np.einsum("ij,jk->i", x, y))


def test_gradient_of_a_chain_of_complex_products():
    xs = [RNG.standard_normal(s) + 1j * RNG.standard_normal(s) for s in ((2, 3), (3, 4), (4, 2))]
    fn = trace(lambda *vs: products.einsum("ij,jk,ki->", *vs), *(Type("c128", x.shape) for x in xs))
    a, b, c = xs
    back = run(reverse(fn, (True, True, True)), (*xs, np.ones((), complex)))
    for got, wanted in zip(back, ((b @ c).conj().T, (c @ a).conj().T, (a @ b).conj().T), strict=True):
        assert_allclose(got, wanted, atol=1e-12)


def test_the_cheapest_pair_is_contracted_first():
    types = Type("f64", (2, 1000)), Type("f64", (1000, 1000)), Type("f64", (1000,))
    y = trace(lambda *vs: products.einsum("ij,jk,k->i", *vs), *types).results[0]
    assert isinstance(y.op, Dot)
    assert y.args[0].shape == (2, 1000)
    assert y.args[1].shape == (1000,)


@pytest.mark.parametrize(
    ("subscripts", "match"),
    [
        ("ij", "names 1 operands"),
        ("ijk,jk", "does not name the 2 axes"),
        ("ij,jk->im", "no operand has"),
        ("ij,jk->ii", "names an axis twice"),
        ("ij,ik", "extent"),
        ("...,jk->jk", "drops the axes"),
    ],
)
def test_malformed_subscripts_are_explained(subscripts, match):
    with pytest.raises(ShapeError, match=match):
        trace(lambda *vs: products.einsum(subscripts, *vs), Type("f64", (2, 3)), Type("f64", (4, 5)))


MATMULS = [
    ((3,), (3,)),
    ((3,), (3, 4)),
    ((2, 3), (3,)),
    ((5, 2, 3), (3,)),
    ((3,), (5, 3, 4)),
    ((5, 2, 3), (5, 3, 4)),
    ((6, 1, 2, 3), (5, 3, 4)),
    ((0, 3), (3, 2)),
]


@pytest.mark.parametrize(("x", "y"), MATMULS)
def test_matmul_is_numpys(x, y):
    xs = RNG.standard_normal(x), RNG.standard_normal(y)
    assert_allclose(evaluated(products.matmul, *xs), np.matmul(*xs), atol=1e-12)


def test_matmul_of_matrices_is_one_dot():
    fn = trace(products.matmul, Type("f64", (2, 3)), Type("f64", (3, 4)))
    assert isinstance(fn.results[0].op, Dot)
    assert fn.results[0].args == fn.params


@pytest.mark.parametrize(
    ("ours", "numpys", "x", "y"),
    [
        (products.dot, np.dot, (2, 3), (4, 3, 5)),
        (products.dot, np.dot, (), (4, 3)),
        (products.inner, np.inner, (2, 3), (4, 3)),
        (products.vdot, np.vdot, (2, 3), (3, 2)),
        (products.outer, np.outer, (2, 3), (4,)),
        (products.kron, np.kron, (2, 3), (4, 1, 5)),
        (products.cross, np.cross, (4, 3), (4, 3)),
    ],
)
def test_numpys_other_products(ours, numpys, x, y):
    xs = (RNG.standard_normal(x) + 1j * RNG.standard_normal(x), RNG.standard_normal(y) + 0j)
    assert_allclose(evaluated(ours, *xs), numpys(*xs), atol=1e-12)
