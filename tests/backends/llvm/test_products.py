"""Products that are alike have one function, which is given its matrices."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pliant
from pliant.backends.llvm import blas
from pliant.backends.llvm.compiler import assembly, can, routine_of
from pliant.backends.llvm.products import SHARED, rows_at_once, vectors_at_once
from pliant.kernel.verified import build_verified
from pliant.pipeline import optimise

RNG = np.random.default_rng(5)
N = 17
assert N**3 > SHARED


def functions_for(f: Any, *args: Any) -> list[str]:
    """The functions of products in the code of a program."""
    program = build_verified(optimise(pliant.trace(f, *args)), can, routine_of)
    return re.findall(r"define (?:internal|hidden) void @(product_\w+)", assembly(program)[0])


def layers(x: Any, *weights: Any) -> Any:
    for w in weights:
        x = np.tanh(x @ w)
    return x


def test_alike_products_have_one_function():
    weights = [RNG.normal(size=(N, N)) for _ in range(5)]
    assert len(functions_for(layers, RNG.normal(size=(N, N)), *weights)) == 1
    assert len(functions_for(layers, RNG.normal(size=(2 * N, N)), *weights)) == 1


def test_others_have_their_own():
    def f(x: Any, y: Any) -> Any:
        return x @ y, x.T @ y, x @ y.T, x[::-1] @ y

    x, y = RNG.normal(size=(2, N, N))
    assert len(set(functions_for(f, x, y))) == 3  # what is reversed is copied
    for got, wanted in zip(pliant.jit(f)(x, y), f(x, y), strict=True):
        assert_allclose(got, wanted, rtol=1e-12)


def test_small_ones_are_where_they_are_used():
    assert not functions_for(layers, RNG.normal(size=(4, 4)), RNG.normal(size=(4, 4)))


@pytest.mark.parametrize(("width", "registers"), [(16, 16), (32, 16), (64, 32)])
def test_what_is_computed_at_a_time_stays_in_registers(width: int, registers: int):
    for count in range(1, 20):
        vectors = vectors_at_once(count, width)
        assert vectors <= count
        for rows in range(1, 70):
            assert (rows_at_once(rows, vectors, width) + 1) * vectors + 1 <= registers


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("shape", [(17, 17), (33, 16), (16, 33), (64, 7), (9, 64), (27, 32), (30, 13)])
def test_in_loops_stacks_and_sums(dtype: str, shape: tuple[int, int]):
    m, n = shape
    x, y, w = (
        RNG.normal(size=(3, m, 30)).astype(dtype),
        RNG.normal(size=(3, 30, n)).astype(dtype),
        RNG.normal(size=(n, n)),
    )

    def f(x: Any, y: Any, w: Any) -> Any:
        total = np.zeros((m, n), dtype)
        for k in range(3):
            total += x[k] @ y[k]
            total = total @ w / n
        return total, x @ y, x[1:, ::-1] @ y[:-1]

    w = w.astype(dtype)
    rtol, atol = (1e-4, 1e-4) if dtype == "f4" else (1e-12, 1e-12)
    for got, wanted in zip(pliant.jit(f)(x, y, w), f(x, y, w), strict=True):
        assert_allclose(got, wanted, rtol=rtol, atol=atol)


def test_what_is_measured_tells_which_processor_products_are_made_for(monkeypatch: pytest.MonkeyPatch) -> None:
    class Name:
        """A function of OpenBLAS's as ctypes has it."""

        def __init__(self, core: bytes) -> None:
            self.core = core

        def __call__(self) -> bytes:
            return self.core

    def text(core: bytes, *features: str) -> str:
        library = SimpleNamespace(scipy_openblas_get_corename64_=Name(core))
        monkeypatch.setattr(blas, "bundled", lambda: library)
        blas.blas_text.cache_clear()
        return blas.blas_text(frozenset(features))

    monkeypatch.delenv("OPENBLAS_CORETYPE", raising=False)
    assert text(b"SkylakeX", "avx2", "avx512f") == "OpenBLAS for SkylakeX"
    assert text(b"Haswell", "avx2") == "OpenBLAS for Haswell"
    assert "with OPENBLAS_CORETYPE=SkylakeX" in text(b"Haswell", "avx2", "avx512f")
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    assert "without OPENBLAS_CORETYPE" in text(b"Haswell", "avx2", "avx512f")
    monkeypatch.setattr(blas, "bundled", lambda: None)
    blas.blas_text.cache_clear()
    assert blas.blas_text(frozenset()) == ""
    blas.blas_text.cache_clear()
