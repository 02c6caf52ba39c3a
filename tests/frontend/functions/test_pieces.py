"""Arrays put together from runs of others: whatever np.roll and np.pad show, each element once and in one pass."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pliant
from pliant.frontend.functions.pieces import MOST, runs_of

X = np.random.default_rng(3).normal(size=(5, 7, 2))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 4), max_size=12))
def test_runs_are_the_places(places: list[int]) -> None:
    found = runs_of(places)
    assert found is not None and [start + step * n for start, step, length in found for n in range(length)] == places


def test_many_runs_are_none() -> None:
    assert runs_of([0, 2] * (2 * MOST)) is None


@pytest.mark.parametrize("mode", ["edge", "reflect", "symmetric", "wrap"])
@pytest.mark.parametrize("width", [1, (2, 0), ((0, 3), (1, 2), (0, 0)), ((9, 8), (20, 0), (0, 5)), 30])
def test_pads_are_numpys_and_so_are_their_gradients(mode: Any, width: Any) -> None:
    made = pliant.jit(lambda x: np.pad(x, width, mode))(X)
    np.testing.assert_array_equal(made, np.pad(X, width, mode))
    places = np.pad(np.arange(X.size).reshape(X.shape), width, mode).ravel()
    weights = np.arange(float(made.size)).reshape(made.shape)
    gradient = pliant.grad(lambda x: np.sum(np.pad(x, width, mode) * weights))(X)
    np.testing.assert_allclose(gradient.ravel(), np.bincount(places, weights.ravel(), X.size))


def test_constants_around_are_numpys_and_one_array_is_made() -> None:
    width, fills = ((1, 2), (3, 0), (0, 4)), np.arange(6.0).reshape(3, 2)

    def f(x: Any, fills: Any) -> Any:
        return np.pad(x, width, constant_values=fills)

    made = pliant.jit(f)(X, fills)
    np.testing.assert_array_equal(made, f(X, fills))
    weights = np.arange(float(made.size)).reshape(made.shape)
    gradients = pliant.grad(lambda x, fills: np.sum(f(x, fills) * weights), argnums=(0, 1))(X, fills)
    np.testing.assert_array_equal(gradients[0], weights[1:-2, 3:, :-4])
    of_fills = [np.sum(weights[f(0 * X, np.arange(6).reshape(3, 2) == n) == 1]) for n in range(6)]
    np.testing.assert_array_equal(gradients[1].ravel(), of_fills)
    known = ((1, 2), (3, 4), (5, 6))
    assert "0 of them in use" in str(pliant.explain(lambda x: np.pad(x, width, constant_values=known), X))


@pytest.mark.parametrize(
    ("shift", "axis"),
    [((3, 5), (0, 1)), ((-1, 2, 1), (0, 1, 2)), ((1, 1), (1, 1)), (2, (0, 2)), ((0, 7), (0, 1)), (9, None), (-3, -1)],
)
def test_rolls_are_numpys_and_turning_back_is_their_gradient(shift: Any, axis: Any) -> None:
    np.testing.assert_array_equal(pliant.jit(lambda x: np.roll(x, shift, axis))(X), np.roll(X, shift, axis))
    weights = np.arange(float(X.size)).reshape(X.shape)
    gradient = pliant.grad(lambda x: np.sum(np.roll(x, shift, axis) * weights))(X)
    np.testing.assert_array_equal(gradient, np.roll(weights, -np.asarray(shift), axis))


def test_rolls_by_known_and_computed_shifts() -> None:
    def f(x: Any, by: Any) -> Any:
        return np.roll(x, (by[0] * 1, 2), (0, 1))

    np.testing.assert_array_equal(pliant.jit(f)(X, np.array([3])), np.roll(X, (3, 2), (0, 1)))


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16", "i1", "u8", "?"])
@pytest.mark.parametrize(
    ("shape", "axis"), [((7,), 0), ((0,), 0), ((3, 5), None), ((4, 5), -1), ((4, 3), 0), ((3, 65), 0)]
)
def test_rolls_by_shifts_found_at_run_time_are_numpys(shape: Any, axis: Any, dtype: str) -> None:
    x = (np.arange(np.prod(shape)).reshape(shape) % 100).astype(dtype)
    f = pliant.jit(lambda x, by: np.roll(x, by, axis))
    for by in (0, 1, -1, 5, 7, -7, 2**40 + 3, -(2**40), np.int8(-128), np.uint8(200), np.array([2])):
        np.testing.assert_array_equal(f(x, by), np.roll(x, by, axis))


@pytest.mark.parametrize("wide", [2, 40])
def test_rolls_of_several_axes_found_at_run_time_have_derivatives_and_batches(wide: int) -> None:
    x = np.random.default_rng(5).normal(size=(4, 5, wide))
    weights = np.arange(float(x.size)).reshape(x.shape)
    f = pliant.jit(lambda x, a, b: np.roll(x, (a, b, a), (0, 1, 1)))
    np.testing.assert_array_equal(f(x, 3, -4), np.roll(x, (3, -4, 3), (0, 1, 1)))
    gradient = pliant.grad(lambda x, a, b: np.sum(f(x, a, b) * weights))(x, 3, -4)
    np.testing.assert_array_equal(gradient, np.roll(weights, (-3, 1), (0, 1)))
    by = np.array([0, 1, -3, 9])
    rows = pliant.vmap(lambda x, by: np.roll(x, by, 0))(x, by)
    np.testing.assert_array_equal(rows, np.stack([np.roll(row, n, 0) for row, n in zip(x, by, strict=True)]))
    same = pliant.vmap(lambda by: np.roll(x[0], by, 1))(by)
    np.testing.assert_array_equal(same, np.stack([np.roll(x[0], n, 1) for n in by]))


@pytest.mark.parametrize("f", [lambda x: np.pad(x, 3, "edge"), lambda x: np.roll(x, (3, 5), (0, 1))])
def test_all_axes_are_one_pass_without_workspace(f: Any) -> None:
    text = str(pliant.explain(f, np.ones((300, 400))))
    assert "workspace: 64 bytes" in text and "\n1: " not in text


def test_pieces_of_pieces_with_other_readers_are_right() -> None:
    def f(x: Any) -> Any:
        rows = np.concatenate([np.exp(x), np.sin(x[:2] + 1.0)], 0)
        return np.concatenate([rows, rows * 2.0, np.concatenate([x, x[:2]], 0)], 1), rows

    for got, expected in zip(pliant.jit(f)(X), f(X), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-14)
