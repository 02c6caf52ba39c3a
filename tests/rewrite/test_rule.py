"""Rules are values made from equations or steps."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest

from pliant import ops
from pliant.core.build import trace
from pliant.core.ir import Value, nodes
from pliant.core.types import Type
from pliant.errors import RewriteError
from pliant.ops.base import Elementwise
from pliant.ops.elementwise import Add, Mul, mul
from pliant.ops.shape import Broadcast, Reshape
from pliant.ops.transcendental import Log, exp, log
from pliant.rewrite.rule import Rule, rewrite, rule

F3 = Type("f64", (3,))


@rule
def exp_of_log(x: Any) -> tuple[Any, Any]:
    """exp(log x) → x, for x > 0."""
    return exp(log(x)), x


@rewrite(Reshape, level="exact", reads=(Reshape,))
def reshape_of_reshape(value: Value) -> Value:
    """The outer one decides."""
    return value.op(value.args[0].args[0])


def test_a_rule_has_name_doc_level_and_origin() -> None:
    assert (exp_of_log.name, exp_of_log.doc, exp_of_log.level) == ("exp_of_log", "exp(log x) → x, for x > 0.", "exact")
    assert exp_of_log.origin.short.startswith("test_rule.py:")
    assert rule(level="algebraic")(lambda x: (mul(2.0, x), x)).level == "algebraic"


def test_a_rule_is_a_value() -> None:
    assert replace(exp_of_log) == exp_of_log
    assert len({exp_of_log, replace(exp_of_log), reshape_of_reshape}) == 2
    with pytest.raises(FrozenInstanceError):
        exp_of_log.name = "other"  # type: ignore[misc]


def test_the_left_side_is_not_built_before_it_is_needed() -> None:
    seen: list[Any] = []

    @rule
    def watched(x: Any) -> tuple[Any, Any]:
        """Records its calls."""
        seen.append(x)
        return exp(x), x

    assert seen == []
    assert watched.root is type(exp)
    assert len(seen) == 1


def test_the_root_is_the_outermost_primitive_or_the_one_given() -> None:
    assert exp_of_log.root.name == "exp"
    assert reshape_of_reshape.root is Reshape


def test_quick_test_agrees_with_operands() -> None:
    assert exp_of_log.fits((Log,))
    assert not exp_of_log.fits((Add,))
    assert reshape_of_reshape.fits((Reshape,))
    assert not reshape_of_reshape.fits((Broadcast,))


def test_a_left_side_that_is_a_hole_is_refused() -> None:
    nothing = rule(lambda x: (x, x))
    with pytest.raises(RewriteError, match="the left side must apply a primitive"):
        _ = nothing.root


def test_where_sees_the_matched_values_by_name() -> None:
    @rule(where=lambda x: x.shape == (4,))
    def only_four(x: Any) -> tuple[Any, Any]:
        """Only for four elements."""
        return exp(log(x)), x

    three, four = (trace(lambda x: exp(log(x)), Type("f64", (n,))) for n in (3, 4))
    assert only_four.apply(three.results[0]) is None
    assert only_four.apply(four.results[0]) is four.params[0]


def test_every_rule_of_pliant_can_be_built_and_says_what_it_does() -> None:
    assert [r.name for r in ops.RULES if not r.doc] == []
    assert all(isinstance(r, Rule) for r in ops.RULES)
    assert all(r.root.name for r in ops.RULES)
    assert len({r.name for r in ops.RULES}) == len(ops.RULES)


def messages(r: Rule, f: Any) -> str:
    fn = trace(f, F3)
    return r.explain([v for n in nodes(fn.results) for v in n.values])


def test_explain_says_what_is_missing() -> None:
    assert messages(exp_of_log, lambda x: x * x) == "exp_of_log: there is no exp here"


def test_explain_shows_the_nearest_miss_under_carets() -> None:
    def f(x: Value) -> Value:
        y = exp(x * 2.0)
        return y + exp(x)

    first, place, line, carets = messages(exp_of_log, f).split("\n")
    assert first == "exp_of_log: wanted log, found mul of type f64[3]"
    assert place.endswith("in f: nearest miss")
    assert line[carets.index("^") : carets.rindex("^") + 1] == "x * 2.0"


def test_explain_tells_a_refusal_by_where() -> None:
    refuses = rule(where=lambda x: False)(lambda x: (exp(log(x)), x))
    assert messages(refuses, lambda x: exp(log(x))).startswith("<lambda>: `where` refuses")


def test_explain_of_a_step_shows_an_example() -> None:
    @rewrite(Elementwise)
    def never(value: Value) -> None:
        """Never."""

    assert messages(never, lambda x: exp(x) * x).startswith("never: declined 2 × elementwise")
    assert Mul.name == "mul"
