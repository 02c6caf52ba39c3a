"""Apply rules to an e-graph until nothing new is equal, or a budget of terms is spent.

In each round all matches are found before any is applied, and a round is not begun that could spend more than the budget:
so what is found to be equal does not depend on the order of the rules. What a rule sees of a class is the cheapest
value in it; of what its operands are made from, for rules that look at that, each way in turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeAlias, final

from pliant.core.frozen import frozen
from pliant.core.ir import Op, Pattern, Value, rebuild
from pliant.core.origin import derived, swap
from pliant.errors import DTypeError, RewriteError, ShapeError
from pliant.rewrite.egraph import EGraph, Price, Term, Way
from pliant.rewrite.explain import Log
from pliant.rewrite.match import kind_of, same_number
from pliant.rewrite.rule import Rule

ROUNDS: Final = 12
ALTERNATIVES: Final = 8
"""Ways of one operand that a rule which looks behind it is shown."""
_BUILT: Final = 3
"""Terms that a match makes, about: to tell before a round whether it spends more than the budget."""

Bound: TypeAlias = "dict[str, int]"
Goals: TypeAlias = "tuple[Any, int, Goals] | None"  # pattern, class, the rest


@final
@frozen
class Saturated:
    """What became of an e-graph."""

    rounds: int
    is_complete: bool  # nothing else is equal by these rules


@final
@frozen
class Found:
    """A match: the rule, the value that it rewrites, and for an equation the values of its holes."""

    rule: Rule
    value: Value
    holes: dict[str, Value] | None


def saturate(graph: EGraph, rules: Sequence[Rule], price: Price, terms: int, log: Log) -> Saturated:
    """Add to the e-graph what the rules find, as long as it has no more than so many terms. In the current trace."""
    return _Saturation(graph, rules, price, terms, log).run()


@final
class _Saturation:
    def __init__(self, graph: EGraph, rules: Sequence[Rule], price: Price, terms: int, log: Log) -> None:
        self.graph, self.rules, self.price, self.limit, self.log = graph, tuple(rules), price, terms, log
        self.done = set[Any]()
        self.ways: dict[int, Way] = {}
        self.values: dict[int, Value] = {}
        self.by_op: dict[type[Op], list[Term]] = {}

    def run(self) -> Saturated:
        for rounds in range(ROUNDS):
            self.look()
            found = [m for rule in self.rules for m in self.matches(rule)]
            if not found:
                return Saturated(rounds, is_complete=True)
            if len(self.graph) + _BUILT * len(found) > self.limit:
                return Saturated(rounds, is_complete=False)
            equal = [(m, pair) for m in found for pair in self.applied(m)]
            changed = [self.unite(m, pair) for m, pair in equal]
            self.graph.rebuild()
            if not any(changed):
                return Saturated(rounds + 1, is_complete=True)
        return Saturated(ROUNDS, is_complete=False)

    def look(self) -> None:
        """The cheapest value of each class, and the terms by their primitive."""
        self.ways = self.graph.ways(self.price)
        self.values = self.graph.values(self.ways)
        self.by_op = {}
        for term in self.graph.terms.values():
            self.by_op.setdefault(type(term.node.op), []).append(term)

    def matches(self, rule: Rule) -> Iterator[Found]:
        """Where a rule applies, if it has not been there before."""
        for of, terms in self.by_op.items():
            if issubclass(of, rule.root):
                for term in terms:
                    yield from self.stepped(rule, term) if rule.step is not None else self.equations(rule, term)

    def equations(self, rule: Rule, term: Term) -> Iterator[Found]:
        """The ways in which a term is the left side of an equation."""
        for bound in _matched(self.graph, rule.left, term):
            if self.is_new((id(rule), term, *sorted(bound.items()))):
                holes = {name: self.values[c] for name, c in bound.items()}
                if rule.where is None or rule.where(**holes):
                    yield Found(rule, self.made(term)[0], holes)

    def is_new(self, match: Any) -> bool:
        """Whether a match was not found in an earlier round, or before in this one."""
        before = len(self.done)
        self.done.add(match)
        return len(self.done) > before

    def stepped(self, rule: Rule, term: Term) -> Iterator[Found]:
        """A term's results on values that a rule may look into."""
        for outs in self.variants(rule, term):
            for value in outs[:1] if rule.is_of_node else outs:
                if self.is_new((id(rule), value)):
                    yield Found(rule, value, None)

    def variants(self, rule: Rule, term: Term) -> Iterator[tuple[Value, ...]]:
        """The results of a term on the cheapest values; and, of each operand in turn, on those made in another way that
        the rule reads."""
        args = [self.values[a] for a in term.args]
        if not rule.reads or any([isinstance(v.op, rule.reads) for v in args]):
            yield self.made(term)
        for place, c in enumerate(term.args) if rule.reads else ():
            others = [(t, index) for t, index in self.graph.makers[c] if isinstance(t.node.op, rule.reads)]
            for other, index in sorted(others, key=self.order)[:ALTERNATIVES]:
                behind = self.made(other)[index]
                if behind is not args[place]:
                    yield rebuild(term.node, (*args[:place], behind, *args[place + 1 :]))

    def order(self, made: tuple[Term, int]) -> Any:
        """What no order of rules decides."""
        term, index = made
        return term.text, [self.ways[a].digest for a in term.args], index

    def made(self, term: Term) -> tuple[Value, ...]:
        """A term's results on the cheapest values."""
        return self.graph.value_of(term, self.values)

    def applied(self, found: Found) -> list[tuple[Value, Value]]:
        """The values that a match says are equal."""
        rule, value = found.rule, found.value
        before = swap(derived(value.node.origin))
        try:
            if found.holes is None:
                new = rule.apply(value)
            else:
                left, right = rule.equation(value, found.holes)
                new = right if left is value or self.graph.class_of(left) == self.graph.class_of(value) else None
        except (ShapeError, DTypeError) as error:
            raise error.at((f"rule {rule.name}", rule.origin)) from None
        finally:
            swap(before)
        if new is None:
            return []
        return list((new if isinstance(new, dict) else {value: new}).items())

    def unite(self, found: Found, pair: tuple[Value, Value]) -> bool:
        """Say so to the e-graph; whether that is new."""
        old, new = pair
        if old is new:
            return False
        try:
            is_new = self.graph.union(self.graph.class_of(old), self.graph.class_of(new))
        except RewriteError as error:
            raise RewriteError(f"rule {found.rule.name}: {error.args[0]}").at(
                ("applied to", old.origin), ("the rule", found.rule.origin)
            ) from None
        if is_new:
            self.log.record(found.rule.name, old.origin)
        return is_new


def _matched(graph: EGraph, pattern: Pattern, term: Term) -> Iterator[Bound]:
    """The holes of a pattern, for each way in which a term is what it says."""
    return _solve_term(graph, pattern, term, None, {})


def _solve(graph: EGraph, goals: Goals, bound: Bound) -> Iterator[Bound]:
    """Recursive in the size of the pattern, never in that of the program."""
    if goals is None:
        yield bound
        return
    pattern, c, rest = goals
    if type(pattern) is not Pattern:
        literal = graph.literals.get(c)
        if literal is not None and same_number(literal.value, pattern):
            yield from _solve(graph, rest, bound)
    elif isinstance(pattern.op, str):
        if bound.get(pattern.op, c) == c:
            yield from _solve(graph, rest, {**bound, pattern.op: c})
    else:
        for term, index in graph.makers[c]:
            if index == 0 and type(term.node.op) is kind_of(pattern.op):
                yield from _solve_term(graph, pattern, term, rest, bound)


def _solve_term(graph: EGraph, pattern: Pattern, term: Term, rest: Goals, bound: Bound) -> Iterator[Bound]:
    op, patterns = pattern.op, pattern.args
    if len(term.args) != len(patterns) or (isinstance(op, Op) and term.node.op != op):
        return
    assert not isinstance(op, str)
    both = op.commutative and patterns[0] is not patterns[1]
    for order in (patterns, patterns[::-1]) if both else (patterns,):
        goals = rest
        for p, c in zip(reversed(order), reversed(term.args), strict=True):
            goals = (p, c, goals)
        yield from _solve(graph, goals, bound)

