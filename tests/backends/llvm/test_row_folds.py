"""Rows folded into one row, several at a time: as NumPy says, for all widths and odd numbers of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant

SHAPES = [(7, 9), (8, 8), (9, 7), (9, 8), (11, 9), (12, 17), (21, 33), (10, 70), (9, 1024), (11, 1025)]


@pytest.mark.parametrize(
    ("name", "dtype"),
    [("sum", "f8"), ("sum", "f4"), ("sum", "c16"), ("max", "f4"), ("min", "f2"), ("prod", "i2"), ("any", "?")],
)
def test_rows_are_folded_as_numpy_does(name: str, dtype: str) -> None:
    rng = np.random.default_rng(0)
    fold = pliant.jit(lambda x: getattr(x, name)(0))
    for shape in SHAPES:
        x = rng.uniform(-2, 2, shape)
        x = (x + 1j * x[::-1] if dtype == "c16" else x).astype(dtype)
        wanted = getattr(x, name)(0)
        made = fold(x)
        assert made.dtype == wanted.dtype
        tolerance = 1e-5 if dtype == "f4" else 1e-12
        np.testing.assert_allclose(made, wanted, rtol=tolerance, atol=tolerance)


def test_what_belongs_to_a_row_is_that_of_each_of_the_rows() -> None:
    def f(w: Any, x: Any, y: Any) -> Any:
        return (np.exp(w)[:, None] * x - y).sum(0), (x * w[:, None]).max(0)

    rng = np.random.default_rng(1)
    for rows, width in ((8, 8), (9, 20), (30, 33), (203, 12)):
        given = rng.normal(size=rows), rng.normal(size=(rows, width)), rng.normal(size=width)
        for got, wanted in zip(pliant.jit(f)(*given), f(*given), strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-12)
        strided = given[0][::-1], given[1][::-1], given[2][::-1]
        for got, wanted in zip(pliant.jit(f)(*strided), f(*strided), strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-12)


def test_parts_for_threads_may_have_any_number_of_rows() -> None:
    x = np.random.default_rng(2).normal(size=(100_003, 12))
    fold = pliant.jit(lambda x: np.sum(x, 0))
    made = []
    before = pliant.threads()
    try:
        for n in (1, 2):
            pliant.threads(n)
            made.append(fold(x))
    finally:
        pliant.threads(before)
    np.testing.assert_array_equal(*made)
    np.testing.assert_allclose(made[0], x.sum(0), rtol=1e-9)
