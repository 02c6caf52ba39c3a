"""Places of extrema are NumPy's, whichever way they are found: the first, and NaN before all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import pliant
from pliant.kernel.extrema import FEW, SHORT, has_vectors
from pliant.pipeline import optimise

RNG = np.random.default_rng(11)
SHAPES = [(1, 1), (1, FEW), (700, 2), (33, SHORT), (33, SHORT + 1), (3, 128), (9, 700), (4, 257, 2)]


def with_ties(shape: tuple[int, ...], dtype: str) -> Any:
    """Few different numbers, so that most extrema are reached several times."""
    x = RNG.integers(0, 5, shape)
    return (x > 3 if dtype == "?" else x - (0 if dtype[0] == "u" else 2)).astype(dtype)


def same_places(x: Any) -> None:
    for f in (np.argmax, np.argmin):
        for axis in (None, *range(x.ndim)):
            made = pliant.jit(lambda x, f=f, axis=axis: f(x, axis=axis))(x)
            assert_array_equal(made, f(x, axis=axis), strict=True)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["?", "i1", "u8", "f4"])
def test_the_first_of_several_is_found(shape: tuple[int, ...], dtype: str):
    same_places(with_ties(shape, dtype))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["f2", "f8"])
def test_the_first_nan_is_found(shape: tuple[int, ...], dtype: str):
    x = with_ties(shape, dtype)
    for share in (0.001, 0.1, 1.0):
        x[RNG.random(shape) < share] = np.nan
        same_places(x)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_of_nothing_but_the_worst_it_is_the_first(dtype: str):
    for x in np.inf, -np.inf, -0.0:
        same_places(np.full((40, 50), x, dtype))
        same_places(np.full((2, 1000), x, dtype))
    zeros = with_ties((30, 300), dtype) * 0.0  # both zeros are equal
    same_places(zeros)


@pytest.mark.parametrize("dtype", ["i1", "u1", "i8", "u8"])
def test_of_nothing_but_the_least_number_it_is_the_first(dtype: str):
    for x in np.iinfo(dtype).min, np.iinfo(dtype).max:
        same_places(np.full((40, 50), x, dtype))
        same_places(np.full((2, 1000), x, dtype))


@pytest.mark.parametrize("shape", [(1000, 7), (7, 1000), (1, 5000)])
def test_of_what_is_computed_and_seen_otherwise(shape: tuple[int, ...]):
    x = RNG.normal(size=shape)
    for f in (
        lambda x: np.argmax(np.sin(x), axis=1),
        lambda x: np.argmin(x[::-1, ::-1].T, axis=1),
        lambda x: np.argmax(x[:, ::3], axis=0),
        lambda x: x - np.take_along_axis(x, np.argmax(x, axis=1)[:, None], axis=1),
        lambda x: np.argmax(x - np.mean(x, axis=1, keepdims=True)),
        lambda x: np.nanargmax(np.where(x < np.max(x), x, np.nan), axis=1),
    ):
        assert_array_equal(pliant.jit(f)(x), f(x))


def test_in_batches_and_derivatives():
    x = RNG.normal(size=(40, 12, 30))
    assert_array_equal(pliant.vmap(lambda x: np.argmax(x, axis=0))(x), np.argmax(x, axis=1))

    def largest(x: Any) -> Any:
        return np.sum(np.take_along_axis(x, np.argmax(x, axis=1)[:, None], axis=1) ** 2)

    wanted = np.where(x == np.max(x, axis=1, keepdims=True), 2 * x, 0)
    assert_array_equal(pliant.grad(largest)(x), wanted)


@pytest.mark.parametrize(
    ("shape", "axis", "apart"),
    [((1000, 5), 1, True), ((1000, 500), 0, True), ((1000, 500), 1, False), ((100000,), 0, False), ((9, 5), 0, False)],
)
def test_long_rows_are_searched_one_by_one(shape: tuple[int, ...], axis: int, apart: bool):
    fn = optimise(pliant.trace(lambda x: np.argmax(x, axis=axis), np.ones(shape)))
    assert has_vectors(fn.results[0].node) == apart


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "u1", "?"])
@pytest.mark.parametrize("n", [4095, 4096, 4097, 5000])
def test_long_rows_are_searched_in_long_blocks(n: int, dtype: str) -> None:
    drawn = np.random.default_rng(n).integers(0, 2 if dtype == "?" else 200, (4, n)).astype(dtype)
    drawn[1] = drawn[1, 0]
    drawn[2] = 0
    drawn[2, -1] = 1
    if drawn.dtype.kind == "f":
        drawn[3, n - 2 :] = np.nan
    for f in (np.argmax, np.argmin):
        made = pliant.jit(lambda x, f=f: (f(x, axis=1), f(x[2]), f(x[3])))(drawn)
        for got, wanted in zip(made, (f(drawn, axis=1), f(drawn[2]), f(drawn[3])), strict=True):
            np.testing.assert_array_equal(got, wanted)
