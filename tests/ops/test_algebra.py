"""Equalities of elementwise operations hold over the reals, and exactly for whole numbers, whose products wrap around."""

from __future__ import annotations

from inspect import signature

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import pliant
from pliant import ops
from pliant.core.build import trace
from pliant.core.ir import Value
from pliant.core.types import Type
from pliant.ops import algebra
from pliant.ops.power import sqrt
from pliant.ops.transcendental import exp, log
from pliant.rewrite.engine import simplify
from pliant.rewrite.explain import Log
from pliant.testing import check_rule, once

EQUATIONS = [r for r in algebra.EQUALITIES if r.sides]
REAL = (algebra.are_reals, algebra.are_alike_below_0)
WHOLE = [r for r in EQUATIONS if r.where in (algebra.are_numbers, algebra.are_numbers_and_first_is_whole)]


@pytest.mark.parametrize("rule", EQUATIONS, ids=lambda r: r.name)
@pytest.mark.parametrize("dtype", ["f64", "f32"])
def test_both_sides_agree(rule, dtype):
    count = len(signature(rule.sides).parameters)
    rtol = 1e-12 if dtype == "f64" else 1e-4
    check_rule(rule, *(Type(dtype, (40,)),) * count, rules=(rule,), rtol=rtol, low=0.6)


@pytest.mark.parametrize("rule", [r for r in EQUATIONS if r.where not in REAL], ids=lambda r: r.name)
def test_both_sides_agree_for_complex_numbers(rule):
    count = len(signature(rule.sides).parameters)
    check_rule(rule, *(Type("c128", (40,)),) * count, rules=(rule,), rtol=1e-11)


@pytest.mark.parametrize("rule", WHOLE, ids=lambda r: r.name)
@pytest.mark.parametrize("dtype", ["i8", "i64", "u8", "u64"])
def test_whole_numbers_wrap_around_alike(rule, dtype):
    count = len(signature(rule.sides).parameters)
    check_rule(rule, *(Type(dtype, (40,)),) * count, rules=(rule,), low=0, high=120, rtol=0)


@pytest.mark.parametrize("rule", EQUATIONS, ids=lambda r: r.name)
def test_scalars_meet_arrays(rule):
    """With each operand a scalar in turn, the rule fires with the type of the left side or not at all."""
    count = len(signature(rule.sides).parameters)
    for place in range(count):
        types = [Type("f64") if n == place else Type("f64", (5,)) for n in range(count)]
        fn = trace(lambda *xs, sides=rule.sides: sides(*xs)[0], *types, names=[f"x{n}" for n in range(count)])
        assert [r.type for r in once(fn, rule, Log()).results] == [r.type for r in fn.results]


def test_logarithms_of_complex_numbers_are_left_alone():
    def f(x: Value, y: Value) -> Value:
        return log(x) + log(y) + log(sqrt(x)) + exp(log(x))

    fn = trace(f, Type("c128", (3,)), Type("c128", (3,)))
    reals = [r for r in EQUATIONS if r.where is algebra.are_reals]
    assert simplify(fn, reals) is fn


def test_no_equality_is_applied_by_default():
    assert not set(algebra.EQUALITIES) & set(ops.RULES)
    assert set(algebra.EQUALITIES) < set(ops.EQUALITIES)
    assert {r.level for r in ops.EQUALITIES} == {"algebraic"}
    assert_array_equal(len({r.name for r in (*ops.RULES, *ops.EQUALITIES)}), len((*ops.RULES, *ops.EQUALITIES)))
    assert np.all([r.doc for r in ops.EQUALITIES])


PARTIAL = [
    lambda a: np.where(a > 0, np.exp(np.log(a)) * np.sqrt(a) ** 2, a / a),
    lambda a: np.where(a > 0, np.sqrt(a) * np.sqrt(a), a + 1),
    lambda a: np.where(a > 0, a**0.5 * a**0.5 * np.sqrt(a), a / (a * a)),
    lambda a: np.where(a > 0, a / np.sqrt(a) * np.sqrt(a) * np.sqrt(a) ** 2, a - 1),
    lambda a: np.where(a > 0, a * (2 * np.sqrt(a)) / (2 * np.sqrt(a)) + np.sqrt(a) * np.sqrt(a), a * 3),
]


@pytest.mark.parametrize("f", PARTIAL)
def test_what_is_nan_for_some_numbers_makes_nothing_else_nan(f):
    x = np.array([-1.0, 2.0, 3.0, -0.5])
    with np.errstate(all="ignore"):
        expected = f(x)
    assert np.isfinite(expected).all()
    np.testing.assert_allclose(pliant.optimize(f)(x), expected, rtol=1e-14)
