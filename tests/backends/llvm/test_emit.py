"""How much code LLVM is given, and makes of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pliant
from pliant.backends.llvm import emit
from pliant.backends.llvm.compiler import assembly, can, routine_of
from pliant.backends.llvm.emit import MOST_LINES
from pliant.backends.llvm.jit import SECOND, optimised
from pliant.kernel.verified import build_verified
from pliant.pipeline import optimise

RNG = np.random.default_rng(5)


def code(f: Any, *args: Any) -> str:
    return assembly(build_verified(optimise(pliant.trace(f, *args)), can, routine_of))[0]


def pooled(x: Any, size: int) -> Any:
    n, height, width, depth = x.shape
    windows = x.reshape(n, height // size, size, width // size, size, depth)
    return np.sum(np.max(windows, axis=(2, 4)) ** 2)


def test_short_loops_around_long_ones_are_not_all_unrolled():
    made = optimised(code(pliant.grad(pooled), RNG.normal(size=(8, 10, 10, 16)), 2))
    assert made.count("\n") < 2 * MOST_LINES  # 100 copies of the loop over the last axis were ten times as many


def test_short_loops_in_each_other_become_code_of_a_bounded_length():
    def total(x: Any) -> Any:
        return np.sum(np.exp(x[:, None, None, None] * x[:, None, None] - x[:, None] / (2.0 + x * x)), axis=(1, 3))

    x = RNG.normal(size=7)
    assert optimised(code(total, x)).count("\n") < 4 * MOST_LINES
    assert_allclose(pliant.jit(total)(x), total(x), rtol=1e-13)


def sums(x: Any) -> Any:
    """Many sums over small arrays, all of other extents or functions, each short enough to be written out."""
    total = 0.0
    for n in (3, 4, 5, 6, 7):
        for m in (3, 4, 5, 6, 7):
            for f in (np.exp, np.sin, np.cos, np.log):
                y = f(x[:n, None] + x[:m])
                total = total + np.max(y @ y.T / (2.0 + abs(y[:, :1])), axis=0)[0]
    return total


def test_many_short_loops_become_code_of_a_bounded_length(monkeypatch: Any):
    x = RNG.uniform(1.0, 2.0, size=7)
    monkeypatch.setattr(emit, "MOST_OF_ALL", 2000)
    bounded = optimised(code(sums, x))
    monkeypatch.setattr(emit, "MOST_OF_ALL", 10**9)
    assert bounded.count("\n") < 0.7 * optimised(code(sums, x)).count("\n")
    assert_allclose(pliant.jit(sums)(x), sums(x), rtol=1e-13)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_gradients_of_windows(dtype: str, size: int):
    x = RNG.normal(size=(3, 2 * size, 3 * size, 9)).astype(dtype)
    got = pliant.grad(pooled)(x, size)
    with pliant.disable_jit():
        wanted = pliant.grad(pooled)(x, size)
    assert_allclose(got, wanted, rtol=1e-5 if dtype == "f4" else 1e-12)


def test_a_block_computes_an_index_once():
    text = code(lambda x, y: x[1:, 2:] * y[1:, 2:] + x[:-1, :-2] + y[:-1, :-2], *RNG.normal(size=(2, 9, 11)))
    multiplications = [line.split(" = ")[1] for line in text.splitlines() if " = mul nsw i64 " in line]
    assert len(multiplications) == len(set(multiplications)) == 2  # for the arrays, and for the result


def second(f: Any, *args: Any) -> str:
    """The module of functions that are written in vectors."""
    return "".join(code(f, *args).split(SECOND)[1:])


@pytest.mark.parametrize("name", ["svd", "eigh", "eigvalsh", "qr", "svdvals"])
def test_factorisations_that_are_written_in_vectors_take_fewer_passes(name: str):
    def run(x: Any) -> Any:
        return getattr(np.linalg, name)(x)

    x = RNG.normal(size=(12, 12))
    assert second(run, x + x.T).count("define hidden void") == 1
    assert "fmuladd" not in code(run, x + x.T).split(SECOND)[0].split("define", 1)[1]


def test_products_take_fewer_passes_unless_a_loop_copies_their_operand():
    x = RNG.normal(size=(30, 30))
    assert "define hidden void @product_30_30_30" in second(lambda x, y: np.tanh(x) @ y, x, x)
    assert not second(lambda x, y: np.tanh(x) @ y.T, x, x)


@pytest.mark.parametrize("steps", [1, 3, 40])
def test_factorisations_in_loops_say_if_they_have_no_answer(steps: int):
    @pliant.jit
    def total(xs: Any) -> Any:
        found = 0.0
        for n in range(steps):
            found = found + np.linalg.eigh(xs[n] + xs[n].T)[0].max() + np.linalg.svd(xs[n])[1].sum()
        return found

    xs = RNG.normal(size=(steps, 9, 9))
    wanted = sum(np.linalg.eigvalsh(x + x.T).max() + np.linalg.svd(x)[1].sum() for x in xs)
    assert_allclose(total(xs), wanted, rtol=1e-12)
    xs[-1, 3, 3] = np.nan
    with pytest.raises(np.linalg.LinAlgError):
        total(xs)
    xs[-1, 3, 3] = 0.0
    assert np.isfinite(total(xs))


def best_part(x: Any) -> Any:
    """The greatest sum of neighbours, by two numbers that branches change."""
    best = current = x[0]
    for i in range(1, len(x)):
        if current < 0:
            current = x[i]
        else:
            current += x[i]
        if current > best:
            best = current
    return best


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_numbers_that_branches_change_stay_in_registers_of_floats(dtype: str):
    x = RNG.normal(size=50).astype(dtype)
    assert "bitcast i" not in optimised(code(best_part, x))
    assert pliant.jit(best_part)(x) == best_part(x)
