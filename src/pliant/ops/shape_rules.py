"""What is known of moving what was moved, and of a part of what was put together."""

from __future__ import annotations

from pliant.core.ir import Value
from pliant.ops.base import Movement
from pliant.ops.shape import Broadcast, Concatenate, Permute, Reshape, Slice, broadcast, permute, reshape
from pliant.rewrite.rule import rewrite


@rewrite(Movement)
def movement_of_nothing(value: Value) -> Value | None:
    """A reshape, permute, slice or broadcast that leaves every element in its place is dropped."""
    (x,), op = value.args, value.op
    if x.type != value.type:
        return None
    match op:
        case Permute(order):
            return x if order == tuple(range(len(order))) else None
        case Slice(_, step, length):
            return x if all(d == 1 or n <= 1 for d, n in zip(step, length, strict=True)) else None
        case Reshape() | Broadcast():
            return x
        case _:
            return None


@rewrite(Reshape, reads=(Reshape,))
def reshape_of_reshape(value: Value) -> Value | None:
    """Row-major order stays, so only the last shape counts."""
    return reshape(value.args[0].args[0], value.shape)


@rewrite(Permute, reads=(Permute,))
def permute_of_permute(value: Value) -> Value | None:
    """Two orders in a row are one: axis i is axis `inner[outer[i]]`."""
    match value.op, value.args[0].op:
        case Permute(outer), Permute(inner):
            return permute(value.args[0].args[0], [inner[a] for a in outer])
        case _:
            return None


@rewrite(Broadcast, reads=(Broadcast,))
def broadcast_of_broadcast(value: Value) -> Value | None:
    """Repeating what is repeated is repeating once."""
    match value.op, value.args[0].op:
        case Broadcast(shape, outer), Broadcast(_, inner):
            return broadcast(value.args[0].args[0], shape, tuple(outer[a] for a in inner))
        case _:
            return None


@rewrite(Permute, reads=(Broadcast,))
def permute_of_broadcast(value: Value) -> Value | None:
    """Axes are placed where they end up."""
    match value.op, value.args[0].op:
        case Permute() as op, Broadcast(_, axes):
            place = op.inverse()
            goals = [place[a] for a in axes]
            order = sorted(range(len(goals)), key=lambda i: goals[i])
            return broadcast(permute(value.args[0].args[0], order), value.shape, tuple(sorted(goals)))
        case _:
            return None


@rewrite(Reshape, reads=(Broadcast,))
def reshape_of_broadcast(value: Value) -> Value | None:
    """A scalar repeated has any shape."""
    (x,) = value.args[0].args
    return None if x.shape else broadcast(x, value.shape, ())


@rewrite(Slice, reads=(Slice,))
def slice_of_slice(value: Value) -> Value | None:
    """A part of a part is a part."""
    match value.op, value.args[0].op:
        case Slice(start, step, length), Slice(first, stride, _):
            begin = tuple(f + d * s for f, d, s in zip(first, stride, start, strict=True))
            return Slice(begin, tuple(d * e for d, e in zip(step, stride, strict=True)), length)(value.args[0].args[0])
        case _:
            return None


@rewrite(Slice, reads=(Broadcast,))
def slice_of_broadcast(value: Value) -> Value | None:
    """Slice before repeating."""
    match value.op, value.args[0].op:
        case Slice(start, step, length) as op, Broadcast(_, axes):
            (x,) = value.args[0].args
            kept = Slice(*(tuple(p[a] for a in axes) for p in (start, step, length)))
            x = x if all(op.length[a] == n for a, n in zip(axes, x.shape, strict=True)) and _is_plain(kept) else kept(x)
            return broadcast(x, length, axes)
        case _:
            return None


def _is_plain(window: Slice) -> bool:
    """Whether the window starts at the origin with steps of one."""
    return not any(window.start) and all(d == 1 for d in window.step)


@rewrite(Slice, reads=(Concatenate,))
def slice_of_concatenate(value: Value) -> Value | None:
    """A slice of one piece is read from that piece."""
    match value.op, value.args[0].op:
        case Slice(start, step, length), Concatenate(axis) if length[axis]:
            ends = sorted((start[axis], start[axis] + step[axis] * (length[axis] - 1)))
            at = 0
            for piece in value.args[0].args:
                if at <= ends[0] and ends[1] < at + piece.shape[axis]:
                    return Slice((*start[:axis], start[axis] - at, *start[axis + 1 :]), step, length)(piece)
                at += piece.shape[axis]
            return None
        case _:
            return None


RULES = (
    movement_of_nothing,
    reshape_of_reshape,
    permute_of_permute,
    broadcast_of_broadcast,
    permute_of_broadcast,
    reshape_of_broadcast,
    slice_of_slice,
    slice_of_broadcast,
    slice_of_concatenate,
)
