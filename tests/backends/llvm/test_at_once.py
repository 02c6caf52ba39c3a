"""Long loops over formulas with a branch have vectors of several of the processor's, and others as LLVM likes."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
import pytest

import pliant
from pliant.backends.llvm.at_once import INTERLEAVED
from pliant.backends.llvm.compiler import compiled
from pliant.backends.llvm.jit import host_target
from pliant.backends.llvm.own import served

pytestmark = pytest.mark.skipif(not served(host_target().has, vectors=False), reason="no fused products")

WIDTH = "llvm.loop.vectorize.width"


def llvm_of(fn: Callable[..., Any], x: Any) -> str:
    """The LLVM IR of a function of one array, all of whose functions are formulas."""
    with mock.patch.dict(os.environ, {"PLIANT_MATH": "own"}):
        return compiled(pliant.trace(fn, x), (), (), sharing=False)[1]


def squares(x: Any) -> Any:
    return np.sum((x - np.exp(np.sin(x))) ** 2)


def distances(x: Any) -> Any:
    return np.sin(x) + np.nextafter(x, 1.0)


@pytest.mark.parametrize("fn", [np.sin, squares], ids=lambda f: f.__name__)
@pytest.mark.parametrize(("dtype", "lanes"), [("float64", 16), ("float32", 32)])
def test_formulas_with_a_branch_take_wide_vectors(fn: Callable[..., Any], dtype: str, lanes: int):
    assert f'"{WIDTH}", i32 {lanes}' in llvm_of(fn, np.ones(1000, dtype))


@pytest.mark.parametrize("fn", [np.exp, np.sqrt, distances], ids=["a formula", "an instruction", "another function"])
def test_other_loops_do_not(fn: Callable[..., Any]):
    assert WIDTH not in llvm_of(fn, np.ones(1000))


@pytest.mark.parametrize("fn", [np.exp, lambda x: np.logaddexp(x, 1.0)], ids=["a formula", "one of several"])
def test_formulas_without_a_branch_are_computed_several_vectors_at_a_time(fn: Callable[..., Any]):
    assert f'"llvm.loop.interleave.count", i32 {INTERLEAVED}' in llvm_of(fn, np.ones(1000))


def quartic(x: Any) -> Any:
    return (((0.5 * x + 0.25) * x - 1.5) * x + 2.0) * x - 3.0


@pytest.mark.parametrize(
    ("fn", "n", "vectors"),
    [(quartic, 512, INTERLEAVED), (quartic, 511, 1), (lambda x: quartic(quartic(x)), 512, INTERLEAVED),
     (lambda x: quartic(quartic(quartic(quartic(x)))), 512, 1), (lambda x: 2 * x + 1, 512, 1)],
    ids=["a chain", "a short loop", "a longer chain", "many operations", "few operations"],
)  # fmt: skip
def test_long_loops_over_chains_of_operations_compute_several_vectors_at_a_time(
    fn: Callable[..., Any], n: int, vectors: int
):
    assert f'"llvm.loop.interleave.count", i32 {vectors}' in llvm_of(fn, np.ones(n))


@pytest.mark.parametrize("n", [512, 513, 519, 527, 543, 1000])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_chains_of_operations_end_anywhere(dtype: str, n: int):
    x = np.linspace(-2, 2, n).astype(dtype)
    np.testing.assert_array_equal(pliant.jit(quartic)(x), quartic(x))


@pytest.mark.parametrize(("dtype", "lanes"), [("float64", 8), ("float32", 16), ("int64", 8)])
def test_narrow_results_of_wide_numbers_are_made_of_several_vectors(dtype: str, lanes: int):
    assert f'"{WIDTH}", i32 {lanes}' in llvm_of(lambda x: x < 2, np.ones(5000, dtype))
    assert WIDTH not in llvm_of(lambda x: x < 2, np.ones(1000, dtype))


def test_wide_results_and_sums_of_narrow_ones_are_not():
    assert WIDTH not in llvm_of(lambda x: x + (x < 2), np.ones(5000))
    assert WIDTH not in llvm_of(lambda x: np.sum(x < 2), np.ones(5000))


@pytest.mark.skipif("avx2" not in host_target().has, reason="other processors have other products")
@pytest.mark.parametrize("fn", [lambda x: x // 7, lambda x: x % 10], ids=["quotient", "rest"])
def test_whole_numbers_are_divided_by_known_ones_in_vectors(fn: Callable[..., Any]):
    assert f'"{WIDTH}", i32 8' in llvm_of(fn, np.arange(1000))


@pytest.mark.parametrize("c", [8, -3, 0])
def test_other_divisions_are_not(c: int):
    assert WIDTH not in llvm_of(lambda x: x // c, np.arange(1000))


def test_short_loops_do_not():
    assert WIDTH not in llvm_of(np.sin, np.ones(100))


@pytest.mark.parametrize("n", [127, 128, 129, 143, 144, 1000])
def test_the_rest_of_a_loop_is_computed_alike(n: int):
    x = np.random.default_rng(n).normal(size=n)
    np.testing.assert_allclose(pliant.jit(squares)(x), squares(x), rtol=1e-13)
