"""Functions whose loops are short use narrower vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant
from pliant.backends.llvm.compiler import assembly, can
from pliant.backends.llvm.jit import host_target, optimised
from pliant.backends.llvm.module import NARROW
from pliant.backends.llvm.width import is_narrow
from pliant.kernel.build import build
from pliant.pipeline import optimise

WIDE = (16, 32, 64)


def steps(f: Any, *xs: Any) -> Any:
    """The steps that a function becomes."""
    return build(optimise(pliant.trace(f, *xs)), can).steps


def doubled(n: int, dtype: str = "float64") -> Any:
    return steps(lambda x: x * 2, np.ones(n, dtype))


def triangle(x: Any) -> Any:
    for i in range(x.shape[0]):
        x[i] = x[i] - x[:i] @ x[:i]
    return x


@pytest.mark.parametrize("n", [30, 12, 20])
def test_few_steps_that_fill_no_wide_vectors_take_narrow_ones(n: int) -> None:
    assert is_narrow(doubled(n), WIDE)


@pytest.mark.parametrize("n", [8, 32, 100, 1000, 10**6])
def test_full_vectors_and_many_steps_take_wide_ones(n: int) -> None:
    assert not is_narrow(doubled(n), WIDE)


def test_twice_as_many_small_numbers_fill_a_vector() -> None:
    assert is_narrow(doubled(60, "float32"), WIDE)
    assert not is_narrow(doubled(64, "float32"), WIDE)


def test_loops_that_end_early_take_narrow_ones_unless_they_are_long() -> None:
    assert is_narrow(steps(triangle, np.ones(40)), WIDE)
    assert not is_narrow(steps(triangle, np.ones(1000)), WIDE)


def ratio(x: Any) -> Any:
    return x / (1 + x * x)


def long_ratio(x: Any) -> Any:
    for _ in range(8):
        x = (x + 0.3) * x
    return x / (x + 1)


@pytest.mark.parametrize("f", [ratio, np.sqrt, lambda x: np.sum(1 / x), lambda x: x / 3])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_loops_that_do_little_but_divide_take_narrow_ones(f: Any, dtype: str) -> None:
    assert is_narrow(steps(f, np.ones(1000, dtype)), WIDE)


@pytest.mark.parametrize(
    "f",
    [lambda x: np.exp(x) / x, long_ratio, lambda x: x / 4, lambda x: x * (1 / x[0]), lambda x: (x * 1j) / (x + 1j)],
    ids=["function", "much else", "power of two", "before the loop", "complex"],
)
def test_loops_that_do_other_things_beside_take_wide_ones(f: Any) -> None:
    assert not is_narrow(steps(f, np.ones(1000)), WIDE)


def test_parts_for_threads_have_the_width_of_their_loops() -> None:
    fn = optimise(pliant.trace(np.sqrt, np.ones(10**6)))
    text = assembly(build(fn, can))[0]
    heads = [line for line in text.splitlines() if line.startswith("define") and "_task" in line]
    assert heads
    assert all([NARROW in line for line in heads]) == (max(host_target().widths) == max(WIDE))


def test_a_processor_without_wide_vectors_has_no_choice() -> None:
    assert not is_narrow(doubled(30), (16, 32))


@pytest.mark.parametrize("n", [9, 10, 12, 15])
def test_few_steps_are_vectors_and_a_rest_without_masks(n: int) -> None:
    fn = optimise(pliant.trace(lambda x: x * 2 + 1, np.ones(n)))
    code = optimised(assembly(build(fn, can))[0])
    assert "x double>" in code
    assert "llvm.masked" not in code


@pytest.mark.parametrize("n", [7, 12, 30, 40, 1000])
def test_numbers_are_the_same(n: int) -> None:
    x = np.random.default_rng(0).uniform(0.1, 0.2, n) / n
    np.testing.assert_allclose(pliant.jit(lambda x: triangle(x.copy()))(x), triangle(x.copy()), rtol=1e-12)
