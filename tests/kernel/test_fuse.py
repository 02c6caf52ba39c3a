"""What comes to lie in memory, over which loops it is made, and that no copy of it is."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

import pliant

Array = np.ndarray[Any, np.dtype[np.float64]]


def with_diagonal(d: Array, u: Array) -> Array:
    return np.diag(d) + np.outer(u, u) / len(u)


def workspace(f: Any, *args: Any) -> int:
    """Bytes of memory beside arguments and results."""
    found = re.search(r"([\d,]+) bytes of workspace", pliant.explain(f, *args).memory)
    return int(found[1].replace(",", "")) if found else 0


def test_what_slices_show_little_of_is_made_again() -> None:
    def f(x: Array) -> tuple[Array, ...]:
        y = 2.0 * x + x * x
        return y[1:-1] * 3.0, y[:2] + 1.0, y[-2:] + 1.0, y[:, :2] + 1.0, y[:, -2:] + 1.0

    x = np.random.default_rng(0).normal(size=(100, 100))
    assert workspace(f, x) < 100
    for got, want in zip(pliant.jit(f)(x), f(x), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-14)


def test_what_is_flattened_is_made_by_loops_over_its_own_axes() -> None:
    d, u = np.random.default_rng(0).normal(size=(2, 100))
    code = pliant.explain(with_diagonal, d, u).code
    assert "nest over 100 × 100" in code
    np.testing.assert_allclose(pliant.jit(with_diagonal)(d, u), with_diagonal(d, u), rtol=1e-14)


def test_matrix_in_memory_is_not_copied_for_a_product_after_a_loop() -> None:
    def f(d: Array, u: Array) -> Array:
        a, v = with_diagonal(d, u), u
        for _ in range(30):
            w = a @ v
            v = w / np.sqrt(w @ w)
        return a @ v

    d, u = np.random.default_rng(0).normal(size=(2, 100))
    assert workspace(f, d, u) < 2 * 100 * 100 * 8
    np.testing.assert_allclose(pliant.jit(f)(d, u), f(d, u), rtol=1e-10)
