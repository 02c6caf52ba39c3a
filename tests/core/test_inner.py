"""What a primitive holds is found, and changed, without knowing the primitive."""

from __future__ import annotations

from pliant.core.inner import functions_of, map_functions
from pliant.core.ir import Function, param
from pliant.core.types import Type
from pliant.ops.cond import Cond
from pliant.ops.elementwise import Add, Mul

X = param(Type("f64"))
DOUBLE, SQUARE = Function("double", (X,), Add().apply(X, X)), Function("square", (X,), Mul().apply(X, X))


def test_functions_of_a_branch_are_its_arms() -> None:
    assert list(functions_of(Cond(DOUBLE, SQUARE)).values()) == [DOUBLE, SQUARE]


def test_a_primitive_without_functions_has_none() -> None:
    assert functions_of(Add()) == {}


def test_a_changed_function_makes_another_primitive() -> None:
    assert map_functions(Cond(DOUBLE, SQUARE), lambda fn: DOUBLE) == Cond(DOUBLE, DOUBLE)


def test_a_primitive_whose_functions_stay_is_the_same_object() -> None:
    op = Cond(DOUBLE, SQUARE)
    assert map_functions(op, lambda fn: fn) is op
