"""Functions of each element that are no ufuncs: their accuracy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.special

import pliant


@pytest.mark.parametrize(("dtype", "most"), [(np.float32, 6), (np.float64, 16)])
def test_i0_and_its_gradient_are_accurate_as_far_as_there_are_numbers(dtype: Any, most: int) -> None:
    x = np.linspace(-1, 1, 4001) * (709 if dtype is np.float64 else 88)
    x = np.concatenate([x, x / 20, [0, 9, 20]]).astype(dtype)
    exact = scipy.special.i0(x.astype(float))
    assert np.all(np.abs(pliant.jit(np.i0)(x) - exact) <= most * np.spacing(exact.astype(dtype)))
    slope = pliant.grad(lambda x: np.sum(np.i0(x)))(x)
    np.testing.assert_allclose(
        slope, scipy.special.i1(x.astype(float)), rtol=2 * most * np.finfo(dtype).eps * 4, atol=1e-30
    )


def test_i0_of_what_is_no_number_is_none() -> None:
    made = pliant.jit(np.i0)(np.array([np.nan, 1e5, 0.0]))
    np.testing.assert_array_equal(made, [np.nan, np.inf, 1.0])
