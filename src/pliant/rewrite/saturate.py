"""Apply rules to an e-graph until nothing new is equal, or a budget of terms is spent.

In each round all matches are found before any is applied, and they are applied in an order of their own: so what is
found to be equal does not depend on the order of the rules, even if the budget ends in the middle of a round. What a
rule sees of a class is the cheapest value in it; of what its operands are made from, for rules that look at that, each
way in turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import nsmallest
from typing import Any, Final, final

from pliant.core.data import frozen
from pliant.core.ir import Op, Value, rebuild
from pliant.core.origin import derived, swap
from pliant.errors import DTypeError, RewriteError, ShapeError
from pliant.rewrite.egraph import EGraph, Price, Term, Way
from pliant.rewrite.ematch import Makers, Matcher, depth_of, shape_of
from pliant.rewrite.explain import Log
from pliant.rewrite.rule import Rule

ROUNDS: Final = 30
ALTERNATIVES: Final = 8
"""Ways of one operand that a rule which looks behind it is shown."""


@final
@frozen
class Found:
    """A match: the rule, the value that it rewrites, and for an equation the values of its holes."""

    key: tuple[str, bytes, int]  # what tells it from others, whatever the order of rules
    rule: Rule
    value: Value
    holes: dict[str, Value] | None


def saturate(graph: EGraph, rules: Sequence[Rule], price: Price, terms: int, log: Log) -> bool:
    """Add to the e-graph what the rules find, as long as it has no more than so many terms; whether that is all that is
    equal by these rules. In the current trace."""
    return _Saturation(graph, rules, price, terms, log).run()


@final
class _Group:
    """Rules that are applied in the same rounds, and what is new since the last of these."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = rules
        self.depth = max([depth_of(shape_of(r)) for r in rules if r.step is None], default=0)
        self.news = set[int]()
        self.seen: dict[Term, bytes] = {}  # with the cheapest ways of their operands


@final
class _Saturation:
    def __init__(self, graph: EGraph, rules: Sequence[Rule], price: Price, terms: int, log: Log) -> None:
        self.graph, self.rules, self.price, self.limit, self.log = graph, tuple(rules), price, terms, log
        self.done = set[tuple[str, bytes, int]]()
        self.is_full = False
        self.groups = [_Group([r for r in self.rules if r.grows is grows]) for grows in (False, True)]
        self.ways: dict[int, Way] = {}
        self.values: dict[int, Value] = {}
        self.by_op: dict[type[Op], list[Term]] = {}
        self.by_class: Makers = {}
        self.digests: dict[Term, bytes] = {}  # as long as the ways are these
        self.others: dict[Any, list[tuple[Term, int]]] = {}

    def run(self) -> bool:
        """Rounds of the rules that come to rest, and one of the others whenever they have; whether all have."""
        self.graph.is_begun = True
        calm, wild = self.groups
        for _ in range(ROUNDS):
            if not self.round(calm) and not self.is_full and not self.round(wild):
                return not self.is_full
            if self.is_full:
                break
        return False

    def round(self, group: _Group) -> bool:
        """Apply rules wherever they match, in an order that does not depend on theirs, while there is room; whether
        anything new is equal."""
        self.look(group)
        found = {m.key: m for rule in group.rules for m in self.matches(rule) if m.key not in self.done}
        changes = False
        for key in sorted(found):
            self.is_full = len(self.graph) >= self.limit
            if self.is_full:
                break
            self.done.add(key)
            for pair in self.applied(found[key]):
                changes = self.unite(found[key], pair) or changes
        self.graph.rebuild()
        return changes

    def look(self, group: _Group) -> None:
        """The cheapest value of each class, and the terms where rules may find what they have not seen before."""
        self.ways = self.graph.ways(self.price)
        self.values = self.graph.values(self.ways)
        for each in self.groups:
            each.news |= self.graph.news
        self.graph.news.clear()
        near = self.graph.near(group.news, group.depth)
        group.news.clear()
        self.by_op, self.by_class, self.digests, self.others = {}, {}, {}, {}
        for term in self.graph.terms.values():
            kind, digest = type(term.node.op), self.digest(term)
            if term in near or group.seen.get(term) != digest:
                self.by_op.setdefault(kind, []).append(term)
                group.seen[term] = digest
            for index, out in enumerate(term.outs):
                self.by_class.setdefault((self.graph.find(out), kind, index), []).append(term)

    def matches(self, rule: Rule) -> Iterator[Found]:
        """Where a rule applies, if it has not been there before."""
        for of, terms in self.by_op.items():
            if issubclass(of, rule.root):
                for term in terms:
                    yield from self.stepped(rule, term) if rule.step is not None else self.equations(rule, term)

    def equations(self, rule: Rule, term: Term) -> Iterator[Found]:
        """The ways in which a term is the left side of an equation."""
        shape = shape_of(rule)
        for bound in Matcher(self.by_class, self.graph.literals).term(shape, term, None, {}):
            holes = {name: self.values[c] for name, c in bound.items()}
            if rule.where is None or rule.where(**holes):
                key = [self.digest(term), *[self.ways[c].digest for _, c in sorted(bound.items())]]
                yield Found((rule.title, b"".join(key), id(rule)), rule, self.made(term)[shape.index], holes)

    def stepped(self, rule: Rule, term: Term) -> Iterator[Found]:
        """A term's results on values that a rule may look into."""
        for digest, outs in self.variants(rule, term):
            for index, value in enumerate(outs[:1] if rule.is_of_node else outs):
                yield Found((rule.title, digest + bytes([index]), id(rule)), rule, value, None)

    def variants(self, rule: Rule, term: Term) -> Iterator[tuple[bytes, tuple[Value, ...]]]:
        """The results of a term on the cheapest values; and, of each operand in turn, on those made in another way that
        the rule reads. With what tells them apart."""
        args, digest = [self.values[a] for a in term.args], self.digest(term)
        if not rule.reads or any([isinstance(v.op, rule.reads) for v in args]):
            yield digest, self.made(term)
            if term.node.op.commutative and args[0] is not args[1]:
                yield digest + b"swapped", rebuild(term.node, tuple(args[::-1]))
        for place, c in enumerate(term.args) if rule.reads else ():
            for other, index in self.ways_to(c, rule.reads):
                behind = self.made(other)[index]
                if behind is not args[place]:
                    outs = rebuild(term.node, (*args[:place], behind, *args[place + 1 :]))
                    yield b"".join([digest, bytes([place]), self.digest(other)]), outs

    def ways_to(self, c: int, kinds: tuple[type[Op], ...]) -> list[tuple[Term, int]]:
        """The first ways to make a class by some primitives."""
        found = self.others.get((c, kinds))
        if found is None:
            others = [(t, index) for t, index in self.graph.makers[c] if isinstance(t.node.op, kinds)]
            found = self.others[c, kinds] = nsmallest(ALTERNATIVES, others, key=self.order)
        return found

    def order(self, made: tuple[Term, int]) -> Any:
        """What no order of rules decides."""
        term, index = made
        return self.digest(term), index

    def digest(self, term: Term) -> bytes:
        """What tells a term from others, as long as the cheapest ways of its operands stay."""
        found = self.digests.get(term)
        if found is None:
            below = [self.ways[a].digest for a in term.args]
            below = sorted(below) if term.node.op.commutative else below
            found = self.digests[term] = b"".join([term.text, *below])
        return found

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
                new = right if left is value or self.graph.holds(left, self.graph.class_of(value)) else None
        except (ShapeError, DTypeError) as error:
            error.places = (*error.places, (f"the rule {rule.name}", rule.origin))
            raise
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
            raise type(error)(f"rule {found.rule.name}: {error.args[0]}").at(
                ("applied to", old.origin), ("the rule", found.rule.origin)
            ) from None
        if is_new:
            self.log.record(found.rule.name, old.origin)
        return is_new
