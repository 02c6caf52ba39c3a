"""Repeated elements: an elementwise primitive acts on what is repeated, not on the copies."""

from __future__ import annotations

from pliant.core.ir import Value
from pliant.ops.base import Elementwise
from pliant.ops.elementwise import Add
from pliant.ops.select import is_zero
from pliant.ops.shape import Broadcast, broadcast
from pliant.rewrite.rule import rewrite


def scalar_of(x: Value) -> Value | None:
    """The scalar that all elements of `x` are, if it was made by repeating one."""
    if not x.shape:
        return x
    return x.args[0] if isinstance(x.op, Broadcast) and not x.op.axes else None


@rewrite(Add, level="stable", reads=(Broadcast,))
def add_of_zeros(value: Value) -> Value | None:
    """zeros(shape) + x → x. Differs in the sign of zeros only: 0.0 + -0.0 is 0.0.

    Not so for the literal: `x + 0.0` is how one writes that negative zeros are not wanted.
    """
    for x, y in (value.args, value.args[::-1]):
        if isinstance(x.op, Broadcast) and not x.op.axes and is_zero(x.args[0]) and y.shape == value.shape:
            return y
    return None


@rewrite(Elementwise, reads=(Broadcast,))
def elementwise_of_scalars(value: Value) -> Value | None:
    """f(x, full(shape, s)) → f(x, s), and f(full(shape, s)) → full(shape, f(s))."""
    scalars = [scalar_of(x) for x in value.args]
    if all(s is None or s is x for s, x in zip(scalars, value.args, strict=True)):
        return None
    new = value.op(*(x if s is None else s for s, x in zip(scalars, value.args, strict=True)))
    return broadcast(new, value.shape, ()) if new.shape != value.shape else new


@rewrite(Elementwise, reads=(Broadcast,))
def elementwise_of_broadcast(value: Value) -> Value | None:
    """f(broadcast x, broadcast y) → broadcast f(x, y), where both are repeated along the same axes."""
    full = [x for x in value.args if x.shape]
    op = full[0].op
    if not isinstance(op, Broadcast) or any(x.op != op for x in full):
        return None
    return op(value.op(*(x.args[0] if x.shape else x for x in value.args)))


RULES = (add_of_zeros, elementwise_of_scalars, elementwise_of_broadcast)
