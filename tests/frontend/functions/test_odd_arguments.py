"""Arguments that NumPy's functions take as well: arrays of coefficients, of no elements, numbers of few bits."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import ArgumentError, DTypeError, ShapeError, TracedValueError, UnsupportedError
from pliant.testing import check_gradient

ROWS = np.cos(np.arange(6.0)).reshape(3, 2)


@pytest.mark.parametrize(("p", "x"), [(ROWS, 2.0), (ROWS, ROWS[0]), (ROWS, ROWS[:, :1]), (ROWS[:0], ROWS[0])])
def test_polynomials_are_evaluated_for_rows_of_coefficients(p: Any, x: Any) -> None:
    made = pliant.jit(np.polyval)
    for factor in (1, 2):
        np.testing.assert_allclose(made(p * factor, x), np.polyval(p * factor, x), rtol=1e-15, strict=True)
    check_gradient(lambda p, x: np.sum(np.exp(np.polyval(p, x))), p, x)


@pytest.mark.parametrize("axes", [range(2), {0, 1}, {0: 0, 1: 0}.keys(), np.arange(2), [0, 1]], ids=str)
@pytest.mark.parametrize(
    "f",
    [
        lambda x, axes: np.moveaxis(x, axes, (1, 2)),
        lambda x, axes: np.moveaxis(x, (2, 1), axes),
        lambda x, axes: np.moveaxis(x[x[:, 0, 0] > 3], axes, (2, 1)),
        lambda x, axes: np.flip(x, axes),
        lambda x, axes: np.roll(x, 1, axes),
        lambda x, axes: np.roll(x, (1, 2), axes),
        lambda x, axes: np.median(x, axes),
        lambda x, axes: np.quantile(x, 0.3, axes, keepdims=True),
        lambda x, axes: np.average(x, axes),
        lambda x, axes: np.gradient(x, axis=axes),
        lambda x, axes: np.fft.fftshift(x, axes),
        lambda x, axes: np.lib.stride_tricks.sliding_window_view(x, (2, 1), axes),
    ],
)
def test_axes_are_any_collection(f: Callable[..., Any], axes: Any) -> None:
    x = np.arange(24.0).reshape(2, 3, 4)
    np.testing.assert_allclose(pliant.jit(lambda x: f(x, axes))(x), f(x, axes), rtol=1e-14, strict=True)


OF_LISTS: list[Callable[..., Any]] = [
    lambda x, i: np.take(x, i),
    lambda x, i: np.take([x, x], i[1], axis=1, mode="wrap"),
    lambda x, i: np.unique(x),
    lambda x, i: np.unique([x, x], axis=0),
    lambda x, i: np.unique([x, x], return_counts=True)[1],
    lambda x, i: np.intersect1d(x, x),
    lambda x, i: np.setdiff1d(x, [x[0], 1.0]),
    lambda x, i: np.setxor1d(x, [x[0], 1.0]),
    lambda x, i: np.r_[x, 1.0],
    lambda x, i: np.r_[0:3, x, i[0]],
    lambda x, i: np.r_["0,2", x, x],
    lambda x, i: np.c_[x, x],
    lambda x, i: np.fft.fftshift(x),
]


@pytest.mark.parametrize("f", OF_LISTS)
def test_lists_of_numbers_are_arrays(f: Callable[..., Any]) -> None:
    x, i = [0.3, 0.1, 0.2], np.array([[0, 1], [2, 0]])
    np.testing.assert_allclose(pliant.jit(f)(x, i), f(x, i), strict=True)


def test_the_strides_of_a_view_are_any_sequence() -> None:
    def f(x: Any) -> Any:
        return np.lib.stride_tricks.as_strided(x, range(3, 5), np.array([8, 8]))

    np.testing.assert_array_equal(pliant.jit(f)(np.arange(6.0)), f(np.arange(6.0)))
    with pytest.raises(ArgumentError, match="expected an integer, got str 'a'"):
        pliant.jit(lambda x: np.lib.stride_tricks.as_strided(x, "a"))(np.arange(6.0))


def test_rows_of_coefficients_that_do_not_fit_are_an_error() -> None:
    with pytest.raises(ShapeError, match="broadcast"):
        pliant.jit(np.polyval)(ROWS, np.ones(3))


def test_nothing_is_repeated() -> None:
    f = pliant.jit(lambda x: (np.repeat(x, []), np.repeat(x[:, None], (), axis=0)))
    np.testing.assert_array_equal(pliant.jit(lambda x: np.repeat(x, [2.0, 1.0]))(ROWS[0]), np.repeat(ROWS[0], [2, 1]))
    for made, wanted in zip(f(np.zeros(0)), (np.zeros(0), np.zeros((0, 1))), strict=True):
        np.testing.assert_array_equal(made, wanted, strict=True)


@pytest.mark.parametrize(
    ("times", "error", "text"),
    [
        (
            lambda: np.array([1.0, 2.0, 3.0]),
            DTypeError,
            r"Cannot cast array data from dtype\('float64'\) to dtype\('int64'\)",
        ),
        (lambda: [1, 2], ShapeError, r"operands could not be broadcast together with shape \(3,\) \(2,\)"),
        (lambda: [1, -2, 0], ShapeError, "repeats may not contain negative values"),
    ],
)
def test_what_repeats_cannot_be_is_said(times: Any, error: type[Exception], text: str) -> None:
    with pytest.raises((ValueError, TypeError)):
        np.repeat(np.arange(3.0), times())
    with pytest.raises(error, match=text):
        pliant.jit(lambda x: np.repeat(x, times()))(np.arange(3.0))


@pytest.mark.parametrize(("shape", "axis"), [((0, 3), 0), ((0, 3, 2), 0), ((3, 0), 1), ((2, 0, 3), -2)])
def test_lines_of_which_there_are_none_are_unique(shape: tuple[int, ...], axis: int) -> None:
    def f(x: Any) -> Any:
        first = np.unique(x, axis=axis)
        return (first, *np.unique(x, True, False, True, axis=axis))

    for made, wanted in zip(pliant.jit(f)(np.zeros(shape)), f(np.zeros(shape)), strict=True):
        np.testing.assert_array_equal(made, wanted, strict=True)


@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "u8", "f4", "f8", "i8"])
@pytest.mark.parametrize(
    "f", [lambda x: np.arange(x[1], x[4]), lambda x: np.arange(x[4]), lambda x: np.arange(x[1], x[5], 2)]
)
def test_ranges_have_the_dtype_of_integers_at_least(f: Callable[[Any], Any], dtype: str) -> None:
    compiled = pliant.jit(f)
    for x in (np.arange(6).astype(dtype), (np.arange(6) + 3).astype(dtype)):
        with warnings.catch_warnings(action="ignore"):
            np.testing.assert_array_equal(compiled(x), f(x), strict=True)


def test_ufuncs_of_python_functions_are_named() -> None:
    with pytest.raises(UnsupportedError, match=r"np.frompyfunc of <lambda> is not (?s:.*)np.vectorize"):
        pliant.jit(lambda x: np.frompyfunc(lambda a: a + 1, 1, 1)(x))(ROWS)


def test_what_only_numbers_have_is_asked_of_numbers_that_are_known() -> None:
    compiled = pliant.jit(lambda n: (n.to_bytes(2, "big"), hasattr(n, "hex"), n.as_integer_ratio()))
    for n in (7, 300):
        assert compiled(n) == (n.to_bytes(2, "big"), False, (n, 1))
    for f in (lambda s: s.as_integer_ratio(), lambda s: s.hex()):
        with pytest.raises(TracedValueError, match=r"float\.\w+ needs a number(?s:.*)return the number"):
            pliant.jit(f)(2.5)
