"""What several values are made from is paid once; no choice is made from itself; nothing is dearer than it was."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable

import pytest

from pliant.core.build import trace
from pliant.core.ir import Function, Value
from pliant.core.scope import scope
from pliant.core.types import Type
from pliant.kernel.price import price
from pliant.ops.elementwise import add, mul, sub
from pliant.ops.transcendental import cos, exp, sin, tanh
from pliant.pipeline import fold
from pliant.rewrite.egraph import EGraph, Term
from pliant.rewrite.extract import Choice, cheapest

F9 = Type("f64", (9,))


def least_cost(graph: EGraph, roots: list[int]) -> float:
    """The cost of the cheapest choice, all of them tried."""
    classes = sorted({graph.find(c) for c in range(len(graph.above)) if graph.makers[graph.find(c)]})
    options = [[t for t, _ in graph.makers[c]] for c in classes]
    best = float("inf")
    for terms in itertools.product(*options):
        chosen = dict(zip(classes, terms, strict=True))
        used, todo, path = dict[Term, None](), [graph.find(r) for r in roots], True
        seen = set[int]()
        while todo:
            c = todo.pop()
            if c not in seen:
                seen.add(c)
                used[chosen[c]] = None
                todo += chosen[c].args
        path = not _is_circular(chosen, roots, graph)
        if path:
            best = min(best, sum([price(t.node) for t in used]))
    return best


def _is_circular(chosen: dict[int, Term], roots: list[int], graph: EGraph) -> bool:
    done, open_ = set[int](), set[int]()

    def walk(c: int) -> bool:
        if c in done:
            return False
        if c in open_:
            return True
        open_.add(c)
        circular = any([walk(a) for a in chosen[c].args])
        open_.discard(c)
        done.add(c)
        return circular

    return any([walk(graph.find(r)) for r in roots])


def test_a_dearer_way_is_taken_that_is_needed_anyway() -> None:
    # alone, sin(x) + cos(x) would be cheaper than exp(tanh x), which another result needs
    fn = trace(lambda x: (add(sin(x), cos(x)), add(exp(tanh(x)), exp(exp(tanh(x)))), exp(tanh(x))), F9)
    with scope():
        graph = EGraph(fn.params, fold)
        roots = [graph.class_of(r) for r in fn.results]
        graph.union(roots[0], graph.class_of(mul(exp(tanh(fn.params[0])), exp(exp(tanh(fn.params[0]))))))
        graph.rebuild()
        choice = cheapest(graph, roots, price)
        assert choice is not None
        made = choice.function(fn)
    assert "sin" not in str(made)
    assert choice.cost == pytest.approx(sum(map(price, made.nodes)))


def test_the_cost_is_that_of_the_program() -> None:
    fn = trace(lambda x, y: (sin(x) * cos(y), sin(x) + sin(x) * cos(y)), F9, F9)
    with scope():
        graph = EGraph(fn.params, fold)
        choice = cheapest(graph, [graph.class_of(r) for r in fn.results], price)
        assert choice is not None
        assert choice.function(fn) == fn
        assert choice.cost == pytest.approx(sum(map(price, fn.nodes)))


def test_roots_that_cannot_be_made_are_told() -> None:
    fn = trace(lambda x: sin(x), F9)
    with scope():
        graph = EGraph(fn.params, fold)
        roots = [graph.class_of(fn.results[0])]
        assert cheapest(graph, roots, price, lambda term: term.node.op.name != "sin") is None


def random_graph(seed: int) -> tuple[Function, EGraph, list[int]]:
    """An e-graph of which some classes were said to be equal at random."""
    draw = random.Random(seed)

    def program(x: Value, y: Value) -> tuple[Value, ...]:
        values = [x, y]
        for _ in range(9):
            op: Callable[..., Value] = draw.choice([sin, exp, add, mul, sub])
            count = 1 if op in (sin, exp) else 2
            values.append(op(*[draw.choice(values[-4:]) for _ in range(count)]))
        return values[-1], values[-2]

    fn = trace(program, F9, F9)
    graph = EGraph(fn.params, None)
    roots = [graph.class_of(r) for r in fn.results]
    for _ in range(3):
        made = [c for c in range(len(graph.above)) if graph.find(c) == c]
        graph.union(*draw.sample(made, 2))
        graph.rebuild()
    return fn, graph, [graph.find(r) for r in roots]


@pytest.mark.parametrize("seed", range(40))
def test_small_graphs_are_solved_nearly_as_well_as_can_be(seed: int) -> None:
    with scope():
        fn, graph, roots = random_graph(seed)
        choice = cheapest(graph, roots, price)
        assert choice is not None
        made = choice.function(fn)
        alone = Choice(graph, {c: w.term for c, w in graph.ways(price).items()}, roots, price)
        best = least_cost(graph, roots)
    assert choice.cost == pytest.approx(sum(map(price, made.nodes)))
    assert best * (1 - 1e-6) <= choice.cost <= alone.cost * (1 + 1e-6)
    assert choice.cost <= 1.15 * best
