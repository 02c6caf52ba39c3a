"""NumPy's products in traced functions."""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from pliant.errors import ShapeError
from tests.frontend.functions.numpys import KINDS, assert_as_numpy, drawn

PRODUCTS = [
    (np.dot, (3,), (3,)),
    (np.dot, (2, 3), (4, 3, 5)),
    (np.inner, (2, 3), (4, 3)),
    (np.vdot, (2, 3), (3, 2)),
    (np.outer, (2, 3), (4,)),
    (np.linalg.outer, (2,), (4,)),
    (np.kron, (2, 3), (4, 1, 5)),
    (np.tensordot, (5, 2, 3), (2, 3, 4)),
    (lambda x, y: np.tensordot(x, y, ([0, 2], [1, 0])), (2, 3, 4), (4, 2, 5)),
    (lambda x, y: np.tensordot(x, y, (-1, 0)), (2, 3), (3, 4)),
    (lambda x, y: np.tensordot(x, y, 0), (2, 3), (3, 4)),
    (lambda x, y: np.linalg.tensordot(x, y, axes=1), (2, 3), (3, 4)),
    (np.linalg.matmul, (2, 3), (3, 4)),
    (np.linalg.vecdot, (2, 3), (2, 3)),
    (lambda x, y: np.linalg.vecdot(x, y, axis=0), (2, 3), (2, 3)),
    (lambda x, y: np.einsum("ij,jk->ki", x, y), (2, 3), (3, 4)),
    (lambda x, y: np.einsum(x, [0, 1], y, [1, 2], [0, 2]), (2, 3), (3, 4)),
    (lambda x, y: np.einsum("...ij,jk", x, y, optimize=True), (5, 2, 3), (3, 4)),
    (np.cross, (4, 3), (3,)),
    (lambda x, y: np.cross(x, y, axisa=0, axisb=0, axisc=0), (3, 4), (3, 4)),
    (np.linalg.cross, (2, 3), (2, 3)),
    (np.convolve, (5,), (3,)),
    (lambda x, y: np.convolve(x, y, "same"), (5,), (4,)),
    (lambda x, y: np.correlate(x, y, "full"), (2,), (6,)),
    (np.polyval, (4,), (2, 3)),
    (lambda x, y: np.linalg.multi_dot([x, y, x, y]), (2, 3), (3, 2)),
]


@pytest.mark.parametrize("kind", [*KINDS, "i4"])
@pytest.mark.parametrize(("f", "x", "y"), PRODUCTS)
def test_products_are_numpys(f, x, y, kind):
    assert_as_numpy(f, *(v.astype(kind) for v in drawn("i8" if kind == "i4" else kind, x, y)))


@pytest.mark.parametrize("f", [np.dot, np.inner, np.kron, np.outer, np.multiply])
def test_python_numbers_are_as_wide_as_numpy_makes_them(f):
    assert_as_numpy(lambda x: f(2, x), drawn("f4", (3,))[0])


def test_mixed_dtypes_are_promoted():
    x, y = drawn("f4", (3, 4))[0], drawn("i8", (4, 2))[0]
    assert_as_numpy(np.dot, x, y)
    assert_as_numpy(lambda a, b: np.einsum("ij,jk", a, b), x, y)


def test_a_result_is_written_to_out():
    def f(x, y):
        out = np.zeros((2, 4))
        np.dot(x, y, out=out)
        return out

    assert_as_numpy(f, *drawn("f8", (2, 3), (3, 4)))


def test_operands_that_do_not_fit_are_explained():
    with pytest.raises(ShapeError, match="do not fit"):
        pliant.jit(np.dot)(np.ones((2, 3)), np.ones((2, 3)))
    with pytest.raises(ShapeError, match="two sequences"):
        pliant.jit(np.convolve)(np.ones((2, 3)), np.ones(3))
