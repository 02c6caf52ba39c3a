"""Permutations move outwards: operations on permuted arrays walk these as they lie.

Loops taken at once have an axis of lanes in front, which lies last in the arrays they read. So
`sum(permute(a) * permute(b))` becomes `sum(a * b)` over other axes, and nests that read the same arrays
have the same space, which they can share.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, cast

from pliant.core.ir import Value, const
from pliant.ops.base import Elementwise
from pliant.ops.block import AddBlock, UpdateBlock
from pliant.ops.block_rules import block_where_it_lies
from pliant.ops.index import Gather, LinearScatter, ScatterAdd
from pliant.ops.loop_rules import loop_with_permuted_rows
from pliant.ops.once_rules import loop_without_repeated_operands
from pliant.ops.reduce import Reduction
from pliant.ops.shape import Broadcast, Permute, permute, reshape
from pliant.ops.shape_rules import (
    broadcast_of_broadcast,
    permute_of_broadcast,
    reshape_of_reshape,
)
from pliant.passes import permuted_carries
from pliant.rewrite.rule import rewrite


@rewrite(Elementwise, reads=(Permute,))
def elementwise_of_permutes(value: Value) -> Value | None:
    """f(permute(x), permute(y), broadcast(z)) → permute(f(x, y, broadcast(z)))."""
    permutes = [a.op for a in value.args if isinstance(a.op, Permute)]
    back = permutes[0].inverse()
    if not all([op == permutes[0] if isinstance(op := a.op, Permute) else _is_repeated(a) for a in value.args]):
        return None
    args = [a.args[0] if isinstance(a.op, Permute) else permute(a, back) if a.shape else a for a in value.args]
    return permute(value.op.apply(*args)[0], permutes[0].order)


def _is_repeated(x: Value) -> bool:
    return not x.shape or isinstance(x.op, Broadcast)


@rewrite(Reduction, level="stable", reads=(Permute,))
def reduction_of_permute(value: Value) -> Value | None:
    """A reduction of permute(x) is one of x over the same axes, permuted."""
    x, op = value.args[0], value.op
    assert isinstance(op, Reduction)
    if not isinstance(x.op, Permute) or len(value.args) != 1:
        return None
    order, axes = x.op.order, op.axes
    kept = [order[a] for a in range(len(order)) if a not in axes]
    made: Value = replace(cast("Any", op), axes=tuple(sorted([order[a] for a in axes])))(x.args[0])
    return permute(made, [sorted(kept).index(a) for a in kept])


@rewrite(Gather, reads=(Permute,))
def gather_of_permute(value: Value) -> Value | None:
    """Elements of an array in another order of axes are those of the array, at places in another order."""
    (x, *indices), op = value.args, value.op
    assert isinstance(op, Gather)
    if not isinstance(x.op, Permute) or op.shared or len(indices) != x.type.rank:
        return None
    return op(x.args[0], *(indices[a] for a in x.op.inverse()))


@rewrite(Permute)
def permute_of_unit_axes(value: Value) -> Value | None:
    """A permutation that only moves axes of one element leaves all elements in their order."""
    (x,), op = value.args, value.op
    assert isinstance(op, Permute)
    long = [axis for axis in op.order if x.shape[axis] != 1]
    return reshape(x, value.shape) if long == sorted(long) else None


@rewrite(LinearScatter, reads=(Permute,))
def scatter_of_permute(value: Value) -> Value | None:
    """Elements, or one place, of `permute(x)` written are elements or a block of x written, permuted: so x can be
    written where it lies."""
    (permuted, *indices, u), op = value.args, value.op
    assert isinstance(op, LinearScatter)
    if not isinstance(permuted.op, Permute) or op.shared:
        return None
    (x,), order = permuted.args, permuted.op.order
    if len(indices) == x.type.rank:
        return permute(op(x, *(indices[a] for a in permuted.op.inverse()), u), order)
    if indices[0].shape:
        return None
    rest, first = permuted.shape[len(indices) :], const(0, "i64")
    lengths = (*(1 for _ in indices), *rest)
    block = (AddBlock if isinstance(op, ScatterAdd) else UpdateBlock)((1,) * len(lengths))
    bounds = (*indices, *(first for _ in rest), *(const(n, "i64") for n in lengths))
    return permute(block_where_it_lies(block, (x, reshape(u, lengths), *bounds), order), order)


RULES = (
    permute_of_unit_axes,
    gather_of_permute,
    elementwise_of_permutes,
    reduction_of_permute,
    permute_of_broadcast,
    broadcast_of_broadcast,
    reshape_of_reshape,
    loop_with_permuted_rows,
    *permuted_carries.RULES,
    loop_without_repeated_operands,
)

IN_PLACE: Final = (scatter_of_permute, *RULES)
"""For what is permuted still, once nothing can be moved any more."""
