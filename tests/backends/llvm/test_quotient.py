"""Division by one number in all steps of a loop gives the bits of a division."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.strategies import floats, integers, sampled_from

import pliant
from pliant.backends.llvm.quotient import is_same, is_suited

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


def quotient(x: Array, c: Array) -> Array:
    return x / c


def check(x: Array, got: Array, want: Array) -> None:
    """The bits of a division, but for what is so small that the correction is not exact."""
    info = np.finfo(x.dtype)
    is_exact = ~(np.abs(x) < info.tiny / info.eps)
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got[is_exact], want[is_exact])
    np.testing.assert_array_equal(np.signbit(got)[is_exact], np.signbit(want)[is_exact])
    np.testing.assert_allclose(got, want, rtol=float(info.eps), atol=float(info.smallest_subnormal))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("c", [*NUMBERS, 1.0, -0.5, 2.0**99, 2.0**-99, 3e30, 3e-30, 2.0**-126, 2.0**127])
def test_quotients_by_a_number_of_run_time_have_the_bits_of_a_division(c: float, dtype: str) -> None:
    with np.errstate(over="ignore", under="ignore"):
        x, by = numbers(c, dtype), np.array(c, dtype)
        want = x / by
    check(x, pliant.jit(quotient)(x, by), want)


@settings(max_examples=300)
@given(by=floats(width=32), seed=integers(0, 1000), dtype=sampled_from(["f4", "f8"]))
def test_any_number_divides_numbers_of_its_size(by: float, seed: int, dtype: str) -> None:
    rng, c = np.random.default_rng(seed), np.array(by, dtype)
    with np.errstate(all="ignore"):
        x = (rng.normal(size=257) * 2.0 ** rng.integers(-8, 8, 257) * c).astype(dtype)
        want = x / c
    check(x, pliant.jit(quotient)(x, c), want)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("known", [False, True])
def test_quotients_next_to_the_largest_number(dtype: str, *, known: bool) -> None:
    info, rng = np.finfo(dtype), np.random.default_rng(0)
    for c in (1.0 + rng.random(30)) * 2.0 ** rng.integers(-40, 1, 30):
        by = np.array(c, dtype)
        x = np.full(64, info.max * by, dtype)
        for n in range(-20, 20):
            x[n] = np.nextafter(x[n + 1 if n < -1 else 0], np.array(np.inf if n % 2 else 0, dtype))
        with np.errstate(over="ignore"):
            want = x / by
        np.testing.assert_array_equal(
            pliant.jit(division(float(by)))(x) if known else pliant.jit(quotient)(x, by), want
        )


SPECIAL = (0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -3.0, 5e-324, -5e-324, 2.0**-1074, 1e-310, 1e-305, 1e305, 1.7e308)


@pytest.mark.parametrize("c", SPECIAL)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_special_numbers_of_run_time(c: float, dtype: str) -> None:
    info = np.finfo(dtype)
    with np.errstate(all="ignore"):
        by = np.array(c, dtype)
        if dtype == "f4" and 0 < abs(c) < 1e-300:
            by = np.array(np.copysign(info.smallest_subnormal * 5, c), dtype)
        x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, info.max, -info.max, 1.0, info.tiny, -info.eps] * 9, dtype)
        want = x / by
    got = pliant.jit(quotient)(x, by)
    np.testing.assert_array_equal(got, want)
    known = ~np.isnan(want)
    np.testing.assert_array_equal(np.signbit(got)[known], np.signbit(want)[known])


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_rows_by_numbers_of_their_own_and_folds(dtype: str) -> None:
    def f(x: Any) -> Any:
        sums = np.sum(x, axis=1)
        return sums, x / sums[:, None], np.max(x / sums[0]), np.sum(x / sums[1])

    x = np.random.default_rng(0).random((40, 193)).astype(dtype)
    sums, shares, top, total = pliant.jit(f)(x)
    np.testing.assert_array_equal(shares, x / sums[:, None])
    assert top == np.max(x / sums[0])
    np.testing.assert_allclose(total, np.sum(x / sums[1]), rtol=1e-5 if dtype == "f4" else 1e-13)


def test_short_loops_divide() -> None:
    assert is_same("div", "f64", "%1", 64)
    assert not is_same("div", "f64", "%1", 63)
    assert not is_same("div", "f64", "2.0", 64)
    assert not is_same("div", "c128", "%1", 64)
