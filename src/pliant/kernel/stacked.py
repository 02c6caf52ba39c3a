"""Operands of products in stacks, computed one matrix after the other.

In `einsum("kij,nkj->nki", a, x[:, None] - y)` the matrices of the second operand, one for each k, lie interleaved:
every product would read a little from everywhere. What is computed for products alone is computed with the axis of
the stack in front.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from pliant.core.ir import Function, Node, Value
from pliant.kernel.product import is_product
from pliant.ops.base import Elementwise
from pliant.ops.contract import Dot
from pliant.ops.shape import permute
from pliant.transforms.replace import replaced

LARGE: Final = 1 << 15  # bytes; what is smaller stays in the nearest cache


def stacked(fn: Function) -> Function:
    """`fn` with such operands computed in that order."""
    order = fn.nodes
    if not any([isinstance(node.op, Dot) for node in order]):
        return fn
    fronts = fronts_of(order, fn)
    return replaced(fn, lambda node, args: with_fronts(node, args, fronts)) if fronts else fn


def fronts_of(order: Sequence[Node], fn: Function) -> dict[Value, tuple[int, ...]]:
    """Values that only products read, all with the same axes as a stack, which are not the first ones: these axes."""
    found: dict[Value, tuple[int, ...]] = {}
    others = set(fn.results)
    for node in order:
        for a, axes in zip(node.args, axes_of_stack(node), strict=True):
            if axes is None or found.setdefault(a, axes) != axes:
                others.add(a)
    return {v: axes for v, axes in found.items() if v not in others and is_interleaved(v, axes)}


def axes_of_stack(node: Node) -> tuple[tuple[int, ...] | None, ...]:
    """For each operand, its axes that are a stack of matrices to multiply."""
    if isinstance(node.op, Dot) and is_product(node):
        return node.op.batch_axes
    return (None,) * len(node.args)


def is_interleaved(value: Value, axes: tuple[int, ...]) -> bool:
    """Whether a value is computed element by element, and has a stack's axes behind others."""
    wide = value.type.bytes >= LARGE and isinstance(value.op, Elementwise)
    return wide and axes != tuple(range(len(axes)))


def with_fronts(node: Node, args: tuple[Value, ...], fronts: Mapping[Value, tuple[int, ...]]) -> Value | None:
    """A product with those of its operands that have `fronts` computed in another order."""
    op = node.op
    if not isinstance(op, Dot) or not any([a in fronts for a in node.args]):
        return None
    operands, contract, batch = [*args], [*op.contract], [*op.batch_axes]
    for n, a in enumerate(node.args):
        if a in fronts:
            order = (*fronts[a], *[axis for axis in range(a.type.rank) if axis not in fronts[a]])
            operands[n] = permuted(args[n], order)
            contract[n], batch[n] = (tuple([order.index(axis) for axis in axes[n]]) for axes in (contract, batch))
    return Dot((contract[0], contract[1]), (batch[0], batch[1]))(*operands)


def permuted(value: Value, order: tuple[int, ...]) -> Value:
    """The same numbers with the axes in another order, computed in that order."""
    (made,) = value.op.apply(*[permute(a, order) if a.shape else a for a in value.args])
    return made
