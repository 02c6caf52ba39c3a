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


VECTORS: dict[str, tuple[str, tuple[int, ...], tuple[int, ...]]] = {
    "a stack": ("nij,nj->ni", (300, 8, 8), (300, 8)),
    "of odd sizes": ("nij,nj->ni", (70, 5, 13), (70, 13)),
    "from the left": ("ni,nij->nj", (70, 13), (70, 13, 5)),
    "side by side": ("ijn,jn->in", (6, 7, 90), (7, 90)),
    "of two axes": ("abij,abj->abi", (5, 7, 9, 11), (5, 7, 11)),
    "products of pairs": ("ni,ni->n", (40, 100), (40, 100)),
    "columns by rows": ("ni,nj->nij", (40, 9), (40, 13)),
    "few terms": ("ij,j->i", (900, 5), (5,)),
    "large": ("nij,nj->ni", (3, 190, 200), (3, 200)),
    "one large": ("ij,j->i", (70, 80), (80,)),
}


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16"])
@pytest.mark.parametrize("view", [lambda x: x, lambda x: x[..., ::-1], lambda x: 2 * x], ids=["as is", "view", "made"])
@pytest.mark.parametrize(("spec", "left", "right"), VECTORS.values(), ids=VECTORS.keys())
def test_matrices_times_vectors_agree_with_numpy(spec: str, left: Any, right: Any, view: Any, dtype: str) -> None:
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal(shape).astype(dtype) for shape in (left, right))
    got = pliant.jit(lambda x, y: np.einsum(spec, view(x), view(y)))(x, y)
    near = 1e-4 if dtype == "f4" else 1e-12
    np.testing.assert_allclose(got, np.einsum(spec, view(x), view(y)), rtol=near, atol=near)


OWN: dict[str, Any] = {
    "rows": lambda x: x @ x.T,
    "columns": lambda x: x.T @ x,
    "dot": lambda x: np.dot(x, x.T),
    "einsum": lambda x: np.einsum("ij,kj->ik", x, x),
    "made": lambda x: (2 * x) @ (2 * x).T,
    "centred": lambda x: (x - x.mean(0)).T @ (x - x.mean(0)),
    "part": lambda x: x[1:, 2:] @ x[1:, 2:].T,
    "every other row": lambda x: x[::2] @ x[::2].T,
    "stack": lambda x: np.stack([x, -x, 2 * x]) @ np.stack([x, -x, 2 * x]).swapaxes(1, 2),
    "other rows": lambda x: x[:-1] @ x[1:].T,  # as many, but not the same
    "transposed in a sum": lambda x: x @ x.T + x @ x.T,
}


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("shape", [(9, 70), (70, 9), (33, 190), (130, 131), (2, 2100)], ids=str)
@pytest.mark.parametrize("product", OWN.values(), ids=OWN.keys())
def test_a_matrix_times_its_own_transpose_agrees_with_numpy(product: Any, shape: Any, dtype: str) -> None:
    rng = np.random.default_rng(0)
    x = (rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if dtype[0] == "c" else 0)).astype(dtype)
    near = 2e-4 if dtype in ("f4", "c8") else 1e-11
    np.testing.assert_allclose(pliant.jit(product)(x), product(x), rtol=near, atol=near)


@pytest.mark.parametrize("shape", [(9, 70), (20, 30), (130, 131), (70, 66)], ids=str)
def test_such_a_product_is_symmetric_to_the_last_bit(shape: Any) -> None:
    x = np.random.default_rng(0).standard_normal(shape)
    for y in pliant.jit(lambda x: (x @ x.T, x.T @ x))(x):
        np.testing.assert_array_equal(y, y.T)


def test_such_a_product_is_added_to_what_is_not_symmetric() -> None:
    rng = np.random.default_rng(0)
    x, total = rng.standard_normal((90, 80)), rng.standard_normal((90, 90))
    expected = total + x @ x.T

    def add(total: Any, x: Any) -> None:
        total += x @ x.T

    pliant.jit(add)(total, x)
    np.testing.assert_allclose(total, expected, rtol=1e-12, atol=1e-12)


def test_nan_and_infinity_go_through_such_a_product() -> None:
    x = np.random.default_rng(0).standard_normal((70, 80))
    x[3, 4], x[20, 5] = np.nan, np.inf
    got = pliant.jit(lambda x: x @ x.T)(x)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(x @ x.T))


def test_what_is_multiplied_transposed_is_not_written_so() -> None:
    report = str(pliant.explain(pliant.jit(lambda x, p: (x * p[:, None]).T @ x), np.ones((900, 20)), np.ones(900)))
    assert "permute: f64[20, 900]" not in report


def test_windows_that_a_product_reads_in_an_order_of_its_own_are_written_in_that_alone() -> None:
    def convolved(x: Any, w: Any) -> Any:
        return np.einsum("nchwij,ocij->nohw", np.lib.stride_tricks.sliding_window_view(x, (3, 2), axis=(2, 3)), w)

    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((3, 5, 12, 11)), rng.standard_normal((6, 5, 3, 2))
    np.testing.assert_allclose(pliant.jit(convolved)(x, w), convolved(x, w), rtol=1e-12, atol=1e-12)
    report = str(pliant.explain(pliant.jit(convolved), x, w))
    steps = report[report.index("\n0: ") :]
    assert "f64[3, 10, 10, 5, 3, 2] →" in steps
    assert "f64[3, 5, 10, 10, 3, 2]" not in steps


def calls_of_blas(f: Any, *shapes: tuple[int, ...]) -> int:
    """How many products of a compiled function BLAS makes."""
    report = str(pliant.explain(pliant.jit(f), *[np.ones(shape) for shape in shapes]))
    return report.count("product:")


def test_small_matrices_times_vectors_are_loops_with_what_is_made_of_them() -> None:
    assert calls_of_blas(lambda a, x: np.einsum("nij,nj->ni", a, x), (300, 8, 8), (300, 8)) == 0
    assert calls_of_blas(lambda a, x: np.einsum("nij,nj->ni", a, x), (3, 190, 200), (3, 200)) == 1


def test_a_matrix_that_a_few_operations_make_does_not_go_to_memory_for_a_vector() -> None:
    assert calls_of_blas(lambda a, x: (a * a - 1) @ x, (200, 200), (200,)) == 0
    assert calls_of_blas(lambda a, x: np.exp(a) @ x, (200, 200), (200,)) == 1
    assert calls_of_blas(lambda a, x: a @ x, (200, 200), (200,)) == 1


def test_vectors_are_multiplied_in_loops_where_they_lie() -> None:
    assert calls_of_blas(lambda x: x[:, 3] @ x[:, 5], (3000, 8)) == 0
    assert calls_of_blas(lambda x, y: x[:, 3] @ y, (3000, 8), (3000,)) == 0
    assert calls_of_blas(lambda x, y: x @ y, (3000,), (3000,)) == 0
    assert calls_of_blas(lambda x: np.vdot(x, x), (300, 8)) == 0


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
@pytest.mark.parametrize("left", [1, 2, -1, -3])
@pytest.mark.parametrize("right", [1, 2, -1, -3])
def test_products_of_vectors_however_they_lie(left: int, right: int, dtype: str) -> None:
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal(4 * 2100).astype(dtype) for _ in range(2))

    def both(x: Any, y: Any) -> Any:
        return x[::left][:2100] @ y[::right][:2100], np.vdot(y[::right][:2100], x[::left][:2100])

    for got, wanted in zip(pliant.jit(both)(x, y), both(x, y), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-3 if dtype == "float32" else 1e-10)
    dot = pliant.jit(np.dot)
    for _ in range(4):
        np.testing.assert_allclose(dot(x[::left][:2100], y[::right][:2100]), both(x, y)[0], rtol=1e-3)


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
