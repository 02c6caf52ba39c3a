"""Folds over rows of all lengths: their vectors, and what they make of masks, NaN and many elements."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import pliant
from pliant.backends.llvm.compiler import assembly, can, routine_of
from pliant.backends.llvm.jit import host_target, optimised
from pliant.kernel.verified import build_verified
from pliant.pipeline import optimise

RNG = np.random.default_rng(3)

vectors = pytest.mark.skipif("avx2" not in host_target().has, reason="other processors have other vectors")


def in_vectors(f: Any, *args: Any) -> str:
    """The lines of a function's code that work on vectors."""
    made = optimised(assembly(build_verified(optimise(pliant.trace(f, *args)), can, routine_of))[0])
    return "\n".join([line for line in made.splitlines() if " x float>" in line])


def with_nan(shape: tuple[int, ...], dtype: str) -> Any:
    """Numbers, NaN and infinities; the first row has nothing but NaN, the second nothing but the two worst."""
    x = RNG.normal(size=shape).astype(dtype)
    x[RNG.random(shape) < 0.2] = np.nan
    x[RNG.random(shape) < 0.05] = -np.inf
    x[RNG.random(shape) < 0.05] = np.inf
    x[0] = np.nan
    x[1] = np.where(RNG.random(shape[1]) < 0.5, -np.inf, np.inf)
    return x


@pytest.mark.filterwarnings("ignore:All-NaN")
@pytest.mark.parametrize("axis", [0, 1, None])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("n", [1, 3, 10, 67, 1500])
def test_masked_extrema_are_numpys(n: int, dtype: str, axis: int | None):
    x = with_nan((5, n), dtype)
    for f in (np.nanmax, np.nanmin):
        assert_array_equal(pliant.jit(lambda x, f=f: f(x, axis=axis))(x), f(x, axis=axis), strict=True)


@pytest.mark.parametrize("dtype", ["i1", "u2", "i4", "i8", "u8"])
def test_masked_extrema_of_integers_are_numpys(dtype: str):
    x, low = RNG.integers(0, 100, (7, 301)).astype(dtype), np.iinfo(dtype).min

    def largest(x: Any) -> Any:
        return np.max(np.where(x > 90, x, low), axis=1)

    assert_array_equal(pliant.jit(largest)(x), largest(x), strict=True)


@vectors
def test_masked_extrema_have_vectors():
    x = np.ones((100, 1000), "f4")
    assert "@llvm.maximum." in in_vectors(lambda x: np.nanmax(x, axis=1), x)
    assert "@llvm.minimum." in in_vectors(lambda x: np.min(np.where(x > 0, x, np.inf), axis=1), x)


@vectors
def test_llvm_does_not_know_that_an_extremum_may_stay_what_lies_there():
    made = in_vectors(lambda x: np.max(x, axis=0), np.ones((10, 3000), "f4"))
    assert "= freeze <8 x float>" in made  # else it makes stores by masks


def spread(x: Any) -> Any:
    """The sum of rows that are divided by their length."""
    return np.sum(np.sqrt(x * x / np.sqrt(np.sum(x * x, 1, keepdims=True))))


@vectors
@pytest.mark.parametrize("n", [2, 3, 4, 7])
def test_sums_over_many_short_rows_have_vectors(n: int):
    assert "@llvm.sqrt." in in_vectors(spread, np.ones((10000, n), "f4"))


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8"])
@pytest.mark.parametrize(
    "shape", [(1, 3), (341, 3), (1023, 1), (3001, 4), (1025, 7), (99, 130), (3, 400, 5), (33, 2, 511)]
)
def test_sums_over_short_rows_are_as_exact_as_long_ones(shape: tuple[int, ...], dtype: str):
    x = (1 + RNG.random(shape)).astype(dtype)

    def total(x: Any) -> Any:
        return np.sum(x * np.sum(x, -1, keepdims=True))

    rows = x.astype(np.complex128).real.reshape(-1, shape[-1])
    wanted = math.fsum([float(row.sum()) ** 2 for row in rows])
    assert abs(complex(pliant.jit(total)(x)) / wanted - 1) < 60 * np.finfo(dtype).eps


def test_sums_over_short_rows_keep_what_cancels():
    x = np.zeros((4096, 4), "f4")
    x[0], x[1000, 1], x[-1] = 2.0**60, 1.0, -(2.0**60)

    def total(x: Any) -> Any:
        return np.sum(x * (1 + 0 * np.sum(x, 1, keepdims=True)))

    assert pliant.jit(total)(x) == 1.0


@pytest.mark.parametrize("axis", [0, 1, None])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_masks_that_leave_nan_leave_it(dtype: str, axis: int | None):
    """Masks that ask for something else, or fill in NaN."""
    x = with_nan((6, 67), dtype)
    for f in (
        lambda x: np.max(np.where(np.isnan(x), np.nan, x), axis=axis),
        lambda x: np.min(np.where(np.isnan(x), x, -np.inf), axis=axis),
        lambda x: np.max(np.where(x != x, -np.inf, x * 0), axis=axis),
        lambda x: np.max(np.where(x == x[::-1], x, -np.inf), axis=axis),
        lambda x: np.max(np.where(x == x, x, x.dtype.type(-np.inf)), axis=axis),
        lambda x: np.min(np.where(x != x, x.dtype.type(np.inf), x), axis=axis),
    ):
        with np.errstate(invalid="ignore"):
            assert_array_equal(pliant.jit(f)(x), f(x))
