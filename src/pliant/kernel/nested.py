"""Loops and branches: programs inside programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from pliant.core.ir import Function, Node
from pliant.core.types import Type
from pliant.kernel.ir import Buffer, Host, Program, Run, root_of
from pliant.ops.cond import Cond
from pliant.ops.loop import Loop
from pliant.ops.while_loop import WhileLoop

Build: TypeAlias = Callable[[Function, Sequence[tuple[int, int]]], Program]

SMALL = 64  # bytes of a carry that lives in registers
GUESS = 16  # steps of a loop whose end is not known


def run_of(node: Node, args: tuple[Buffer, ...], outs: tuple[Buffer, ...], build: Build) -> Run | None:
    """The step of a loop or a branch; None if some part of it runs on the host."""
    match node.op:
        case Loop() as op if not op.has_folds:
            parts, carries, count = (build(op.body, op.carries),), op.carries, op.length
        case WhileLoop() as op:
            parts, carries, count = (build(op.test, ()), build(op.body, op.carries)), op.carries, GUESS
        case Cond() as op:
            parts, carries, count = tuple([build(fn, ()) for fn in op.branches]), [], 1
        case _:
            return None
    if any([isinstance(step, Host) for part in parts for step in part.steps]):
        return None
    size = max([part.arena for part in parts])
    carried = dict[int, int]()
    for p, r in carries:
        if not is_small(outs[r].type) and not is_in_place(parts[-1], p, r):
            carried[r] = size = -(-size // 64) * 64
            size += outs[r].type.bytes
    work = count * sum([step.work for part in parts for step in part.steps])
    first = 1 if isinstance(node.op, Loop) else 0  # a loop's body also takes the index
    starts = [(p - first, r) for p, r in carries]
    return Run(node, parts, args, outs, Buffer(Type("u8", (max(size, 1),)), None), carried, starts, work)


def is_small(type: Type) -> bool:
    """Whether a carry of this type is kept in registers."""
    return type.bytes <= SMALL


def is_in_place(body: Program, param: int, result: int) -> bool:
    """Whether a step updates a carry where it lies."""
    return root_of(body.results[result]) is body.params[param]
