"""What comes to lie in memory, over which loops it is made, and that no copy of it is."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.backends.llvm.compiler import can
from pliant.kernel.build import build
from pliant.kernel.ir import Fill, Stop
from pliant.pipeline import optimise

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


def test_indices_are_computed_where_they_are_used() -> None:
    def counted(i: Any) -> Any:
        return np.bincount(i + 9, minlength=18)

    def put(x: Any, i: Any, y: Any) -> None:
        x[i] = y

    i = np.arange(-9, 9).repeat(20)
    for f, args in ((counted, (i,)), (put, (np.zeros(9), i, np.ones(360)))):
        assert workspace(f, *args) < 100
        assert len([line for line in pliant.explain(f, *args).code.splitlines() if line[:1].isdigit()]) == 1


def test_places_of_new_arrays_are_looked_at_while_they_are_written() -> None:
    def into(x: Any, i: Any) -> None:
        np.add.at(x, i, 1.0)

    def counted(i: Any) -> Any:
        return np.bincount(i, minlength=9)

    x, wrong = np.zeros(9), np.array([3, 9, 3])
    for f, args, is_early in ((into, (x, wrong), True), (counted, (wrong,), False)):
        (fill,) = [s for s in build(optimise(pliant.trace(f, *args)), can).steps if isinstance(s, Fill)]
        assert any([isinstance(s, Stop) for s in fill.body.body]) == is_early
        with pytest.raises(IndexError, match="9"):
            pliant.jit(f)(*args)
    np.testing.assert_array_equal(x, np.zeros(9))
