"""Patterns match up to the order of commutative operands; a miss says how near it came."""

from __future__ import annotations

import math

import pytest

from pliant.core.build import trace
from pliant.core.ir import Pattern, Value, const
from pliant.core.types import Type
from pliant.ops.elementwise import add, mul, sub
from pliant.ops.shape import Permute
from pliant.ops.transcendental import exp, log
from pliant.rewrite.match import Miss, is_literal, match_value, same_number

F3 = Type("f64", (3,))
A, B, C = Pattern("a"), Pattern("b"), Pattern("c")


def pattern(p: object) -> Pattern:
    assert isinstance(p, Pattern)
    return p


def matched(p: object, f: object) -> dict[str, Value] | Miss:
    fn = trace(f, F3, F3)  # type: ignore[arg-type]
    return match_value(pattern(p), fn.results[0])


def test_holes_are_bound_to_operands() -> None:
    fn = trace(lambda x, y: x - y, F3, F3)
    assert match_value(pattern(sub(A, B)), fn.results[0]) == {"a": fn.params[0], "b": fn.params[1]}


def test_a_hole_stands_for_one_value() -> None:
    assert not isinstance(matched(sub(A, A), lambda x, y: x - x), Miss)
    miss = matched(sub(A, A), lambda x, y: x - y)
    assert isinstance(miss, Miss)
    assert miss.reason == "'a' stands for two different values"


def test_commutative_operands_are_tried_in_both_orders() -> None:
    assert not isinstance(matched(add(1.0, A), lambda x, y: x + 1.0), Miss)
    assert isinstance(matched(sub(1.0, A), lambda x, y: x - 1.0), Miss)


def test_a_later_contradiction_turns_an_earlier_choice() -> None:
    # (x·y) + (y·z)-like shapes: the first order that fits locally is not the one that fits as a whole
    bound = matched(sub(mul(A, B), exp(B)), lambda x, y: (x * y) - exp(x))
    assert not isinstance(bound, Miss)
    assert bound["b"] is not bound["a"]


def test_fields_of_primitives_must_be_equal() -> None:
    square = Type("f64", (2, 2))
    fn = trace(lambda x: Permute((1, 0))(x), square)
    assert not isinstance(match_value(pattern(Permute((1, 0))(A)), fn.results[0]), Miss)
    miss = match_value(pattern(Permute((0, 1))(A)), fn.results[0])
    assert isinstance(miss, Miss)
    assert miss.reason == "wanted Permute(order=(0, 1)), found Permute(order=(1, 0))"


@pytest.mark.parametrize("dtype", ["f64", "f32", "i8", "c64", "bool"])
def test_number_matches_the_literal_of_any_dtype(dtype: str) -> None:
    assert is_literal(const(1, dtype), 1)


def test_zeros_of_unequal_sign_differ_and_nan_is_nan() -> None:
    assert not same_number(0.0, -0.0)
    assert same_number(0, 0.0)
    assert not same_number(complex(0.0, -0.0), 0.0)
    assert same_number(math.nan, math.nan)
    assert not same_number(math.nan, 1.0)


def test_nearest_miss_is_the_one_that_fitted_furthest() -> None:
    miss = matched(log(add(1.0, exp(A))), lambda x, y: log(1.0 + x))
    assert isinstance(miss, Miss)
    assert miss.reason == "wanted exp, found param of type f64[3]"
