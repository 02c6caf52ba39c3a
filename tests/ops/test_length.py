"""Lengths have derivative 0 where they are 0, and squares of lengths have no kink."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import pliant
from pliant.core.types import Type
from pliant.ops import length as module
from pliant.ops.length import Length, length
from pliant.testing import check_primitive, check_rule
from tests.ops.derivatives import gradient, second

LENGTHS = {
    "norm": np.linalg.norm,
    "norm of a matrix": lambda x: np.linalg.norm(x.reshape(2, 1)),
    "abs": lambda x: np.abs(x[0] + 1j * x[1]),
    "hypot": lambda x: np.hypot(x[0], x[1]),
    "norm by axis": lambda x: np.linalg.norm(x[None], axis=1),
}
SQUARES = {"power": lambda y: y**2, "float power": lambda y: y**2.0, "product": lambda y: y * y, "square": np.square}


def test_length_obeys_the_laws():
    check_primitive(Length(), Type("f64", (5,)), low=0.3, oracle=np.sqrt)
    check_primitive(Length(), Type("f32", (5,)), low=0.3, oracle=np.sqrt, derivatives=False)


def test_a_length_of_zero_has_derivatives_zero():
    assert_array_equal(gradient(length, [0.0, 4.0]), [0.0, 0.25])
    assert_array_equal(second(length, [0.0, 4.0]), [0.0, -1 / 32])


@pytest.mark.parametrize("rule", [module.square_of_length, module.square_of_abs], ids=lambda r: r.name)
def test_identity_of_one_value_is_true_and_fires(rule):
    check_rule(rule, Type("f64", (40,)))


def test_identities_of_complex_numbers_and_of_two_values_are_true_and_fire():
    check_rule(module.square_of_complex_abs, Type("c128", (40,)))
    check_rule(module.square_of_hypot, Type("f64", (40,)), Type("f64", (40,)))


@pytest.mark.parametrize("square", SQUARES.values(), ids=SQUARES.keys())
@pytest.mark.parametrize("size", LENGTHS.values(), ids=LENGTHS.keys())
def test_the_square_of_a_length_is_smooth_where_it_is_zero(size, square):
    assert_allclose(pliant.hessian(lambda x: np.sum(square(size(x))))(np.zeros(2)), 2 * np.eye(2))


@pytest.mark.parametrize("kink", [np.std, np.linalg.norm, lambda x: np.linalg.norm(x, 3), lambda x: np.nanstd(x)])
def test_gradients_at_kinks_are_zero(kink):
    assert_array_equal(pliant.grad(kink)(np.zeros(3)), np.zeros(3))
