"""np.r_ and np.c_ of traced arrays are NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import pliant
from pliant.errors import UnsupportedError

CAPTURED = np.arange(3.0)
JOINED = {
    "parts and numbers": lambda x, m: np.r_[x, 1, x],
    "a range": lambda x, m: np.r_[0:3, x],
    "points": lambda x, m: np.r_[x, 0:1:3j],
    "columns": lambda x, m: np.c_[x, x**2],
    "matrices": lambda x, m: np.c_[m, m],
    "a vector and a matrix": lambda x, m: np.c_[x[:2], m],
    "rows": lambda x, m: np.r_[m, m],
    "another axis": lambda x, m: np.r_["1", m, m],
    "more axes": lambda x, m: np.r_["0,2", x, x],
    "axes behind": lambda x, m: np.r_["0,2,0", x, x],
    "numbers only": lambda x, m: np.r_[1, 2, x[0]],
    "narrow floats": lambda x, m: np.r_[x.astype("f4"), 1],
    "nothing traced": lambda x, m: np.r_[1:4],
    "one part": lambda x, m: np.c_[x],
    "a captured array": lambda x, m: np.r_[CAPTURED, x],
}


@pytest.mark.parametrize("f", JOINED.values(), ids=JOINED.keys())
def test_what_is_joined_is_numpys(f: Any) -> None:
    x, m = np.arange(1.0, 5.0), np.arange(6.0).reshape(2, 3)
    assert_array_equal(pliant.jit(f)(x, m), f(x, m), strict=True)


def test_joined_arrays_have_gradients() -> None:
    x = np.array([1.0, 2.0])
    assert_array_equal(pliant.grad(lambda x: np.sum(np.c_[x, x**2] ** 2))(x), 2 * x + 4 * x**3)


def test_matrices_are_refused() -> None:
    with pytest.raises(UnsupportedError, match=r"np.r_\['r', …\] is not supported"):
        pliant.jit(lambda x: np.r_["r", x, x])(CAPTURED)


def run_lengths(x: Any) -> Any:
    ends = np.flatnonzero(np.diff(x)) + 1
    return np.diff(np.r_[0, ends, len(x)])


@pytest.mark.parametrize(
    "f",
    [
        run_lengths,
        lambda x: np.r_[x[x > 0], 7, x[x < 0]],
        lambda x: np.c_[x[x > 0], np.ones(np.sum(x > 0))],
        lambda x: np.r_[x[:2], 0:3, x[x > 100]],
    ],
)
def test_what_is_selected_is_joined(f: Any) -> None:
    x = np.array([1.0, 1, 2, 2, 2, 5, -1, -1])
    want, got = f(x), pliant.jit(f)(x)
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)
