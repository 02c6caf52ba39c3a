"""Scans: values, NaN, zeros, ties, both directions, and the laws of every primitive."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pliant.core.build import trace
from pliant.core.types import Type
from pliant.errors import DTypeError, ShapeError
from pliant.ops.reduce import reduce_sum
from pliant.ops.scan import Cummax, Cummin, Cumprod, Cumsum, Recur, cummax, cumprod, exclusive_cumprod, shift
from pliant.testing import check_primitive, reverse, run

ORACLES = {
    Cumsum: np.cumsum,
    Cumprod: np.cumprod,
    Cummax: np.maximum.accumulate,
    Cummin: np.minimum.accumulate,
}


def reversible(oracle, axis, reverse):
    """NumPy's scan, from the end if asked."""
    return lambda x: np.flip(oracle(np.flip(x, axis), axis=axis), axis) if reverse else oracle(x, axis=axis)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("cls", list(ORACLES))
def test_scans_obey_the_laws(cls, axis, reverse):
    check_primitive(cls(axis, reverse), Type("f64", (3, 4)), oracle=reversible(ORACLES[cls], axis, reverse), rtol=1e-5)


@pytest.mark.parametrize("cls", list(ORACLES))
@pytest.mark.parametrize("dtype", ["i8", "u16", "i64", "f32"])
def test_scans_keep_the_dtype(cls, dtype):
    check_primitive(cls(0), Type(dtype, (4,)), derivatives=False)


@pytest.mark.parametrize("cls", [Cumsum, Cumprod])
def test_scans_of_complex_numbers(cls):
    check_primitive(cls(0), Type("c128", (4,)), oracle=ORACLES[cls], rtol=1e-5)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("dtype", ["f64", "c128"])
def test_recurrence_obeys_the_laws(dtype, reverse):
    def oracle(a, b):
        y, out = 0 * b[0], np.empty_like(b)
        for k in range(3)[:: -1 if reverse else 1]:
            y = out[k] = a[k] * y + b[k]
        return out

    check_primitive(Recur(0, reverse), *[Type(dtype, (3, 2))] * 2, oracle=oracle, rtol=1e-5)


@pytest.mark.parametrize("places", [(), (0,), (2,), (0, 3), (1, 2), (0, 1, 2, 3)])
def test_derivatives_of_cumprod_are_right_at_zeros(places):
    x = np.array([2.0, 3, 5, 7])
    x[list(places)] = 0
    check_primitive(Cumprod(0), Type("f64", (4,)), draw=lambda rng: (x,), rtol=1e-5)


def test_exclusive_products_leave_out_the_own_element():
    fn = trace(
        lambda x: (exclusive_cumprod(x, 0), exclusive_cumprod(x, 0, reverse=True), shift(x, 0, 9)),
        Type("f64", (4,)),
    )
    before, after, moved = run(fn, (np.array([2.0, 3, 5, 7]),))
    assert_array_equal(before, [1, 2, 6, 30])
    assert_array_equal(after, [105, 35, 7, 1])
    assert_array_equal(moved, [9, 2, 3, 5])


def test_running_extrema_stay_nan_after_the_first():
    fn = trace(lambda x: cummax(x, 0), Type("f64", (4,)))
    assert_array_equal(run(fn, (np.array([1, np.nan, 0, 3]),))[0], [1, np.nan, np.nan, np.nan])


def test_first_of_equal_elements_has_the_derivative_of_a_running_maximum():
    fn = reverse(trace(lambda x: reduce_sum(cummax(x, 0)), Type("f64", (5,))), (True,))
    assert_array_equal(run(fn, (np.array([1.0, 3, 3, 2, 4]), np.ones(())))[0], [1, 3, 0, 0, 1])


@pytest.mark.parametrize("cls", list(ORACLES))
def test_scans_of_nothing(cls):
    check_primitive(cls(0), Type("f64", (0, 2)))
    check_primitive(cls(1), Type("f64", (2, 1)))


def test_wrong_axes_and_dtypes_are_errors():
    with pytest.raises(ShapeError, match="has no axis"):
        trace(Cumsum(1), Type("f64", (3,)))
    with pytest.raises(DTypeError, match="not defined for bools"):
        trace(lambda x: cumprod(x, 0), Type("bool", (3,)))
    with pytest.raises(ShapeError, match="do not fit together"):
        trace(Recur(0), Type("f64", (3,)), Type("f64", (4,)))


def test_long_recurrence_is_the_loop_it_stands_for():
    rng = np.random.default_rng(0)
    a, b = rng.uniform(-1, 1, 200), rng.normal(size=200)
    y = np.zeros(200)
    for k in range(200):
        y[k] = (a[k] * y[k - 1] if k else 0) + b[k]
    assert_allclose(run(trace(Recur(0), *[Type("f64", (200,))] * 2), (a, b))[0], y, rtol=1e-13)
