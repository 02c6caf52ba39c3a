"""What is read of which memory: from what a value is computed, and how often its elements are read."""

from __future__ import annotations

from collections.abc import Container
from itertools import accumulate

from pliant.core.ir import Const, Node, Value
from pliant.kernel.ir import Root
from pliant.ops.base import Elementwise
from pliant.ops.block import BlockWrite
from pliant.ops.compare import Less
from pliant.ops.contract import Dot
from pliant.ops.elementwise import Add, Neg, Sub
from pliant.ops.index import Gather, Scatter
from pliant.ops.select import Select
from pliant.ops.shape import Concatenate, Reshape, Slice
from pliant.ops.update import Window


def reads_of(root: Root, in_memory: Container[Value]) -> dict[Value, bool]:
    """Values in memory that a root reads, and whether only at the point it is computed for."""
    node = root.value.node
    aligned = root.fold.aligned if root.fold else ()
    if root.value in in_memory or isinstance(node.op, Const):
        return {root.value: True} if root.value in in_memory else {}
    if root.fold:
        todo = [(a, n in aligned) for n, a in enumerate(node.args)]
    else:
        todo = [(root.value, True)]
    space = root.fold.space if root.fold else root.value.shape
    found: dict[Value, bool] = {}
    seen: set[tuple[Value, bool]] = set()
    while todo:
        item = todo.pop()
        value, straight = item
        if item in seen:
            continue
        seen.add(item)
        if value in in_memory:
            found[value] = found.get(value, True) and straight and value.shape == space
            continue
        straight = straight and isinstance(value.op, Elementwise) and value.shape == space
        todo.extend([(a, straight) for a in value.args])
    return found


def reads_once(user: Node, value: Value) -> bool:
    """Whether a node reads each element of an operand once."""
    if isinstance(user.op, Scatter):
        return value not in user.args[:-1]
    if isinstance(user.op, Gather):
        return value is not user.args[0] and user.types[0].size <= value.type.size
    if isinstance(user.op, Dot):
        _, m, n, _ = user.op.sizes(*user.args)
        return (n if value is user.args[0] else m) == 1
    return isinstance(user.op, Elementwise | Window | BlockWrite | Concatenate)


def under_reshapes(value: Value, known: Container[Value] = ()) -> Value:
    """The array that a value is another shape of: the first that is known, or that is no reshape."""
    while value not in known and isinstance(value.op, Reshape):
        value = value.args[0]
    return value


def is_merged(value: Value) -> bool:
    """Whether a value is another one with several of its axes as one."""
    if not isinstance(value.op, Reshape):
        return False
    ends, before = [set(accumulate([n for n in v.shape if n > 1], int.__mul__)) for v in (value, *value.args)]
    return not before <= ends


def elements_read(user: Node, value: Value) -> int:
    """How many elements of an operand a node reads, one read several times counted as often: of borders of a plane,
    their own. The parts of a row are put together again, as np.roll does, which is quicker from memory. Indices are
    looked at before anything is written to their places."""
    size = user.types[0].size
    if isinstance(user.op, Scatter):
        return value.type.size * (1 if reads_once(user, value) else 2)
    if isinstance(user.op, Concatenate):
        return value.type.size * user.args.count(value)
    return size if isinstance(user.op, Slice) and value.type.rank > 1 else max(size, value.type.size)


def is_place(value: Value) -> bool:
    """Whether a number is a sum of whole numbers, as bounds and indices are, or one that is counted from the end where
    it is negative: computed where it is used, so that it is seen how far apart two places are."""
    if value.dtype != "i64" or value.shape:
        return False
    return isinstance(value.op, Add | Sub | Neg) or _is_wrapped(value)


def _is_wrapped(value: Value) -> bool:
    """Whether a number is another one, with something added where that is negative."""
    if not isinstance(value.op, Select) or not isinstance(value.args[0].op, Less):
        return False
    (x, zero), plain = value.args[0].args, value.args[2]
    return x is plain and isinstance(zero.op, Const) and zero.op.value == 0
