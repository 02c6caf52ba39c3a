"""Captured arrays that are not row-major: read where they lie at each call, written as by NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.testing import check_gradient
from tests.frontend.test_memory import CALLS, MEMORIES, RNG, VIEWS, M, N, computed, laid_out, looped, written


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize("f", [computed, looped])
def test_values_are_numpys_at_each_call(f: Callable[[Any], Any], view: str, memory: str) -> None:
    x, scale = laid_out(view, memory, "f8"), np.array(1.5)

    def outer(c: Any) -> Any:
        return [part * c for part in f(x)]

    compiled = pliant.jit(outer)
    for _ in range(CALLS):
        for got, wanted in zip(compiled(scale), outer(scale), strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-12)
        x[...] += 1


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("memory", MEMORIES)
def test_writes_reach_the_array_and_what_is_returned_is_a_view_of_it(view: str, memory: str) -> None:
    x, y = laid_out(view, memory, "f8"), RNG.random((N, M))
    compiled = pliant.jit(lambda y: written(x, y))
    for _ in range(CALLS):
        content, theirs = x.copy(), x.copy(order="K")
        wanted = written(theirs, y)
        made = compiled(y)
        np.testing.assert_array_equal(x, theirs)
        assert made[0] is x
        for m, w in zip(made, wanted, strict=True):
            np.testing.assert_allclose(m, w, rtol=1e-14)
            assert np.shares_memory(m, x) == np.shares_memory(w, theirs)
        x[...] = content


@pytest.mark.parametrize("view", VIEWS)
def test_derivatives_and_batches(view: str) -> None:
    x = laid_out(view, "aligned", "f8") / 8

    def loss(y: Any) -> Any:
        return np.sum(np.sin(x[1:] * y) * x[:-1]) + np.sum((x @ y) ** 2)

    check_gradient(loss, RNG.random(M))
    ys = RNG.random((3, M))
    np.testing.assert_allclose(pliant.vmap(loss)(ys), [loss(y) for y in ys], rtol=1e-12)


def test_an_array_of_another_order_is_not_copied() -> None:
    x = np.asfortranarray(RNG.random((N, M)))
    _, (_, given) = pliant.jit(lambda y: x @ y).program_and_arrays((RNG.random(M),), {})
    assert np.shares_memory(given, x)
    assert given.flags.c_contiguous


def test_what_overlaps_an_argument_that_is_written_is_written_too() -> None:
    memory = RNG.random((N, M))
    x, y = memory.T, memory[1:]

    def f(y: Any) -> Any:
        y[0] *= 2
        return x.sum(0)

    compiled = pliant.jit(f)
    for _ in range(CALLS):
        content = memory.copy()
        wanted = f(y)
        memory[...] = content
        np.testing.assert_allclose(compiled(y), wanted, rtol=1e-14)


@pytest.mark.filterwarnings("ignore:Setting the")
@pytest.mark.parametrize("order", ["C", "F"])
def test_an_array_of_another_shape_than_before_is_read_in_that(order: Any) -> None:
    x, one = np.array(RNG.random((4, 6)), order=order), np.ones(1)
    compiled = pliant.jit(lambda c: (x[1] * c).sum())
    for shape in ((4, 6), (4, 2, 3), (4, 6), (4, 3, 2)):
        x.shape = shape
        for _ in range(CALLS):
            np.testing.assert_allclose(compiled(one), x[1].sum())


@pytest.mark.filterwarnings("ignore:Setting the")
def test_an_array_that_lies_otherwise_than_before_is_read_as_it_lies_now() -> None:
    x, one = np.asfortranarray(RNG.random((4, 6))), np.ones(1)
    compiled = pliant.jit(lambda c: (x[1] * c).sum())
    for _ in range(CALLS):
        np.testing.assert_allclose(compiled(one), x[1].sum())
    x.strides = (48, 8)
    for _ in range(CALLS):
        np.testing.assert_allclose(compiled(one), x[1].sum())
