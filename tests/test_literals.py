"""`written`: arrays as expressions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pliant.core.ir import Function
from pliant.core.scope import scope
from pliant.literals import written
from pliant.testing import run

ARRAYS = [
    np.zeros((2, 3)),
    np.full(4, np.nan),
    np.zeros((0, 3)),
    np.array([0.0, -0.0]),
    np.arange(7, 0, -1),
    np.arange(5, dtype="i1") * 60,
    np.linspace(0, 1, 5),
    np.arange(4.0).astype("f4") / 3,
    np.array([1.0, np.inf, 2.0]),
    np.eye(4),
    np.eye(3, 5, 2, dtype="i4"),
    -2 * np.eye(4, 2, -1),
    np.eye(3, dtype=bool),
    1j * np.eye(3),
    np.diag([1.0, 2.0, 1.0]),
    np.array([[[1, 5], [2, 2]]]),
    np.array([True, False, False]),
    np.array([2, 9, 4], "u1"),
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda a: f"{a.dtype} {a.tolist()}")
def test_arrays_are_made_as_they_are(array: Any) -> None:
    with scope():
        made = written(array)
        again = written(array.copy())
        assert made is not None and made is again
        (got,) = run(Function("f", (), (made,)), ())
    np.testing.assert_array_equal(got, array)
    assert got.dtype == array.dtype
    if array.dtype.kind == "f":
        np.testing.assert_array_equal(np.signbit(got), np.signbit(array))


def test_many_numbers_without_order_are_not_written_out() -> None:
    assert written(np.random.default_rng(0).normal(size=100)) is None
