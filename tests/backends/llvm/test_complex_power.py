"""Powers of complex numbers, against NumPy's: the same bits."""

from __future__ import annotations

import sys
from itertools import product
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.backends.llvm.module import BY_VECTORS

DTYPES = ("c8", "c16")
PARTS = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    2.0,
    3.0,
    -2.0,
    5.0,
    0.5,
    -1.5,
    99.0,
    -99.0,
    100.0,
    -100.0,
    1e-30,
    np.inf,
    -np.inf,
    np.nan,
]

pytestmark = [
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
    pytest.mark.skipif(sys.platform == "win32", reason="complex numbers are NumPy's there"),
]


def given(dtype: str) -> tuple[Any, Any]:
    """All pairs of odd numbers, and random ones to whole and other powers."""
    rng, odd = np.random.default_rng(3), [complex(a, b) for a, b in product(PARTS, PARTS)]
    pairs = np.array(list(product(odd, odd)))
    x, few, many = (rng.normal(size=(500, 2)).view("c16")[:, 0] for _ in range(3))
    whole = rng.integers(-110, 110, 500) + 0j
    half = rng.integers(-9, 9, 500) / 2 + 0j
    xs, ys = [*pairs[:, :1].T, x, x, few], [*pairs[:, 1:].T, whole, half, 3 * many]
    return np.concatenate(xs).astype(dtype), np.concatenate(ys).astype(dtype)


def assert_same(made: Any, wanted: Any) -> None:
    """The same numbers, signs of zeros included, or NaN in both."""
    for a, b in ((made.real, wanted.real), (made.imag, wanted.imag)):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(np.signbit(a[a == 0]), np.signbit(b[b == 0]))


@pytest.mark.parametrize("dtype", DTYPES)
def test_powers_are_numpys(dtype: str) -> None:
    x, y = given(dtype)
    assert "Python: " not in str(pliant.explain(np.power, x, y))
    made, wanted = pliant.jit(np.power)(x, y), np.power(x, y)
    if dtype == "c16" or BY_VECTORS:
        assert_same(made, wanted)
        return
    fine = np.isfinite(wanted) & np.isfinite(made)  # where floats go by way of doubles more powers are finite
    np.testing.assert_allclose(made[fine], wanted[fine], rtol=1e-4, atol=1e-30)
    assert np.mean(fine == np.isfinite(wanted)) > 0.99


@pytest.mark.parametrize("dtype", DTYPES)
def test_whole_powers_of_narrow_numbers_are_the_same_products(dtype: str) -> None:
    x, _ = given(dtype)
    f = pliant.jit(np.power)
    for n in (*range(-5, 6), 99, -99):
        assert_same(f(x, np.array(n, dtype)), np.power(x, np.array(n, dtype)))


def test_powers_in_steps_of_a_loop_are_numpys() -> None:
    def f(z: Any, s: Any) -> Any:
        for k in range(20):
            z = z**s + 0.1 * k
        return z

    z, s = np.array([0.5 + 0.2j, -0.3 + 0.7j]), 0.7 + 0.1j
    assert "Python: " not in str(pliant.explain(f, z, s))
    np.testing.assert_allclose(pliant.jit(f)(z, s), f(z, s), rtol=1e-14)


@pytest.mark.parametrize("s", [0.5 + 0.3j, 2.0 + 0j, -3.0 + 0j, 1.5 + 0j])
def test_derivatives_of_powers_are_those_of_the_exponential(s: complex) -> None:
    z = np.array([0.5 + 0.2j, -0.3 + 0.7j, -1.2 - 0.4j])

    def slopes(power: Any) -> Any:
        def f(x: Any, y: Any) -> Any:
            return (np.abs(power(x, y)) ** 2).sum()

        return pliant.grad(f, argnums=(0, 1))(z, np.full(3, s))

    for made, wanted in zip(slopes(np.power), slopes(lambda x, y: np.exp(y * np.log(x))), strict=True):
        np.testing.assert_allclose(made, wanted, rtol=1e-11)
