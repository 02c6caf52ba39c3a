"""What combines the rows of an array along axis 0, as a fold over the steps of the loop that makes the rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, final

from pliant.core.data import frozen
from pliant.core.ir import Node, Value, Values, const
from pliant.core.types import Type
from pliant.ops.bits import logical_and, logical_not, logical_or
from pliant.ops.compare import equal, greater, greater_equal, less, less_equal, not_equal
from pliant.ops.contract import Dot
from pliant.ops.elementwise import add, convert, mul, sub
from pliant.ops.folds import filled, start_of
from pliant.ops.index import ScatterAdd
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
from pliant.ops.rounding import Remainder
from pliant.ops.select import select
from pliant.ops.shape import Slice, broadcast, reshape
from pliant.passes.row_wise import row_of

KINDS: Final[dict[type[Reduction], Out]] = {
    ReduceSum: "sum", ReduceProd: "prod", ReduceMax: "max", ReduceMin: "min", ReduceOr: "any", ReduceAnd: "all"
}  # fmt: skip


def last_of(results: Values, known: Values) -> Value:
    """The last result."""
    return results[-1]


@final
@frozen
class RowFold:
    """One fold. outs: what kinds of results it has; states: types of what it carries besides, with their starts:
    numbers, or values of before the loop.

    step: (i, rows, states) → (terms of the results, states). end: (results, what is known later) → what the fold is.
    """

    step: Callable[[Value, Sequence[Value], Sequence[Value]], Values]
    outs: tuple[Out, ...] = ()
    states: tuple[Type, ...] = ()
    numbers: tuple[float, ...] = ()
    end: Callable[[Values, Values], Value] = last_of
    known: Values = ()
    begin: Values = ()

    def starts(self, env: Mapping[Value, Value]) -> list[Value]:
        """What the states start from, given what values of before the loop have become."""
        if self.begin:
            return [env[x] for x in self.begin]
        return [filled(number, type) for number, type in zip(self.numbers, self.states, strict=True)]

    def within(self, span: range, count: int) -> RowFold | None:
        """The fold over some of the `count` steps; None if its state says which step it is at."""
        if self.states:
            return None

        def step(i: Value, rows: Sequence[Value], states: Sequence[Value]) -> Values:
            is_in = inside(i, span, count)
            pairs = zip(self.step(i, rows, states), self.outs, strict=True)
            return tuple([
                select(broadcast(is_in, x.shape, ()), x, filled(start_of(kind, x.dtype), x.type)) for x, kind in pairs
            ])  # fmt: skip

        return RowFold(step, self.outs)

    def finish(self, type: Type, results: Values, known: Values) -> Value:
        """The value that the fold stands for."""
        return reshape(self.end(results, known), type.shape)


def inside(i: Value, span: range, count: int) -> Value:
    """Whether a number from 0 to count-1 is among those of a span."""
    low, high, step = min(span), max(span), abs(span.step)
    tests = list[Value]()
    if low > 0:
        tests.append(greater_equal(i, const(low, "i64")))
    if high + step < count:
        tests.append(less_equal(i, const(high, "i64")))
    if step > 1:
        tests.append(equal(Remainder()(sub(i, const(low, "i64")), const(step, "i64")), const(0, "i64")))
    found = tests[0] if tests else const(True, "bool")
    for test in tests[1:]:
        found = logical_and(found, test)
    return found


def fold_of(node: Node, span: range, count: int, *, reverse: bool, block: int = 0) -> RowFold | None:
    """What a node does with the rows of its operands as a fold; None if it is none. span: which of the `count` rows
    these are. reverse: whether the last row is made first. block: how many rows a step makes, if these lie along
    axis 0."""
    match node.op:
        case Slice(length=length) as op if length[0] == 1 and not block:
            return _row(op, node, span[op.start[0]], is_last=span[op.start[0]] == (0 if reverse else count - 1))
        case _:
            fold = _of_all(node, reverse=reverse, block=block)
            return fold if fold is None or span == range(count) else fold.within(span, count)


def _of_all(node: Node, *, reverse: bool, block: int) -> RowFold | None:
    match node.op:
        case Reduction() as op if 0 in op.axes and not (op.domain == "biuf" and node.args[0].type.kind == "b"):
            return _reduction(op, node, block)
        case ArgExtremum(axis=0) as op if not reverse:
            return _place(op, node, block)
        case ScatterAdd(shared=0) if len(node.args) == 3 and not block:
            return _added(node)
        case Dot(contract=((0, *xs), (0, *ys)), batch_axes=((), ())) if node.types[0].kind != "b":
            is_one = any([len(a.shape) == 1 + len(xs) for a in node.args])  # else products are larger than a row
            axes = ((0, *xs), (0, *ys)) if block else (tuple([a - 1 for a in xs]), tuple([a - 1 for a in ys]))
            return _products(axes, node.types[0]) if is_one or block > 1 else None
        case _:
            return None


def _added(node: Node) -> RowFold | None:
    """Rows added to those of an array, at places that are no rows of the loop."""
    x, places, _ = node.args
    if places.type.rank != 1:
        return None

    def step(i: Value, rows: Sequence[Value], states: Sequence[Value]) -> Values:
        return (ScatterAdd(0, unique=True)(states[0], rows[1], rows[2]),)

    return RowFold(step, (), (x.type,), begin=(x,))


def _products(axes: tuple[tuple[int, ...], tuple[int, ...]], type: Type) -> RowFold:
    """Products of rows, summed over these axes of the two too."""
    inner = Dot(axes, ((), ()))
    return RowFold(lambda i, rows, states: (inner(*rows) if axes[0] else mul(*rows),), (_sum(type),))


def _sum(term: Type) -> Out:
    """How terms are added up: numbers at least as accurately as NumPy does, arrays one after the other as it does."""
    return "total" if term.is_float and not term.shape else "sum"


def _reduction(op: Reduction, node: Node, block: int) -> RowFold:
    inner = op if block else type(op)(tuple([a - 1 for a in op.axes if a]))  # type: ignore[call-arg]
    kind = KINDS[type(op)]

    def step(i: Value, rows: Sequence[Value], states: Sequence[Value]) -> Values:
        return (row_of(inner, rows) if inner.axes else rows[0],)

    return RowFold(step, (_sum(node.types[0]) if kind == "sum" else kind,))


def _row(op: Slice, node: Node, number: int, *, is_last: bool) -> RowFold:
    """One row, as it was made."""
    inner = Slice(op.start[1:], op.step[1:], op.length[1:])

    def step(i: Value, rows: Sequence[Value], states: Sequence[Value]) -> Values:
        made = row_of(inner, rows)
        if is_last:
            return (made,)
        return (select(broadcast(equal(i, const(number, "i64")), made.shape, ()), made, states[0]),)

    return RowFold(step, (), (node.types[0].row,), (0,))


def _place(op: ArgExtremum, node: Node, block: int) -> RowFold:
    """The number of the first row that is best, or of the first that is NaN; and what the best one is."""
    result, given = node.types[0], node.args[0].dtype
    dtype = "u8" if given == "bool" else given
    is_greatest = isinstance(op, Argmax)
    most = ReduceMax((0,)) if is_greatest else ReduceMin((0,))

    def step(i: Value, rows: Sequence[Value], states: Sequence[Value]) -> Values:
        (best, place), row = states, convert(rows[0], dtype)
        x = most(row) if block else row
        here = broadcast(mul(i, const(block, "i64")) if block else i, result.shape, ())
        here = add(here, op(row)) if block else here
        ahead = (greater if is_greatest else less)(x, best)
        first_nan = logical_and(not_equal(x, x), logical_not(not_equal(best, best)))
        new = logical_or(ahead, first_nan)
        return select(new, x, best), select(new, here, place)

    return RowFold(step, (), (result.with_dtype(dtype), result), (start_of("max" if is_greatest else "min", dtype), 0))
