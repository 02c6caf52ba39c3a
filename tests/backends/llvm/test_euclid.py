"""Divisors, multiples and powers of whole numbers, against NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant

DTYPES = ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")


def given(dtype: str) -> tuple[Any, Any]:
    rng, ends = np.random.default_rng(5), np.iinfo(dtype)
    x, y = (rng.integers(ends.min, ends.max, 200, dtype=dtype, endpoint=True) for _ in range(2))
    x[:6], y[:6] = [0, 0, 3, ends.min, ends.min, ends.max], [0, 4, 0, ends.min, ends.max, 1]
    return x, np.where(np.arange(200) % 2 > 0, y, y % 12).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("f", [np.gcd, np.lcm], ids=lambda f: f.__name__)
def test_divisors_and_multiples_are_numpys(f: Callable[[Any, Any], Any], dtype: str) -> None:
    x, y = given(dtype)
    assert "Python: " not in str(pliant.explain(f, x, y))
    np.testing.assert_array_equal(pliant.jit(f)(x, y), f(x, y))


@pytest.mark.parametrize("dtype", DTYPES)
def test_powers_are_numpys(dtype: str) -> None:
    x, y = given(dtype)
    n = np.maximum(y, 0)
    assert "Python: " not in str(pliant.explain(np.power, x, n))
    np.testing.assert_array_equal(pliant.jit(np.power)(x, n), x**n)
    np.testing.assert_array_equal(pliant.jit(lambda x: x**11)(x), x**11)


@pytest.mark.parametrize("dtype", DTYPES)
def test_powers_at_the_ends_of_a_dtype_are_numpys(dtype: str) -> None:
    ends = np.iinfo(dtype)
    x = np.array([ends.min, ends.min + 1, 0, 1, 2, 3, ends.max - 1, ends.max], dtype)
    n = np.array([0, 1, 2, 7, ends.max // 2, ends.max // 2 + 1, ends.max - 1, ends.max], dtype)
    np.testing.assert_array_equal(pliant.jit(lambda x, n: x[:, None] ** n)(x, n), x[:, None] ** n)
    assert pliant.jit(lambda x, n: x**n)(x[5], n[3]) == x[5] ** n[3]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [0, 1, 17, 1003])
def test_powers_of_any_number_of_elements_are_numpys(size: int, dtype: str) -> None:
    rng, ends = np.random.default_rng(0), np.iinfo(dtype)
    x = rng.integers(ends.min, ends.max, size, dtype, endpoint=True)
    n = rng.integers(0, ends.max, size, dtype, endpoint=True)
    np.testing.assert_array_equal(pliant.jit(np.power)(x, n), np.power(x, n))


POWERS = {
    "arrays": lambda x, n: x**n,
    "a known exponent": lambda x, n: x**-1,
    "a number": lambda x, n: x[0] ** n[1],
    "under a condition": lambda x, n: x**n if x[0] > 1 else x,
}


@pytest.mark.parametrize("f", POWERS.values(), ids=POWERS.keys())
def test_a_negative_power_raises_as_numpys(f: Callable[[Any, Any], Any]) -> None:
    x, n = np.array([2, 3]), np.array([1, -1])
    for call in (f, pliant.jit(f)):
        with pytest.raises(ValueError, match="Integers to negative integer powers are not allowed"):
            call(x, n)


def test_a_power_that_is_not_computed_does_not_raise() -> None:
    f = pliant.jit(POWERS["under a condition"])
    np.testing.assert_array_equal(f(np.array([1, 3]), np.array([1, -1])), [1, 3])
    np.testing.assert_array_equal(f(np.array([2, 3]), np.array([3, 0])), [8, 1])


def test_powers_and_divisors_in_loops() -> None:
    def f(n: int) -> Any:
        total = 0
        for a in range(1, n):
            for b in range(a):
                total += np.gcd(a, b) * 2**b % 7
        return total

    assert pliant.jit(f)(30) == f(30)
    assert "Python: " not in str(pliant.explain(f, 30))
