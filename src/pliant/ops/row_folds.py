"""What combines the rows of an array along axis 0, as a fold over the steps of the loop that makes the rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, final

from pliant.core.frozen import frozen
from pliant.core.ir import Node, Value, Values, const
from pliant.core.types import Type
from pliant.ops.bits import logical_and, logical_not, logical_or
from pliant.ops.compare import equal, greater, less, not_equal
from pliant.ops.contract import Dot
from pliant.ops.elementwise import mul
from pliant.ops.folds import filled, start_of
from pliant.ops.loop_form import Out
from pliant.ops.reduce import (
    ArgExtremum,
    Argmax,
    ReduceAnd,
    ReduceMax,
    ReduceMin,
    ReduceOr,
    ReduceProd,
    ReduceSum,
    Reduction,
)  # fmt: skip
from pliant.ops.row_wise import row_of
from pliant.ops.select import select
from pliant.ops.shape import Slice, broadcast, reshape

KINDS: Final[dict[type[Reduction], Out]] = {
    ReduceSum: "sum", ReduceProd: "prod", ReduceMax: "max", ReduceMin: "min", ReduceOr: "any", ReduceAnd: "all"
}  # fmt: skip


@final
@frozen
class RowFold:
    """One fold. outs: what kinds of results it has; states: types of what it carries besides, with their starts.

    step: (i, rows, states) → (terms of the results, states).
    """

    step: Callable[[Value, Sequence[Value], Sequence[Value]], Values]
    outs: tuple[Out, ...] = ()
    states: tuple[Type, ...] = ()
    numbers: tuple[float, ...] = ()

    def starts(self) -> list[Value]:
        """What the states start from."""
        return [filled(number, type) for number, type in zip(self.numbers, self.states, strict=True)]

    def finish(self, type: Type, results: Values) -> Value:
        """The value that the fold stands for: its last result."""
        return reshape(results[-1], type.shape)


def fold_of(node: Node, *, reverse: bool) -> RowFold | None:
    """What a node does with the rows of its operands as a fold; None if it is none. reverse: whether the last
    row is made first."""
    match node.op:
        case Reduction() as op if 0 in op.axes and not (op.domain == "biuf" and node.args[0].type.kind == "b"):
            return _reduction(op, node)
        case ArgExtremum(axis=0) as op if not reverse:
            return _place(op, node)
        case Slice(length=length) as op if length[0] == 1:
            return _row(op, node, reverse=reverse)
        case Dot(contract=((0,), (0,)), batch_axes=((), ())) if min([len(a.shape) for a in node.args]) == 1:
            kind = _sum(node.types[0])
            return RowFold(lambda i, rows, states: (mul(*rows),), (kind,)) if node.types[0].kind != "b" else None
        case _:
            return None


def _sum(term: Type) -> Out:
    """How terms are added up: numbers at least as accurately as NumPy does, arrays one after the other as it does."""
    return "total" if term.is_float and not term.shape else "sum"


def _reduction(op: Reduction, node: Node) -> RowFold:
    inner = type(op)(tuple([a - 1 for a in op.axes if a]))  # type: ignore[call-arg]
    kind = KINDS[type(op)]

    def step(i: Value, rows: Sequence[Value], states: Sequence[Value]) -> Values:
        return (row_of(inner, rows) if inner.axes else rows[0],)

    return RowFold(step, (_sum(node.types[0]) if kind == "sum" else kind,))


def _row(op: Slice, node: Node, *, reverse: bool) -> RowFold:
    """One row, as it was made."""
    count, number = node.args[0].shape[0], op.start[0]
    inner = Slice(op.start[1:], op.step[1:], op.length[1:])
    is_last = number == (0 if reverse else count - 1)

    def step(i: Value, rows: Sequence[Value], states: Sequence[Value]) -> Values:
        made = row_of(inner, rows)
        if is_last:
            return (made,)
        return (select(broadcast(equal(i, const(number, "i64")), made.shape, ()), made, states[0]),)

    return RowFold(step, (), (node.types[0].row,), (0,))


def _place(op: ArgExtremum, node: Node) -> RowFold:
    """The number of the first row that is best, or of the first that is NaN; and what the best one is."""
    row = node.args[0].type.row
    is_greatest = isinstance(op, Argmax)

    def step(i: Value, rows: Sequence[Value], states: Sequence[Value]) -> Values:
        (x,), (best, place) = rows, states
        ahead = (greater if is_greatest else less)(x, best)
        first_nan = logical_and(not_equal(x, x), logical_not(not_equal(best, best)))
        new = logical_or(ahead, first_nan)
        return select(new, x, best), select(new, broadcast(i, row.shape, ()), place)

    return RowFold(step, (), (row, row.with_dtype("i64")), (start_of("max" if is_greatest else "min", row.dtype), 0))
