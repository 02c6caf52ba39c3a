"""Updates of places that steps in a row name again and again."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.backends.llvm.again import LEAST, PAIRS
from pliant.backends.llvm.compiler import assembly, can
from pliant.kernel.verified import build_verified
from pliant.pipeline import optimise

EVERY = LEAST + 37  # steps
PLACES = {
    "sorted": np.sort(np.random.default_rng(1).integers(0, 6, EVERY)),
    "one": np.full(EVERY, 3),
    "one, counted from the end": np.full(EVERY, -2),
    "one at first, then any": np.concatenate(
        (np.full(PAIRS, 5), np.random.default_rng(2).integers(0, 7, EVERY - PAIRS))
    ),
    "runs": np.arange(EVERY) // 40 % 7,
    "any": np.random.default_rng(3).integers(0, 7, EVERY),
    "in turn": np.arange(EVERY) % 2,
}
DTYPES = ("float16", "float32", "float64", "complex64", "complex128", "int64", "bool")


def numbers(dtype: str, *shape: int) -> Any:
    """Numbers of a dtype, all of different sizes."""
    made = np.random.default_rng(4).standard_normal(shape) * np.exp(np.random.default_rng(5).standard_normal(shape))
    return (made + 1j * made[::-1] if dtype[0] == "c" else 3 * made).astype(dtype)


def added(x: Any, i: Any, u: Any) -> Any:
    """x with u added at i."""
    y = x.copy()
    np.add.at(y, i, u)
    return y


def multiplied(x: Any, i: Any, u: Any) -> Any:
    """x with the places i multiplied by u."""
    y = x.copy()
    np.multiply.at(y, i, u)
    return y


def largest(x: Any, i: Any, u: Any) -> Any:
    """The largest of x and u at each place."""
    y = x.copy()
    np.maximum.at(y, i, u)
    return y


def assert_same_bits(got: Any, want: Any) -> None:
    """Neither differs, zeros' signs included."""
    assert got.dtype == want.dtype
    assert got.tobytes() == want.tobytes()


@pytest.mark.parametrize("kind", PLACES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_additions_are_numpys_bit_for_bit(dtype: str, kind: str) -> None:
    x, u = numbers(dtype, 7), numbers(dtype, EVERY)
    assert_same_bits(pliant.jit(added)(x, PLACES[kind], u), added(x, PLACES[kind], u))


@pytest.mark.parametrize("kind", PLACES)
@pytest.mark.parametrize("fn", [multiplied, largest])
def test_other_updates_are_numpys_bit_for_bit(fn: Any, kind: str) -> None:
    x, u = numbers("float64", 7), np.exp(numbers("float64", EVERY) / 1000)
    assert_same_bits(pliant.jit(fn)(x, PLACES[kind], u), fn(x, PLACES[kind], u))


@pytest.mark.parametrize("width", [1, 2, 3, 4, 5, 9])
@pytest.mark.parametrize("dtype", ["float32", "complex128"])
@pytest.mark.parametrize("kind", PLACES)
def test_rows_are_added(kind: str, dtype: str, width: int) -> None:
    x, u = numbers(dtype, 7, width), numbers(dtype, EVERY, width)
    assert_same_bits(pliant.jit(added)(x, PLACES[kind], u), added(x, PLACES[kind], u))


@pytest.mark.parametrize("kind", PLACES)
def test_columns_of_a_matrix_are_added(kind: str) -> None:
    def columns(x: Any, i: Any, u: Any) -> Any:
        y = x.copy()
        np.add.at(y, (slice(None), i), u)
        return y

    x, u = numbers("float64", 3, 7), numbers("float64", 3, EVERY)
    assert_same_bits(pliant.jit(columns)(x, PLACES[kind], u), columns(x, PLACES[kind], u))


@pytest.mark.parametrize("kind", PLACES)
def test_places_of_two_indices(kind: str) -> None:
    x, u, i, j = numbers("float64", 7, 7), numbers("float64", 2, EVERY), PLACES[kind], PLACES["sorted"][::-1]
    at = np.stack((i, i[::-1])), np.stack((j, j))
    assert_same_bits(pliant.jit(added)(x, at, u), added(x, at, u))


@pytest.mark.parametrize(
    ("dtype", "count", "is_kept"),
    [("float32", LEAST, True), ("complex64", LEAST, True), ("float32", LEAST - 1, False), ("int64", LEAST, False)],
)
def test_what_is_kept_at_hand(dtype: str, count: int, *, is_kept: bool) -> None:
    args = numbers(dtype, 7), np.zeros(count, int), numbers(dtype, count)
    text = assembly(build_verified(optimise(pliant.trace(added, *args)), can))[0]
    assert (re.search(r"select i1 %\w+, ptr", text) is not None) == is_kept


@pytest.mark.parametrize("kind", PLACES)
def test_batches_and_gradients(kind: str) -> None:
    def loss(u: Any, i: Any) -> Any:
        return np.sum(added(np.zeros(7), i, u) ** 2)

    i, u = np.stack((PLACES[kind], PLACES["sorted"])), numbers("float64", 2, EVERY)
    got = pliant.vmap(pliant.grad(loss))(u, i)
    for row, places, mine in zip(got, i, u, strict=True):
        np.testing.assert_allclose(row, 2 * added(np.zeros(7), places, mine)[places], rtol=1e-12)


@pytest.mark.parametrize("at", [0, PAIRS + 1, EVERY - 1])
def test_an_index_out_of_range_among_equal_ones(at: int) -> None:
    places = np.full(EVERY, 3)
    places[at] = 7
    x = np.zeros(7)
    with pytest.raises(IndexError, match="7"):
        pliant.jit(added)(x, places, np.ones(EVERY))

    def in_place(x: Any, i: Any, u: Any) -> None:
        np.add.at(x, i, u)

    with pytest.raises(IndexError, match="7"):
        pliant.jit(in_place)(x, places, np.ones(EVERY))
    assert not x.any()


def test_counts_in_a_loop_around() -> None:
    def histograms(i: Any, u: Any) -> Any:
        total = np.zeros(7)
        for n in range(3):
            h = np.zeros(7)
            np.add.at(h, i, u * (n + 1))
            total += h**2
        return total

    for kind, places in PLACES.items():
        u = numbers("float64", EVERY)
        np.testing.assert_allclose(pliant.jit(histograms)(places, u), histograms(places, u), rtol=1e-13, err_msg=kind)
