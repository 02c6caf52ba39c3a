"""Copies that an entry makes of arguments and results whose elements lie apart, or crooked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant

SHAPES = [(1,), (7,), (8,), (37,), (3, 5), (16, 9), (9, 16), (2, 3, 20), (4, 1, 11), (1, 1, 1)]


def crooked(shape: tuple[int, ...], dtype: str) -> Any:
    """An array that begins at an odd address."""
    size = np.dtype(dtype).itemsize
    return np.zeros(size * int(np.prod(shape)) + 1, np.uint8)[1:].view(dtype).reshape(shape)


def packed(shape: tuple[int, ...], dtype: str) -> Any:
    """Elements that lie no whole number of elements apart."""
    return np.zeros(shape, [("a", np.int8), ("b", dtype)])["b"]


def padded(shape: tuple[int, ...], dtype: str) -> Any:
    """A part of each row of a crooked array."""
    return crooked((*shape[:-1], 2 * shape[-1] + 1), dtype)[..., 1 : shape[-1] + 1]


def turned(shape: tuple[int, ...], dtype: str) -> Any:
    return crooked(shape[::-1], dtype).T


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["f8", "f4", "c16", "i1"])
@pytest.mark.parametrize("layout", [crooked, packed, padded, turned])
def test_arguments_are_read_and_written(layout: Any, shape: tuple[int, ...], dtype: str) -> None:
    def f(x: Any) -> Any:
        y = x * 3
        x += 1
        return y

    compiled, x = pliant.jit(f), layout(shape, dtype)
    x[...] = np.arange(x.size).reshape(shape) % 30
    for _ in range(5):
        theirs = x.copy()
        wanted = f(theirs)
        np.testing.assert_array_equal(compiled(x), wanted)
        np.testing.assert_array_equal(x, theirs)


@pytest.mark.parametrize("shape", SHAPES)
def test_results_go_to_arrays_of_any_layout(shape: tuple[int, ...]) -> None:
    compiled, x = pliant.jit(lambda x: x * 3), np.arange(float(np.prod(shape))).reshape(shape)
    whole = np.full((*shape[:-1], 3 * shape[-1]), -1.0)
    for out in (np.zeros(shape, order="F"), whole[..., ::3], whole[..., ::-3], whole[..., : shape[-1]]):
        for _ in range(5):
            whole[...] = -1
            compiled(x, out=out)
            np.testing.assert_array_equal(out, x * 3)
            assert np.sum(whole != -1) in (0, x.size)
