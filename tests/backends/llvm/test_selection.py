"""Rows of which some places are as in a sorted row, smaller elements before them and greater ones after."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.backends.llvm import BACKEND, packed, selection
from pliant.core.build import trace
from pliant.core.types import DTYPES, Type
from pliant.kernel.ir import Routine
from pliant.ops.sort import Argpartition, Partition

ROWS: dict[str, Any] = {
    "normal": lambda rng, n: rng.standard_normal((2, n)) * 1000,
    "heavy tails": lambda rng, n: np.exp(rng.standard_normal((2, n)) * 5),
    "five numbers": lambda rng, n: rng.integers(0, 5, (2, n)),
    "forty numbers": lambda rng, n: rng.integers(0, 40, (2, n)),
    "one number": lambda _, n: np.ones((2, n)),
    "up": lambda _, n: np.arange(2 * n).reshape(2, n),
    "down": lambda _, n: np.arange(2 * n)[::-1].reshape(2, n),
    "saw": lambda _, n: np.arange(2 * n).reshape(2, n) % 37,
    "few that differ": lambda _, n: np.where(np.arange(2 * n).reshape(2, n) % 500, 7, np.arange(2 * n).reshape(2, n)),
}


def assert_selected(y: Any, x: Any, first: int, last: int):
    """Whether y has the elements of x in an order with the places from first to last as in the sorted x."""
    wanted = np.sort(x)
    np.testing.assert_array_equal(np.sort(y), wanted)
    np.testing.assert_array_equal(y[:, first : last + 1], wanted[:, first : last + 1])
    np.testing.assert_array_equal(np.sort(y[:, :first]), wanted[:, :first])


@pytest.mark.parametrize("n", [selection.FEWEST, 1500, 20001])
@pytest.mark.parametrize("dtype", selection.DTYPES)
def test_places_are_as_in_a_sorted_row(dtype: str, n: int):
    for first, last in (
        (0, 0),
        (n - 1, n - 1),
        (n // 2 - 1, n // 2),
        (n // 3, n // 3 + n // 10),
        (n - 100, n - 99),
    ):
        compiled = BACKEND.compile(trace(Partition(1, first, last), Type(dtype, (2, n))))
        ordered = BACKEND.compile(trace(Argpartition(1, first, last), Type(dtype, (2, n))))
        for row in ROWS.values():
            drawn = row(np.random.default_rng(0), n)
            x = np.minimum(np.abs(drawn) if dtype[0] == "u" else drawn, 3e4).astype(DTYPES[dtype])
            before = x.copy()
            assert_selected(compiled([x])[0], x, first, last)
            order = ordered([x])[0]
            np.testing.assert_array_equal(np.sort(order), [range(n)] * 2)
            assert_selected(np.take_along_axis(x, order, 1), x, first, last)
            np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize("every", [2, 3, 1000, 5000])
def test_nan_is_the_greatest(dtype: str, every: int):
    x = np.random.default_rng(0).standard_normal((3, 5000)).astype(DTYPES[dtype])
    x[0, ::every], x[1, ::every], x[2, ::every] = np.nan, -np.nan, np.inf
    x[2, 1::every], x[0, 1], x[1, 2] = -np.inf, np.inf, -np.inf
    for place in (0, 2500, 4998, 4999):
        compiled = BACKEND.compile(trace(Partition(1, place, place), Type(dtype, x.shape)))
        assert_selected(compiled([x])[0], x, place, place)
        ordered = BACKEND.compile(trace(Argpartition(1, place, place), Type(dtype, x.shape)))
        assert_selected(np.take_along_axis(x, ordered([x])[0], 1), x, place, place)


def test_what_is_sorted_as_quickly_is_sorted():
    def steps(n: int, first: int, last: int) -> list[Any]:
        compiled: Any = BACKEND.compile(trace(Partition(0, first, last), Type("f64", (n,))))
        return [step.node.op.name for step in compiled.program.steps if isinstance(step, Routine)]

    assert steps(5000, 10, 20) == ["partition"]
    assert steps(5000, 10, 2000) == ["sort"]
    assert steps(100, 10, 20) == ["sort"]


@pytest.mark.parametrize("kth", [0, -1, 700, (5, 9), [-3, 1990], [100, 101]])
@pytest.mark.parametrize("axis", [0, 1, None])
def test_np_partition_has_numpys_guarantees(kth: Any, axis: int | None):
    x = np.random.default_rng(0).standard_normal((2000, 2)) if axis == 0 else np.random.default_rng(0).random((2, 2000))
    y = pliant.jit(lambda x: np.partition(x, kth, axis))(x)
    rows, wanted = (np.atleast_2d(a.T if axis == 0 else a) for a in (y, np.sort(x, axis)))
    for place in np.atleast_1d(kth):
        at = place % rows.shape[1]
        np.testing.assert_array_equal(np.sort(rows[:, :at]), wanted[:, :at])
        np.testing.assert_array_equal(rows[:, at], wanted[:, at])


@pytest.mark.parametrize("f", [np.median, lambda x: np.percentile(x, 99), lambda x: np.quantile(x, [0.5, 0.52])])
def test_quantiles_of_long_rows_and_their_derivatives(f: Any):
    x = np.random.default_rng(0).integers(0, 300, 4001).astype(float)
    np.testing.assert_array_equal(pliant.jit(f)(x), f(x))
    slope = pliant.grad(lambda x: np.sum(f(x)))(x)
    np.testing.assert_allclose(np.sum(slope), np.size(f(x)))
    for number in np.unique(x):  # equal elements share it evenly
        assert np.ptp(slope[x == number]) == 0
    x[7] = np.nan
    np.testing.assert_array_equal(pliant.jit(f)(x), f(x))


@pytest.mark.parametrize("axis", [0, 1, 2, (0, 2), None])
def test_quantiles_along_each_axis(axis: Any):
    x = np.random.default_rng(0).standard_normal((12, 1500, 3))
    for f in (lambda x: np.median(x, axis), lambda x: np.percentile(x, [3, 5], axis), lambda x: np.nanmedian(x, axis)):
        np.testing.assert_allclose(pliant.jit(f)(x), f(x), rtol=1e-13)


@pytest.mark.parametrize("size", [4, 8])
def test_tables_have_the_lanes_that_are_wanted_first(size: int):
    lanes, parts = packed.lanes_of(size), size // 4
    rows = re.findall(r"\[8 x i8\] \[([^]]*)\]", packed.table_of(size))
    for wanted, row in enumerate(rows):
        places = [int(place.removeprefix("i8 ")) for place in row.split(", ")]
        moved = np.arange(packed.PARTS).reshape(lanes, parts)[[place // parts for place in places[::parts]]].ravel()
        np.testing.assert_array_equal(places, moved)
        first = [place // parts for place in places[::parts]][: wanted.bit_count()]
        assert sum([1 << lane for lane in first]) == wanted


def test_rows_are_taken_in_vectors_where_there_are_some():
    texts = [selection.text_of("select", "f64", "@sort", table=table) for table in ("", "ptr @c0")]
    assert ["call <8 x i32> @llvm.x86.avx2.permd" in text for text in texts] == [False, True]
