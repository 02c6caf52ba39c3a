"""An e-graph holds equal values in one class, keeps equal terms one object, and knows the literals in it."""

from __future__ import annotations

from typing import Any

import pytest

from pliant.core.build import trace
from pliant.core.ir import Function, Value, const, param
from pliant.core.scope import scope
from pliant.core.types import Type
from pliant.errors import RewriteError
from pliant.kernel.price import price
from pliant.ops.cond import Cond
from pliant.ops.elementwise import add, mul, neg
from pliant.ops.spectral import eigh
from pliant.ops.transcendental import cos, exp, sin
from pliant.pipeline import fold
from pliant.rewrite.egraph import EGraph, text_of

F3 = Type("f64", (3,))


def graph_of(fn: Function) -> tuple[EGraph, list[int]]:
    """The e-graph of a program, and the classes of its results."""
    graph = EGraph(fn.params, fold)
    return graph, [graph.class_of(r) for r in fn.results]


def test_what_is_made_of_equal_values_is_equal() -> None:
    fn = trace(lambda x, y: (exp(sin(x)), exp(sin(y)), x, y), F3, F3)
    with scope():
        graph, (a, b, x, y) = graph_of(fn)
        assert graph.find(a) != graph.find(b)
        assert graph.union(x, y)
        graph.rebuild()
        assert graph.find(a) == graph.find(b)
        assert not graph.union(a, b)
        assert len({id(t) for t in graph.terms.values()}) == len(graph) == 4  # two parameters, sin and exp


def test_congruence_goes_all_the_way_up() -> None:
    def towers(x: Value, y: Value) -> tuple[Value, ...]:
        a, b = x, y
        for _ in range(50):
            a, b = sin(a) + a, sin(b) + b
        return a, b, x, y

    with scope():
        graph, (a, b, x, y) = graph_of(trace(towers, F3, F3))
        graph.union(x, y)
        graph.rebuild()
        assert graph.find(a) == graph.find(b)


def test_a_class_may_be_made_from_itself_and_has_a_way_all_the_same() -> None:
    with scope():
        graph, (a, x) = graph_of(trace(lambda x: (mul(x, 1.0), x), F3))
        graph.union(a, x)
        graph.rebuild()
        assert graph.ways(price)[graph.find(a)].term.node.op.name == "param"


def test_terms_of_literals_are_literals() -> None:
    with scope():
        graph, (a,) = graph_of(trace(lambda x: mul(x, add(2.0, 3.0)), F3))
        five = graph.class_of(const(5.0, "f64"))
        x = next(iter(graph.params))
        assert graph.class_of(mul(x, 5.0)) == graph.find(a)
        assert graph.literals[five].value == 5.0


def test_literals_that_are_found_later_are_folded_too() -> None:
    with scope():
        graph, (a, s) = graph_of(trace(lambda x, s: (mul(2.0, s), s), F3, Type("f64")))
        graph.union(s, graph.class_of(const(4.0, "f64")))
        graph.rebuild()
        assert graph.literals[graph.find(a)].value == 8.0


def test_all_results_of_a_primitive_are_one_term() -> None:
    matrix = Type("f64", (3, 3))
    with scope():
        graph, (w, v, w2, v2, a, b) = graph_of(trace(lambda a, b: (*eigh(a), *eigh(b), a, b), matrix, matrix))
        graph.union(a, b)
        graph.rebuild()
        assert (graph.find(w), graph.find(v)) == (graph.find(w2), graph.find(v2))
        ways = graph.ways(price)
        assert ways[graph.find(w)].term is ways[graph.find(v)].term


def test_values_of_other_types_are_never_equal() -> None:
    with scope():
        graph, (a, b) = graph_of(trace(lambda x, y: (sin(x), sin(y)), F3, Type("f64", (4,))))
        with pytest.raises(RewriteError, match=r"f64\[3\] and f64\[4\] are said to be equal"):
            graph.union(a, b)


@pytest.mark.parametrize(("a", "b"), [(1.0, 2.0), (0.0, 1.0), (1e9, 1.1e9)])
def test_numbers_that_differ_are_never_equal(a: float, b: float) -> None:
    with scope():
        graph = EGraph((), fold)
        with pytest.raises(RewriteError, match="are said to be equal"):
            graph.union(graph.class_of(const(a, "f64")), graph.class_of(const(b, "f64")))


def test_zeros_of_both_signs_and_rounded_numbers_may_be_equal() -> None:
    with scope():
        graph = EGraph((), fold)
        for a, b in ((0.0, -0.0), (0.1 + 0.2, 0.3), (float("inf"), 1.0)):
            assert graph.union(graph.class_of(const(a, "f64")), graph.class_of(const(b, "f64")))


def test_the_cheapest_way_is_found_and_its_value_made() -> None:
    with scope():
        fn = trace(lambda x: (exp(sin(x)), neg(x), x), F3)
        graph, (a, b, _) = graph_of(fn)
        graph.union(a, b)
        graph.rebuild()
        made = graph.values(graph.ways(price))
        assert made[graph.find(a)].op.name == "neg"
        assert made[graph.find(a)].args == fn.params


def test_unusable_terms_are_left_out_with_all_that_needs_them() -> None:
    with scope():
        graph, (a, b) = graph_of(trace(lambda x: (cos(sin(x)), exp(x)), F3))
        ways = graph.ways(price, lambda term: term.node.op.name != "sin")
        assert a not in ways
        assert b in ways


def test_deep_programs_do_not_overflow_the_stack() -> None:
    def deep(x: Any) -> Any:
        for _ in range(20_000):
            x = sin(x)
        return x

    with scope():
        graph, (a,) = graph_of(trace(deep, F3))
        assert graph.values(graph.ways(price))[a].op.name == "sin"


def test_parameters_are_told_apart() -> None:
    with scope():
        x, y = param(F3, "x"), param(F3, "y")
        graph = EGraph((x, y), fold)
        assert graph.class_of(sin(x)) != graph.class_of(sin(y))


def nested(depth: int, factor: float, name: str = "x") -> Function:
    """Branches in both arms of branches."""
    fn = trace(lambda x: x * factor, F3, names=[name])
    for _ in range(depth):
        fn = trace(lambda p, x, fn=fn: Cond(fn, fn).apply(p, x), Type("bool"), F3, names=["p", name])
        fn = trace(lambda x, fn=fn: fn(const(True, "bool"), x), F3, names=[name])
    return fn


def test_texts_of_primitives_that_hold_functions_are_short_and_tell_these_apart() -> None:
    made = [nested(12, 2.0), nested(12, 2.0, "y"), nested(12, 3.0), nested(11, 2.0)]
    texts = [text_of(fn.results[0].op) for fn in made]
    assert max(map(len, texts)) < 300
    assert texts[0] == texts[1]
    assert len({*texts}) == 3
