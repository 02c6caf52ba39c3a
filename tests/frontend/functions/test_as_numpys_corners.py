"""Corners of NumPy's functions: infinite neighbours, half floats, arrays without elements, functions of functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant

LINES = [
    [np.inf],
    [np.inf, np.inf],
    [-np.inf, np.inf, 1.0],
    [1.0, np.inf],
    [np.inf, 1.0, np.inf, np.inf],
    [2.0, np.nan, np.inf],
]


def alike(f: Callable[..., Any], *xs: Any) -> None:
    """NumPy's result, in its dtype, of an array or a scalar as NumPy's."""
    with np.errstate(all="ignore"):
        wanted, got = f(*xs), pliant.jit(f)(*xs)
    assert (type(got), got.dtype, got.shape) == (type(wanted), wanted.dtype, wanted.shape)
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("name", ["quantile", "nanquantile", "median", "nanmedian"])
@pytest.mark.parametrize("line", LINES, ids=str)
@pytest.mark.filterwarnings("ignore")
def test_order_statistics_between_infinite_elements(name: str, line: list[float]) -> None:
    function, x = getattr(np, name), np.array(line)
    if "median" in name:
        alike(lambda x: function(x), x)
        alike(lambda x: function(x, axis=0), np.stack([x, x[::-1]], 1))
    else:
        for q in (0, 0.0, 0.2, 0.5, 0.7, 1, 1.0):
            alike(lambda x, q=q: function(x, q), x)
        for q in (0, 1):
            alike(function, x, q)
        alike(lambda x: function(x, [0.2, 0.7], axis=0), np.stack([x, x[::-1]], 1))
        alike(lambda x: function(x, 0.5, method="higher"), x)


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "irfft2", "irfftn", "rfftn"])
def test_transforms_of_half_floats_have_the_dtypes_of_numpys(name: str) -> None:
    x = np.random.default_rng(0).random((4, 6)).astype(np.float16)
    function = getattr(np.fft, name)
    assert pliant.jit(lambda x: function(x))(x).dtype == function(x).dtype
    if name == "irfftn":
        assert pliant.jit(lambda x: function(x, axes=(1,)))(x).dtype == function(x, axes=(1,)).dtype


def test_nothing_is_taken_where_no_other_axis_has_elements() -> None:
    x = np.zeros((2, 1, 0, 0))
    alike(lambda x: np.take(x, [1], axis=-1), x)
    alike(lambda x: np.take(x, 1, axis=-1), x)
    alike(lambda x: np.compress([False, True], x, axis=-1), x)
    alike(lambda x: np.take(x, [7], axis=3, mode="wrap"), x)
    with pytest.raises(IndexError):
        pliant.jit(lambda x: np.take(x, [1], axis=-1))(np.zeros((2, 0)))


def test_functions_of_functions_take_arrays_made_while_tracing() -> None:
    x = np.arange(6.0).reshape(3, 2)[::-1]
    alike(lambda x: np.apply_along_axis(np.sort, 1, np.zeros(x.shape, np.int32)), x)
    alike(lambda x: np.apply_along_axis(lambda row: row * x[0, 0], 0, np.ones((2, 3))), x)
    alike(lambda x: np.piecewise(np.arange(4.0), [np.arange(4) < 2], [lambda v: v * x[0, 0], 3.0]), x)
    alike(lambda x: np.apply_over_axes(np.sum, np.ones((2, 3)), [0, 1]), x)


def test_scalars_stay_scalars_or_become_arrays_as_in_numpy() -> None:
    x = np.array([3, 1, 2], np.int8)
    alike(lambda x: np.astype(np.vdot(x, x), np.float16), x)
    alike(lambda x: np.astype(x, np.float16), x)
    alike(lambda x: np.real_if_close(x.max()), x)


def test_polynomials_of_half_float_roots_and_cubes_of_matrices() -> None:
    alike(lambda x: np.poly(x), np.array([1.5, -2.0], np.float16))
    alike(lambda x: np.linalg.matrix_power(x, 3), np.array([[-np.inf, 1.0], [-2.9, 0.0]]))


AVOGADRO = 602 * 10**21  # beyond 64 bits


@pytest.mark.parametrize("dtype", ["f8", "f4", "c16", "i8", "u8"])
@pytest.mark.parametrize("number", [AVOGADRO, -AVOGADRO, 2**63])
def test_large_python_integers_are_taken_as_numpy_takes_them(number: int, dtype: str) -> None:
    def replaced(x: Any) -> Any:
        x = x.copy()
        x += number
        return x

    functions: list[Callable[[Any], Any]] = [
        lambda x: x * number, lambda x: number - x, lambda x: x / number, lambda x: np.arctan2(x, number),
        lambda x: np.maximum(x, number), lambda x: x < number, lambda x: number == x, lambda x: x.sum() + number,
        replaced,
    ]  # fmt: skip
    if number != 2**63:  # which np.where takes for an unsigned integer
        functions.append(lambda x: np.where(x > 0, x, number))
    x = np.array([1, 0, 2]).astype(dtype)
    for f in functions:
        try:
            wanted = f(x)
        except (OverflowError, TypeError) as error:
            with pytest.raises(OverflowError if isinstance(error, OverflowError) else pliant.errors.PliantError):
                pliant.jit(f)(x)
        else:
            got = pliant.jit(f)(x)
            assert got.dtype == wanted.dtype
            np.testing.assert_array_equal(got, wanted)


def test_a_large_integer_with_nothing_beside_it_says_what_to_write() -> None:
    with pytest.raises(OverflowError, match="6e23"):
        pliant.jit(lambda x: x + np.stack([AVOGADRO, AVOGADRO, x[0]]))(np.ones(3))
