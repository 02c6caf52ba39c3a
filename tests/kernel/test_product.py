"""Contractions as BLAS calls or in registers, however their operands lie in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant


@pytest.mark.parametrize(
    ("spec", "left", "right"),
    [
        ("ab,bc->ac", (20, 30), (30, 40)),
        ("ab,cad->bcd", (12, 12), (3, 12, 12)),  # the free axes of the right operand stand apart
        ("abc,dbe->acde", (4, 12, 12), (5, 12, 9)),
        ("xab,xcad->xbcd", (2, 12, 12), (2, 6, 12, 10)),
    ],
)
@pytest.mark.parametrize("view", [lambda x: x, lambda x: x[..., ::-1], lambda x: 2 * x], ids=["as is", "view", "made"])
def test_contraction_agrees_with_numpy(spec: str, left: tuple[int, ...], right: tuple[int, ...], view: Any) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal(left), rng.standard_normal(right)
    got = pliant.jit(lambda x, y: np.einsum(spec, view(x), view(y)))(x, y)
    np.testing.assert_allclose(got, np.einsum(spec, view(x), view(y)), rtol=1e-12, atol=1e-12)


SIZES = [  # m, n, k: one block and several, with and without rests, by a loop over terms or without
    (2, 2, 1), (3, 3, 3), (6, 6, 6), (8, 8, 8), (9, 17, 5), (17, 31, 9), (40, 3, 20), (3, 200, 64), (200, 5, 33), (33, 70, 12),
]  # fmt: skip


@pytest.mark.parametrize(
    ("size", "dtype", "turned"),
    [
        *[(size, "float64", turned) for size in SIZES[::2] for turned in ("", "right")],
        *[(size, "float32", turned) for size in SIZES[1::2] for turned in ("left", "both")],
        ((3, 3, 3), "complex128", "right"),
    ],
)
def test_small_matrices_in_a_stack(size: tuple[int, int, int], dtype: str, turned: str) -> None:
    m, n, k = size
    count = max(2, 3000 // (m * n * k))
    rng = np.random.default_rng(0)

    def stack(rows: int, columns: int, *, is_turned: bool) -> Any:
        return rng.standard_normal((count, *((columns, rows) if is_turned else (rows, columns)))).astype(dtype)

    def product(x: Any, y: Any) -> Any:
        left = x.swapaxes(1, 2) if turned in ("left", "both") else x
        return left @ (y.swapaxes(1, 2) if turned in ("right", "both") else y)

    x = stack(m, k, is_turned=turned in ("left", "both"))
    y = stack(k, n, is_turned=turned in ("right", "both"))
    tolerance = 1e-4 if dtype == "float32" else 1e-12
    np.testing.assert_allclose(pliant.jit(product)(x, y), product(x, y), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("size", [(20, 12, 15), (7, 70, 9)])
def test_small_product_is_added_where_it_is_wanted(size: tuple[int, int, int]) -> None:
    m, n, k = size
    rng = np.random.default_rng(0)
    x, y, total = rng.standard_normal((m, k)), rng.standard_normal((k, n)), rng.standard_normal((m, n))

    def add(total: Any, x: Any, y: Any) -> None:
        total += x @ y

    expected = total + x @ y
    pliant.jit(add)(total, x, y)
    np.testing.assert_allclose(total, expected, rtol=1e-12, atol=1e-12)


def test_nan_and_infinity_go_through_small_products() -> None:
    x = np.array([[[np.nan, 1.0], [np.inf, 0.0]]] * 300)
    y = np.array([[[0.0, 1.0], [1.0, np.inf]]] * 300)
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(pliant.jit(lambda x, y: x @ y)(x, y), x @ y)
