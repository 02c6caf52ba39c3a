"""What NumPy does with Python's numbers, requirements and axes in its own ways, and Pliant does too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import pliant
from pliant.errors import ArgumentError, UnsupportedError

SMALL = np.array([1, 2, 3], np.uint8)
GRID = np.arange(6.0).reshape(2, 3)


@pytest.mark.parametrize("number", [300, -1, 3, 3.5, True])
def test_where_takes_a_number_as_an_array_would_be_cast(number: Any) -> None:
    def f(x: Any, n: Any) -> Any:
        return np.where(x > 1, x, number), np.where(x > 1, n, x)

    for got, wanted in zip(pliant.jit(f)(SMALL, number), f(SMALL, number), strict=True):
        assert_array_equal(got, wanted, strict=True)


@pytest.mark.parametrize("number", [300, -1, 2, 1.5])
def test_searchsorted_takes_a_number_as_an_array(number: Any) -> None:
    def f(x: Any, n: Any) -> Any:
        return np.searchsorted(x, number), np.searchsorted(x, n, side="right"), np.digitize(n, x)

    for got, wanted in zip(pliant.jit(f)(SMALL, number), f(SMALL, number), strict=True):
        assert_array_equal(got, wanted, strict=True)


@pytest.mark.parametrize("requirements", [None, "F", ["C", "O"], ["W", "A"], ["FORTRAN"]])
def test_require_copies_where_numpy_does(requirements: Any) -> None:
    def f(x: Any) -> Any:
        y = np.require(x.T, np.float64, requirements)
        y[0] += 10.0
        return y

    given, wanted = GRID.copy(), GRID.copy()
    assert_array_equal(pliant.jit(f)(given), f(wanted), strict=True)
    assert_array_equal(given, wanted)


def test_a_check_that_would_raise_by_numbers_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="raises an error where an element is not finite"):
        pliant.jit(lambda x: np.asarray_chkfinite(x))(GRID)


@pytest.mark.parametrize("other", [None, "text", {}])
def test_no_element_of_an_array_is_equal_to_what_is_no_number(other: Any) -> None:
    def f(x: Any) -> Any:
        return x == other, other != x, x[0, 1] == other

    for got, wanted in zip(pliant.jit(f)(GRID), f(GRID), strict=True):
        assert_array_equal(got, wanted, strict=type(wanted) is np.ndarray)


def test_a_list_differs_from_an_array_element_by_element() -> None:
    def f(x: Any) -> Any:
        return x[:2, 0] != [1.0, 2.0], x[:2, 0] != [1.0, 2.0], x[:2, 0] == (1.0, 2.0)

    for got, wanted in zip(pliant.jit(f)(GRID), f(GRID), strict=True):
        assert_array_equal(got, wanted, strict=True)


WITH_FLOATS: dict[str, Callable[[Any], Any]] = {
    "sum": lambda x: x.sum(axis=0.5),
    "reshape": lambda x: x.reshape(3.0, 2),
    "reshape by text": lambda x: x.reshape("6"),
    "broadcast": lambda x: np.broadcast_to(x, (2.0, 2, 3)),
    "tile": lambda x: np.tile(x, 1.5),
    "diff": lambda x: np.diff(x, n=1.5),
    "round": lambda x: np.round(x, 0.5),
    "fft": lambda x: np.fft.fft(x, 2.5),
}


@pytest.mark.parametrize("f", WITH_FLOATS.values(), ids=WITH_FLOATS)
def test_a_float_is_no_axis_and_no_extent(f: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError):
        f(GRID)
    with pytest.raises(ArgumentError, match="expected an integer, got"):
        pliant.jit(f)(GRID)


def test_ndenumerate_gives_pairs_wherever_it_is_used() -> None:
    def f(x: Any) -> Any:
        table = {place: v for place, v in np.ndenumerate(x)}
        first = next(iter(np.ndenumerate(x)))
        return table[1, 2] + first[1], dict(np.ndenumerate(x))[0, 1]

    assert pliant.jit(f)(GRID) == f(GRID)


@pytest.mark.parametrize(
    "f", [lambda x: np.sum(x, axis=3), lambda x: np.concatenate([x, x], axis=2), lambda x: x.T.sum(2)]
)
def test_a_wrong_axis_is_what_numpy_calls_it(f: Callable[..., Any]) -> None:
    with pytest.raises(np.exceptions.AxisError):
        f(GRID)
    with pytest.raises(np.exceptions.AxisError):
        pliant.jit(f)(GRID)


@pytest.mark.parametrize("ufunc", [np.hypot, np.gcd, np.bitwise_xor, np.logaddexp2])
@pytest.mark.parametrize("axis", [0, 1, (0, 1), ()])
def test_a_reduction_over_one_element_begins_with_the_identity(ufunc: np.ufunc, axis: Any) -> None:
    x = np.array([[-3, 2]] if ufunc in (np.gcd, np.bitwise_xor) else [[-1.5, 2.0]])
    for y in (x, x[:, :1]):
        wanted = ufunc.reduce(y, axis=axis)
        assert_array_equal(pliant.jit(lambda y: ufunc.reduce(y, axis=axis))(y), wanted, strict=True)


def test_the_slope_of_hypot_of_one_element_is_that_of_its_absolute_value() -> None:
    assert_array_equal(
        pliant.grad(lambda x: np.sum(np.hypot.reduce(x, axis=0)))(np.array([[-2.0, 3.0]])), [[-1.0, 1.0]]
    )


def test_bincount_of_nothing_counts() -> None:
    def f(i: Any, w: Any) -> Any:
        return np.bincount(i, w, minlength=3)

    none = np.zeros(0, np.int64)
    assert_array_equal(pliant.jit(f)(none, none * 1.0), f(none, none * 1.0), strict=True)


def test_lines_of_no_elements() -> None:
    def f(x: Any) -> Any:
        return np.apply_along_axis(lambda r: r * r[::-1], 0, x)

    x = np.zeros((0, 3, 2))
    assert_array_equal(pliant.jit(f)(x), f(x), strict=True)


def test_an_array_that_is_filled_keeps_its_order_in_memory() -> None:
    def f(x: Any) -> Any:
        y = np.clip(x, 0.0, 2.0, out=x.copy())
        z = np.add.accumulate(x, axis=0, out=x.copy(order="F"))
        flat = y.reshape(-1), z.reshape(-1)
        flat[0][0], flat[1][1] = 7.0, 8.0
        return y, z, *flat

    for x in (GRID, GRID.T):
        for got, wanted in zip(pliant.jit(f)(x), f(x), strict=True):
            assert_array_equal(got, wanted, strict=True)
