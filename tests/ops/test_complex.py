"""Complex numbers and their parts."""

from __future__ import annotations

from inspect import signature

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pliant.core.build import trace
from pliant.core.types import Type
from pliant.errors import DTypeError
from pliant.ops import complex as module
from pliant.ops.complex import complex, conj, imag, real
from pliant.ops.elementwise import absolute
from pliant.ops.transcendental import arctan2
from pliant.testing import check_primitive, check_rule
from tests.ops.derivatives import gradient
from tests.ops.elementwise_cases import value


@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize("shapes", [((3,), (3,)), ((), (2, 2)), ((3,), ()), ((), ())])
def test_complex_obeys_the_laws(dtype, shapes):
    check_primitive(complex, *(Type(dtype, shape) for shape in shapes), oracle=lambda x, y: x + np.array(1j, "c8") * y)


def test_complex_keeps_infinite_parts():
    z = value(complex, [1.0, np.inf], [np.inf, 0.0])
    assert_array_equal(z.real, [1.0, np.inf])
    assert_array_equal(z.imag, [np.inf, 0.0])


def test_complex_wants_two_floats_of_one_dtype():
    with pytest.raises(DTypeError, match="wants two f32 or two f64"):
        complex.infer(Type("f16"), Type("f16"))


def test_parts_of_a_real_value_are_itself_and_zeros():
    fn = trace(lambda x: (real(x), conj(x), imag(x)), Type("f64", (2,)))
    assert fn.results[:2] == (fn.params[0], fn.params[0])
    assert_array_equal(value(imag, [1.0, 2.0]), [0.0, 0.0])


def test_gradients_of_the_parts_point_along_the_axes():
    z = np.array([3 + 4j])
    assert_array_equal(gradient(real, z), [1])
    assert_array_equal(gradient(imag, z), [1j])
    assert_array_equal(gradient(lambda z: real(z * conj(z)), z), 2 * z)


def test_gradient_of_the_angle_is_a_quarter_turn_over_the_modulus():
    z = np.array([3 + 4j, 1j])
    assert_allclose(gradient(lambda z: arctan2(imag(z), real(z)), z), 1j * z / abs(z) ** 2)


def test_gradient_of_a_real_function_of_a_holomorphic_one():
    z = np.array([0.3 + 0.4j])
    assert_allclose(gradient(lambda z: absolute(z * z), z), 2 * abs(z) * z / abs(z) * 1.0, rtol=1e-14)


HOLES = {"z": "c128"}


@pytest.mark.parametrize("rule", [r for r in module.RULES if r.sides], ids=lambda r: r.name)
def test_identity_is_exact_and_fires(rule):
    check_rule(rule, *(Type(HOLES[name], (9,)) for name in signature(rule.sides).parameters))


@pytest.mark.parametrize(("rule", "part"), [(module.real_of_complex, real), (module.imag_of_complex, imag)])
@pytest.mark.parametrize("shape", [(), (9,)])
def test_part_of_a_complex_number_just_made_is_that_part(rule, part, shape):
    check_rule(rule, Type("f64", (9,)), Type("f64", shape), program=lambda x, y: part(complex(x, y)))
