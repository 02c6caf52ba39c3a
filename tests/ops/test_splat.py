"""Elementwise primitives act on what is repeated, not on the copies."""

from __future__ import annotations

import math

from pliant.core import ir
from pliant.core.build import trace
from pliant.core.ir import Function
from pliant.ops.elementwise import add
from pliant.ops.shape import broadcast
from pliant.ops.splat import RULES
from pliant.ops.transcendental import exp
from pliant.rewrite.engine import simplify
from tests.programs.programs import f64


def simplified(fn: Function) -> Function:
    return simplify(fn, RULES)


def test_a_repeated_scalar_is_used_as_a_scalar() -> None:
    fn = trace(lambda x, s: x * broadcast(s, (3,), ()), f64(3), f64())
    assert simplified(fn) == trace(lambda x, s: x * s, f64(3), f64())


def test_a_function_of_repeated_scalars_is_repeated() -> None:
    fn = trace(lambda s, t: exp(broadcast(s, (3,), ()) + broadcast(t, (3,), ())), f64(), f64())
    assert simplified(fn) == trace(lambda s, t: broadcast(exp(s + t), (3,), ()), f64(), f64())


def test_a_function_of_repeated_rows_is_repeated() -> None:
    fn = trace(lambda x, s: exp(broadcast(x, (2, 3), (1,)) * s), f64(3), f64())
    assert simplified(fn) == trace(lambda x, s: broadcast(exp(x * s), (2, 3), (1,)), f64(3), f64())


def test_rows_and_columns_are_not_mixed() -> None:
    fn = trace(lambda x: broadcast(x, (3, 3), (1,)) * broadcast(x, (3, 3), (0,)), f64(3))
    assert simplified(fn) is fn


def test_arrays_of_zeros_vanish_from_sums() -> None:
    fn = trace(lambda x: add(ir.operators.zeros(f64(3)), x), f64(3))
    assert simplified(fn).results == fn.params


def test_a_literal_zero_clears_the_sign_of_zeros_and_stays() -> None:
    fn = trace(lambda x: x + 0.0, f64(3))
    assert simplified(fn) is fn
    assert math.copysign(1, -0.0 + 0.0) == 1
