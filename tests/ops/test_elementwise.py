"""Every elementwise primitive, on every dtype it takes, against NumPy itself; and arithmetic."""

from __future__ import annotations

from contextlib import suppress
from inspect import signature
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pliant import ops
from pliant.core.build import trace
from pliant.core.types import DTYPES, Type
from pliant.errors import ArgumentError, DTypeError, PliantError, ShapeError
from pliant.ops import elementwise
from pliant.ops.compare import not_equal
from pliant.ops.elementwise import Convert, absolute, add, convert, div, mul, neg, sign, sub
from pliant.rewrite.engine import simplify
from pliant.testing import check_primitive, check_rule, differences, run, sample, special
from tests.ops.derivatives import gradient, tangent
from tests.ops.elementwise_cases import DOMAINS, PRIMITIVES, dtypes, oracle, types, value

SMOOTH = [
    (name, d) for name, op in PRIMITIVES.items() for d in dtypes(op) if d in ("f64", "c128", "f32", "i32", "bool")
]
EVERY = [(name, d) for name, op in PRIMITIVES.items() for d in dtypes(op)]
SHAPES = {
    1: [((3,),), ((),)],
    2: [((3,), (3,)), ((2, 2), ()), ((), (3,)), ((0,), ())],
    3: [((3,), (), (3,)), ((), (2,), ())],
}


@pytest.mark.parametrize(("name", "dtype"), SMOOTH)
def test_primitive_obeys_the_laws(name, dtype):
    op = PRIMITIVES[name]
    low, high = DOMAINS.get(name, (-2, 2)) if dtype[0] in "fc" else (1, 4)
    for shapes in SHAPES[op.arity]:
        check_primitive(op, *types(op, dtype, *shapes), low=low, high=high, oracle=oracle(name))


@pytest.mark.parametrize(("name", "dtype"), EVERY)
def test_primitive_makes_the_bits_that_numpy_makes(name, dtype):
    op, rng = PRIMITIVES[name], np.random.default_rng(0)
    operands = types(op, dtype, *((60,),) * op.arity)
    xs = [special(rng, t) if t.kind == "f" else sample(rng, t, 0, 7) for t in operands]
    with np.errstate(all="ignore"):
        wanted = np.asarray(oracle(name)(*xs))
    (got,) = run(trace(op, *operands), xs)
    assert got.dtype == wanted.dtype
    assert_array_equal(got, wanted)


@pytest.mark.parametrize("name", PRIMITIVES)
def test_primitive_refuses_other_dtypes(name):
    op = PRIMITIVES[name]
    refused = [kind for kind in "bifc" if kind not in op.domain]
    for kind in refused:
        operands = [Type({"b": "bool", "i": "i32", "f": "f64", "c": "c128"}[kind])] * op.arity
        with pytest.raises(DTypeError, match=name):
            op.infer(*operands)


def test_operands_must_share_dtype_shape_and_number():
    with pytest.raises(DTypeError, match=r"add: f64\[\] and f32\[\] have different dtypes"):
        add.infer(Type("f64"), Type("f32"))
    with pytest.raises(ShapeError, match=r"add: f64\[2\] and f64\[3\] do not fit together"):
        add.infer(Type("f64", (2,)), Type("f64", (3,)))
    with pytest.raises(ArgumentError, match="neg takes 1 operands, got 2"):
        neg.infer(Type("f64"), Type("f64"))


def test_python_number_takes_the_dtype_of_the_value_it_meets():
    fn = trace(lambda x, n: (2 * x + 1.0, n * 3), Type("f32", (2,)), Type("u8"))
    assert [r.dtype for r in fn.results] == ["f32", "u8"]
    with pytest.raises(DTypeError, match=r"1\.5 is no int"):
        trace(lambda n: n + 1.5, Type("i64"))


def test_bools_add_by_or_and_multiply_by_and():
    p, q = (np.array(v) for v in zip(*product((False, True), repeat=2), strict=True))
    assert_array_equal(value(add, p, q), p | q)
    assert_array_equal(value(mul, p, q), p & q)


CONVERSIONS = list(product(DTYPES, DTYPES))


@pytest.mark.parametrize(("start", "end"), CONVERSIONS)
def test_convert_is_astype(start, end):
    op, type = Convert(end), Type(start, (4,))
    if {start, end} <= {"f64", "c128", "f32", "i32", "bool"}:
        check_primitive(op, type, low=1, high=3)
    x = sample(np.random.default_rng(0), type, 0, 3)
    (got,) = run(trace(op, type), [x])
    assert got.dtype == np.dtype(DTYPES[end])
    assert_array_equal(got, (x.real if end[0] not in "cb" else x).astype(DTYPES[end]))


def test_convert_to_the_same_dtype_makes_nothing():
    fn = trace(lambda x: convert(x, "f64"), Type("f64"))
    assert fn.results == fn.params


def test_absolute_value_has_derivative_zero_at_zero():
    assert_array_equal(gradient(absolute, [-2.0, -0.0, 0.0, 3.0]), [-1, 0, 0, 1])
    assert_array_equal(gradient(absolute, [0j, 3 + 4j], dtype="c128"), [0, 0.6 + 0.8j])


def test_gradient_of_squared_modulus_is_twice_the_number():
    z = np.array([1 + 2j, -3j, 0])
    assert_array_equal(gradient(lambda z: absolute(z) * absolute(z), z), 2 * z)


def test_sign_is_flat_for_reals_and_turns_for_complex_numbers():
    assert tangent(sign, [1.0, 0.0], [1.0, 1.0]) is None
    z, dz = np.array([3 + 4j, 1j]), np.array([1j, 1.0 + 1j])
    wanted = differences(lambda z: (np.sign(z),), (z,), (dz,), (True,))[0]
    np.testing.assert_allclose(tangent(sign, z, dz), wanted, rtol=1e-9)


def test_quotient_at_infinity_and_zero():
    assert_array_equal(gradient(lambda x: div(1.0, x), [np.inf, 2.0]), [-0.0, -0.25])
    assert_array_equal(gradient(lambda x: x / 0.0, [1.0]), [np.inf])


def test_same_operand_twice_adds_both_cotangents():
    assert_array_equal(gradient(lambda x: mul(x, x), [3.0]), [6.0])
    assert_array_equal(gradient(lambda x: sub(x, x), [3.0]), [0.0])
    assert_array_equal(gradient(lambda x: add(x, x), [3.0]), [2.0])


RULE_PROGRAMS = [
    (elementwise.convert_to_same, (Type("f64", (4,)),), lambda x: Convert("f64")(x)),
    (elementwise.convert_of_convert, (Type("f32", (4,)),), lambda x: Convert("f32")(Convert("f64")(x))),
    (elementwise.convert_of_convert, (Type("i8", (4,)),), lambda x: Convert("u16")(Convert("i64")(x))),
    (elementwise.convert_of_convert, (Type("bool", (4,)),), lambda x: Convert("i32")(Convert("f32")(x))),
    (elementwise.not_zero_of_truth, (Type("bool", (4,)),), lambda x: not_equal(Convert("i64")(x), 0)),
]


@pytest.mark.parametrize("rule", [r for r in elementwise.RULES if r.sides], ids=lambda r: r.name)
def test_identity_is_exact_and_fires(rule):
    dtype = "i64" if rule is elementwise.plus_zero else "f64"
    check_rule(rule, *(Type(dtype, (40,)),) * len(signature(rule.sides).parameters), rules=ops.RULES)


def firing(dtype):
    """(rule, types) of the equations whose left side there is for whole numbers of a dtype, and that change it."""
    for rule in [r for r in ops.RULES if r.sides]:
        types = (Type(dtype, (40,)),) * len(signature(rule.sides).parameters)
        with suppress(PliantError):
            left = trace(lambda *xs, sides=rule.sides: sides(*xs)[0], *types)
            if simplify(left, (rule,)) is not left:
                yield rule, types


@pytest.mark.parametrize("dtype", ["bool", "i8", "i32", "i64", "u8", "u16", "u64"])
def test_identities_hold_for_whole_numbers_of_every_dtype(dtype):
    for rule, operands in firing(dtype):
        check_rule(rule, *operands, rules=(rule,), low=0, high=4)


@pytest.mark.parametrize(("rule", "operands", "program"), RULE_PROGRAMS)
def test_conversions_that_lose_nothing_are_joined(rule, operands, program):
    check_rule(rule, *operands, program=program)


LOSSY = [
    ("f64", "f32", "f64"),
    ("i64", "f64", "i64"),
    ("f64", "i64", "f64"),
    ("i8", "f32", "u8"),
    ("c64", "f32", "c64"),
]


@pytest.mark.parametrize(("start", "middle", "end"), LOSSY)
def test_conversions_that_lose_something_are_kept(start, middle, end):
    fn = trace(lambda x: Convert(end)(Convert(middle)(x)), Type(start))
    assert simplify(fn, elementwise.RULES) is fn


def test_adding_zero_to_a_float_is_kept_for_the_sign_of_zero():
    fn = trace(lambda x: x + 0.0, Type("f64"))
    assert simplify(fn, ops.RULES) is fn
