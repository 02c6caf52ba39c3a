"""What a primitive holds is found, and changed, without knowing the primitive."""

from __future__ import annotations

from pliant.core.inner import answered, functions_of, map_functions, settling
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


def test_a_question_about_a_function_is_answered_once() -> None:
    asked = list[str]()

    @answered
    def is_asked(fn: Function) -> bool:
        asked.append(fn.name)
        return any(map(is_asked, [f for node in fn.nodes for f in functions_of(node.op).values()]))

    branch = Function("branch", (X,), Cond(DOUBLE, DOUBLE).apply(param(Type("bool")), X))
    assert not is_asked(branch)
    assert not is_asked(branch)
    assert asked == ["branch", "double"]


def test_a_pass_does_not_look_again_at_what_it_has_left_as_it_was() -> None:
    looked = list[Function]()

    @settling
    def doubled(fn: Function) -> Function:
        looked.append(fn)
        return DOUBLE if fn is SQUARE else fn

    assert [doubled(fn) for fn in (SQUARE, DOUBLE, DOUBLE, SQUARE)] == [DOUBLE] * 4
    assert looked == [SQUARE, DOUBLE, SQUARE]
