"""Quotients of whole numbers are NumPy's, whichever way they are made."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant
from pliant.backends.llvm.compiler import compiled

KNOWN = (1, 2, 3, 7, 8, 10, 64, 100, 127, -1, -3, -8)
Array = np.ndarray[Any, np.dtype[Any]]


def numbers(dtype: str, n: int) -> Array:
    """Numbers of many sizes, the ends of the range, and zeros."""
    ends, rng = np.iinfo(dtype), np.random.default_rng(0)
    some = rng.integers(ends.min, ends.max, n, dtype=dtype, endpoint=True)
    by = rng.integers(0, 8 * np.dtype(dtype).itemsize, n).astype(dtype)
    edges = np.array([ends.min, ends.min + 1, ends.max, ends.max - 1, 0, 1], dtype)
    return np.concatenate([np.right_shift(some, by), edges])


def pairs(dtype: str) -> tuple[Array, Array]:
    """All pairs of numbers of eight bits; of others some, multiples, and numbers next to these."""
    if np.dtype(dtype).itemsize == 1:
        every = np.arange(256).astype("u1").view(dtype)
        x, y = np.meshgrid(every, every)
        return x.ravel(), y.ravel()
    x, y = np.meshgrid(numbers(dtype, 150), numbers(dtype, 60))
    x, y = x.ravel(), y.ravel()
    down = np.where(y == 0, x, x - np.fmod(x, np.where((y == 0) | (y + 1 == 0), 1, y)))
    one = np.array(1, dtype)
    return np.concatenate([x, down, down - one, down + one]).astype(dtype), np.tile(y, 4)


def both(x: Any, y: Any) -> Any:
    return x // y, x % y, np.fmod(x, y)


@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
def test_quotients_of_arrays(dtype: str) -> None:
    x, y = pairs(dtype)
    for got, want in zip(pliant.jit(both)(x, y), both(x, y), strict=True):
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)


@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
@pytest.mark.parametrize("dtype", ["i1", "i2", "u2", "i4", "u4", "i8"])
def test_quotients_by_one_number_that_is_given(dtype: str) -> None:
    x = pairs(dtype)[0]
    f = pliant.jit(both)
    for y in [*numbers(dtype, 5), *np.array([2, 3, 5, 7, 64, 100], dtype)]:
        for got, want in zip(f(x, y), both(x, y), strict=True):
            np.testing.assert_array_equal(got, want)


@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8"])
@pytest.mark.parametrize("c", KNOWN)
def test_quotients_by_a_known_number(dtype: str, c: int) -> None:
    x = np.concatenate([pairs(dtype)[0], numbers(dtype, 100)])

    def f(x: Any) -> Any:
        return both(x, c)

    for got, want in zip(pliant.jit(f)(x), f(x), strict=True):
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)


@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
def test_quotients_of_int64_by_one_number_of_any_size() -> None:
    f = pliant.jit(both)
    some = numbers("i8", 400)
    for y in [
        *some[::4],
        *(2**k + d for k in range(1, 63) for d in (-1, 0, 1)),
        *(-(2**k) - 1 for k in range(0, 62, 7)),
    ]:
        with np.errstate(over="ignore"):
            times = some // np.int64(y or 1) * np.int64(y or 1)
            x = np.concatenate([some, times, times - 1, times + 1])
        for got, want in zip(f(x, np.int64(y)), both(x, np.int64(y)), strict=True):
            np.testing.assert_array_equal(got, want)


def test_one_number_that_is_given_is_looked_at_before_a_long_loop() -> None:
    for n, is_before in ((1000, False), (2000, True)):
        text = compiled(pliant.trace(both, np.arange(n), 7), (), (), sharing=False)[1]
        assert ("@factor" in text) == is_before


def test_quotients_of_single_numbers() -> None:
    def f(x: Any) -> Any:
        return x // 7, x % 7, x // 8, x % 8

    native = pliant.jit(f)
    for x in (0, 1, -1, 6, 7, -7, -8, 2**63 - 1, -(2**63)):
        assert list(map(int, native(x))) == list(f(x))
