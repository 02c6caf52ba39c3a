"""The cheapest program in an e-graph, where what several values are made from is paid once.

First each class is made in the way that is cheapest if nothing is shared. Then, one class at a time, another way is
taken if all that is computed then costs less. No choice depends on the order of rules.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, final

from pliant.core.ir import Function, Value
from pliant.core.scope import scope
from pliant.rewrite.egraph import LESS, EGraph, Price, Term

SWEEPS: Final = 8
LEAST: Final = 1e-9
"""What a change has to save, as a part of the whole."""


@final
class Choice:
    """A term for each class, never one that is made from itself, and what those cost that the roots are made from."""

    def __init__(self, graph: EGraph, terms: Mapping[int, Term], roots: Sequence[int], price: Price) -> None:
        self.graph, self.terms, self.roots = graph, dict(terms), [*roots]
        self.prices: dict[Term, float] = {}
        self.price = price
        self.reads: dict[int, int] = {}  # of a class, by terms that are computed and as a result
        self.uses: dict[Term, int] = {}  # its results that are read
        self.cost = 0.0
        for root in roots:
            self.read(root)

    def price_of(self, term: Term) -> float:
        """What a term costs alone."""
        found = self.prices.get(term)
        if found is None:
            found = self.prices[term] = self.price(term.node) * (LESS if term.is_given else 1)
        return found

    def read(self, c: int) -> None:
        """One more reads a class: it is computed, if it was not, with all that it is made of."""
        todo = [c]
        while todo:
            c = todo.pop()
            self.reads[c] = self.reads.get(c, 0) + 1
            if self.reads[c] > 1:
                continue
            term = self.terms[c]
            self.uses[term] = self.uses.get(term, 0) + 1
            if self.uses[term] == 1:
                self.cost += self.price_of(term)
                todo += term.args

    def drop(self, c: int) -> None:
        """One less reads it."""
        todo = [c]
        while todo:
            c = todo.pop()
            self.reads[c] -= 1
            if self.reads[c]:
                continue
            term = self.terms[c]
            self.uses[term] -= 1
            if not self.uses[term]:
                self.cost -= self.price_of(term)
                todo += term.args

    def turn(self, c: int, term: Term) -> None:
        """Make a class that is read by another term."""
        readers = self.reads[c]
        self.reads[c] = 1
        self.drop(c)
        self.terms[c] = term
        self.read(c)
        self.reads[c] += readers - 1

    def is_made_from(self, term: Term, c: int) -> bool:
        """Whether a term reads a class, or anything that is made from it."""
        todo, seen = [*term.args], {*term.args}
        while todo:
            at = todo.pop()
            if at == c:
                return True
            for a in self.terms[at].args:
                if a not in seen:
                    seen.add(a)
                    todo.append(a)
        return False

    def order(self) -> list[int]:
        """The classes that are computed, those first that others read."""
        made, stack = dict[int, None](), [*reversed(self.roots)]
        while stack:
            c = stack[-1]
            waiting = [a for a in self.terms[c].args if a not in made]
            if c in made or not waiting:
                made[c] = None
                stack.pop()
            else:
                stack += reversed(waiting)
        return [*made]

    def improve(self, usable: Callable[[Term], bool]) -> None:
        """Take other terms as long as that makes the whole cheaper."""
        for _ in range(SWEEPS):
            before = self.cost
            for c in reversed(self.order()):
                if self.reads.get(c):
                    self.improve_class(c, usable)
            if self.cost > before * (1 - LEAST):
                return

    def improve_class(self, c: int, usable: Callable[[Term], bool]) -> None:
        """Make one class in the way with which the whole is cheapest."""
        now = self.terms[c]
        best, least = now, self.cost
        for term in self.options(c):
            if term is now or not usable(term) or self.is_made_from(term, c):
                continue
            self.turn(c, term)
            if self.cost < least * (1 - LEAST):
                best, least = term, self.cost
        if self.terms[c] is not best:
            self.turn(c, best)

    def options(self, c: int) -> list[Term]:
        """The terms that make a class, in an order that no order of rules decides."""
        digests = self.graph.digests
        terms = dict.fromkeys([t for t, _ in self.graph.makers[c] if all([a in digests for a in t.args])])
        return sorted(terms, key=lambda t: (t.born, t.text, [digests[a] for a in t.args]))

    def function(self, like: Function) -> Function:
        """The program, with the name and the parameters of another one."""
        with scope():
            made = dict[int, Value]()
            for c in self.order():
                if c not in made:
                    term = self.terms[c]
                    outs = zip(map(self.graph.find, term.outs), self.graph.value_of(term, made), strict=True)
                    made.update([(each, value) for each, value in outs if self.terms.get(each) is term])
            return Function(like.name, like.params, tuple([made[r] for r in self.roots]))


def cheapest(
    graph: EGraph, roots: Sequence[int], price: Price, usable: Callable[[Term], bool] = lambda term: True
) -> Choice | None:
    """The choice of terms that costs least, as far as it is found; None if usable terms cannot make all roots."""
    ways = graph.ways(price, usable)
    roots = [graph.find(r) for r in roots]
    if any([r not in ways for r in roots]):
        return None
    choice = Choice(graph, {c: way.term for c, way in ways.items()}, roots, price)
    choice.improve(usable)
    return choice
