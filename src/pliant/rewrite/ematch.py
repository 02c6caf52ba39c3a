"""Match patterns against terms of an e-graph: every way in which one is what the pattern says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, TypeAlias, final

from pliant.core.data import frozen
from pliant.core.ir import Const, Number, Op, Pattern
from pliant.rewrite.egraph import Term
from pliant.rewrite.match import kind_of, same_number
from pliant.rewrite.rule import Rule

Bound: TypeAlias = "dict[str, int]"
Goals: TypeAlias = "tuple[Any, int, Goals] | None"  # what is wanted, of which class, the rest
Makers: TypeAlias = "dict[tuple[int, type[Op], int], list[Term]]"
"""Terms, by the class of a result, their primitive, and which of its results it is."""


@final
@frozen
class Shape:
    """A pattern made ready: which primitive, with which parameters (None for any), which of its results, and the orders
    that its operands are tried in."""

    kind: type[Op]
    op: Op | None
    index: int  # of the result
    orders: tuple[tuple[Any, ...], ...]  # of shapes, names of holes, and numbers


@cache
def shape_of(rule: Rule) -> Shape:
    """The left side of an equation."""
    return _shape(rule.left)


def _shape(pattern: Any) -> Any:
    """Recursive in the size of the pattern."""
    if type(pattern) is not Pattern or isinstance(pattern.op, str):
        return pattern.op if type(pattern) is Pattern else _Number(pattern)
    args = tuple(map(_shape, pattern.args))
    both = pattern.op.commutative and pattern.args[0] is not pattern.args[1]
    return Shape(
        kind_of(pattern.op),
        pattern.op if isinstance(pattern.op, Op) else None,
        pattern.index,
        (args, args[::-1]) if both else (args,),
    )


def depth_of(shape: Any) -> int:
    """How far a pattern looks behind the operands of its root."""
    return 1 + max([depth_of(arg) for arg in shape.orders[0]], default=0) if isinstance(shape, Shape) else 0


@final
@frozen
class _Number:
    number: Number


@final
class Matcher:
    """Recursive in the size of the pattern, never in that of the program."""

    def __init__(self, makers: Makers, literals: Mapping[int, Const]) -> None:
        self.makers, self.literals = makers, literals

    def term(self, shape: Shape, term: Term, rest: Goals, bound: Bound) -> Iterator[Bound]:
        """The ways in which a term is a shape and the rest is as it has to be."""
        args = term.args
        if (shape.op is not None and term.node.op != shape.op) or len(args) != len(shape.orders[0]):
            return
        for order in shape.orders:
            goals = rest
            for n in range(len(args) - 1, -1, -1):
                goals = (order[n], args[n], goals)
            yield from self.solve(goals, bound)

    def solve(self, goals: Goals, bound: Bound) -> Iterator[Bound]:
        """The ways in which all goals are met."""
        while goals is not None:
            wanted, c, goals = goals
            if type(wanted) is str:
                known = bound.get(wanted)
                if known is None:
                    bound = {**bound, wanted: c}
                elif known != c:
                    return
            elif type(wanted) is _Number:
                literal = self.literals.get(c)
                if literal is None or not same_number(literal.value, wanted.number):
                    return
            else:
                for term in self.makers.get((c, wanted.kind, wanted.index), ()):
                    yield from self.term(wanted, term, goals, bound)
                return
        yield bound
