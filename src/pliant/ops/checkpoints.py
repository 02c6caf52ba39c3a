"""What a loop keeps for its derivative: policies, as loops made of other loops.

By default a step stacks what its derivative reads. A loop in blocks stacks the state before each block, and runs a
block again when the derivative comes to it; or keeps few of these states, and runs blocks between them again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias, TypeVar, final

from pliant.core.build import expanded, hint_of, trace
from pliant.core.data import frozen
from pliant.core.ir import Function, Value, Values, const
from pliant.core.types import Type
from pliant.errors import ArgumentError
from pliant.ops.custom import Checkpoint
from pliant.ops.loop import Loop
from pliant.ops.loop_form import In
from pliant.ops.rounding import floor_divide
from pliant.ops.shape import concatenate, reshape, slice_axis
from pliant.ops.sparing import Sparing
from pliant.ops.while_loop import WhileLoop
from pliant.transforms.replace import replaced

INDEX = Type("i64")
L = TypeVar("L", Loop, WhileLoop)


@final
@frozen
class Treeverse:
    """Keep about `states` states at a time, and run no step again more often than that takes."""

    states: int

    def __post_init__(self) -> None:
        states: Any = self.states
        if not isinstance(states, int) or states < 2:
            raise ArgumentError(f"treeverse: expected at least 2 states to keep, got {states!r}")


Policy: TypeAlias = Literal["store", "carry", "sqrt"] | Treeverse
Apply: TypeAlias = Callable[[Loop, Values], Values]


def apply_of(policy: Policy) -> Apply:
    """How a loop is applied under a policy; ArgumentError if there is no such policy."""
    match policy:
        case "store":
            return lambda loop, xs: loop.apply(*xs)
        case "carry":
            return again
        case "sqrt":
            return in_parts(lambda loop, xs: in_blocks(loop, xs, math.isqrt(max(loop.length - 1, 0)) + 1, again))
        case Treeverse(states):
            return in_parts(lambda loop, xs: sparing(loop, xs, states))
        case _:
            raise ArgumentError(
                f"save={policy!r} is no policy",
                hint='use "store", "carry", "sqrt", treeverse(n) or reversible(inverse)',
            )


def in_parts(apply: Apply) -> Apply:
    """For loops of which all folds are carries."""

    def applied(loop: Loop, xs: Values) -> Values:
        if not loop.has_folds:
            return apply(loop, xs)
        return with_policy(expanded(loop, *map(loop.operand_type, range(len(xs)))), apply)(*xs)

    return applied


def with_policy(fn: Function, apply: Apply) -> Function:
    """`fn` with its outermost loops applied under a policy."""
    return replaced(fn, lambda node, args: apply(node.op, args) if isinstance(node.op, Loop) else None)


def keeping_carries(loop: L) -> L:
    """The loop whose steps keep the state before them, and are run again."""
    params = loop.body.params
    body = trace(Checkpoint(loop.body).apply, *(p.type for p in params), names=[hint_of(p) for p in params])
    return replace(loop, body=body)


def again(loop: L, xs: Values) -> Values:
    """Its results, its steps being run again in reverse mode."""
    return keeping_carries(loop).apply(*xs)


def sparing(loop: Loop, xs: Values, states: int) -> Values:
    """The loop with so many states kept at a time, some of them those of the steps of one block."""
    size = block_size(loop.length, states)

    def apply(loop: Loop, xs: Values) -> Values:
        return Sparing.of(loop, states + 1 - size).apply(*xs)

    return apply(loop, xs) if size == 1 < loop.length else in_blocks(loop, xs, size, apply)


def block_size(length: int, states: int) -> int:
    """The size of blocks so that, of so many states, some kept before blocks and the others in one, the steps
    are run again as seldom as can be.

    >>> block_size(1000, 1000), block_size(1000, 100), block_size(1000, 8)
    (1000, 51, 2)
    """

    if states >= length:
        return length

    def reached(times: int) -> dict[int, int]:
        return {size * math.comb(states + 1 - size + times, times): size for size in range(states, 0, -1)}

    times = 0
    while max(reached(times)) < length:
        times += 1
    return reached(times)[max(reached(times))]


def in_blocks(loop: Loop, xs: Values, size: int, apply: Apply) -> Values:
    """The loop in blocks of `size` steps, each run again in reverse mode; `apply` is how the loop over blocks is
    applied."""
    if not 2 <= size < loop.length:
        return loop.apply(*xs)
    count = loop.length // size
    parts = [_Part(0, size, count, apply)]
    if loop.length > size * count:
        parts.append(_Part(size * count, loop.length - size * count, 1, again))
    made = list[Values]()
    state = xs
    for part in parts[:: -1 if loop.reverse else 1]:
        made.append(part.results(loop, state))
        ends = iter([y for y, k in zip(made[-1], loop.outs, strict=True) if k == "last"])
        state = tuple([next(ends) if kind == "carry" else x for x, kind in zip(state, loop.ins, strict=True)])
    in_order = made[:: -1 if loop.reverse else 1]
    columns = zip(zip(*in_order, strict=True), made[-1], loop.outs, strict=True)
    return tuple([concatenate(rows, 0) if k == "stack" else last for rows, last, k in columns])


@final
@frozen
class _Part:
    """Some steps of a loop: `count` blocks of `size` steps, from step `first` on; `apply` is how the loop over these
    is applied."""

    first: int
    size: int
    count: int
    apply: Apply

    def results(self, loop: Loop, xs: Values) -> Values:
        """The results of these steps."""
        rows = [self.rows(x) if kind == "each" else x for x, kind in zip(xs, loop.ins, strict=True)]
        kinds: list[In] = ["const" if kind == "count" else kind for kind in loop.ins]
        for n in counts_of(loop):  # how many blocks are run
            rows.append(floor_divide(xs[n] - self.first + (self.size - 1), const(self.size, INDEX.dtype)))
            kinds.append("count")
        types = [x.type.row if kind == "each" else x.type for x, kind in zip(rows, kinds, strict=True)]
        blocks = Loop(self.count, tuple(kinds), loop.outs, self.block(loop, types), loop.reverse)
        return tuple(
            [
                reshape(y, (self.count * self.size, *y.shape[2:])) if kind == "stack" else y
                for y, kind in zip(self.apply(blocks, tuple(rows)), loop.outs, strict=True)
            ]
        )

    def rows(self, x: Value) -> Value:
        """The rows of these steps, block by block."""
        part = slice_axis(x, 0, self.first, self.count * self.size)
        return reshape(part, (self.count, self.size, *x.shape[1:]))

    def block(self, loop: Loop, types: Sequence[Type]) -> Function:
        """One block: from its number and the operands to the results."""
        counts, width = counts_of(loop), len(loop.ins)
        kinds: list[In] = ["const" if kind == "count" else kind for kind in loop.ins]
        ins: list[In] = ["const", *kinds, *("count" for _ in counts)]
        params = loop.body.params

        def step(j: Value, start: Value, *args: Value) -> Values:
            return loop.body(start + j, *args[:width])

        names = ["j", "start", *(hint_of(p) for p in params[1:])]
        body = trace(step, INDEX, INDEX, *(p.type for p in params[1:]), *(INDEX for _ in counts), names=names)
        inner = Loop(self.size, tuple(ins), loop.outs, body, loop.reverse)

        def block(number: Value, *args: Value) -> Values:
            start = number * const(self.size, INDEX.dtype) + const(self.first, INDEX.dtype)
            return inner.apply(start, *args[:width], *(args[n] - start for n in counts))

        return trace(block, INDEX, *types)


def counts_of(loop: Loop) -> list[int]:
    """The operand that is the number of steps, if there is one."""
    return [n for n, kind in enumerate(loop.ins) if kind == "count"]


__all__ = [
    "Apply",
    "Policy",
    "Treeverse",
    "again",
    "apply_of",
    "block_size",
    "in_blocks",
    "keeping_carries",
    "with_policy",
]
