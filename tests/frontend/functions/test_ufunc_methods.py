"""reduce, accumulate and reduceat of every ufunc of two operands, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pliant
from pliant.errors import DTypeError
from pliant.frontend.functions import ACCUMULATIONS, PARTS, REDUCTIONS
from pliant.testing import check_gradient

DTYPES = ("bool", "i1", "f4", "c16")
PARTED = ([0, 2, 2, 5], [4, 1, 3, 0], [5], [0, 0, 0], [])
DISTINCT = np.array([1.7, 0.6, 2.3, -0.4, 1.1, 0.8])

WRONG = [u for u in (np.power, np.arctan2) if u.reduce(np.array([1.5, 2.0, 3.0])) != u(u(1.5, 2.0), 3.0)]
"""Ufuncs that NumPy itself folds wrongly: with AVX-512 it combines the first element with the last one alone."""


def skip_if_wrong(ufunc: np.ufunc) -> None:
    if ufunc in WRONG:
        pytest.skip("NumPy's own result is wrong on this machine")


def given(dtype: str) -> np.ndarray:
    return (np.arange(24).reshape(6, 4) * 7 % 5 + 1).astype(dtype)


def numpys(call) -> np.ndarray | None:
    """What NumPy makes; None where it refuses, or has no such dtype here."""
    try:
        with np.errstate(all="ignore"):
            made = call()
    except (TypeError, ValueError):
        return None
    return None if made.dtype == object else made


def agrees(ours, call) -> None:
    expected = numpys(call)
    if expected is None:
        with pytest.raises((TypeError, ValueError)):
            ours()
        return
    got = ours()
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
    rtol = 0 if got.dtype.kind in "biu" else 2e-3 if got.dtype == "f2" else 1e-5 if got.dtype.itemsize == 4 else 1e-12
    assert_allclose(got, expected, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("ufunc", ACCUMULATIONS, ids=lambda u: u.__name__)
def test_accumulate_is_numpys(ufunc, dtype):
    x = given(dtype)
    agrees(lambda: pliant.jit(lambda x: ufunc.accumulate(x, axis=1))(x), lambda: ufunc.accumulate(x, axis=1))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("ufunc", REDUCTIONS, ids=lambda u: u.__name__)
def test_reduce_is_numpys(ufunc, dtype):
    x = given(dtype)
    agrees(lambda: pliant.jit(lambda x: ufunc.reduce(x))(x), lambda: ufunc.reduce(x))


@pytest.mark.parametrize("options", [{"keepdims": True}, {"initial": 2}, {"initial": 2, "where": [True, False] * 3}])
@pytest.mark.parametrize("ufunc", [np.subtract, np.arctan2, np.fmax, np.bitwise_and, np.lcm], ids=lambda u: u.__name__)
def test_reduce_takes_numpys_options(ufunc, options):
    skip_if_wrong(ufunc)
    x = np.array([3, 5, 2, 7, 4, 6])
    agrees(lambda: pliant.jit(lambda x: ufunc.reduce(x, **options))(x), lambda: ufunc.reduce(x, **options))


@pytest.mark.parametrize("ufunc", [np.subtract, np.fmin, np.bitwise_or, np.bitwise_and, np.gcd, np.hypot])
def test_reductions_of_nothing_are_identities_or_errors(ufunc):
    x = np.zeros((0, 2), np.uint8)
    agrees(lambda: pliant.jit(lambda x: ufunc.reduce(x))(x), lambda: ufunc.reduce(x))


@pytest.mark.parametrize("dtype", ["u2", "f8"])
@pytest.mark.parametrize("starts", PARTED[:3], ids=str)
@pytest.mark.parametrize("ufunc", PARTS, ids=lambda u: u.__name__)
def test_reduceat_is_numpys(ufunc, starts, dtype):
    skip_if_wrong(ufunc)
    x, places = given(dtype), np.array(starts, np.int64)
    agrees(lambda: pliant.jit(lambda x: ufunc.reduceat(x, starts or places))(x), lambda: ufunc.reduceat(x, places))


@pytest.mark.parametrize("starts", PARTED, ids=str)
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("ufunc", [np.add, np.multiply, np.subtract, np.logical_or], ids=lambda u: u.__name__)
def test_reduceat_takes_indices_known_only_at_run_time(ufunc, axis, starts):
    x, places = given("f8")[:, :6].repeat(2, 1)[:, :6], np.array(starts, np.int64)
    agrees(
        lambda: pliant.jit(lambda x, i: ufunc.reduceat(x, i, axis))(x, places), lambda: ufunc.reduceat(x, places, axis)
    )


@pytest.mark.parametrize("ufunc", [np.subtract, np.divide, np.power, np.hypot, np.arctan2], ids=lambda u: u.__name__)
def test_methods_have_gradients(ufunc):
    skip_if_wrong(ufunc)  # differences are taken of NumPy's results
    x, places = np.abs(DISTINCT), np.array([0, 3, 2])
    check_gradient(lambda x: np.sum(ufunc.accumulate(x)), x)
    check_gradient(lambda x: ufunc.reduce(x), x)
    check_gradient(lambda x: np.sum(ufunc.reduceat(x, [0, 3, 2]) ** 2), x)
    check_gradient(lambda x: np.sum(ufunc.reduceat(x, places) ** 2), x)


@pytest.mark.parametrize("starts", [[0, 40, 41, 97], [50, 3, 3, 99], [99, 0, 98, 0]], ids=str)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "u1"])
@pytest.mark.parametrize("ufunc", [np.add, np.multiply, np.maximum, np.minimum], ids=lambda u: u.__name__)
def test_parts_of_many_rows_are_reduced_in_any_order(ufunc, dtype, starts):
    x, places = (
        (np.arange(300).reshape(100, 3) % (2 if ufunc is np.multiply else 7) + 1).astype(dtype),
        np.array(starts),
    )
    made, wanted = pliant.jit(lambda x, i: ufunc.reduceat(x, i))(x, places), ufunc.reduceat(x, places)
    np.testing.assert_allclose(made, wanted, rtol=1e-6, strict=True)
    if dtype == "f8":
        check_gradient(lambda x: np.sum(np.log(ufunc.reduceat(x, places))), np.linspace(0.5, 1.5, 100))


def test_an_index_of_reduceat_outside_is_an_index_error():
    with pytest.raises(IndexError, match=r"index -1 out-of-bounds in add.reduceat \[0, 3\)"):
        pliant.jit(lambda x: np.add.reduceat(x, [0, -1]))(np.ones(3))
    with pytest.raises(IndexError, match="index 3"):
        pliant.jit(lambda x, i: np.add.reduceat(x, i))(np.ones(3), np.array([0, 3]))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.minimum.reduce((x, x * 2, -x)),
        lambda x: np.logical_and.reduce([x > 0, x < 2, x != 1]),
        lambda x: np.maximum.reduce([x, x * 2], axis=1),
        lambda x: np.add.accumulate([x[0], x[1], 2]),
        lambda x: np.multiply.outer([x[0], 1], [2, x[1]]),
        lambda x: np.add.reduceat([x[0], x[1], 2], [0, 1]),
        lambda x: np.where([True, False, True], x, [x[0], 0, x[1]]),
    ],
)
def test_lists_of_traced_numbers_and_arrays_are_arrays(f):
    x = np.array([0.5, -2.0, 3.0])
    np.testing.assert_array_equal(pliant.jit(f)(x), f(x))


FOLDS = {
    "reduce": lambda x, i: np.power.reduce(x),
    "initial": lambda x, i: np.power.reduce(x, initial=2),
    "where": lambda x, i: np.power.reduce(x, initial=2, where=i < 2),
    "accumulate": lambda x, i: np.power.accumulate(x),
    "known parts": lambda x, i: np.power.reduceat(x, [2, 0]),
    "parts": lambda x, i: np.power.reduceat(x, i),
}


@pytest.mark.parametrize("i", [[0, 2, 3], [2, 1, 3], [3, 2, 3]], ids=str)
@pytest.mark.parametrize("place", range(5))
@pytest.mark.parametrize("name", FOLDS)
def test_negative_powers_raise_where_they_are_exponents(name: str, place: int, i: list[int]) -> None:
    x, at = np.array([1, 2, 1, 2]), np.array(i)
    if name == "where":
        at = np.append(at, 0)
    if place < len(x):
        x[place] = -1
    try:
        wanted = FOLDS[name](x, at)
    except ValueError:
        with pytest.raises(ValueError, match="negative integer powers"):
            pliant.jit(FOLDS[name])(x, at)
    else:
        np.testing.assert_array_equal(pliant.jit(FOLDS[name])(x, at), wanted)


CAST = (np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.gcd, np.fmax, np.fmin, np.hypot, np.logaddexp, np.logaddexp2)


@pytest.mark.parametrize("to", ["u1", "i8", "f4"])
@pytest.mark.parametrize("of", ["i8", "f8"])
@pytest.mark.parametrize("ufunc", CAST, ids=lambda u: u.__name__)
def test_reduce_casts_to_the_dtype_that_is_asked_for(ufunc, of, to):
    x = np.array([300, 2, -3]).astype(of)
    agrees(lambda: pliant.jit(lambda x: ufunc.reduce(x, dtype=to))(x), lambda: ufunc.reduce(x, dtype=to))


def test_a_dtype_that_a_ufunc_does_not_have_is_said_where_it_is_asked_for():
    with pytest.raises(DTypeError, match=r"np.gcd, of two elements of i64\[3\], makes no float32(?s:.*)gcd.reduce"):
        pliant.jit(lambda x: np.gcd.reduce(x, dtype="f4"))(np.array([4, 2, 6]))


@pytest.mark.parametrize("options", [{}, {"axis": -1}, {"axis": None}, {"axis": ()}, {"keepdims": True}], ids=str)
@pytest.mark.parametrize("start", [{}, {"initial": 2}, {"initial": 3, "where": False}], ids=str)
@pytest.mark.parametrize("x", [np.array(7), np.array(2.5)], ids=["i8", "f8"])
@pytest.mark.parametrize("ufunc", REDUCTIONS, ids=lambda u: u.__name__)
def test_a_number_is_reduced_to_itself(ufunc, x, start, options):
    agrees(
        lambda: pliant.jit(lambda x: ufunc.reduce(x, **start, **options), backend="reference")(x),
        lambda: ufunc.reduce(x, **start, **options),
    )


@pytest.mark.parametrize("ufunc", [np.subtract, np.copysign, np.floor_divide], ids=lambda u: u.__name__)
def test_along_no_axis_each_element_follows_the_first(ufunc):
    x = given("f8")
    for options in ({"initial": 5}, {"initial": -2, "where": x > 2}):
        agrees(
            lambda o=options: pliant.jit(lambda x: ufunc.reduce(x, axis=(), **o))(x),
            lambda o=options: ufunc.reduce(x, axis=(), **o),
        )


@pytest.mark.parametrize(
    "options", [{"initial": 2}, {"initial": 0}, {"axis": 1, "initial": -1, "keepdims": True}], ids=str
)
@pytest.mark.parametrize("ufunc", [np.logaddexp, np.logical_and, np.logical_or], ids=lambda u: u.__name__)
def test_a_reduction_begins_with_what_is_given(ufunc, options):
    x = given("f8") - 2
    for more in ({}, {"where": x > 1}, {"where": False}):
        agrees(
            lambda o=options | more: pliant.jit(lambda x: ufunc.reduce(x, **o))(x),
            lambda o=options | more: ufunc.reduce(x, **o),
        )
    if ufunc is np.logaddexp:
        check_gradient(lambda x: np.sum(ufunc.reduce(x, where=x > 0, **options)), x + 0.5)
        np.testing.assert_allclose(
            pliant.vmap(lambda r: ufunc.reduce(r, initial=1.5, where=r > 0))(x),
            ufunc.reduce(x, 1, initial=1.5, where=x > 0),
        )


@pytest.mark.parametrize("starts", [[], (), [True, False], [2.0, 0.5]], ids=str)
def test_reduceat_casts_the_indices_of_lists(starts):
    x = given("f8")
    for ufunc in (np.add, np.subtract):
        agrees(
            lambda u=ufunc: pliant.jit(lambda x: u.reduceat(x, starts, axis=1))(x),
            lambda u=ufunc: u.reduceat(x, starts, axis=1),
        )
