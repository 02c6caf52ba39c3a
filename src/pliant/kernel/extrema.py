"""Places of extrema as two reductions: the extremum, then the least place where it is.

Both have vectors whatever axis they are over: many short rows go side by side, and columns are reduced row by row,
with one running value each. Long rows are searched one by one, which reads each once.
"""

from __future__ import annotations

from typing import Final

from pliant.core.ir import Function, Node, Value, const
from pliant.ops.bits import logical_or
from pliant.ops.compare import equal, not_equal
from pliant.ops.elementwise import convert
from pliant.ops.reduce import ArgExtremum, reduce_max, reduce_min
from pliant.ops.select import select
from pliant.ops.shape import Permute, broadcast, iota
from pliant.transforms.replace import replaced

FEW: Final = 1 << 10  # elements that are not worth a step more
SHORT: Final = 64  # elements of a row that is not searched alone


def by_extrema(fn: Function) -> Function:
    """`fn` with such places of extrema taken apart."""
    if not any([has_vectors(node) for node in fn.nodes]):
        return fn
    return replaced(fn, lambda node, args: apart(node, *args) if has_vectors(node) else None)


def has_vectors(node: Node) -> bool:
    """Whether a node is the place of an extremum of many rows that are short, or lie across memory."""
    if not isinstance(node.op, ArgExtremum):
        return False
    (x,), axis = node.args, node.op.axis
    is_across = axis < x.type.rank - 1 or isinstance(x.op, Permute)
    return x.type.size >= FEW and (is_across or x.shape[axis] <= SHORT)


def apart(node: Node, x: Value) -> Value:
    """The least place along an axis where the extremum is, or the first NaN."""
    op = node.op
    assert isinstance(op, ArgExtremum)
    axis, count = op.axis, x.shape[op.axis]
    rest = tuple([a for a in range(x.type.rank) if a != axis])
    best = reduce_max(x, (axis,)) if op.fold == "max" else reduce_min(x, (axis,))
    found = equal(x, broadcast(best, x.shape, rest))
    if x.type.is_float:
        found = logical_or(found, not_equal(x, x))  # where there is one, nothing equals the extremum
    dtype = "i32" if count < 2**31 else "i64"
    place = select(found, broadcast(convert(iota(count), dtype), x.shape, (axis,)), const(count, dtype))
    return convert(reduce_min(place, (axis,)), "i64")
