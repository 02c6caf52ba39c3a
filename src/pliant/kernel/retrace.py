"""A loop of unknown length with a tape: its programs, and where what they carry lies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from pliant.core.ir import Function, Node
from pliant.core.types import Type
from pliant.kernel.carries import ALIGNMENT, Pairs, beginnings, is_in_place, is_small, owners, roles_of
from pliant.kernel.ir import OUT_OF_MEMORY, Buffer, Host, Program, Run, Site
from pliant.ops.retrace import Retrace
from pliant.ops.while_once import WhileOnce

Build: TypeAlias = Callable[[Function, Pairs], Program]

GUESS: Final = 16  # steps
WORD: Final = 8  # bytes; what is saved begins at a multiple of them


def retraced(
    node: Node, op: Retrace | WhileOnce, args: tuple[Buffer, ...], outs: tuple[Buffer, ...], build: Build
) -> Run | None:
    """The step of a loop with a tape; None if some part of it runs on the host."""
    both = op.retrace if isinstance(op, WhileOnce) else op
    back = owners(op.back, both.carries_back)
    between = (build(op.middle, ()),) if isinstance(op, WhileOnce) else ()
    parts = (build(op.test, ()), build(op.ahead, both.carries), *between, build(op.back, back))
    if any([isinstance(step, Host) for part in parts for step in part.steps]):
        return None
    roles, size = roles_of(parts[-1], both.carries_back, None, max([part.arena for part in parts]))
    first = len(op.ins)
    # with something in between, nothing that is carried back begins as an operand
    starts = [] if between else beginnings(roles, [(first + r, r) for _, r in both.carries_back])
    homes, size = homes_of(parts[1], both.carries, size)
    work = GUESS * sum([step.work for part in parts for step in part.steps])
    sites = parts[1].sites
    sites.append(Site(OUT_OF_MEMORY, 0, node.origin, op.name))
    scratch = Buffer(Type("u8", (max(size, 1),)), None)
    return Run(node, parts, args, outs, scratch, roles, starts, work, homes, len(sites) - 1)


def homes_of(body: Program, carries: Pairs, used: int) -> tuple[tuple[tuple[int, int], ...], int]:
    """For each large carry, in bytes of scratch memory, where it lies and where the next one is made;
    and the bytes that this and the `used` ones before take."""
    homes = list[tuple[int, int]]()
    for p, r in carries:
        type = body.params[p].type
        if is_small(type):
            continue
        first = -(-used // ALIGNMENT) * ALIGNMENT
        second = first if is_in_place(body, p, r) else -(-(first + type.bytes) // ALIGNMENT) * ALIGNMENT
        homes.append((first, second))
        used = second + type.bytes
    return tuple(homes), used


def row_of(saved: tuple[Buffer, ...]) -> tuple[list[int], int]:
    """Where in a row of the tape each saved value begins, and the bytes of a row."""
    starts, end = list[int](), 0
    for buffer in saved:
        starts.append(end)
        end += -(-buffer.type.bytes // WORD) * WORD
    return starts, end
