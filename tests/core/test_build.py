"""Functions are made by running Python on parameters, or cut out of values."""

from __future__ import annotations

from pliant.core.build import abstract, expanded, free_values, trace
from pliant.core.ir import param
from pliant.core.scope import scope
from pliant.core.types import Type
from pliant.ops.custom import Checkpoint
from pliant.ops.elementwise import add
from pliant.ops.transcendental import exp

F3 = Type("f64", (3,))


def test_parameters_are_named_after_the_arguments() -> None:
    assert str(trace(lambda left, right: left + right, F3, F3)).startswith(
        "func @lambda(%left: f64[3], %right: f64[3])"
    )


def test_a_function_may_return_nothing_or_literals() -> None:
    assert trace(lambda x: (), F3).results == ()
    assert str(trace(lambda x: 2.0, F3)).splitlines()[1] == "  return 2.0"


def test_abstract_cuts_at_the_values_given() -> None:
    x = param(F3, "x")
    y = exp(x)
    assert abstract((y * y + x,), (y, x)) == trace(lambda y, x: y * y + x, F3, F3)


def test_expanded_is_the_expand_rule_as_a_function() -> None:
    body = trace(lambda x: x * x, F3)
    assert expanded(Checkpoint(body), F3) == body


def test_free_values_are_those_of_outer_traces() -> None:
    with scope():
        outer = exp(param(F3))
        with scope() as inner:
            x = param(F3)
            y = add(x, outer) * 2.0
        fn = trace(lambda x: x, F3)
        assert free_values(type(fn)("f", (x,), (y,)), inner.number) == (outer,)
