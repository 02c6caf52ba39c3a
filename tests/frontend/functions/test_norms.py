"""Norms in traced functions, and their gradients at zero."""

from __future__ import annotations

import numpy as np
import pytest
from numpy import inf, linalg
from numpy.testing import assert_allclose, assert_array_equal

import pliant
from pliant.errors import ShapeError
from tests.frontend.functions.numpys import KINDS, assert_as_numpy, drawn, regular


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ord", [None, "fro", "nuc", 1, -1, 2, -2, inf, -inf])
def test_norms_of_matrices(ord, kind):
    a = regular(kind, 2, 3, 3)
    assert_as_numpy(lambda x: linalg.norm(x, ord, axis=(-2, -1)), a)
    assert_as_numpy(lambda x: linalg.norm(x, ord, axis=(2, 0), keepdims=True), a)
    assert_as_numpy(lambda x: linalg.matrix_norm(x, ord=ord or "fro", keepdims=True), a)
    assert_as_numpy(lambda x: linalg.cond(x, ord), a)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ord", [None, 0, 1, 2, 3, 2.5, inf, -inf])
def test_norms_of_vectors(ord, kind):
    (a,) = drawn(kind, (2, 3, 4))
    assert_as_numpy(lambda x: linalg.norm(x, ord, axis=-1), a)
    assert_as_numpy(lambda x: linalg.norm(x, ord, axis=0, keepdims=True), a)
    assert_as_numpy(lambda x: linalg.vector_norm(x, ord=ord or 2, axis=(0, 1)), a)


@pytest.mark.parametrize("kind", KINDS)
def test_the_norm_of_all_elements(kind):
    (a,) = drawn(kind, (2, 3, 4))
    assert_as_numpy(linalg.norm, a)
    assert_as_numpy(lambda x: linalg.norm(x, keepdims=True), a)
    assert_as_numpy(linalg.vector_norm, a)


def test_the_gradient_of_a_norm_of_zeros_is_zero():
    assert_array_equal(pliant.grad(linalg.norm)(np.zeros(3)), np.zeros(3))
    assert_allclose(pliant.grad(lambda x: linalg.norm(x - x) + linalg.norm(x))(np.array([3.0, 4])), [0.6, 0.8])


def test_norms_that_do_not_exist_are_refused():
    with pytest.raises(ShapeError, match="no norm of vectors"):
        pliant.jit(lambda x: linalg.norm(x, "fro", axis=0))(np.ones(3))
    with pytest.raises(ShapeError, match="1 or 2 axes"):
        pliant.jit(lambda x: linalg.norm(x, 1))(np.ones((2, 2, 2)))
