"""What an operation on rows does to one of them: the inverse of batching.

A value is row-wise if row t of it, along axis 0, is made of row t of its operands.
"""

from __future__ import annotations

from collections.abc import Sequence

from pliant.core.ir import Node, Op, Value
from pliant.ops.base import Elementwise
from pliant.ops.reduce import Reduction
from pliant.ops.shape import Broadcast, Permute, Reshape, Slice


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
