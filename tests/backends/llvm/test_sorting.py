"""Rows are sorted by NumPy's own routines, where they lie."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant
from pliant.backends.llvm import BACKEND, counted, sorting
from pliant.core.build import trace
from pliant.core.types import DTYPES, Type
from pliant.kernel.ir import Routine
from pliant.ops.sort import Argsort, Sort


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(0,), (1,), (33,), (3, 0), (4, 101), (2, 3, 17)])
def test_rows_are_sorted_as_by_numpy(dtype: str, shape: tuple[int, ...]):
    type = Type(dtype, shape)
    compiled = BACKEND.compile(trace(Sort(len(shape) - 1), type))
    x = (np.random.default_rng(0).standard_normal(shape) * 50).astype(DTYPES[dtype])
    if type.is_float and x.size > 3:
        x.reshape(-1)[2] = np.nan
    before = x.copy()
    np.testing.assert_array_equal(compiled([x])[0], np.sort(x))
    np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(0,), (1,), (33,), (3, 0), (4, 101), (2, 3, 17), (1000,)])
@pytest.mark.parametrize("stable", [True, False])
def test_rows_are_ordered_as_by_numpy(dtype: str, shape: tuple[int, ...], stable: bool):
    type = Type(dtype, shape)
    compiled = BACKEND.compile(trace(Argsort(len(shape) - 1, stable), type))
    x = (np.random.default_rng(0).standard_normal(shape) * 5).astype(DTYPES[dtype])
    if type.is_float and x.size > 3:
        x.reshape(-1)[2] = np.nan
    before = x.copy()
    np.testing.assert_array_equal(compiled([x])[0], np.argsort(x, stable=stable))
    np.testing.assert_array_equal(x, before)
    assert isinstance(compiled.program.steps[0], Routine)


@pytest.mark.parametrize(
    "how", [{}, {"kind": "quicksort"}, {"kind": "stable"}, {"kind": "mergesort"}, {"stable": True}]
)
@pytest.mark.parametrize("axis", [0, 1, None])
def test_equal_elements_come_in_numpys_order_of_each_kind(how: dict[str, Any], axis: int | None):
    x = np.random.default_rng(0).integers(0, 20, (70, 90)).astype(float)
    got = pliant.jit(lambda x: np.argsort(x, axis, **how))(x)
    np.testing.assert_array_equal(got, np.argsort(x, axis, **how))


def test_keys_are_ordered_one_after_the_other():
    x, y = np.random.default_rng(0).integers(0, 5, (2, 1000))
    np.testing.assert_array_equal(pliant.jit(lambda x, y: np.lexsort((x, y)))(x, y), np.lexsort((x, y)))


def test_sorts_in_loops_and_their_derivatives_call_no_python():
    def medians(x: Any) -> Any:
        made = np.zeros(8)
        for i in range(8):
            made[i] = np.sort(x[i : i + 5])[2] * np.argsort(x[i : i + 5])[0]
        return np.sum(made**2)

    x = np.random.default_rng(0).standard_normal(12)
    assert "0 calls into Python" in str(pliant.explain(pliant.grad(medians), x))
    assert pliant.jit(medians)(x) == pytest.approx(medians(x))


def test_a_routine_that_does_not_sort_is_not_used(monkeypatch: pytest.MonkeyPatch):
    with monkeypatch.context() as patch:
        patch.setattr(sorting, "sorts", lambda *_: False)
        sorting.sorter.cache_clear()
        assert not sorting.has(Sort(0), (Type("f64", (9,)),))
    sorting.sorter.cache_clear()
    assert sorting.has(Sort(0), (Type("f64", (9,)),))
    assert not sorting.has(Sort(0), (Type("f64", (9, 9)),))


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_other_axes_are_sorted_as_rows(axis: int):
    x = np.random.default_rng(0).integers(0, 9, (7, 8, 9)).astype(float)

    def f(x: Any) -> Any:
        return np.sort(x, axis), np.argsort(x, axis), np.argsort(x, axis, "stable")

    for got, wanted in zip(pliant.jit(f)(x), f(x), strict=True):
        np.testing.assert_array_equal(got, wanted)
    assert "0 calls into Python" in str(pliant.explain(pliant.jit(f), x))


def test_an_argument_is_sorted_where_it_lies():
    def f(x: Any) -> None:
        x.sort()

    code: Any = BACKEND.compile(trace(Sort(0), Type("f64", (100,))), pinned=((0, 0),))
    assert [type(step) for step in code.program.steps] == [Routine]
    x = np.random.default_rng(1).standard_normal(100)
    wanted = np.sort(x)
    pliant.jit(f)(x)
    np.testing.assert_array_equal(x, wanted)


@pytest.mark.parametrize("dtype", ["u1", "i1", "?"])
@pytest.mark.parametrize("n", [counted.FEWEST - 1, counted.FEWEST, 257, 258, 259, 5000])
def test_elements_of_one_byte_are_sorted(dtype: str, n: int):
    drawn = np.random.default_rng(n).integers(0, 256, (3, n)).astype("u1")
    x = drawn > 99 if dtype == "?" else drawn.view(dtype)

    def f(x: Any) -> Any:
        y = x.copy()
        y.sort()
        return np.sort(x), np.sort(x.T, 0), np.sort(x[1]), y, np.partition(x, n // 2)[:, n // 2]

    for got, wanted in zip(pliant.jit(f)(x), f(x), strict=True):
        np.testing.assert_array_equal(got, wanted, strict=True)
