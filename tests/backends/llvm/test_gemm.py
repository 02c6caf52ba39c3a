"""Matrix products by code of our own, beside NumPy's."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import pliant
from pliant.backends.llvm import gemm
from pliant.backends.llvm.compiler import assembly, can, routine_of
from pliant.backends.llvm.gemm import TERMS, function_named, has_own
from pliant.backends.llvm.gemm_kernel import SHAPES, most_columns
from pliant.backends.llvm.jit import host_target
from pliant.core.types import DTYPES
from pliant.kernel.cost import SHARED
from pliant.kernel.verified import build_verified
from pliant.pipeline import optimise
from tests.backends.llvm.test_streams import Guarded

DTYPE = pytest.mark.parametrize("dtype", ["f32", "f64"])
OWN = pytest.mark.skipif(not has_own("f64"), reason="products are BLAS's on this processor")
TOLERANCE = {"f32": 2e-5, "f64": 2e-14}


def drawn(dtype: str, *shape: int) -> Any:
    """Numbers whose products are of the size of one."""
    return np.random.default_rng(7).normal(size=shape).astype(DTYPES[dtype]) / shape[-1] ** 0.25


def laid_out(x: Any, *, by_columns: bool, place: Callable[[Any], Any]) -> tuple[Any, int, int]:
    """A matrix in memory, by rows or by columns, and its strides in elements."""
    made = place(np.ascontiguousarray(x.T if by_columns else x))
    return made, *((1, x.shape[0]) if by_columns else (x.shape[1], 1))


def call(dtype: str, left: Any, right: Any, out: Any, **wishes: int) -> None:
    """The function itself. left, right: with their strides."""
    (x, *x_strides), (y, *y_strides) = left, right
    (m, n), k = out.shape, x.size // out.shape[0]
    numbers = [m, n, k, wishes.get("more", 0), wishes.get("upper", 0)]
    given = [x.ctypes.data, *x_strides, y.ctypes.data, *y_strides, out.ctypes.data, *numbers]
    kinds = {"ptr": ctypes.c_void_p, "i64": ctypes.c_int64}
    address = gemm._code(dtype).address("product")
    ctypes.CFUNCTYPE(None, *[kinds[t] for t in gemm.ARGUMENTS.values()])(address)(*given)


def shapes(dtype: str) -> Iterator[tuple[int, int, int]]:
    """Extents around those at which another part of the code begins."""
    lanes, wide = (
        host_target().widths[-1] // np.dtype(DTYPES[dtype]).itemsize,
        most_columns(dtype, host_target().widths[-1]),
    )
    yield from product((1, 2, 5, 6, 7, 11, 12, 13, 30), (1, 3), (1, lanes - 1, lanes, lanes + 1, wide - 1, wide + 1))
    yield from product((5, 150), (TERMS - 1, TERMS + 1, 2 * TERMS + 3), (lanes + 3, 2 * wide + lanes + 1))


@OWN
@DTYPE
@pytest.mark.parametrize(("x_by_columns", "y_by_columns"), [*product((False, True), repeat=2)])
def test_as_numpy(dtype: str, *, x_by_columns: bool, y_by_columns: bool):
    for m, k, n in shapes(dtype):
        x, y, start = drawn(dtype, m, k), drawn(dtype, k, n), drawn(dtype, m, n)
        left = laid_out(x, by_columns=x_by_columns, place=np.copy)
        right = laid_out(y, by_columns=y_by_columns, place=np.copy)
        wanted = x.astype("f8") @ y.astype("f8")
        out = np.full((m, n), np.nan, x.dtype)
        call(dtype, left, right, out)
        assert_allclose(out, wanted, rtol=0, atol=TOLERANCE[dtype] * max(k, 16) ** 0.5, err_msg=f"{m, k, n}")
        out = start.copy()
        call(dtype, left, right, out, more=1)
        assert_allclose(out, wanted + start, rtol=0, atol=TOLERANCE[dtype] * max(k, 16) ** 0.5, err_msg=f"{m, k, n}")


@OWN
@DTYPE
@pytest.mark.parametrize("by_columns", [False, True])
@pytest.mark.parametrize("m", [3, 64, 97, 200, 330])
def test_above_the_diagonal(dtype: str, m: int, *, by_columns: bool):
    x, out = drawn(dtype, m, 70), np.full((m, m), np.nan, DTYPES[dtype])
    memory, row, column = laid_out(x, by_columns=by_columns, place=np.copy)
    call(dtype, (memory, row, column), (memory, column, row), out, upper=1)
    assert_allclose(np.triu(out), np.triu(x.astype("f8") @ x.T.astype("f8")), rtol=0, atol=9 * TOLERANCE[dtype])


@OWN
@DTYPE
def test_what_is_infinite_stays_in_its_row_and_column(dtype: str):
    x, y = drawn(dtype, 20, 30), drawn(dtype, 30, 70)
    x[19, 3], y[7, 69] = np.inf, np.nan
    out = np.zeros((20, 70), x.dtype)
    call(dtype, (x, 30, 1), (y, 70, 1), out)
    assert not np.isfinite(out[19]).any()
    assert np.isnan(out[:, 69]).all()
    assert np.isfinite(out[:19, :69]).all()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="uses mprotect")
@OWN
@DTYPE
@pytest.mark.parametrize("is_at_end", [True, False])
@pytest.mark.parametrize(("x_by_columns", "y_by_columns"), [*product((False, True), repeat=2)])
def test_nothing_is_touched_outside_the_arrays(dtype: str, *, is_at_end: bool, x_by_columns: bool, y_by_columns: bool):
    for m, k, n in [(1, 1, 1), (7, 3, 9), (13, 5, 67), (14, 300, 131), (3, 20, 201), (131, 9, 5)]:
        guarded = Guarded()

        def place(x: Any, guarded: Guarded = guarded) -> Any:
            return guarded.array(x, is_at_end=is_at_end)

        x, y = drawn(dtype, m, k), drawn(dtype, k, n)
        out = place(np.zeros((m, n), x.dtype))
        try:
            left = laid_out(x, by_columns=x_by_columns, place=place)
            call(dtype, left, laid_out(y, by_columns=y_by_columns, place=place), out)
            assert_allclose(out, x.astype("f8") @ y.astype("f8"), rtol=0, atol=20 * TOLERANCE[dtype])
        finally:
            guarded.open()


@OWN
@DTYPE
@pytest.mark.parametrize("sizes", [(400, 130, 120), (120, 130, 500), (97, 1000, 97), (1000, 70, 66)])
def test_the_same_bits_for_any_number_of_threads(dtype: str, sizes: tuple[int, int, int]):
    m, k, n = sizes
    assert m * k * n > SHARED
    x, y = drawn(dtype, m, k), drawn(dtype, k, n)
    f, before = pliant.jit(lambda x, y: (x @ y, x @ x.T)), pliant.threads()
    try:
        made = [[r.tobytes() for r in f(x, y)] for count in (1, 2, 3) if pliant.threads(count)]
    finally:
        pliant.threads(before)
    assert made[0] == made[1] == made[2]
    assert_allclose(f(x, y)[0], x.astype("f8") @ y.astype("f8"), rtol=0, atol=40 * TOLERANCE[dtype])


@OWN
def test_products_in_programs_call_no_library():
    def f(x: Any, y: Any) -> Any:
        return x @ y, x.T @ x, (y.T[:, ::2] @ x[::2]).sum()

    x, y = drawn("f64", 100, 100), drawn("f64", 100, 100)
    program = build_verified(optimise(pliant.trace(f, x, y)), can, routine_of)
    text = assembly(program)[0]
    assert "@pliant_product_f64(" in text
    assert "gemm" not in text
    assert "syrk" not in text
    for got, wanted in zip(pliant.jit(f)(x, y), f(x, y), strict=True):
        assert_allclose(got, wanted, rtol=1e-11, atol=1e-11)


def test_others_are_calls_of_blas(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(host_target(), "widths", (16,))
    assert not has_own("f64")
    assert not function_named("pliant_product_f64")
    x = drawn("f64", 100, 100)
    program = build_verified(optimise(pliant.trace(lambda x: x @ x, x)), can, routine_of)
    assert "gemm" in assembly(program)[0]


@pytest.mark.parametrize(("width", "registers"), [(32, 16), (64, 32)])
def test_what_is_computed_at_a_time_stays_in_registers(width: int, registers: int):
    for shape in SHAPES[width]:
        mask = width == 32 and not shape.is_whole  # which AVX-512 has registers for
        assert shape.rows * shape.vectors + shape.vectors + 1 + mask <= registers


def test_an_empty_product_is_zero():
    f = pliant.jit(lambda x, y: x @ y)
    assert_array_equal(f(np.ones((70, 0)), np.ones((0, 80))), np.zeros((70, 80)))
    assert f(np.ones((0, 70)), np.ones((70, 80))).shape == (0, 80)
