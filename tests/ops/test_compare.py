"""Comparisons, and how ties share a derivative."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pliant.core.types import Type
from pliant.ops import compare
from pliant.ops.compare import clip, fmax, fmin, isnan, less, maximum, minimum
from pliant.testing import check_rule
from tests.ops.derivatives import gradient, second, tangent
from tests.ops.elementwise_cases import value

NAN = np.nan


@pytest.mark.parametrize("f", [maximum, minimum, fmax, fmin])
def test_ties_split_the_derivative_evenly(f):
    assert_array_equal(gradient(f, [1.0], [1.0]), ([0.5], [0.5]))


@pytest.mark.parametrize(("f", "da", "db"), [(maximum, [1, 0], [0, 1]), (minimum, [0, 1], [1, 0])])
def test_the_chosen_operand_has_the_derivative(f, da, db):
    assert_array_equal(gradient(f, [2.0, 1.0], [1.0, 2.0]), (da, db))


@pytest.mark.parametrize("f", [fmax, fmin])
def test_the_number_beside_a_nan_has_the_derivative(f):
    assert_array_equal(gradient(f, [1.0, NAN], [NAN, 1.0]), ([1.0, 0.0], [0.0, 1.0]))


def test_derivative_with_a_literal_on_either_side():
    assert_array_equal(gradient(lambda x: maximum(x, 0.0), [-1.0, 0.0, 2.0]), [0.0, 0.5, 1.0])
    assert_array_equal(gradient(lambda x: minimum(0.0, x), [-1.0, 0.0, 2.0]), [1.0, 0.5, 0.0])
    assert_array_equal(second(lambda x: maximum(x, 0.0) * x, [-1.0, 2.0]), [0.0, 2.0])


def test_clip_keeps_numbers_between_its_bounds():
    x = np.array([-2.0, 0.5, 2.0, NAN])
    assert_array_equal(value(lambda x: clip(x, 0.0, 1.0), x), np.clip(x, 0.0, 1.0))
    assert_array_equal(value(lambda x: clip(x, 1.0, 0.0), x), np.clip(x, 1.0, 0.0))
    assert_array_equal(gradient(lambda x: clip(x, 0.0, 1.0), x[:3]), [0.0, 1.0, 0.0])


@pytest.mark.parametrize("f", [less, isnan])
def test_questions_have_no_tangent(f):
    assert tangent(lambda x: f(*(x,) * f.arity), [1.0], [1.0]) is None


def test_choice_between_a_value_and_itself_is_the_value():
    check_rule(compare.choice_of_same, Type("f64", (20,)), program=lambda x: maximum(x, x))
    check_rule(compare.choice_of_same, Type("f64", (20,)), program=lambda x: fmin(x, x))
