"""What an operation on rows does to one of them: the inverse of batching.

A value is row-wise if row t of it, along axis 0, is made of row t of its operands.
"""

from __future__ import annotations

from collections.abc import Sequence

from pliant.core.ir import Node, Op, Value
from pliant.core.types import Type
from pliant.ops.base import Elementwise
from pliant.ops.folds import filled
from pliant.ops.reduce import Reduction
from pliant.ops.shape import Broadcast, Permute, Reshape, Slice, concatenate


def row_op(node: Node, count: int) -> Op | None:
    """The operation that makes a row of a node's value of rows of its operands, each of `count` rows or of rank 0;
    None if it is not row-wise."""
    op, rest = node.op, slice(1, None)
    match op:
        case Elementwise():
            return op
        case Broadcast(shape, axes) if axes and axes[0] == 0 and shape[0] == count == node.args[0].shape[0]:
            return Broadcast(shape[rest], tuple([a - 1 for a in axes[rest]]))
        case Reshape(shape) if shape and shape[0] == count:
            return Reshape(shape[rest])
        case Permute(order) if order[0] == 0:
            return Permute(tuple([a - 1 for a in order[rest]]))
        case Slice(start, step, length) if (start[0], step[0], length[0]) == (0, 1, count):
            return Slice(start[rest], step[rest], length[rest])
        case Reduction() if 0 not in op.axes:
            return type(op)(tuple([a - 1 for a in op.axes]))  # type: ignore[call-arg]
        case _:
            return None


def row_of(op: Op, rows: Sequence[Value]) -> Value:
    """The row that an operation makes; one that changes nothing is left out."""
    is_idle = isinstance(op, Broadcast | Reshape | Permute | Slice) and op.infer(rows[0].type) == rows[0].type
    if is_idle and not (isinstance(op, Permute) and op.order != tuple(range(len(op.order)))):
        return rows[0]
    (made,) = op.apply(*rows)
    return made


def rows_taken(node: Node) -> tuple[Op, slice] | None:
    """Where a node takes some of the rows of its operand: what it does to one of them, and which ones."""
    match node.op:
        case Slice(start, step, length) if start and length[0] > 1:
            stop = start[0] + step[0] * length[0]
            return Slice(start[1:], step[1:], length[1:]), slice(start[0], None if stop < 0 else stop, step[0])
        case _:
            return None


def taken(x: Value, rows: range) -> Value:
    """Some of the rows."""
    if rows == range(x.shape[0]):
        return x
    rest = x.shape[1:]
    zeros, ones = (0,) * len(rest), (1,) * len(rest)
    return Slice((rows.start, *zeros), (rows.step, *ones), (len(rows), *rest))(x)


def among(x: Value, rows: range, count: int) -> Value:
    """An array of `count` rows, of which those of a span without gaps are the rows of x, and the others anything."""
    if rows.step < 0:
        x, rows = taken(x, range(len(rows))[::-1]), rows[::-1]
    before, after = rows.start, count - rows.stop
    parts = [filled(0, Type(x.dtype, (n, *x.shape[1:]))) if n else None for n in (before, after)]
    held = [part for part in (parts[0], x, parts[1]) if part is not None]
    return concatenate(tuple(held), 0) if len(held) > 1 else x
