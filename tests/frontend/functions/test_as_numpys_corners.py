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


AXES: list[Callable[[Any], Any]] = [
    lambda x: np.vecdot(x, x, axis=1),
    lambda x: np.vecdot(x, x, axis=1, keepdims=True),
    lambda x: np.vecdot(x, x, keepdims=True),
    lambda x: np.vecdot(x, x, axes=[0, 0], keepdims=True),
    lambda x: np.vecdot(x, x, axes=[0, 0, 1], keepdims=True),
    lambda x: np.vecdot(x, x, axes=[0, 0, ()]),
    lambda x: np.matmul(x, x, axes=[(1, 2), (2, 1), (0, 1)]),
    lambda x: np.matmul(x, x[0], axes=[(2, 1), (0, 1), (2, 0)]),
    lambda x: np.matmul(x, x[0, 0], axes=[(1, 2), 0, 0]),
    lambda x: np.matmul(x[0, 0], x[0, 0], axes=[0, (0,), ()]),
    lambda x: np.matvec(x, x[:, 0], axes=[(1, 2), 1, 0]),
    lambda x: np.matmul(x, x, axes=[(1, 2), (2, 1), (0, 1)], out=np.zeros((3, 3, 2))),
    lambda x: np.matmul(x, x[0].T, dtype=np.float32),
    lambda x: np.vecdot(x, x, dtype=np.complex128),
]


@pytest.mark.parametrize("f", AXES)
def test_products_along_named_axes(f: Callable[[Any], Any]) -> None:
    x = np.random.default_rng(0).integers(-4, 5, (2, 3, 4)).astype(float)
    alike(f, x)
    np.testing.assert_array_equal(pliant.vmap(f)(np.stack([x, x + 1])), [f(x), f(x + 1)])


@pytest.mark.parametrize("options", [
    {"axis": 0}, {"keepdims": True}, {"axes": [0, 1]}, {"axes": 3}, {"axes": [(0, 5), (0, 1), (0, 1)]},
    {"axes": [(0, 0), (0, 1), (0, 1)]}, {"axes": [(0, 1), (0, 1)]}, {"axes": [0, (0, 1), 0]},
], ids=str)  # fmt: skip
def test_axes_that_do_not_fit_a_product(options: dict[str, Any]) -> None:
    x = np.ones((3, 3))
    with pytest.raises(Exception) as wanted:  # noqa: PT011
        np.matmul(x, x, **options)
    with pytest.raises((ValueError, TypeError), match=r"ax|keepdims") as got:
        pliant.jit(lambda x: np.matmul(x, x, **options))(x)
    assert issubclass(TypeError, type(wanted.value)) == isinstance(got.value, TypeError)


def test_an_axis_and_axes_of_a_product() -> None:
    with pytest.raises(TypeError, match="cannot specify both 'axis' and 'axes'"):
        pliant.jit(lambda x: np.vecdot(x, x, axis=0, axes=[0, 0]))(np.ones((2, 2)))


def test_logarithmic_steps_along_any_axis_and_of_several_bases() -> None:
    x = np.array([[0.0, 1.0, 2.0], [0.5, 0.0, 1.0]])
    for f in (
        lambda x: np.logspace(x, x + 1, 4, axis=-1),
        lambda x: np.logspace(x, x + 1, 4, axis=1, base=2.0),
        lambda x: np.logspace(0.0, x[0], 4, base=np.array([2.0, 3.0, 4.0]), axis=-1),
        lambda x: np.logspace(x[0], 2.0, 3, base=x + 2),
    ):
        np.testing.assert_allclose(pliant.jit(f)(x), f(x), rtol=1e-14)
        assert pliant.jit(f)(x).shape == f(x).shape


def test_a_known_mask_among_indices_of_a_grid() -> None:
    alike(lambda x, i: x[np.ix_([True, False, True], i)], np.arange(12.0).reshape(3, 4), np.array([2, 0]))
    alike(lambda x, i: x[np.ix_(i, np.array([0, 1, 1, 0], bool))], np.arange(12.0).reshape(3, 4), np.array([2, 0]))


def test_a_cast_that_the_rule_does_not_allow() -> None:
    rule = r"Cannot cast array data from dtype\('float64'\) to dtype\('float32'\) according to the rule 'safe'"
    with pytest.raises(TypeError, match=rule):
        pliant.jit(lambda x: x.astype("f4", casting="safe"))(np.ones(2))


@pytest.mark.parametrize("values", [9.0, np.array([[4.0], [5.0]])], ids=["number", "rows"])
@pytest.mark.parametrize("places", [[[1], [2]], [[1], [1]], [[-1, 0], [2, 2]]], ids=str)
def test_one_row_takes_what_is_put_along_it_for_several(places: Any, values: Any) -> None:
    def put(x: Any, i: Any, y: Any) -> Any:
        x = x * 1
        np.put_along_axis(x, i, y, axis=1)
        np.put_along_axis(x.T[:, :, None], i.T[:, :, None], y * 2, axis=0)
        return x

    alike(put, np.zeros((1, 3)), np.array(places), values)


def test_places_along_one_row_are_checked() -> None:
    with pytest.raises(IndexError, match="index 5 is out of range"):
        pliant.jit(lambda x, i: np.put_along_axis(x, i, 9.0, axis=1))(np.zeros((1, 3)), np.array([[1], [5]]))


@pytest.mark.parametrize("f", [
    np.cumsum, np.cumprod, np.add.accumulate, np.multiply.accumulate, np.cumulative_sum, np.cumulative_prod,
    np.nancumsum, np.nancumprod,
], ids=lambda f: f.__name__)  # fmt: skip
def test_running_sums_of_bools_as_bools(f: Any) -> None:
    for x in (np.array([0.0, 1.0, 0.0, 1.0]), np.array([1.0, 1.0, 0.0]), np.zeros(0)):
        alike(lambda x: f(x > 0, dtype=bool), x)
        alike(lambda x: f(x, dtype=bool), x)
        alike(lambda x: f(x > 0, out=np.zeros(x.size, bool)), x)


@pytest.mark.parametrize("axis", [None, 0, -1])
@pytest.mark.parametrize("mode", ["raise", "wrap", "clip"])
def test_a_number_is_taken_as_an_array_of_one_element(axis: int | None, mode: str) -> None:
    for x in (np.array(5.0), np.arange(3.0)):
        alike(lambda x, i: np.take(x.sum(), i, axis, mode=mode), x, np.array([0, -1]))
        alike(lambda x: np.take(x.sum(), 0, axis, mode=mode), x)


def test_where_a_number_is_not_zero() -> None:
    for x in (np.zeros(3), np.ones(3)):
        alike(lambda x: np.argwhere(x.sum()), x)
        alike(lambda x: np.argwhere(x[0] > 0), x)


@pytest.mark.parametrize("mode", ["raise", "clip"])
def test_choices_are_cast_to_out(mode: Any) -> None:
    for dtype in (int, np.float32, np.int8, complex):
        alike(lambda i, x: np.choose(i, [x, 2.7 * x], np.zeros(2, dtype), mode), np.array([0, 1]), np.array([1.5, 2.5]))  # noqa: B023
