"""The engine reaches a fixed point in one sweep, checks what rules do, and stops rules that run in circles."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from pliant import ops
from pliant.core.build import trace
from pliant.core.ir import Const, Function, Number, Op, Value, nodes
from pliant.core.types import Type
from pliant.core.verify import verify
from pliant.errors import RewriteError
from pliant.ops.compare import less
from pliant.ops.cond import Cond
from pliant.ops.custom import Checkpoint
from pliant.ops.elementwise import Add, Mul, add, mul, neg, sub
from pliant.ops.loop import Loop
from pliant.ops.reduce import ReduceSum, reduce_sum
from pliant.ops.tape import Rewind
from pliant.ops.transcendental import Exp, cos, exp, log, sin
from pliant.ops.while_loop import WhileLoop
from pliant.pipeline import DEFAULT_RULES, fold
from pliant.rewrite.engine import simplify
from pliant.rewrite.explain import Log
from pliant.rewrite.rule import Rule, rewrite, rule

F3 = Type("f64", (3,))


@rule
def times_one(x: Any) -> tuple[Any, Any]:
    """1·x → x."""
    return mul(1, x), x


@rule
def neg_of_neg(x: Any) -> tuple[Any, Any]:
    """−(−x) → x."""
    return neg(neg(x)), x


@rule(level="algebraic")
def common_factor(x: Any, y: Any, z: Any) -> tuple[Any, Any]:
    """x·y + x·z → x·(y + z)."""
    return mul(x, y) + mul(x, z), mul(x, y + z)


def test_nothing_to_do_returns_the_same_function() -> None:
    fn = trace(lambda x: exp(x) + x, F3)
    assert simplify(fn, (times_one, neg_of_neg)) is fn


def test_consumers_see_what_their_operands_became() -> None:
    fn = trace(lambda x, y, z: (x * 1.0) * y + z * neg(neg(x * 1.0)), F3, F3, F3)
    assert simplify(fn, (times_one, neg_of_neg, common_factor)) == trace(lambda x, y, z: x * (y + z), F3, F3, F3)


def test_what_a_rule_builds_is_simplified_in_the_same_sweep() -> None:
    @rule
    def exp_to_nested(x: Any) -> tuple[Any, Any]:
        """Builds operands that other rules match."""
        return exp(x), sin(mul(1.0, neg(neg(x))))

    log = Log()
    fn = trace(lambda x: exp(x), F3)
    assert simplify(fn, (exp_to_nested, times_one, neg_of_neg), log=log) == trace(lambda x: sin(x), F3)
    assert log.fired == {"exp_to_nested": 1, "times_one": 1, "neg_of_neg": 1}


def test_chains_of_rules_reach_the_end() -> None:
    steps = tuple(Rule(f"step{i}", "n → n + 1", "exact", sides=_counting(i)) for i in range(2, 40))
    assert simplify(trace(lambda x: 2.0 * x, F3), steps) == trace(lambda x: 40.0 * x, F3)


def _counting(n: int) -> Any:
    return lambda x: (mul(float(n), x), mul(float(n + 1), x))


def test_numbers_match_literals_of_any_dtype() -> None:
    for dtype in ("f32", "i64", "c64"):
        fn = trace(lambda x: x * 1, Type(dtype, (3,)))
        assert simplify(fn, (times_one,)).results == fn.params


def test_a_rule_that_changes_the_type_is_named() -> None:
    @rewrite(ReduceSum)
    def wrong(value: Value) -> Value:
        """Forgets the reduction."""
        return value.args[0]

    with pytest.raises(RewriteError, match=r"rule wrong changed f64\[\] to f64\[3\]") as caught:
        simplify(trace(lambda x: reduce_sum(x), F3), (wrong,))
    assert "the rule" in str(caught.value)
    assert "test_engine.py" in str(caught.value)


def test_what_rules_do_in_a_function_that_a_value_holds_is_no_circle() -> None:
    def long(x: Value) -> Value:
        for _ in range(3000):
            x = mul(1.0, sin(x))
        return x

    held = trace(long, Type("f64"))

    @rewrite(Exp)
    def in_a_branch(value: Value) -> Value:
        """Holds a long function."""
        (x,) = value.args
        (made,) = Cond(held, held).apply(less(x, 0.0), x)
        return made

    def f(x: Value) -> Value:
        return exp(mul(1.0, x))

    fn, log = trace(f, Type("f64")), Log()
    made = simplify(fn, (in_a_branch, times_one), log=log)
    assert log.fired["times_one"] > 3000
    assert simplify(made, (times_one,)) is made


def test_rules_that_undo_each_other_are_stopped_and_named() -> None:
    there = Rule("there", "", "exact", sides=lambda x: (sin(x), cos(x)))
    back = Rule("back", "", "exact", sides=lambda x: (cos(x), sin(x)))
    with pytest.raises(RewriteError, match=r"reach no fixed point; most active: (there|back) ×"):
        simplify(trace(lambda x: sin(x), F3), (there, back))


def test_a_rule_that_grows_without_end_is_stopped() -> None:
    grow = Rule("grow", "", "exact", sides=lambda x: (sin(x), exp(sin(exp(x)))))
    with pytest.raises(RewriteError, match="grow"):
        simplify(trace(lambda x: sin(x), F3), (grow,))


def test_a_dict_replaces_values_that_were_already_read() -> None:
    @rewrite(ReduceSum)
    def sum_moves_in(value: Value) -> dict[Value, Value] | None:
        """Σ sin x → Σ cos x, and sin x → cos x wherever else it is read."""
        (x,) = value.args
        return {x: cos(x.args[0]), value: reduce_sum(cos(x.args[0]))} if x.op == sin else None

    fn = trace(lambda x: (exp(sin(x)), reduce_sum(sin(x))), F3)
    assert simplify(fn, (sum_moves_in,)) == trace(lambda x: (exp(cos(x)), reduce_sum(cos(x))), F3)


def test_what_a_dict_replaces_is_replaced_in_other_replacements_too() -> None:
    @rewrite(ReduceSum)
    def sum_moves_in(value: Value) -> dict[Value, Value] | None:
        """Σ sin x → Σ cos x, and sin x → cos x wherever else it is read."""
        (x,) = value.args
        return {x: cos(x.args[0]), value: reduce_sum(cos(x.args[0]))} if x.op == sin else None

    def f(x: Value) -> tuple[Value, ...]:
        y = sin(x)
        z = sin(exp(y))
        return reduce_sum(y), reduce_sum(z), z

    y = trace(lambda x: cos(x), F3)
    want = trace(lambda x: (reduce_sum(y(x)[0]), reduce_sum(cos(exp(y(x)[0]))), cos(exp(y(x)[0]))), F3)
    assert simplify(trace(f, F3), (sum_moves_in,)) == want


def test_a_rule_finds_what_another_one_has_replaced_elsewhere() -> None:
    """Two sums with results of one node, each of which makes a node anew that has both: there is one in the end."""

    @rewrite(Add)
    def add_moves_in(value: Value) -> dict[Value, Value] | None:
        """y + a result of a checkpoint → a checkpoint that adds y."""
        y, total = value.args
        held = total.op
        if not isinstance(held, Checkpoint):
            return None

        def moved(y: Value, *xs: Value) -> tuple[Value, ...]:
            results = held.body(*xs)
            return tuple([y + r if n == total.index else r for n, r in enumerate(results)])

        body = trace(moved, y.type, *(a.type for a in total.args))
        made = Checkpoint(body).apply(y, *total.args)
        return {**dict(zip(total.node.values, made, strict=True)), value: made[total.index]}

    def both(x: Value, y: Value, z: Value) -> tuple[Value, ...]:
        first, second = Checkpoint(trace(lambda x: (sin(x), cos(x)), F3)).apply(x)
        return y + first, z + second

    new = simplify(trace(both, F3, F3, F3), (add_moves_in,))
    assert [n.op.name for n in nodes(new.results) if n.args] == ["checkpoint"]
    verify(new, "simplify")


def test_replacements_that_are_made_from_each_other_are_left_so() -> None:
    @rewrite(Add)
    def first(value: Value) -> dict[Value, Value] | None:
        """sin x + exp x → 1·exp x, and sin x → -exp x."""
        a, b = value.args
        return {a: neg(b), value: mul(1.0, b)} if a.op == sin else None

    @rewrite(Mul)
    def second(value: Value) -> dict[Value, Value] | None:
        """-exp x · exp x → 1 + sin x, and exp x → -sin x."""
        a, b = value.args
        return {b: neg(sin(b.args[0])), value: add(1.0, sin(b.args[0]))} if a == neg(b) else None

    made = simplify(trace(lambda x: (sin(x) + exp(x), sin(x) * exp(x)), F3), (first, second))
    assert made == trace(lambda x: (mul(1.0, neg(sin(x))), add(1.0, neg(exp(x)))), F3)


def test_rules_reach_into_held_functions() -> None:
    body = trace(lambda x: x * 1.0 + x, F3)
    fn = trace(lambda x: Checkpoint(body).apply(x), F3)
    want = trace(lambda x: Checkpoint(trace(lambda y: y + y, F3)).apply(x), F3)
    assert simplify(fn, (times_one,)) == want


def test_functions_held_by_what_a_rule_makes_are_simplified_on_the_spot() -> None:
    def held(f: Any) -> Function:
        return trace(f, F3)

    @rewrite(Exp)
    def exp_in_a_checkpoint(value: Value) -> Value:
        """Builds a function that other rules match."""
        (made,) = Checkpoint(held(lambda x: sin(neg(neg(mul(1.0, x)))))).apply(*value.args)
        return made

    want = trace(lambda x: Checkpoint(held(sin)).apply(x), F3)
    assert simplify(trace(exp, F3), (exp_in_a_checkpoint, times_one, neg_of_neg)) == want


def test_all_results_of_what_a_rule_makes_are_of_one_node() -> None:
    @rewrite(Add)
    def both_in_a_checkpoint(value: Value) -> dict[Value, Value] | None:
        """Replaces a sum, and the sine that it reads."""
        waved, y = value.args
        if waved.op.name != "sin":
            return None
        held = trace(lambda x, y: (sin(x), neg(neg(mul(sin(x), y)))), F3, F3)
        first, second = Checkpoint(held).apply(waved.args[0], y)
        return {value: second, waved: first}

    fn = trace(lambda x, y: (sin(x), sin(x) + y), F3, F3)
    new = simplify(fn, (both_in_a_checkpoint, neg_of_neg))
    assert [n.op.name for n in nodes(new.results) if n.args] == ["checkpoint"]
    verify(new, "simplify")


def test_scalars_are_folded_by_the_evaluator_given() -> None:
    def double(op: Op, operands: tuple[Const, ...]) -> Number | None:
        return sum(c.value for c in operands) if op == Add() else None

    fn = trace(lambda x: x + (ops.elementwise.add(const_of(1.0), const_of(2.0)) + 3.0), F3)
    assert simplify(fn, (), fold=double) == trace(lambda x: x + 6.0, F3)
    assert simplify(fn, ()) is fn


def const_of(number: float) -> Value:
    return ops.elementwise.add(ops.const(number, "f64"), ops.const(-0.0, "f64"))


def test_folding_keeps_dtypes_and_signs() -> None:
    small = Const(255, "u8"), Const(1, "u8")
    assert fold(Add(), small) == 0
    assert str(fold(Add(), (Const(-0.0, "f32"), Const(-0.0, "f32")))) == "-0.0"
    assert fold(ReduceSum(()), (Const(1.0, "f64"),)) is None


def test_replacements_keep_the_users_line_and_name() -> None:
    def f(x: Value) -> Value:
        y = log(1.0 + exp(x))
        return y * 2.0

    fn = simplify(trace(f, F3), DEFAULT_RULES)
    assert "%y: f64[3] = softplus(%x)" in str(fn)


def test_simplified_programs_verify() -> None:
    fn = trace(lambda x, y: -(x * 1.0 + 0.0) * y / 1.0 - -y, F3, F3)
    verify(simplify(fn, DEFAULT_RULES, fold=fold))


def straight_line(n: int) -> Function:
    def f(x: Value, y: Value) -> Value:
        for _ in range(n // 2):
            x = add(mul(x, y), y)
        return x

    return trace(f, F3, F3)


def work(fn: Function) -> int:
    """How many Python functions are called to simplify it: time without the noise."""
    calls = 0

    def count(frame: Any, event: str, arg: Any) -> None:
        nonlocal calls
        calls += 1

    sys.setprofile(count)
    try:
        simplify(fn, DEFAULT_RULES, fold=fold)
    finally:
        sys.setprofile(None)
    return calls


def test_work_is_linear_in_the_length_of_the_program() -> None:
    small, large = work(straight_line(500)), work(straight_line(4000))
    assert large < 9 * small


def test_a_long_program_that_shrinks_to_nothing() -> None:
    def f(x: Value) -> Value:
        for _ in range(20_000):
            x = neg(neg(x * 1.0))
        return x

    fn = trace(f, F3)
    assert simplify(fn, (times_one, neg_of_neg)).results == fn.params


def test_a_long_program_that_is_rewritten_everywhere() -> None:
    def f(x: Value, y: Value) -> Value:
        for _ in range(5_000):
            x = sub(x, neg(y))
        return x

    new = simplify(trace(f, F3, F3), DEFAULT_RULES)
    assert {n.op.name for n in nodes(new.results)} == {"param", "add"}


def test_a_rule_of_a_node_is_asked_about_one_of_its_results() -> None:
    asked = list[Value]()

    @rewrite(Loop, is_of_node=True)
    def seen(value: Value) -> None:
        """Nothing."""
        asked.append(value)

    body = trace(lambda i, x, y: (exp(x), cos(y)), Type("i64"), F3, F3)
    simplify(trace(lambda x, y: Loop(4, ("carry", "carry"), ("last", "last"), body).apply(x, y), F3, F3), (seen,))
    assert len(asked) == 1


def test_rules_of_nodes_say_the_same_of_all_results() -> None:
    given = [r for r in ops.RULES if r.is_of_node]
    assert {r.of for r in given} == {Loop, WhileLoop, Cond, Rewind}
    assert not [r.name for r in given if "index" in getattr(r.step, "__code__").co_names]  # noqa: B009


def test_what_rules_have_left_as_it_was_they_are_not_tried_on_again() -> None:
    tried = list[Value]()

    @rewrite(Exp)
    def seen(value: Value) -> None:
        """Nothing."""
        tried.append(value)

    fn = trace(lambda x: exp(exp(x)), F3)
    assert simplify(simplify(fn, (seen,)), (seen,)) is fn
    assert len(tried) == 2
    assert simplify(fn, (seen, neg_of_neg)) is fn
    assert len(tried) == 4
