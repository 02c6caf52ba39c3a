"""Whole parts, remainders and the parts of floating-point numbers."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pliant.core.build import trace
from pliant.core.types import Type
from pliant.errors import DTypeError
from pliant.ops import rounding
from pliant.ops.elementwise import convert
from pliant.ops.rounding import (
    ceil,
    copysign,
    deg2rad,
    floor,
    floor_divide,
    fmod,
    frexp,
    heaviside,
    ldexp,
    modf,
    nextafter,
    rad2deg,
    remainder,
    rint,
    spacing,
    trunc,
)
from pliant.pipeline import optimise
from pliant.testing import check_primitive, check_rule, run
from tests.ops.derivatives import gradient, tangent
from tests.ops.elementwise_cases import value

SPECIAL = np.array([0.0, -0.0, 0.5, -2.0, 3.7, -3.7, np.inf, -np.inf, np.nan, 5e-324, 1e300])


@pytest.mark.parametrize("f", [floor, ceil, trunc, rint, spacing])
def test_rounding_is_flat(f):
    assert tangent(f, [0.5, 1.0], [1.0, 1.0]) is None


def test_floor_division_is_flat():
    assert tangent(lambda x: floor_divide(x, 2.0), [0.5, 1.0], [1.0, 1.0]) is None


@pytest.mark.parametrize(("f", "count"), [(remainder, np.floor), (fmod, np.trunc)])
def test_remainders_fall_with_the_modulus(f, count):
    x, y = np.array([7.5, -7.5, 7.5, -7.5]), np.array([2.0, 2.0, -2.0, -2.0])
    dx, dy = gradient(f, x, y)
    assert_array_equal(dx, np.ones(4))
    assert_array_equal(dy, -count(x / y))


@pytest.mark.parametrize("f", [floor_divide, remainder, fmod])
@pytest.mark.parametrize("dtype", ["i8", "u8", "i64"])
def test_whole_division_by_zero_is_zero(f, dtype):
    assert_array_equal(value(f, [5, 0], [0, 0], dtype=dtype), [0, 0])


def test_modf_is_that_of_numpy():
    fraction, whole = (value(lambda x, j=j: modf(x)[j], SPECIAL) for j in range(2))
    for got, wanted in zip((fraction, whole), np.modf(SPECIAL), strict=True):
        assert_array_equal(got, wanted)
        assert_array_equal(np.signbit(got)[:8], np.signbit(wanted)[:8])
    assert_array_equal(gradient(lambda x: modf(x)[0], [1.5, -1.5]), [1.0, 1.0])


def test_frexp_is_that_of_numpy_and_ldexp_undoes_it():
    m, e = (value(lambda x, j=j: frexp(x)[j], SPECIAL) for j in range(2))
    wanted_m, wanted_e = np.frexp(SPECIAL)
    assert_array_equal(m, wanted_m)
    assert_array_equal(e, wanted_e)
    assert e.dtype == np.int32
    assert_array_equal(value(lambda x: ldexp(*frexp(x)), SPECIAL), SPECIAL)


def test_derivatives_of_frexp_and_ldexp():
    assert_array_equal(gradient(lambda x: frexp(x)[0], [6.0, -0.75]), [1 / 8, 1.0])
    assert_array_equal(gradient(lambda x: ldexp(*frexp(x)), [6.0, -0.75]), [1.0, 1.0])
    check_primitive(ldexp, Type("f64", (3,)), Type("i64"))


def test_ldexp_wants_a_whole_exponent():
    with pytest.raises(DTypeError, match="ldexp: wants a float and an i32 or i64"):
        ldexp.infer(Type("f64"), Type("f64"))


def test_copysign_flips_the_derivative_with_the_sign():
    assert_array_equal(gradient(lambda x, y: copysign(x, y), [2.0, -2.0, 2.0], [1.0, 1.0, -0.0])[0], [1.0, -1.0, -1.0])


def test_heaviside_depends_on_its_value_at_zero_only():
    assert_array_equal(gradient(heaviside, [-1.0, 0.0, 1.0], [0.5, 0.5, 0.5]), (np.zeros(3), [0.0, 1.0, 0.0]))


def test_nextafter_moves_with_its_first_operand():
    assert_array_equal(gradient(nextafter, [1.0], [2.0]), ([1.0], [0.0]))


def test_degrees_and_radians():
    assert_allclose(value(deg2rad, [180.0]), [np.pi])
    assert_allclose(value(rad2deg, [np.pi]), [180.0])


def test_rounding_twice_is_rounding_once():
    check_rule(rounding.rounding_of_rounded, Type("f64", (40,)), program=lambda x: ceil(floor(x)))


@pytest.mark.parametrize("dtype", ["i8", "i32", "i64", "u8"])
def test_whole_numbers_have_no_fraction_to_leave_out(dtype):
    check_rule(rounding.convert_of_trunc, Type("f64", (40,)), program=lambda x: convert(trunc(x), dtype))


def test_truth_of_what_is_left_of_a_fraction_is_not_its_own():
    fn = optimise(trace(lambda x: convert(trunc(x), "bool"), Type("f64", (3,))))
    assert_array_equal(run(fn, [np.array([0.5, -0.5, 1.5])])[0], [False, False, True])


def test_results_of_one_trace_are_shared():
    fn = trace(lambda x: frexp(x), Type("f64"))
    assert [str(r.type) for r in fn.results] == ["f64[]", "i32[]"]
    assert run(fn, [np.array(6.0)]) == (0.75, 3)
