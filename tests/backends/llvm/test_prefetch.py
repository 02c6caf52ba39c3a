"""Loops that ask for memory before they come to it: what the others give, and no access beyond the end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import optree
import pytest

import pliant
from pliant.backends.llvm import prefetch
from pliant.kernel import split
from tests.backends.llvm.test_streams import Guarded, shifted, text_of

DTYPES = ("int8", "float16", "float32", "float64", "complex64", "complex128")
COUNTS = (255, 256, 257, 2048, 10_001)


@pytest.fixture(autouse=True)
def far(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """All arrays are far, and what runs in parts is large."""
    monkeypatch.setattr(prefetch, "FAR", 1)
    monkeypatch.setattr(split, "LEAST", 5_000)
    monkeypatch.setattr(split, "PART", 2_500)
    before = pliant.threads()
    yield
    pliant.threads(before)


def drawn(shape: int | tuple[int, ...], dtype: str) -> Any:
    rng = np.random.default_rng(0)
    x = rng.standard_normal(shape) + 1j * rng.standard_normal(shape)
    return (x if dtype[0] == "c" else 3 * x.real).astype(dtype)


def wave(x: Any) -> Any:
    return np.exp(np.sin(x)) - x[::-1]


def gelu(x: Any, y: Any) -> Any:
    return 0.5 * x * (1 + np.tanh(0.8 * x)) + y


def beside(x: Any, row: Any) -> Any:
    return np.exp(-(x * x)) * row


def spread(x: Any) -> Any:
    away: Any = np.sin(x)
    return np.mean(away * away), np.max(np.exp(x))


def asks(f: Any, *xs: Any) -> int:
    return text_of(f, *xs).count("call void @llvm.prefetch")


def agree(f: Any, *xs: Any) -> None:
    kind = np.result_type(*xs)
    rtol = {"e": 4e-3, "f": 2e-6, "F": 5e-6}.get(kind.char, 1e-13) if kind.kind in "fc" else 4e-3
    for threads in (1, 2):
        pliant.threads(threads)
        got, wanted = (optree.tree_leaves(made) for made in (pliant.jit(f)(*xs), f(*xs)))
        for a, b in zip(got, wanted, strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_functions_of_any_length(dtype: str, count: int):
    agree(wave, drawn(count, dtype))


@pytest.mark.parametrize("count", COUNTS)
def test_two_arrays_of_two_dtypes(count: int):
    agree(gelu, drawn(count, "float64"), drawn(count, "float32"))


@pytest.mark.parametrize("shape", [(30, 1003), (1003, 30), (700, 5), (3, 4, 2051)], ids=str)
def test_rows(shape: tuple[int, ...]):
    agree(beside, drawn(shape, "float64"), drawn(shape[-1], "float64"))
    agree(beside, drawn(shape, "float32")[::-1, ..., 1:], drawn(shape[-1] - 1, "float32"))


@pytest.mark.parametrize("count", COUNTS)
def test_folds(count: int):
    agree(spread, drawn(count, "float64"))


def test_long_loops_ask():
    x = drawn(10_000, "float64")
    assert asks(gelu, x, x)
    assert asks(spread, x)
    assert asks(np.sum, x)


def test_short_loops_near_arrays_and_what_moves_only_ask_for_nothing(monkeypatch: pytest.MonkeyPatch):
    x = drawn((2000, 50), "float64")
    assert not asks(beside, x, x[0])
    assert not asks(shifted, x)
    monkeypatch.setattr(prefetch, "FAR", 1 << 22)
    assert not asks(gelu, x[0], x[0])


@pytest.mark.parametrize("is_at_end", [False, True])
def test_nothing_is_read_beyond_the_arrays(*, is_at_end: bool):
    guarded = Guarded()
    x = guarded.array(drawn(5003, "float64"), is_at_end=is_at_end)
    agree(gelu, x, x)
    agree(wave, x)
    guarded.open()
