"""Division by a known number gives the bits of a division."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.backends.llvm.quotient import is_suited

NUMBERS = (3.0, -3.0, 9.0, 0.1, 1.9999999, 1.0000001, 1.0 - 2.0**-20, 49.0, 1e-3, 1e6)
Array = np.ndarray[Any, np.dtype[Any]]


def numbers(c: float, dtype: str) -> Array:
    """Numbers of many sizes, multiples of one, and the numbers next to these."""
    rng, kind = np.random.default_rng(0), np.dtype(dtype).type
    some = (rng.normal(size=20_000) * 2.0 ** rng.integers(-40, 40, 20_000)).astype(dtype)
    times = (some * kind(c)).astype(dtype)
    near = [np.nextafter(times, kind(to)).astype(dtype) for to in (-np.inf, np.inf)]
    return np.concatenate([some, times, *near])


def division(c: float) -> Callable[[Array], Array]:
    def f(x: Array) -> Array:
        return x / c

    return f


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("c", NUMBERS)
def test_quotients_have_the_bits_of_a_division(c: float, dtype: str) -> None:
    x = numbers(c, dtype)
    got, want = pliant.jit(division(c))(x), x / c
    assert got.dtype == want.dtype
    assert got.tobytes() == want.tobytes()


@pytest.mark.parametrize("c", NUMBERS)
def test_what_is_no_number_or_too_large(c: float) -> None:
    top = np.finfo("f8").max
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, top, -top, 1.0] * 4)
    got = pliant.jit(division(c))(x)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(got, x / c)
        np.testing.assert_array_equal(np.signbit(got), np.signbit(x / c))


def test_what_is_suited() -> None:
    assert is_suited(3.0, "f64")
    suited = [is_suited(c, "f64") for c in (0.0, -4.0, 0.25, np.inf, np.nan, 1e-305, 1e305)]
    assert suited == [False] * 7
    assert not is_suited(3.0, "f16")
    assert not is_suited(1e35, "f32")
