"""Programs that do the same as one, by all rules at once: an e-graph, and the cheapest programs in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, final

from pliant.core.build import abstract, known_of, told
from pliant.core.data import mutable
from pliant.core.ir import Const, Function, Node, Param, Value
from pliant.core.scope import scope
from pliant.rewrite.egraph import EGraph, Fold, Price, Term
from pliant.rewrite.explain import Log
from pliant.rewrite.extract import cheapest
from pliant.rewrite.rule import Rule
from pliant.rewrite.saturate import saturate
from pliant.transforms.replace import changed_inside, replaced

PER_NODE: Final = 10
LEAST: Final = 400
MOST: Final = 30_000
"""Terms of an e-graph: so many for each node of the program and some more, never more than the last."""
SEGMENT: Final = 600
"""Nodes that are looked at together; of longer programs, one part after the other."""
HALVINGS: Final = 6
"""Bounds on what one term may touch that are tried, each half of the last, where memory counts."""


@final
@mutable
class Report:
    """What searches found: e-graphs, their terms and classes, and how many of them were complete."""

    graphs: int = 0
    terms: int = 0
    classes: int = 0
    complete: int = 0

    def __str__(self) -> str:
        rest = "" if self.complete == self.graphs else f", {self.graphs - self.complete} cut off by their budget"
        return f"e-graphs: {self.graphs}, with {self.terms} terms in {self.classes} classes{rest}"


@final
class Search:
    """A search with these rules; functions that primitives hold are looked at once."""

    def __init__(
        self, rules: Sequence[Rule], price: Price, fold: Fold | None, log: Log, *, terms: int | None = None,
        written: Callable[[Any], Value | None] = lambda array: None,
    ) -> None:  # fmt: skip
        """terms: that one e-graph may have; by default some for each node of the program. written: an array that a
        parameter is always bound to, as an expression, if it is to be looked at as one."""
        self.written = written
        self.rules, self.price, self.fold, self.log, self.terms = tuple(rules), price, fold, log, terms
        self.inner: dict[Function, Function] = {}
        self.report = Report()

    def best(self, fn: Function) -> Function:
        """The cheapest program that is found to do what `fn` does."""
        return self.programs(fn, bounds=False)[0]

    def programs(self, fn: Function, *, bounds: bool) -> list[Function]:
        """The cheapest program; with bounds, also the cheapest ones that make no array larger than half of the last."""
        fn = replaced(fn, lambda node, args: changed_inside(node, args, self.inner_best))
        count = len(operations(fn))
        if count > SEGMENT:
            return self.of_parts(fn, bounds=bounds)
        with scope():
            graph = EGraph(fn.params, self.fold)
            roots = [graph.class_of(r) for r in fn.results]
            self.tell(graph, fn.params)
            limit = self.terms or min(LEAST + PER_NODE * count, MOST)
            self.report.complete += saturate(graph, self.rules, self.price, limit, self.log)
            self.report.graphs += 1
            self.report.terms += len(graph)
            self.report.classes += len({graph.find(c) for c in range(len(graph.above))})
            found = self.extracted(graph, roots, fn, bounds=bounds)
        return found or [fn]

    def tell(self, graph: EGraph, params: Sequence[Value]) -> None:
        """Have parameters that are known be equal to what they are bound to."""
        graph.is_begun = True
        for p in params:
            made = None if known_of(p) is None else self.written(known_of(p))
            if made is not None:
                graph.union(graph.class_of(p), graph.class_of(made))
        graph.rebuild()

    def of_parts(self, fn: Function, *, bounds: bool) -> list[Function]:
        """The same of a long program, one part after the other."""
        found = list[list[Function]]()

        def first(part: Function) -> Function:
            found.append(self.programs(part, bounds=bounds))
            return found[-1][0]

        best = in_parts(fn, SEGMENT, first)
        more = list[Function]()
        for n in range(1, max([len(programs) for programs in found])):
            rest = iter(found)
            more.append(in_parts(fn, SEGMENT, lambda part, n=n, rest=rest: _nth(next(rest), n)))
        return [best, *more]

    def extracted(self, graph: EGraph, roots: Sequence[int], fn: Function, *, bounds: bool) -> list[Function]:
        """The cheapest programs in an e-graph."""
        choice = cheapest(graph, roots, self.price)
        if choice is None:
            return []
        made = [choice.function(fn)]
        cap = max([touched(term.node) for term in choice.uses], default=0)
        for _ in range(HALVINGS if bounds else 0):
            cap //= 2
            small = cheapest(graph, roots, self.price, lambda term, cap=cap: is_small(term, cap))
            if small is None:
                break
            made.append(small.function(fn))
        return made

    def inner_best(self, fn: Function) -> Function:
        """The same of a function that a primitive holds, found once."""
        found = self.inner.get(fn)
        if found is None:
            found = self.inner[fn] = self.best(fn)
        return found


def _nth(programs: Sequence[Function], n: int) -> Function:
    """The n-th, or the last."""
    return programs[min(n, len(programs) - 1)]


def operations(fn: Function) -> list[Node]:
    """The nodes of a program that compute something."""
    return [node for node in fn.nodes if type(node.op) not in (Param, Const)]


def touched(node: Node) -> int:
    """The bytes of what a primitive reads and makes."""
    return sum([a.type.bytes for a in node.args]) + sum([t.bytes for t in node.types])


def is_small(term: Term, bytes: int) -> bool:
    """Whether a term is given, or makes no array of more bytes."""
    return not term.args or sum([t.bytes for t in term.node.types]) <= bytes


def in_parts(fn: Function, size: int, change: Callable[[Function], Function]) -> Function:
    """`fn` with each part of so many nodes, one after the other, changed."""
    order = operations(fn)
    last = dict[Value, int]()
    for n, node in enumerate(order):
        last.update(dict.fromkeys(node.args, n))
    last.update(dict.fromkeys(fn.results, len(order)))
    env: dict[Value, Value] = {p: p for p in fn.params}
    with scope():
        for start in range(0, len(order), size):
            nodes = order[start : start + size]
            made = dict.fromkeys([v for node in nodes for v in node.values])
            read = [a for node in nodes for a in node.args if type(a.op) is not Const]
            given = tuple(dict.fromkeys([a for a in read if a not in made]))
            results = tuple([v for v in made if last.get(v, -1) >= start + len(nodes)])
            part = change(told(abstract(results, given), given))
            env.update(zip(results, part(*[env[a] for a in given]), strict=True))
        return Function(fn.name, fn.params, tuple([env.get(r, r) for r in fn.results]))
