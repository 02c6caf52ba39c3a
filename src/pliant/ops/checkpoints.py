"""What a loop keeps for its derivative: policies, as loops made of other loops.

By default a step stacks what its derivative reads. A loop in blocks stacks the state before each
block, and runs a block again when the derivative comes to it; blocks may be made of blocks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias, final

from pliant.core.build import expanded, hint_of, trace
from pliant.core.frozen import frozen
from pliant.core.ir import Function, Value, Values, const
from pliant.core.types import Type
from pliant.errors import ArgumentError
from pliant.ops.custom import Checkpoint
from pliant.ops.loop import Loop
from pliant.ops.loop_form import In
from pliant.ops.shape import concatenate, reshape, slice_axis
from pliant.transforms.replace import replaced

INDEX = Type("i64")


@final
@frozen
class Treeverse:
    """Keep about `states` states at a time, in as few levels of blocks as suffice."""

    states: int

    def __post_init__(self) -> None:
        if self.states < 2:
            raise ArgumentError(f"treeverse: expected at least 2 states to keep, got {self.states}")


Policy: TypeAlias = Literal["store", "carry", "sqrt"] | Treeverse
Apply: TypeAlias = Callable[[Loop, Values], Values]


def apply_of(policy: Policy) -> Apply:
    """How a loop is applied under a policy; ArgumentError if there is no such policy."""
    match policy:
        case "store":
            return lambda loop, xs: loop.apply(*xs)
        case "carry":
            return lambda loop, xs: keeping_carries(loop).apply(*xs)
        case "sqrt":
            return lambda loop, xs: in_blocks(loop, xs, (math.isqrt(max(loop.length - 1, 0)) + 1,))
        case Treeverse():
            return lambda loop, xs: in_blocks(loop, xs, block_sizes(loop.length, policy.states))
        case _:
            raise ArgumentError(
                f"save={policy!r} is no policy",
                hint='use "store", "carry", "sqrt", treeverse(n) or reversible(inverse)',
            )


def with_policy(fn: Function, apply: Apply) -> Function:
    """`fn` with its outermost loops applied under a policy."""
    return replaced(fn, lambda node, args: apply(node.op, args) if isinstance(node.op, Loop) else None)


def keeping_carries(loop: Loop) -> Loop:
    """The loop whose steps keep the state before them, and are run again."""
    params = loop.body.params
    body = trace(Checkpoint(loop.body).apply, *(p.type for p in params), names=[hint_of(p) for p in params])
    return replace(loop, body=body)


def block_sizes(length: int, states: int) -> tuple[int, ...]:
    """The sizes of blocks, of blocks of blocks, …, so that about `states` states are kept at a time.

    >>> block_sizes(1000, 100), block_sizes(1000, 30)
    ((32,), (100, 10))
    """
    levels, width = 1, max(length, 1) ** 0.5
    while (levels + 1) * width > states and width > math.e:  # more levels of fewer states would keep more
        levels += 1
        width = max(length, 1) ** (1 / (levels + 1))
    return tuple([max(math.ceil(round(length / width ** (n + 1), 9)), 1) for n in range(levels)])


def in_blocks(loop: Loop, xs: Values, sizes: Sequence[int]) -> Values:
    """The loop in blocks of sizes[0] steps, each run again in reverse mode, each in blocks of sizes[1] …"""
    if not sizes or sizes[0] >= loop.length or sizes[0] < 2:
        return loop.apply(*xs)
    if loop.has_folds:
        fn = with_policy(
            expanded(loop, *map(loop.operand_type, range(len(xs)))), lambda op, args: in_blocks(op, args, sizes)
        )
        return fn(*xs)
    size, count = sizes[0], loop.length // sizes[0]
    parts = [_Part(0, size, count, sizes[1:])]
    if loop.length > size * count:
        parts.append(_Part(size * count, loop.length - size * count, 1, sizes[1:]))
    made = list[Values]()
    state = xs
    for part in parts[:: -1 if loop.reverse else 1]:
        made.append(part.apply(loop, state))
        ends = iter([y for y, k in zip(made[-1], loop.outs, strict=True) if k == "last"])
        state = tuple([next(ends) if kind == "carry" else x for x, kind in zip(state, loop.ins, strict=True)])
    in_order = made[:: -1 if loop.reverse else 1]
    columns = zip(zip(*in_order, strict=True), made[-1], loop.outs, strict=True)
    return tuple([concatenate(rows, 0) if k == "stack" else last for rows, last, k in columns])


@final
@frozen
class _Part:
    """Some steps of a loop: `count` blocks of `size` steps, from step `first` on."""

    first: int
    size: int
    count: int
    inner: Sequence[int]

    def apply(self, loop: Loop, xs: Values) -> Values:
        """The results of these steps."""
        rows = [self.rows(x) if kind == "each" else x for x, kind in zip(xs, loop.ins, strict=True)]
        kinds: tuple[In, ...] = tuple(["const" if kind == "count" else kind for kind in loop.ins])
        types = [x.type.row if kind == "each" else x.type for x, kind in zip(rows, kinds, strict=True)]
        body = trace(Checkpoint(self.block(loop, types)).apply, INDEX, *types)
        made = Loop(self.count, kinds, loop.outs, body, loop.reverse).apply(*rows)
        return tuple(
            [
                reshape(y, (self.count * self.size, *y.shape[2:])) if kind == "stack" else y
                for y, kind in zip(made, loop.outs, strict=True)
            ]
        )

    def rows(self, x: Value) -> Value:
        """The rows of these steps, block by block."""
        part = slice_axis(x, 0, self.first, self.count * self.size)
        return reshape(part, (self.count, self.size, *x.shape[1:]))

    def block(self, loop: Loop, types: Sequence[Type]) -> Function:
        """One block: from its number and the operands to the results."""
        kinds: list[In] = ["const" if kind == "count" else kind for kind in loop.ins]
        counts = [n for n, kind in enumerate(loop.ins) if kind == "count"]
        ins: list[In] = ["const", *kinds, *("count" for _ in counts)]
        params, width = loop.body.params, len(loop.ins)

        def step(j: Value, start: Value, *args: Value) -> Values:
            return loop.body(start + j, *args[:width])

        names = ["j", "start", *(hint_of(p) for p in params[1:])]
        body = trace(step, INDEX, INDEX, *(p.type for p in params[1:]), *(INDEX for _ in counts), names=names)
        inner = Loop(self.size, tuple(ins), loop.outs, body, loop.reverse)

        def block(number: Value, *args: Value) -> Values:
            start = number * const(self.size, INDEX.dtype) + const(self.first, INDEX.dtype)
            return in_blocks(inner, (start, *args, *(args[n] - start for n in counts)), self.inner)

        return trace(block, INDEX, *types)


__all__ = ["Apply", "Policy", "Treeverse", "apply_of", "block_sizes", "in_blocks", "keeping_carries", "with_policy"]
