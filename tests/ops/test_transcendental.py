"""Exponentials, logarithms and angles where their derivatives are delicate."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pliant.core.types import Type
from pliant.ops import transcendental as functions
from pliant.ops.transcendental import arctan2, expm1, log, logaddexp, logaddexp2, tanh
from pliant.testing import check_primitive
from tests.ops.derivatives import gradient, second

INF = math.inf


def test_arctan2_has_derivative_zero_at_the_origin():
    assert_array_equal(gradient(arctan2, [0.0], [0.0]), ([0.0], [0.0]))


def test_arctan2_is_steep_near_the_origin_and_flat_far_away_without_overflow():
    y, x = np.array([0.0, 1e200]), np.array([1e-200, 1e200])
    dy, dx = gradient(arctan2, y, x)
    assert_allclose(dy, [1e200, 0.5e-200])
    assert_allclose(dx, [0.0, -0.5e-200])


@pytest.mark.parametrize("f", [logaddexp, logaddexp2])
def test_equal_infinities_share_the_derivative_of_logaddexp(f):
    a, b = [INF, -INF, INF, -INF, 3.0], [INF, -INF, -INF, 2.0, 3.0]
    wanted = [0.5, 0.5, 1.0, 0.0, 0.5]
    da, db = gradient(f, a, b)
    assert_allclose(da, wanted, rtol=1e-15)
    assert_allclose(db, 1 - np.array(wanted), rtol=1e-15)


def test_second_derivative_of_logaddexp_has_no_nan():
    x = np.array([0.0, 800.0, -800.0, INF, -INF])
    assert_allclose(second(lambda x: logaddexp(x, 0.0), x), [0.25, 0, 0, 0, 0])


def test_derivative_of_logaddexp_far_from_a_tie():
    assert_array_equal(gradient(logaddexp, [800.0, -800.0], [0.0, 0.0]), ([1.0, 0.0], [0.0, 1.0]))


def test_derivative_of_log_and_tanh_at_their_ends():
    assert_array_equal(gradient(log, [0.0, INF]), [INF, 0.0])
    assert_array_equal(gradient(tanh, [INF, -INF, 0.0]), [0.0, 0.0, 1.0])


def test_derivative_of_expm1_keeps_the_digits_of_a_tiny_exponential():
    assert_allclose(gradient(expm1, [-50.0]), [math.exp(-50)], rtol=1e-15)


# Derivatives on both sides of the branch cuts, by differences that stay on one side.
BRANCHES = {
    "log": [-1 + 0.5j, -1 - 0.5j],
    "sqrt": [-1 + 0.5j, -1 - 0.5j],
    "arcsin": [2 + 0.5j, 2 - 0.5j, -2 + 0.5j],
    "arccos": [2 + 0.5j, 2 - 0.5j, -2 + 0.5j],
    "arctan": [2j + 0.5, 2j - 0.5, -2j + 0.5],
    "arcsinh": [2j + 0.5, 2j - 0.5, -2j + 0.5],
    "arccosh": [-2 + 0.5j, -2 - 0.5j, 0.5j + 0.2, -0.2 + 0.5j],
    "arctanh": [2 + 0.5j, 2 - 0.5j, -2 + 0.5j],
}


@pytest.mark.parametrize("name", BRANCHES)
def test_complex_derivatives_belong_to_the_branch_of_the_value(name):
    z = np.array(BRANCHES[name])
    check_primitive(getattr(functions, name), Type("c128", z.shape), draw=lambda rng: [z + 0.01 * rng.random(z.shape)])
