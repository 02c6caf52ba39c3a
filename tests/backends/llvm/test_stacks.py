"""Loops over stacks of small arrays compute eight of them at a time, whatever their number, shape and dtype."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant

Program = Callable[[Any, Any], Any]


def product_with_vectors(a: Any, v: Any) -> Any:
    return (a @ v[..., None])[..., 0]


def outer_products(a: Any, v: Any) -> Any:
    return v[:, :, None] * v[:, None, :]


def several(a: Any, v: Any) -> Any:
    return v[:, :, None] * v[:, None, :] + a, np.swapaxes(a, 1, 2) * v[:, None, :], a.sum(1) - v


def chosen_elements(a: Any, v: Any) -> Any:
    return a[:, 0, 0] * a[:, -1, -1] - a[:, 0, -1] * a[:, -1, 0] + v[:, 1]


def part_of_the_stack(a: Any, v: Any) -> Any:
    return a[1:, 1:, :2] * v[1:, None, :2], a[::-1, :, 0] + v


def written_in_place(a: Any, v: Any) -> Any:
    a[:, :, :] = np.swapaxes(a, 1, 2) + v[:, None, :]
    return a, a * v[:, :, None]


def total(a: Any, v: Any) -> Any:
    return np.sum((a @ v[..., None])[..., 0] * v), a.sum(0)


PROGRAMS = (
    product_with_vectors,
    outer_products,
    several,
    chosen_elements,
    part_of_the_stack,
    written_in_place,
    total,
)


def listed(results: Any) -> list[Any]:
    return list(results) if isinstance(results, tuple) else [results]


def drawn(shape: tuple[int, ...], dtype: str) -> Any:
    return np.random.default_rng(sum(shape)).integers(-9, 9, shape).astype(dtype)


@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
@pytest.mark.parametrize("count", [7, 37])
def test_small_arrays_side_by_side(fn: Program, dtype: str, count: int):
    f = pliant.jit(fn)
    for n in (3, 6):
        a, v = drawn((count, n, n), dtype), drawn((count, n), dtype)
        got, wanted = f(a.copy(), v), fn(a.copy(), v)
        for x, y in zip(listed(got), listed(wanted), strict=True):
            np.testing.assert_array_equal(x, y)


def test_parts_of_a_stack_by_threads():
    a, v = drawn((50_003, 3, 3), "float64"), drawn((50_003, 3), "float64")
    f, before = pliant.jit(several), pliant.threads()
    try:
        for count in (1, 2, 3):
            pliant.threads(count)
            for x, y in zip(f(a, v), several(a, v), strict=True):
                np.testing.assert_array_equal(x, y)
    finally:
        pliant.threads(before)
