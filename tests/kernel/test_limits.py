"""Comparisons that the limits of loops decide, and comparisons of other numbers, which they do not."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import pliant

GREATEST = {dtype: np.iinfo(dtype).max for dtype in ("i8", "i4", "u1", "u8")}


@pytest.mark.parametrize("number", [np.inf, -np.inf, np.nan, 0.5, 1e30])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "bool"])
def test_a_float_is_no_limit_of_a_loop(dtype, number):
    x = np.arange(4).astype(dtype)
    for f in (lambda x: x < number, lambda x: number < x):
        assert_array_equal(pliant.jit(f)(x), f(x))


def test_floats_that_differ_by_a_constant_are_compared():
    def f(x):
        return (x + 1.0) < (x + 3.0), (-x) < (1.0 - x)

    x = np.array([1.0, 1e300, -1e300, np.nan, np.inf])
    assert_array_equal(pliant.jit(f)(x), f(x))


@pytest.mark.parametrize("dtype", GREATEST)
def test_integers_that_wrap_around_are_compared(dtype):
    def f(x):
        one, three = x.dtype.type(1), x.dtype.type(3)
        return (x + one) < (x + three), (x - three) < (x - one)

    x = np.array([0, 1, 5, GREATEST[dtype] - 2, GREATEST[dtype]], dtype)
    with np.errstate(over="ignore"):
        assert_array_equal(pliant.jit(f)(x), f(x))
