"""Where loops end: `sum(select(i < n, x, 0))` need not look at the elements from n on, and from there on
`select(i < n, x, 0)` is the same everywhere."""

from __future__ import annotations

from typing import TypeAlias

from pliant.core.ir import Const, Node, Number, Value
from pliant.kernel.ir import FoldShape
from pliant.kernel.record import identity_of
from pliant.ops.bits import BitwiseAnd
from pliant.ops.block import ReadBlock
from pliant.ops.compare import Less
from pliant.ops.elementwise import Add, Mul, Sub
from pliant.ops.reduce import Reduction
from pliant.ops.select import Select
from pliant.ops.shape import Broadcast, Iota, Reshape

Lengths: TypeAlias = "tuple[Value | None, ...]"
"""Where each loop over a space ends, if that is before its extent."""


def lengths_of(node: Node, fold: FoldShape) -> Lengths:
    """Where the loops of a fold end; nothing if all run over their extents.

    Where a loop that is not folded ends early, the rest of the result is what the fold of nothing is.
    """
    op = node.op
    if not isinstance(op, Reduction):
        return ()
    ends, rest = _ends(node.args[0])
    if rest != identity_of(fold.kind, fold.dtype):
        return ()
    kept = [axis for axis in range(len(node.args[0].shape)) if axis not in op.axes]
    found = tuple([ends.get(op.axes[~axis] if axis < 0 else kept[axis]) for axis in fold.order])
    return found if any(found) else ()


def ends_of(value: Value) -> tuple[Lengths, Number] | None:
    """Where the loops that make an array end, and what its elements are from there on; None if they run
    over their extents."""
    ends, rest = _ends(value)
    found = tuple([ends.get(a) for a in range(len(value.shape))])
    return (found, rest) if any(found) else None


def _ends(value: Value) -> tuple[dict[int, Value], Number]:
    match value.op:
        case ReadBlock(shape, _, 0) as op:
            lengths = value.args[1 + len(op.step) :]
            return {a: n for a, n in enumerate(lengths) if not _is_number(n, shape[a])}, 0
        case Select():
            mask, _, other = value.args
            if isinstance(other.op, Broadcast):
                (other,) = other.args
            return (bounds_of(mask), other.op.value) if isinstance(other.op, Const) else ({}, 0)
        case Add() | Sub() | Mul():
            first, *others = [_ends(a) for a in value.args]
            same = {a: n for a, n in first[0].items() if all([ends.get(a) is n for ends, _ in others])}
            return (same, 0) if same and not any([rest for _, rest in (first, *others)]) else ({}, 0)
        case Reshape():
            (x,) = value.args
            old, new = ([a for a, n in enumerate(v.shape) if n != 1] for v in (x, value))
            ends, rest = _ends(x)
            is_same = [x.shape[a] for a in old] == [value.shape[a] for a in new] and all([a in old for a in ends])
            return {new[old.index(a)]: n for a, n in ends.items()} if is_same else {}, rest
        case _:
            return {}, 0


def _is_number(value: Value, number: int) -> bool:
    return isinstance(value.op, Const) and value.op.value == number


def bounds_of(mask: Value) -> dict[int, Value]:
    """For axes of a mask, where it ends: it holds nowhere from there on."""
    match mask.op:
        case BitwiseAnd():
            first, second = map(bounds_of, mask.args)
            return second | first
        case Broadcast() as op:
            return {op.axes[a]: n for a, n in bounds_of(mask.args[0]).items()}
        case Less():
            place, end = mask.args
            axis = _counted(place)
            if isinstance(end.op, Broadcast) and not end.args[0].shape:
                (end,) = end.args
            return {axis: end} if axis is not None and not end.shape else {}
        case _:
            return {}


def _counted(value: Value) -> int | None:
    """The axis along which an array is 0, 1, 2, …, if it is that."""
    if isinstance(value.op, Iota):
        return 0
    is_spread = isinstance(value.op, Broadcast) and isinstance(value.args[0].op, Iota)
    return value.op.axes[0] if is_spread and isinstance(value.op, Broadcast) else None
