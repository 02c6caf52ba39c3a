"""`frexp`, `ldexp`, `spacing`: bit for bit those of NumPy, for numbers of every size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.frontend.kinds import as_tuple

BITS = np.random.default_rng(3).integers(0, 2**64, 4096, dtype=np.uint64)
TINY, HUGE = np.finfo(float).smallest_subnormal, np.finfo(float).max
SINGLE = np.concatenate([BITS.astype(np.uint32), np.arange(60, dtype=np.uint32)]).view(np.float32)
ENDS = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, 0.5, -1.5]
NUMBERS: dict[str, Any] = {
    "f8": np.concatenate([BITS.view(float), ENDS, [TINY, -TINY, HUGE, -HUGE], TINY * np.arange(1.0, 60.0)]),
    "f4": np.concatenate([SINGLE, np.array(ENDS, np.float32), -SINGLE[-60:]]),
}


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("f", [np.frexp, np.spacing], ids=lambda f: f.__name__)
def test_parts_of_floats_are_numpys(f: Callable[[Any], Any], dtype: str) -> None:
    x = NUMBERS[dtype]
    with np.errstate(all="ignore"):
        expected = f(x)
    assert "Python: " not in str(pliant.explain(f, x))
    for made, part in zip(as_tuple(pliant.jit(f)(x)), as_tuple(expected), strict=True):
        np.testing.assert_array_equal(made, part)
        assert made.dtype == part.dtype


@pytest.mark.parametrize("places", ["i4", "i8"])
@pytest.mark.parametrize("dtype", NUMBERS)
def test_scaled_floats_are_numpys(dtype: str, places: str) -> None:
    x = NUMBERS[dtype]
    n = np.random.default_rng(4).integers(-2300, 2300, len(x)).astype(places)
    n[:8] = [0, 1, -1, np.iinfo(places).max, np.iinfo(places).min, 1024, -1074, 2100]
    with np.errstate(all="ignore"):
        expected, near = np.ldexp(x, n), np.ldexp(x, n % 70 - 35)
    made = pliant.jit(np.ldexp)
    np.testing.assert_array_equal(made(x, n), expected)
    np.testing.assert_array_equal(made(x, n % 70 - 35), near)
    np.testing.assert_array_equal(np.signbit(made(x, n)), np.signbit(expected))


def test_half_floats_are_scaled_as_numpys() -> None:
    x = np.arange(2**16, dtype=np.uint16).view(np.float16)
    for n in (-20, -3, 0, 7, 30):
        with np.errstate(all="ignore"):
            expected = np.ldexp(x, np.int32(n))
        np.testing.assert_array_equal(pliant.jit(np.ldexp)(x, np.int32(n)), expected)


def test_tests_of_whole_numbers_call_nothing() -> None:
    for x in (np.arange(3), np.array([True, False])):
        for f in (np.isnan, np.isinf, np.isfinite):
            assert "Python: " not in str(pliant.explain(f, x))
            np.testing.assert_array_equal(pliant.jit(f)(x), f(x))
