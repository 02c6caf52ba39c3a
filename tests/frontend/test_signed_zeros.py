"""A sum starts from 0: that of -0.0 alone is 0.0, whatever makes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import pliant

SUMS: dict[str, Callable[[Any], Any]] = {
    "all": np.sum,
    "axis 0": lambda x: x.sum(0),
    "axis 1": lambda x: x.sum(1, keepdims=True),
    "no axis": lambda x: x.sum(()),
    "repeated": lambda x: np.broadcast_to(x[0, 0], (4, 3)).sum(0),
    "computed": lambda x: np.sum(x * x[::-1] * -1.0),
    "mean": np.mean,
    "nansum": np.nansum,
    "trace": np.trace,
    "einsum": lambda x: np.einsum("ij->j", x),
}


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16"])
@pytest.mark.parametrize("shape", [(1, 1), (3, 1), (1, 3), (5, 7)])
@pytest.mark.parametrize("f", SUMS.values(), ids=SUMS.keys())
def test_sums_of_minus_zero_have_numpys_sign(f: Callable[[Any], Any], shape: tuple[int, int], dtype: str) -> None:
    x = -np.zeros(shape, dtype)
    made, wanted = pliant.jit(f)(x), f(x)
    for part in (np.real, np.imag):
        assert_array_equal(np.signbit(part(made)), np.signbit(part(wanted)))
