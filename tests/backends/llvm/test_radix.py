"""The order of long rows by digits: NumPy's stable one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant
from pliant.backends.llvm import BACKEND, radix
from pliant.core.build import trace
from pliant.core.types import DTYPES, Type
from pliant.ops.sort import Argsort

N = radix.FEWEST + 3
ROWS: dict[str, Any] = {
    "normal": lambda rng, n: rng.standard_normal((2, n)) * 1000,
    "heavy tails": lambda rng, n: np.exp(rng.standard_normal((2, n)) * 5) * rng.choice([-1, 1], (2, n)),
    "five numbers": lambda rng, n: rng.integers(-2, 3, (2, n)),
    "one number": lambda _, n: np.ones((2, n)),
    "down": lambda _, n: np.arange(2 * n)[::-1].reshape(2, n),
    "all bits": lambda rng, n: rng.integers(-(2**63), 2**63, (2, n)),
}


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("dtype", radix.DTYPES)
def test_orders_are_stable(dtype: str, row: str) -> None:
    assert radix.has(dtype, N, is_stable=True, widest=32)
    with np.errstate(invalid="ignore"):
        x = ROWS[row](np.random.default_rng(0), N).astype(DTYPES[dtype])
    compiled = BACKEND.compile(trace(Argsort(1), Type(dtype, x.shape)))
    before = x.copy()
    np.testing.assert_array_equal(compiled([x])[0], np.argsort(x, stable=True))
    np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_zeros_are_equal_and_nan_is_the_greatest(dtype: str) -> None:
    x = np.random.default_rng(0).choice([0.0, -0.0, np.nan, -np.nan, np.inf, -np.inf, 1, -1], N).astype(DTYPES[dtype])
    compiled = BACKEND.compile(trace(Argsort(0), Type(dtype, x.shape)))
    np.testing.assert_array_equal(compiled([x])[0], np.argsort(x, stable=True))


def test_wide_elements_of_no_certain_order_are_ordered_so_if_there_are_many() -> None:
    assert not radix.has("f32", radix.FEWEST_ANYHOW - 1, is_stable=False, widest=32)
    assert radix.has("f32", radix.FEWEST_ANYHOW, is_stable=False, widest=32)
    assert not radix.has("f64", radix.FEWEST_WIDE - 1, is_stable=False, widest=32)
    assert radix.has("f64", radix.FEWEST_WIDE, is_stable=False, widest=32)
    assert not radix.has("f64", radix.FEWEST_WIDE, is_stable=False, widest=radix.WIDE)
    assert radix.has("f64", N, is_stable=True, widest=radix.WIDE)
    assert not radix.has("f16", N, is_stable=True, widest=32)
    x = np.random.default_rng(0).standard_normal(radix.FEWEST_WIDE)
    both = pliant.jit(lambda x: (np.argsort(x), np.argsort(x, stable=True)))
    for order in both(x):
        np.testing.assert_array_equal(x[order], np.sort(x))


def test_without_memory_elements_are_compared() -> None:
    text = radix.text_of("order", "f64", "@compare")
    assert "%none = icmp eq ptr %first, null" in text
    assert "call i32 @compare(ptr %x, ptr %y, i64 %n, ptr null)" in text
