"""Powers and roots where their derivatives are delicate."""

from __future__ import annotations

from inspect import signature

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import pliant
from pliant.core.build import trace
from pliant.core.types import Type
from pliant.ops import power as module
from pliant.ops.power import cbrt, hypot, power, reciprocal, sqrt, square
from pliant.testing import check_primitive, check_rule, run
from tests.ops.derivatives import gradient, second
from tests.ops.elementwise_cases import value

# x, y, ∂/∂x, ∂/∂y of xʸ
SLOPES = [
    (0.0, 2.0, 0.0, 0.0),
    (0.0, 1.0, 1.0, 0.0),
    (0.0, 0.5, np.inf, 0.0),
    (0.0, 0.0, 0.0, 0.0),
    (-2.0, 3.0, 12.0, 0.0),
    (-2.0, 0.0, 0.0, 0.0),
    (-2.0, -1.0, -0.25, 0.0),
    (2.0, 0.0, 0.0, np.log(2)),
    (np.inf, -1.0, -0.0, 0.0),
    (np.inf, 1.0, 1.0, np.inf),
    (1.0, np.inf, np.inf, 0.0),
]


@pytest.mark.parametrize(("x", "y", "dx", "dy"), SLOPES)
def test_power_has_the_derivatives_of_its_limits(x, y, dx, dy):
    assert_array_equal(gradient(power, [x], [y]), ([dx], [dy]))


def test_derivatives_of_powers_are_nan_only_where_the_power_is():
    x, y = (
        a.ravel() for a in np.meshgrid([-2.0, -1.0, -0.0, 0.0, 0.5, 1.0, 3.0], [-2.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0])
    )
    with np.errstate(all="ignore"):
        is_number = ~np.isnan(x**y)
    dx, dy = gradient(power, x, y)
    assert not np.isnan(dx[is_number]).any()
    assert not np.isnan(dy[is_number]).any()


@pytest.mark.parametrize("n", [0, 1, 2, 3, -1, 0.5])
def test_literal_exponent_is_differentiated_without_a_choice(n):
    x = np.array([0.5, 2.0])
    assert_allclose(gradient(lambda x: power(x, n), x), n * x ** (n - 1))
    assert_allclose(second(lambda x: power(x, n), x), n * (n - 1) * x ** (n - 2.0), atol=1e-15)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_literal_exponent_at_zero_and_below(n):
    x = np.array([0.0, -2.0])
    assert_array_equal(gradient(lambda x: power(x, float(n)), x), n * x ** (n - 1))


def test_complex_powers_are_holomorphic():
    check_primitive(power, Type("c128", (3,)), Type("c128", (3,)), low=0.2, high=1.5)
    assert_array_equal(gradient(lambda z: power(z, 2), [1 + 1j], dtype="c128"), [2 - 2j])


@pytest.mark.parametrize("dtype", ["c8", "c16"])
@pytest.mark.parametrize("n", [3, 4, 6, 7, 10, 99, -2, -3, -6, 100, 2.5])
def test_whole_powers_of_complex_numbers_have_the_bits_of_numpys(n, dtype):
    rng, ends = np.random.default_rng(0), np.array([0.0, -0.0, 1, -1, 2, np.inf, np.nan], dtype[0] + "16")
    axes = np.concatenate([ends, 1j * np.array([1, -1, -0.0]), [complex(0, np.inf), complex(-0.0, -1)]])
    x = np.concatenate([rng.normal(size=50) + 1j * rng.normal(size=50), axes]).astype(dtype)
    with np.errstate(all="ignore"):
        got, want = pliant.jit(lambda x: x**n)(x), x**n
    assert got.dtype == want.dtype
    for made, wanted in ((got.real, want.real), (got.imag, want.imag)):
        assert_array_equal(made, wanted)
        known = ~np.isnan(wanted)
        assert_array_equal(np.signbit(made)[known], np.signbit(wanted)[known])


@pytest.mark.parametrize("n", [5, 6, -2])
def test_whole_powers_of_complex_numbers_are_products(n):
    check_rule(module.power_of_complex, Type("c128", (40,)), program=lambda x: power(x, n))


@pytest.mark.parametrize("n", [4, 5, 6])
def test_whole_powers_of_whole_numbers_are_products(n):
    check_rule(module.power_of_integer, Type("i64", (40,)), program=lambda x: power(x, n))


@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "u4", "i8", "u8"])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 7, 30, 99, 100])
def test_powers_of_whole_numbers_wrap_around_as_numpys(n, dtype):
    x = np.random.default_rng(n).integers(0, 256, 50).astype(dtype)
    assert_array_equal(pliant.jit(lambda x: x**n)(x), x**n, strict=True)


def test_whole_number_to_a_negative_power_raises_as_numpy_does():
    with pytest.raises(ValueError, match="negative integer powers"):
        run(trace(power, Type("i64"), Type("i64")), [np.array(2), np.array(-1)])


def test_root_is_infinitely_steep_at_zero():
    assert_array_equal(gradient(sqrt, [0.0, 4.0]), [np.inf, 0.25])
    assert_array_equal(gradient(cbrt, [0.0, -8.0]), [np.inf, 1 / 12])


def test_hypot_has_derivative_zero_at_the_origin():
    assert_allclose(gradient(hypot, [0.0, 3.0, 3e200], [0.0, 4.0, 4e200]), ([0.0, 0.6, 0.6], [0.0, 0.8, 0.8]))


def test_square_and_reciprocal():
    assert_array_equal(value(square, [3.0]), [9.0])
    assert_array_equal(value(reciprocal, [4.0]), [0.25])


@pytest.mark.parametrize("rule", [r for r in module.RULES if r.sides], ids=lambda r: r.name)
def test_identity_is_true_and_fires(rule):
    check_rule(rule, *(Type("f64", (40,)),) * len(signature(rule.sides).parameters))


def test_power_zero_is_one():
    check_rule(module.power_zero, Type("f64", (40,)), program=lambda x: power(x, 0.0))
