"""Values are interned per trace, literals keep their sign, functions compare by text."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from pliant.core.build import trace
from pliant.core.ir import Const, Function, Number, Value, const, nodes, param, rebuild, substitute
from pliant.core.protocols import implements
from pliant.core.scope import scope
from pliant.core.types import Type
from pliant.errors import DTypeError, MissingRuleError, ShapeError
from pliant.ops.custom import Checkpoint
from pliant.ops.elementwise import Add, add, mul
from pliant.ops.shape import Reshape, reshape
from pliant.ops.transcendental import exp
from pliant.ops.triangular import qr
from pliant.transforms.inline import Inlinable

F3 = Type("f64", (3,))


def test_equal_expressions_of_one_trace_are_one_value() -> None:
    with scope():
        x = param(F3)
        assert exp(x) is exp(x)
        assert reshape(x, (3, 1)) is Reshape((3, 1))(x)
        assert add(x, 2.0) is add(x, 2.0)


@pytest.mark.parametrize(
    ("number", "dtype"), [(1, "i64"), (True, "bool"), (-0.0, "f64"), (math.nan, "f32"), (1j, "c64")]
)
def test_equal_literals_of_one_trace_are_one_value(number: Number, dtype: str) -> None:
    before = const(number, dtype)
    with scope():
        first = const(number, dtype)
        assert const(number, dtype) is Const(number, dtype)() is rebuild(before.node, ())[0] is first
        assert const(0, "f64") is not const(-0.0, "f64")


def test_equal_expressions_of_two_traces_are_two_values() -> None:
    x = param(F3)
    with scope():
        first = exp(x)
    with scope():
        assert exp(x) is not first


def test_parameters_of_one_type_are_distinct() -> None:
    with scope():
        assert param(F3) is not param(F3)


def test_negative_zero_is_not_zero_and_nan_is_nan() -> None:
    assert Const(0.0, "f64") != Const(-0.0, "f64")
    assert Const(math.nan, "f64") == Const(math.nan, "f64")
    assert Const(1.0, "f64") != Const(1.0, "f32")
    assert Const(1.0, "f64") != Const(1, "f64")


@pytest.mark.parametrize(("dtype", "want"), [("f32", "1.0"), ("i8", "1"), ("bool", "True"), ("c64", "(1+0j)")])
def test_literals_take_the_kind_of_their_dtype(dtype: str, want: str) -> None:
    made = const(1, dtype).op
    assert isinstance(made, Const)
    assert repr(made.value) == want


def test_python_numbers_take_the_dtype_of_the_value_they_meet() -> None:
    x = param(Type("f32", (3,)))
    assert (2 * x).dtype == "f32"
    assert (x + 1.5).args[1].dtype == "f32"


def test_operands_of_unequal_dtype_are_refused_with_their_origins() -> None:
    x, y = param(F3), param(Type("f32", (3,)))
    with pytest.raises(DTypeError, match=r"add: f64\[3\] and f32\[3\] have different dtypes") as caught:
        add(x, y)
    assert "in add" in str(caught.value)
    assert "operand 1: f32[3]" in str(caught.value)


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ShapeError, match=r"mul: f64\[3\] and f64\[4\] do not fit together"):
        mul(param(F3), param(Type("f64", (4,))))


def test_missing_rule_says_what_to_write_and_where() -> None:
    with pytest.raises(MissingRuleError, match="primitive 'exp' has no 'fill' rule"):
        raise exp.missing("fill", "expand")


def test_functions_are_equal_when_they_do_the_same_in_other_words() -> None:
    f = trace(lambda x, y: x * y, F3, F3)
    g = trace(lambda u, v: u * v, F3, F3)
    assert f == g
    assert hash(f) == hash(g)
    assert f != trace(lambda x, y: y * x, F3, F3)


@pytest.mark.parametrize(
    ("f", "g"),
    [
        (lambda x, y: x - y, lambda x, y: y - x),
        (lambda x, y: (x, y), lambda x, y: (x, x)),
        (lambda x, y: x * 0.0, lambda x, y: x * -0.0),
        (lambda x, y: x * 1.0, lambda x, y: x * 2.0),
        (lambda x, y: reshape(x, (1, 3)), lambda x, y: reshape(x, (3, 1))),
        (lambda x, y: (x, y), lambda x, y: (x, y, x)),
    ],
    ids=["operands", "results", "sign of zero", "literals", "fields", "count"],
)
def test_functions_differ_when_they_do_something_else(f: Callable[..., Any], g: Callable[..., Any]) -> None:
    first, second = trace(f, F3, F3), trace(g, F3, F3)
    assert first != second
    assert first == trace(f, F3, F3)
    assert hash(first) == hash(trace(f, F3, F3))


def test_functions_on_other_types_differ() -> None:
    assert trace(lambda x: x, Type("f64", (3,))) != trace(lambda x: x, Type("f64", (4,)))
    assert trace(lambda x, y: x, F3, F3) != trace(lambda x: x, F3)


def test_calling_a_function_inlines_it() -> None:
    f = trace(lambda x: x * x, F3)
    assert trace(lambda y: f(y + 1.0)[0], F3) == trace(lambda y: (y + 1.0) * (y + 1.0), F3)


def test_nodes_come_operands_first_and_each_once() -> None:
    f = trace(lambda x: exp(x) * exp(x) + x, F3)
    seen: set[Value] = set()
    for node in nodes(f.results):
        assert seen.issuperset(node.args)
        seen.update(node.values)
    assert [n.op.name for n in nodes(f.results)] == ["param", "exp", "mul", "add"]


def test_nodes_do_not_look_behind_stops() -> None:
    x = param(F3)
    y = exp(x)
    assert [n.op.name for n in nodes([y * y], stop=[y])] == ["mul"]


def test_substitute_keeps_what_does_not_depend_on_the_replaced() -> None:
    x, y = param(F3), param(F3)
    (z,) = substitute([exp(x) + y], {y: x})
    assert [n.op.name for n in nodes([z])] == ["param", "exp", "add"]
    assert z.args == (z.args[0], x)


def test_substituting_one_result_of_a_primitive_keeps_its_others() -> None:
    with scope():
        x, other = param(Type("f64", (3, 3))), param(Type("f64", (3, 3)))
        q, r = qr(x)
        (y,) = substitute([q + r], {q: other})
        assert y.args == (other, r)


def test_substituting_another_type_infers_again() -> None:
    f = trace(lambda x: exp(x), F3)
    assert Function("g", f.params, f.results)(param(Type("f32", (2, 2))))[0].type == Type("f32", (2, 2))


def test_a_primitive_implements_a_protocol_if_it_has_its_methods():
    assert implements(Checkpoint(trace(lambda x: x, Type("f64"))), Inlinable)
    assert not implements(Add(), Inlinable)
