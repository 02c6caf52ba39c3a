"""Loops that write whole lines of cache: what NumPy gives, wherever arrays begin and end, and nothing beside them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.backends.llvm import aligned
from pliant.backends.llvm.jit import host_target
from tests.backends.llvm.test_streams import DTYPES, Guarded, drawn, text_of

COUNTS = (300, 511, 1024, 5003)

pytestmark = pytest.mark.skipif(max(host_target().widths) < aligned.WIDE, reason="no vector lies across two lines")


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short loops are long ones."""
    monkeypatch.setattr(aligned, "LONG", 300)


def is_aligned(f: Callable[..., Any], *xs: Any) -> bool:
    return "@llvm.smin.i64" in text_of(f, *xs)


def double(x: Any, out: Any) -> None:
    out[...] = x + x


def several(x: Any) -> Any:
    return x + x, x[::-1] * x, x.astype(np.complex64), x != 3


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_results_of_any_length(dtype: str, count: int) -> None:
    x = drawn(count, dtype)
    for got, wanted in zip(pliant.jit(several)(x), several(x), strict=True):
        np.testing.assert_array_equal(got, wanted, strict=True)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
@pytest.mark.parametrize("first", [0, 1, 2, 5, 7, 8, 15, 16])
def test_arrays_that_begin_anywhere_in_a_line(dtype: str, first: int) -> None:
    x, out, f = drawn(5001, dtype), np.full(5100, -1, dtype), pliant.jit(double)
    assert is_aligned(double, x, out[:5001])
    f(x, out[first : first + 5001])
    np.testing.assert_array_equal(out[first : first + 5001], x + x)
    assert (out[:first] == -1).all()
    assert (out[first + 5001 :] == -1).all()


@pytest.mark.parametrize("first", [0, 1, 3, 8])
def test_two_results_that_begin_at_different_places_of_a_line(first: int) -> None:
    def both(x: Any, y: Any, z: Any) -> None:
        y[...], z[...] = x + 1, x - 1

    x, y, z = drawn(5000, "float64"), np.zeros(5009), np.zeros(5009)
    pliant.jit(both)(x, y[1:5001], z[first : first + 5000])
    np.testing.assert_array_equal(y, np.pad(x + 1, (1, 8)))
    np.testing.assert_array_equal(z, np.pad(x - 1, (first, 9 - first)))


def test_rows_that_begin_anywhere_in_a_line() -> None:
    def f(x: Any, row: Any) -> Any:
        return x[:, ::-1] + row, x * row

    x, row = drawn((20, 1003), "float64"), drawn(1003, "float64")
    assert is_aligned(f, x, row)
    for got, wanted in zip(pliant.jit(f)(x, row), f(x, row), strict=True):
        np.testing.assert_array_equal(got, wanted)


def test_elements_that_are_chosen_by_indices_are_checked() -> None:
    def f(x: Any, at: Any) -> Any:
        return x[at] + 1

    x, at = drawn(5000, "float64"), np.arange(4999, -1, -1)
    np.testing.assert_array_equal(pliant.jit(f)(x, at), f(x, at))
    at[4998] = 5000
    with pytest.raises(IndexError, match="index 5000 is out of range"):
        pliant.jit(f)(x, at)


def add(x: Any) -> None:
    x += 1


def from_before(x: Any, y: Any) -> Any:
    x[1:] = x[:-1] * 2 + y[1:]
    return x


@pytest.mark.parametrize("f", [lambda x: np.sum(x), lambda x: x[:100] + 1, add, np.exp])
def test_other_loops_stay_as_they_are(f: Callable[..., Any]) -> None:
    assert not is_aligned(f, drawn(5000, "float64"))


def test_what_reads_what_it_writes_runs_once() -> None:
    x, y = drawn(5000, "float64"), drawn(5000, "float64")
    got = x.copy()
    pliant.jit(add)(got)
    np.testing.assert_array_equal(got, x + 1)
    np.testing.assert_array_equal(pliant.jit(from_before)(x.copy(), y), from_before(x.copy(), y))


def test_short_loops_are_left_to_llvm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aligned, "LONG", 4096)
    assert is_aligned(lambda x: x + 1, np.ones(4096))
    assert not is_aligned(lambda x: x + 1, np.ones(4095))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="uses mprotect")
@pytest.mark.parametrize("is_at_end", [True, False])
@pytest.mark.parametrize("dtype", ["int8", "float32", "float64", "complex128"])
def test_nothing_is_touched_outside_the_arrays(dtype: str, *, is_at_end: bool) -> None:
    values, guarded = drawn(5003, dtype), Guarded()
    x = guarded.array(values, is_at_end=is_at_end)
    out = guarded.array(np.zeros(5003, dtype), is_at_end=is_at_end)
    try:
        pliant.jit(double)(x, out)
        np.testing.assert_array_equal(out, values + values)
    finally:
        guarded.open()
