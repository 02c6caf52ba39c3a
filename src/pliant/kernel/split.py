"""Which loop of a large nest runs in parts, that several threads can take in any order.

How many parts there are depends on extents alone. Parts run in turn where there is one thread, so what a
program computes does not depend on how many there are.
"""

from __future__ import annotations

from typing import Final

from pliant.kernel.ir import Blocks, Buffer, Load, Nest, Program, Root, Rows, Split, Var, root_of
from pliant.kernel.overlap import is_once
from pliant.kernel.schedule import scalars

ROOM: Final = 1 << 18
"""Bytes at most for what all parts add up, each for itself."""
STACK: Final = 1 << 19
"""Bytes at most of a block's room on a thread's stack; blocks of longer rows run one after the other."""
LEAST: Final = 800_000
"""The least work of a nest in parts, in simple operations on one element: about 50 µs."""
PART: Final = 50_000
"""The least work of a part."""
MOST: Final = 64
"""Parts at most."""
GRAIN: Final = 64
"""An innermost loop is divided by multiples of this: whole lines of cache."""
BLOCK: Final = 1024
"""The same, where sums are made in blocks of this length."""
STRIP: Final = 8192
"""The same, where there are loops around it: shorter strips of many rows are read more slowly than whole rows."""

TALL: Final = 128
"""The same of the loop around it, where an array is walked across: tiles of fewer rows are read more slowly."""
LINE: Final = 16
"""The same again: what lies across in a line of cache at most, so that no two parts read the same one."""


def split(program: Program) -> None:
    """Note, at each large nest, its loop that runs in parts."""
    for step in program.steps:
        if isinstance(step, Nest):
            step.split = split_of([step], step.vars, step.work)
        elif isinstance(step, Rows):
            step.split = split_of(step.nests, step.nests[0].vars[:1], step.work)
        elif isinstance(step, Blocks) and step.work >= LEAST and step.room.type.size <= STACK:
            count = -(-step.rows.extent // step.size)  # blocks, which are apart
            size = -(-count // min(step.work // PART, MOST)) * step.size
            step.split = Split(step.rows, size, step.private) if size < step.rows.extent else None


def split_of(nests: list[Nest], loops: tuple[Var, ...], work: int) -> Split | None:
    """How nests over common loops run in parts, by one of these loops; None if they run as a whole."""
    if work < LEAST or not all([is_unordered(nest) for nest in nests]):
        return None
    found = [parts_of(nests, v, work) for v in loops if all([is_apart(nest, v) for nest in nests])]
    found = [split for split in found if split.count > 1]
    # the outermost loop, unless an inner one is divided much better
    return max(found, key=lambda split: min(split.count, MOST // 4), default=None)


def parts_of(nests: list[Nest], loop: Var, work: int) -> Split:
    """A loop in equal parts, none of them too small."""
    count = min(work // PART, MOST)
    sums = frozenset(added(nests, loop))
    if sums:
        count = min(count, ROOM // max(sum([room_of(b) for b in sums]), 1))
    size = -(-loop.extent // max(count, 1))
    grain = grain_of(nests, loop)
    return Split(loop, -(-size // grain) * grain, frozenset(private(nests)), sums)


def grain_of(nests: list[Nest], loop: Var) -> int:
    """The number of steps whose multiples divide a loop."""
    loops = nests[0].vars
    if len(nests) > 1 or loop is not loops[-1]:
        share = -(-loop.extent // (MOST // 4))
        return min(TALL, -(-share // LINE) * LINE) if is_across(nests, loop) else 1
    if len(loops) > 1:
        return STRIP
    return BLOCK if any([is_total(root, nests[0]) for root in nests[0].roots]) else GRAIN


def is_across(nests: list[Nest], loop: Var) -> bool:
    """Whether a loop is the one around the innermost loop of a nest that walks an array across."""
    if len(nests) > 1 or loop is not nests[0].vars[-2]:
        return False
    inner = nests[0].vars[-1]
    loads = [s.offset for s in scalars(nests[0].body) if isinstance(s, Load)]
    return any([abs(x.factor(inner)) > abs(x.factor(loop)) > 0 for x in loads])


def private(nests: list[Nest]) -> list[Buffer]:
    """What lies in the same memory for each row: each part needs its own."""
    if len(nests) == 1:
        return []
    return [
        root.buffer
        for nest in nests
        for root in nest.roots
        if root.buffer and root.buffer.type != root.value.type and nest.vars[0] not in root.folded
    ]


def added(nests: list[Nest], loop: Var) -> list[Buffer]:
    """Folds over a loop, and loops in it, but not over all: each part has sums of its own."""
    return [
        root.buffer
        for nest in nests
        for root in nest.roots
        if root.buffer and row_of(nest, loop) in root.folded and not is_total(root, nest)
    ]


def room_of(buffer: Buffer) -> int:
    """Bytes that it takes in the memory of one part: whole lines of cache."""
    return -(-buffer.type.bytes // 64) * 64


def row_of(nest: Nest, loop: Var) -> Var:
    """The loop of a nest that is the common loop."""
    return loop if loop in nest.vars else nest.vars[0]


def is_unordered(nest: Nest) -> bool:
    """Whether the loops of a nest may run in any order."""
    return not (nest.is_swept or nest.delay or nest.limits or 0 in nest.space)


def is_apart(nest: Nest, loop: Var) -> bool:
    """Whether no two steps of a loop touch what the other one writes, but for sums."""
    row = row_of(nest, loop)
    return all([is_total(root, nest) or parts_are_apart(root, nest, row) for root in nest.roots])


def parts_are_apart(root: Root, nest: Nest, loop: Var) -> bool:
    """Whether what a root writes at different steps of a loop is apart, or added up, and not read at others."""
    if root.fold is None:
        return root.base is None or is_once(root.offset, nest, root)
    if root.buffer is None or (loop in root.folded and loop is not nest.vars[0]):
        return False
    home = root_of(root.buffer)
    return not any([isinstance(s, Load) and root_of(s.buffer) is home for s in scalars(nest.body)])


def is_total(root: Root, nest: Nest) -> bool:
    """Whether a root is folded over all loops: parts of it are folded each by itself."""
    return root.fold is not None and all([v in root.folded for v in nest.vars])
