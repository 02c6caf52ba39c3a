"""Least squares and the pseudoinverse, of full rank and less."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pliant.core.build import trace
from pliant.core.types import Type
from pliant.errors import ShapeError
from pliant.ops.least_squares import Lstsq, Pinv
from pliant.testing import check_primitive, run

CUTOFF = 1e-12
SHAPES = [(4, 2), (2, 4), (3, 3)]


@pytest.mark.parametrize("dtype", ["f64", "c128"])
@pytest.mark.parametrize("shape", SHAPES)
def test_pinv_obeys_the_laws(shape, dtype):
    check_primitive(Pinv(CUTOFF), Type(dtype, shape), oracle=np.linalg.pinv, rtol=1e-3, atol=1e-4, seed=1)


@pytest.mark.parametrize("dtype", ["f64", "c128"])
@pytest.mark.parametrize("shape", SHAPES)
def test_lstsq_obeys_the_laws(shape, dtype):
    types = Type(dtype, shape), Type(dtype, (shape[0], 2))
    check_primitive(Lstsq(CUTOFF), *types, oracle=lambda a, b: np.linalg.lstsq(a, b)[0], rtol=1e-3, atol=1e-4, seed=1)


def test_stacked_problems():
    check_primitive(Lstsq(CUTOFF), Type("f64", (2, 4, 2)), Type("f64", (2, 4, 1)), rtol=1e-3, atol=1e-4)
    check_primitive(Pinv(CUTOFF), Type("f32", (0, 4, 2)), derivatives=False)


def test_the_shortest_solution_of_a_system_without_full_rank():
    a, b = np.array([[1.0, 1], [1, 1], [2, 2]]), np.array([[1.0], [2], [3]])
    (x,) = run(trace(Lstsq(CUTOFF), Type("f64", (3, 2)), Type("f64", (3, 1))), (a, b))
    assert_allclose(x, np.linalg.lstsq(a, b)[0], atol=1e-12)


def test_systems_that_do_not_fit_are_refused():
    with pytest.raises(ShapeError, match="a has 3 rows"):
        Lstsq(CUTOFF).infer(Type("f64", (3, 2)), Type("f64", (2, 1)))
