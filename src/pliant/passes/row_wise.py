"""What an operation on rows does to one of them: the inverse of batching.

A value is row-wise if row t of it, along axis 0, is made of row t of its operands, or of the same whole operand for
every t.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from pliant.core.ir import Node, Op, Value, param
from pliant.core.scope import scope
from pliant.core.types import Type
from pliant.ops.base import Elementwise
from pliant.ops.contract import Dot
from pliant.ops.folds import filled
from pliant.ops.reduce import Reduction
from pliant.ops.shape import Broadcast, Permute, Reshape, Slice, concatenate, reshape
from pliant.transforms.vmap import batch_of

WHOLE = (False,)  # an operand of which each row needs all
ROWS = (True,)


def row_op(node: Node, count: int) -> tuple[Op, tuple[bool, ...]] | None:
    """The operation that makes one of the `count` rows of a node's value, and which operands it takes one row of; the
    others it takes whole. None if the node is not row-wise."""
    op, rest = node.op, slice(1, None)
    if len(node.types) != 1 or node.types[0].shape[:1] != (count,):
        return None
    match op:
        case Elementwise():
            return op, tuple([bool(a.shape) for a in node.args])
        case Broadcast(shape, axes) if axes and axes[0] == 0:
            is_same = shape[0] == node.args[0].shape[0]
            return (Broadcast(shape[rest], tuple([a - 1 for a in axes[rest]])), ROWS) if is_same else None
        case Broadcast(shape, axes):
            return Broadcast(shape[rest], tuple([a - 1 for a in axes])), WHOLE
        case Reshape(shape) if node.args[0].shape[:1] == (count,):
            return Reshape(shape[rest]), ROWS
        case Permute(order) if order[0] == 0:
            return Permute(tuple([a - 1 for a in order[rest]])), ROWS
        case Slice(start, step, length) if (start[0], step[0], node.args[0].shape[0]) == (0, 1, count):
            return Slice(start[rest], step[rest], length[rest]), ROWS
        case Reduction() if 0 not in op.axes:
            return type(op)(tuple([a - 1 for a in op.axes])), ROWS  # type: ignore[call-arg]
        case Dot():
            return _row_of_product(op, node)
        case _:
            return _row_along_axis(op, node, count)


def _row_of_product(op: Dot, node: Node) -> tuple[Op, tuple[bool, ...]] | None:
    """A product for each row of both operands, or of one operand's rows with all of the other."""
    free_x, free_y = op.free(*node.args)
    if op.batch_axes[0]:
        flags = (op.batch_axes[0][0] == 0, op.batch_axes[1][0] == 0)
        batch = tuple([tuple([a - 1 for a in axes[1:]]) for axes in op.batch_axes])
        flags = flags if all(flags) else (False, False)
    else:
        flags, batch = (free_x[:1] == (0,), not free_x and free_y[:1] == (0,)), ((), ())
    if not any(flags):
        return None
    contract = [tuple([a - is_row for a in axes]) for axes, is_row in zip(op.contract, flags, strict=True)]
    return Dot((contract[0], contract[1]), (batch[0], batch[1])), flags


def _row_along_axis(op: Op, node: Node, count: int) -> tuple[Op, tuple[bool, ...]] | None:
    """What goes along an axis other than the first, where the rule for batches says so."""
    axis = getattr(op, "axis", 0)
    if not isinstance(axis, int) or axis < 1 or not all([a.shape[:1] == (count,) for a in node.args]):
        return None
    inner, flags = cast("Op", replace(cast("Any", op), axis=axis - 1)), (True,) * len(node.args)
    with scope():
        rows = tuple([param(a.type) for a in node.args])
        (made,) = batch_of(inner, count, flags, rows)
    return (inner, flags) if made.op == op and made.args == rows else None


def row_of(op: Op, rows: Sequence[Value]) -> Value:
    """The row that an operation makes; one that changes nothing is left out."""
    if _is_idle(op, rows[0].type):
        return rows[0]
    (made,) = op.apply(*rows)
    return made


def _is_idle(op: Op, x: Type) -> bool:
    match op:
        case Broadcast() | Reshape():
            return op.infer(x) == x
        case Permute(order):
            return order == tuple(range(x.rank))
        case Slice(start, step, length):
            return length == x.shape and not any(start) and all([s == 1 for s in step])
        case Reduction(axes=axes):
            return not axes
        case _:
            return False


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


def row_at(x: Value, place: int) -> Value:
    """One of the rows."""
    return reshape(taken(x, range(place, place + 1)), x.shape[1:])


def among(x: Value, rows: range, count: int) -> Value:
    """An array of `count` rows, of which those of a span without gaps are the rows of x, and the others anything."""
    before, after = rows.start, count - rows.stop
    parts = [filled(0, Type(x.dtype, (n, *x.shape[1:]))) if n else None for n in (before, after)]
    held = [part for part in (parts[0], x, parts[1]) if part is not None]
    return concatenate(tuple(held), 0) if len(held) > 1 else x
