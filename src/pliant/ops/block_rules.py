"""Identities of blocks of arrays."""

from __future__ import annotations

from collections.abc import Sequence

from pliant.core.ir import Const, Value
from pliant.ops.base import Elementwise
from pliant.ops.block import AddBlock, Agree, Block, BlockWrite, ReadBlock, UpdateBlock
from pliant.ops.compare import minimum
from pliant.ops.elementwise import Add, Sub, neg
from pliant.ops.region import of_parts
from pliant.ops.select import is_zero
from pliant.ops.shape import Permute, Reshape, Slice, permute, reshape
from pliant.ops.update import AddSlice, UpdateSlice
from pliant.rewrite.rule import rewrite


def is_whole(value: Value) -> bool:
    """Whether the bounds of a block operation on one array are literals, and its lengths the greatest."""
    op = value.op
    if not isinstance(op, Block) or op.shared:
        return False
    rank = len(op.step)
    bounds = value.args[len(value.args) - 2 * rank :]
    shape = op.shape if isinstance(op, ReadBlock) else value.args[1].shape
    return all([isinstance(b.op, Const) for b in bounds]) and tuple(map(_number, bounds[rank:])) == shape


def _number(bound: Value) -> int:
    assert isinstance(bound.op, Const)
    return int(bound.op.value.real)


@rewrite(Block)
def block_at_known_place(value: Value) -> Value | None:
    """A block whose bounds are literals is a window."""
    if not is_whole(value):
        return None
    op, rank = value.op, len(value.op.step)  # type: ignore[attr-defined]
    start = tuple(map(_number, value.args[-2 * rank :][:rank])) if rank else ()
    match op:
        case ReadBlock(shape, step):
            made = Slice(start, step, shape)
            return made(value.args[0])
        case UpdateBlock(step):
            return UpdateSlice(start, step)(*value.args[:2])
        case AddBlock(step):
            return AddSlice(start, step)(*value.args[:2])
        case _:
            return None


def is_own(read: Value, write: Value) -> bool:
    """Whether a value is what a block write is about to replace."""
    op, put = read.op, write.op
    return (
        isinstance(op, ReadBlock)
        and isinstance(put, BlockWrite)
        and read.args == (write.args[0], *write.args[2:])
        and (op.step, op.shared) == (put.step, put.shared)
        and read.shape == write.args[1].shape
    )


@rewrite(Agree)
def agreement_of_same(value: Value) -> Value | None:
    """A number is equal to itself."""
    return value.args[0] if value.args[0] is value.args[1] else None


@rewrite(UpdateBlock, reads=(Add, Sub, Reshape))
def block_update_of_own_sum(value: Value) -> Value | None:
    """`x[block] = x[block] ± u` is `x[block] += ±u`, if nothing has to be repeated to the block's shape; also
    where the sum is of the block in another shape, as `x[i, :n] += u` has it."""
    put, op = value.args[1], value.op
    total = put.args[0] if isinstance(put.op, Reshape) else put
    assert isinstance(op, UpdateBlock)
    pairs = [(total.args, False)] if isinstance(total.op, Sub) else []
    pairs += [(total.args, True), (total.args[::-1], True)] if isinstance(total.op, Add) else []
    for (old, u), is_sum in pairs:
        if total is not put:
            old = old.args[0] if isinstance(old.op, Reshape) else total
        if is_own(old, value) and u.shape == total.shape:
            return AddBlock(op.step, op.shared)(
                value.args[0], reshape(u if is_sum else neg(u), put.shape), *value.args[2:]
            )
    return None


@rewrite(UpdateBlock, reads=(ReadBlock,))
def block_update_of_own_read(value: Value) -> Value | None:
    """`x[block] = x[block]` changes nothing."""
    return value.args[0] if is_own(value.args[1], value) else None


@rewrite(AddBlock, level="stable", reads=(UpdateBlock,))
def block_addition_to_cleared(value: Value) -> Value | None:
    """A block that has been cleared, and then added to, is replaced (but for the sign of -0.0)."""
    (x, u, *bounds), op = value.args, value.op
    if not isinstance(op, AddBlock) or not isinstance(x.op, UpdateBlock) or not is_zero(x.args[1]):
        return None
    is_same = x.args[2:] == (*bounds,) and (x.op.step, x.op.shared) == (op.step, op.shared)
    return UpdateBlock(op.step, op.shared)(x.args[0], u, *bounds) if is_same and u.shape == x.args[1].shape else None


@rewrite(AddBlock, level="stable")
def block_addition_of_zeros(value: Value) -> Value | None:
    """Adding zeros changes nothing (but the sign of -0.0)."""
    return value.args[0] if is_zero(value.args[1]) else None


@rewrite(Block, reads=(Permute,))
def block_of_permute(value: Value) -> Value | None:
    """A block of `permute(x)` is one of x, permuted; and `permute(x)` with a block written is x with
    one written, permuted: so x can be written where it lies."""
    permuted, op = value.args[0], value.op
    if not isinstance(permuted.op, Permute) or not isinstance(op, Block) or op.shared:
        return None
    order = permuted.op.order
    return permute(block_where_it_lies(op, [permuted.args[0], *value.args[1:]], order), order)


def block_where_it_lies(op: Block, args: Sequence[Value], order: Sequence[int]) -> Value:
    """What a block primitive makes of `permute(x, order)`, permuted back: the first operand is x, the others are
    those it has."""
    x, rank = args[0], len(op.step)
    back = tuple(sorted(range(rank), key=lambda k: order[k]))
    bounds = args[len(args) - 2 * rank :]
    moved = [bounds[k] for k in (*back, *(rank + k for k in back))]
    step = tuple([op.step[k] for k in back])
    match op:
        case ReadBlock(shape=shape):
            return ReadBlock(tuple([shape[k] for k in back]), step)(x, *moved)
        case UpdateBlock():
            return UpdateBlock(step)(x, permute(args[1], back), *moved)
        case _:
            assert isinstance(op, AddBlock)
            return AddBlock(step)(x, permute(args[1], back), *moved)


@rewrite(Slice, reads=(ReadBlock, Elementwise))
def beginning_of_block(value: Value) -> Value | None:
    """The first elements of a block are a shorter block; those of what is computed from blocks, element by element, are
    computed from shorter ones: their derivative then costs what the block is long, not what it may be long."""
    (x,), op = value.args, value.op
    assert isinstance(op, Slice)
    if any(op.start) or not all([s == 1 for s in op.step]):
        return None
    if isinstance(x.op, ReadBlock) and not x.op.shared:
        rank = len(op.step)
        whole, starts, lengths = x.args[0], x.args[1 : 1 + rank], x.args[1 + rank :]
        rows = zip(lengths, op.length, x.shape, strict=True)
        return ReadBlock(op.length, x.op.step)(whole, *starts, *(n if m == k else minimum(n, m) for n, m, k in rows))
    is_plain = isinstance(x.op, Elementwise) and not hasattr(x.op, "failure")
    if not is_plain or not all([a.shape in ((), x.shape) for a in x.args]) or x not in of_parts((x,)):
        return None
    return x.op.apply(*(op(a) if a.shape else a for a in x.args))[0]


RULES = (
    beginning_of_block,
    block_of_permute,
    agreement_of_same,
    block_at_known_place,
    block_update_of_own_sum,
    block_update_of_own_read,
    block_addition_to_cleared,
    block_addition_of_zeros,
)
