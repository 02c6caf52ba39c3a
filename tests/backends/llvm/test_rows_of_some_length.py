"""Rows that are folded into a row several at a time, in loops that end early: every number of them, and every length."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pliant

LENGTHS = (8, 9, 11, 13, 17, 33)
RNG = np.random.default_rng(8)


def products(x: Any, m: Any) -> Any:
    """Each row by more and more rows of a matrix, from none on."""
    out = np.zeros_like(m)
    for i in range(m.shape[0]):
        out[i] = x[:i] @ m[:i]
    return out


def triangle(x: Any, m: Any) -> Any:
    """The same of parts of rows."""
    out = np.zeros_like(m)
    for i in range(min(m.shape)):
        out[i, i:] = x @ m[:, i:]
    return out


def corner(x: Any, m: Any) -> Any:
    """Of some rows, of each its first elements."""
    out = np.zeros_like(m)
    for i in range(min(m.shape)):
        out[i, :i] = x[i:] @ m[i:, :i]
    return out


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("f", [products, triangle, corner], ids=lambda f: f.__name__)
def test_values_are_numpys(f: Any, n: int, dtype: str) -> None:
    for width in (n, n + 5):
        x, m = RNG.normal(size=n).astype(dtype), RNG.normal(size=(n, width)).astype(dtype)
        tol = 1e-5 if dtype == "float32" else 1e-13
        assert_allclose(pliant.jit(f)(x, m), f(x, m), rtol=tol, atol=tol * 10)


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("f", [products, triangle, corner], ids=lambda f: f.__name__)
def test_gradients_are_transposed_tangents(f: Any, n: int) -> None:
    x, m, dx, dm, w = (RNG.normal(size=shape) for shape in ((n,), (n, n + 3), (n,), (n, n + 3), (n, n + 3)))
    gx, gm = pliant.grad(lambda x, m: (w * f(x, m)).sum(), argnums=(0, 1))(x, m)
    h = 1e-6
    slope = ((w * f(x + h * dx, m + h * dm)).sum() - (w * f(x - h * dx, m - h * dm)).sum()) / (2 * h)
    assert_allclose((gx * dx).sum() + (gm * dm).sum(), slope, rtol=1e-6)


@pytest.mark.parametrize("n", LENGTHS)
def test_rows_beyond_the_end_are_not_read(n: int) -> None:
    """They hold NaN, which any sum would show."""

    def f(k: Any, m: Any) -> Any:
        out = np.zeros(m.shape[1])
        for i in range(m.shape[0]):
            if i < k:
                out = out + m[:i].sum(axis=0)
        return out

    for k in range(n + 1):
        m = RNG.normal(size=(n, 12))
        m[max(k - 1, 0) :] = np.nan
        assert_allclose(pliant.jit(f)(k, m), f(k, m), rtol=1e-12, atol=1e-12)
