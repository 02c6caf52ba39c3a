"""Extrema of complex numbers, which NumPy orders by real part, then by imaginary part."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import pliant
from pliant.testing import check_gradient

INF, NAN = np.inf, np.nan
NUMBERS = np.array(
    [
        [1 + 2j, 1 + 3j, 0, 1 + 3j],
        [-1j, complex(-INF, 2), complex(-INF, -INF), complex(-INF, -INF)],
        [5, complex(INF, -1), complex(INF, -INF), 2],
        [NAN, 3, complex(1, NAN), 7j],
    ]
)
WHOLE = (None, (0, 1), (), 0, -1)


@pytest.mark.parametrize("dtype", ["c8", "c16"])
@pytest.mark.parametrize("axis", WHOLE)
@pytest.mark.parametrize("rows", [slice(0, 3), slice(0, 4)], ids=["numbers", "with NaN"])
@pytest.mark.parametrize("f", [np.max, np.min])
def test_extrema_are_numpys(f, rows, axis, dtype):
    x = NUMBERS[rows].astype(dtype)
    made = pliant.jit(lambda x: f(x, axis=axis))(x)
    assert_array_equal(made, f(x, axis=axis))
    assert made.dtype == x.dtype


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("f", [np.argmax, np.argmin])
def test_places_of_extrema_are_numpys(f, axis):
    assert_array_equal(pliant.jit(lambda x: f(x, axis=axis))(NUMBERS), f(NUMBERS, axis=axis))


def test_an_extremum_has_the_derivative_of_its_element():
    check_gradient(lambda x: np.max(x * (1 + 2j)).real + np.ptp(x + 1j * x).imag, np.array([0.3, -1.2, 0.9]))
