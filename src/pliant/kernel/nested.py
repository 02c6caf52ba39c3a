"""Loops and branches: programs inside programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from pliant.core.ir import Function, Node, Param, Value
from pliant.core.types import Type
from pliant.kernel.ir import Buffer, Host, Program, Run, root_of
from pliant.ops.cond import Cond
from pliant.ops.index import Scatter
from pliant.ops.loop import Loop
from pliant.ops.update import Window
from pliant.ops.while_loop import WhileLoop

Pairs: TypeAlias = Sequence[tuple[int, int]]
Build: TypeAlias = Callable[[Function, Pairs], Program]

SMALL = 64  # bytes of a carry that lives in registers
GUESS = 16  # steps of a loop whose end is not known


def run_of(node: Node, args: tuple[Buffer, ...], outs: tuple[Buffer, ...], build: Build) -> Run | None:
    """The step of a loop or a branch; None if some part of it runs on the host."""
    starts = list[tuple[int, int]]()
    match node.op:
        case Loop() as op if not op.has_folds:
            parts, carries, count = (build(op.body, op.carries),), op.carries, op.length
        case WhileLoop() as op:
            parts, carries, count = (build(op.test, ()), build(op.body, op.carries)), op.carries, GUESS
        case Cond() as op:
            parts, pairs = branches_of(op, build)
            carries, count = [], 1
            starts = [(p + 1, r) for p, r in pairs]
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
    starts += [(p - first, r) for p, r in carries]
    return Run(node, parts, args, outs, Buffer(Type("u8", (max(size, 1),)), None), carried, starts, work)


def is_small(type: Type) -> bool:
    """Whether a carry of this type is kept in registers."""
    return type.bytes <= SMALL


def is_in_place(body: Program, param: int, result: int) -> bool:
    """Whether a step updates a carry where it lies."""
    return root_of(body.results[result]) is body.params[param]


def branches_of(op: Cond, build: Build) -> tuple[tuple[Program, ...], list[tuple[int, int]]]:
    """The programs of both branches, and the (parameter, result) pairs that both update in place."""
    first, second = ([origin_of(r) for r in fn.results] for fn in op.branches)
    places = [{p: n for n, p in enumerate(fn.params)} for fn in op.branches]
    pairs = list[tuple[int, int]]()
    for r, (a, b) in enumerate(zip(first, second, strict=True)):
        p = places[0].get(a, -1) if a else -1
        if p >= 0 and b and places[1].get(b) == p and not is_small(op.then.params[p].type):
            pairs.append((p, r))
    pairs = [(p, r) for p, r in pairs if [q for q, _ in pairs].count(p) == 1]
    parts = tuple([build(fn, pairs) for fn in op.branches])
    if all([is_in_place(part, p, r) for part in parts for p, r in pairs]):
        return parts, pairs
    return tuple([build(fn, ()) for fn in op.branches]), []


def origin_of(value: Value) -> Value | None:
    """The parameter that a value is an updated version of, if it is one."""
    while not isinstance(value.op, Param):
        match value.op:
            case Scatter() | Window():
                value = value.args[0]
            case Loop() as op if op.outs[value.index] == "last":
                value = value.args[next(p for p, r in op.carries if r == value.index) - 1]
            case _:
                return None
    return value
