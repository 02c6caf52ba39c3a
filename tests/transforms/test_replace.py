"""Functions made anew: only where a rule makes nodes otherwise, and with no node twice."""

from __future__ import annotations

from pliant.core.build import trace
from pliant.core.ir import Function, Node, Value, Values
from pliant.core.scope import scope
from pliant.core.types import Type
from pliant.ops.loop import Loop
from pliant.ops.transcendental import Cos, Sin, cos, exp, sin
from pliant.transforms.replace import Env, changed_inside, replaced, replaced_in
from tests.programs.programs import f64

F3 = f64(3)


def cosines(node: Node, args: Values) -> Value | Values | None:
    return cos(*args) if isinstance(node.op, Sin) else changed_inside(node, args, with_cosines)


def with_cosines(fn: Function) -> Function:
    return replaced(fn, cosines)


def looped(fn: Function) -> Function:
    return trace(lambda x: Loop(4, ("carry",), ("last",), fn)(exp(x)), F3)


def test_a_function_in_which_nothing_changes_is_returned_as_it_is() -> None:
    fn = looped(trace(lambda i, x: exp(cos(x)), Type("i64"), F3))
    assert with_cosines(fn) is fn


def test_a_node_that_is_made_again_as_it_was_is_no_change() -> None:
    fn = trace(lambda x: exp(sin(x)), F3)
    assert replaced(fn, lambda node, args: node.op.apply(*args)) is fn


def test_what_comes_before_and_after_a_change_is_made_again() -> None:
    fn = trace(lambda x: (exp(x) + cos(sin(exp(x)))) * exp(x), F3)
    made = with_cosines(fn)
    assert made == trace(lambda x: (exp(x) + cos(cos(exp(x)))) * exp(x), F3)
    assert len({node.scope for node in made.nodes if node.args}) == 1


def test_what_a_rule_makes_of_earlier_nodes_is_no_second_one() -> None:
    fn = trace(lambda x: cos(exp(x)) + sin(exp(x)), F3)

    def rule(node: Node, env: Env) -> Value | None:
        return cos(env[node.args[0]]) if isinstance(node.op, Sin) else None

    made = replaced_in(fn, rule)
    assert [type(node.op) for node in made.nodes].count(Cos) == 1


def test_nodes_of_several_traces_are_brought_together() -> None:
    with scope():
        one = trace(lambda x: exp(x), F3)
        twice = cos(one.results[0])
    with scope():
        other = cos(one.results[0])
        fn = Function("f", one.params, (twice, other))
    made = replaced(fn, lambda node, args: None)
    assert made.results[0] is made.results[1]


def test_a_rule_that_keeps_what_it_makes_is_given_what_nodes_become() -> None:
    fn = trace(lambda x: exp(sin(x)) * exp(x), F3)
    kept = list[Value]()

    def rule(node: Node, env: Env) -> Value | None:
        if not isinstance(node.op, Sin):
            return None
        kept.append(cos(env[node.args[0]]))
        return kept[-1]

    made = replaced_in(fn, rule, keeps=True)
    assert kept[0].node in made.nodes
