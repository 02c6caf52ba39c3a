"""How a step of a loop makes row i of an array: of rows of others, or of rows anywhere in arrays that it has whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import final

from pliant.core.data import frozen
from pliant.core.ir import Node, Value, Values, const
from pliant.ops.compare import less, maximum, minimum
from pliant.ops.elementwise import add
from pliant.ops.index import Gather
from pliant.ops.select import select
from pliant.ops.shape import Concatenate, Iota, Slice, broadcast, reshape
from pliant.passes.row_wise import row_of, row_op


@final
@frozen
class RowOp:
    """How a step makes a row of its number and what it reads: of each operand a row, or all."""

    how: Callable[[Value, Sequence[Value]], Value]
    args: Values
    flags: tuple[bool, ...]

    @property
    def reads(self) -> list[tuple[Value, bool]]:
        """The operands, and whether a row of each is read."""
        return list(zip(self.args, self.flags, strict=True))


def row_made(node: Node, count: int) -> RowOp | None:
    """How one of the `count` rows of a node's value is made; None if the node is not row-wise."""
    if node.op == Concatenate(0) and node.types[0].shape[0] == count:
        return _joined([part for part in node.args if part.shape[0]])
    if isinstance(node.op, Iota):
        return RowOp(lambda i, _: i, (), ())
    found = row_op(node, count)
    return None if found is None else RowOp(lambda i, rows: row_of(found[0], rows), node.args, found[1])


def _joined(parts: Sequence[Value]) -> RowOp:
    """A row of arrays one after the other, which are not put there."""
    sources = [_rows_of(part) for part in parts]

    def how(i: Value, arrays: Sequence[Value]) -> Value:
        end, found = sum([part.shape[0] for part in parts]), None
        for x, (_, start), part in zip(arrays[::-1], sources[::-1], parts[::-1], strict=True):
            count = part.shape[0]
            row = _row_near(x, i, start - end + count, range(start, start + count))
            found = row if found is None else select(broadcast(less(i, const(end, "i64")), row.shape, ()), row, found)
            end -= count
        assert found is not None
        return found

    return RowOp(how, tuple([x for x, _ in sources]), (False,) * len(parts))


def _rows_of(part: Value) -> tuple[Value, int]:
    """The array of which a value is some rows without gaps, and the first of them."""
    match part.op:
        case Slice(start, step, length) if step[0] == 1 and length[1:] == part.args[0].shape[1:]:
            return part.args[0], start[0]
        case _:
            return part, 0


def _row_near(x: Value, i: Value, away: int, rows: range) -> Value:
    """Row i + away, or that of `rows` which is nearest to it."""
    if len(x.shape) and x.shape[0] == 1:
        return reshape(x, x.shape[1:])
    place = add(i, const(away, "i64")) if away else i
    place = minimum(maximum(place, const(rows.start, "i64")), const(rows.stop - 1, "i64"))
    return Gather(0, unique=True)(x, place)
