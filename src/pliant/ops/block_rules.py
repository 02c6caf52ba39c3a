"""Identities of blocks of arrays whose axes are in another order."""

from __future__ import annotations

from pliant.core.ir import Value
from pliant.ops.block import AddBlock, Block, ReadBlock, UpdateBlock
from pliant.ops.shape import Permute, permute
from pliant.rewrite.rule import rewrite


@rewrite(Block, reads=(Permute,))
def block_of_permute(value: Value) -> Value | None:
    """A block of `permute(x)` is one of x, permuted; and `permute(x)` with a block written is x with
    one written, permuted: so x can be written where it lies."""
    permuted, op = value.args[0], value.op
    if not isinstance(permuted.op, Permute) or not isinstance(op, Block) or op.shared:
        return None
    order, rank = permuted.op.order, len(op.step)
    back = tuple(sorted(range(rank), key=lambda k: order[k]))
    bounds = value.args[len(value.args) - 2 * rank :]
    moved = [bounds[k] for k in (*back, *(rank + k for k in back))]
    step = tuple([op.step[k] for k in back])
    (x,) = permuted.args
    match op:
        case ReadBlock(shape=shape):
            made = ReadBlock(tuple([shape[k] for k in back]), step)(x, *moved)
        case UpdateBlock():
            made = UpdateBlock(step)(x, permute(value.args[1], back), *moved)
        case AddBlock():
            made = AddBlock(step)(x, permute(value.args[1], back), *moved)
        case _:
            return None
    return permute(made, order)


RULES = (block_of_permute,)
