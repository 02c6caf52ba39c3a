"""Nests over the same rows share the outer loop, so that a row is still in cache for the next one.

Softmax, for one: the greatest element of a row, the exponentials and their sum, the quotients. What
only these nests read is kept for one row at a time.
"""

from __future__ import annotations

import math

from pliant.kernel.ir import Affine, Buffer, Load, Nest, Root, Rows, Step, Var, writes
from pliant.kernel.schedule import ordered, scalars

LEAST_ROW = 32  # elements; a nest of shorter rows is better merged into one loop
LARGEST_ROW = 1 << 17  # bytes of all that a row touches
MOST_WAITING = 4  # steps
LEAST_SIZE = 1 << 16  # bytes; a smaller array stays in cache anyway


def gather(steps: list[Step], results: set[Buffer]) -> list[Step]:
    """Steps with neighbouring nests over the same rows gathered."""
    readers: dict[Buffer, int] = {}
    for number, step in enumerate(steps):
        for buffer in step.reads:
            readers[buffer] = number
    out, group, waiting = list[Step](), list[Nest](), list[Step]()
    for number, step in enumerate(steps):
        if isinstance(step, Nest) and group and joins(step, group) and not any([meet(step, w) for w in waiting]):
            group.append(step)
            continue
        if group and len(waiting) < MOST_WAITING and waits(step):
            waiting.append(step)
            continue
        out += finished(group, waiting, number, readers, results)
        group, waiting = [step] if isinstance(step, Nest) and fits(step) else [], []
        if not group:
            out.append(step)
    return out + finished(group, waiting, len(steps), readers, results)


def waits(step: Step) -> bool:
    """Whether a step may come later than nests over rows: it has none, or folds rows over one another."""
    return isinstance(step, Nest) and (not fits(step) or not any([makes_rows(root, step) for root in step.roots]))


def meet(step: Step, other: Step) -> bool:
    """Whether one of two steps writes what the other reads or writes."""
    made, others = {*writes(step)}, {*writes(other)}
    return not made.isdisjoint(others | other.reads) or not others.isdisjoint(step.reads)


def finished(
    group: list[Nest], waiting: list[Step], after: int, readers: dict[Buffer, int], results: set[Buffer]
) -> list[Step]:
    """A group as steps, and those that waited for it; `after` is the number of the first step behind them."""
    if len(group) < 2:
        return [*group, *waiting]
    made = {b for nest in group for b in writes(nest)}
    inner = {b for b in made if b not in results and readers.get(b, after) < after}
    for nest in group:
        for buffer in inner & set(writes(nest)):
            if not all([reads_by_row(other, buffer) for other in group]) or not stored_by_row(nest, buffer):
                inner.discard(buffer)
    inner -= {b for step in waiting for b in step.reads}
    shrink(group, inner)
    return [Rows(group), *waiting]


def fits(nest: Nest) -> bool:
    """Whether a nest has rows worth gathering, its first axis being the outer loop."""
    if (
        any([root.base for root in nest.roots])
        or nest.limits
        or len(nest.space) < 2
        or nest.space[0] < 2
        or math.prod(nest.space[1:]) < LEAST_ROW
        or 0 in nest.space
    ):
        return False
    if nest.vars[0] is not ordered([v for v in nest.vars if v.extent != 1], nest)[0]:
        return False
    loads = {s.buffer for s in scalars(nest.body) if isinstance(s, Load)}
    touched = {b for b in (*loads, *writes(nest)) if b.type.shape[:1] == nest.space[:1]}
    return sum([b.type.bytes // nest.space[0] for b in touched]) <= LARGEST_ROW


def joins(nest: Nest, group: list[Nest]) -> bool:
    """Whether a nest reads rows that a group makes, and nothing else of what it makes."""
    if nest.space[:1] != group[0].space[:1] or not fits(nest):
        return False
    made = {root.buffer: (root, maker) for maker in group for root in maker.roots if root.buffer}
    shared = [b for b in nest.reads if b in made]
    large = [b for b in shared if b.type.bytes >= LEAST_SIZE or made[b][1].space == nest.space]
    if not large or math.prod(nest.space) * 8 < LEAST_SIZE:
        return False
    return all([makes_rows(*made[b]) and reads_by_row(nest, b) for b in shared])


def makes_rows(root: Root, nest: Nest) -> bool:
    """Whether a root is complete for a row when that row's loops end."""
    return nest.vars[0] not in root.folded


def reads_by_row(nest: Nest, buffer: Buffer) -> bool:
    """Whether a nest reads, in its n-th row, only the n-th row of a buffer."""
    loads = [s for s in scalars(nest.body) if isinstance(s, Load) and s.buffer is buffer]
    return all([in_row(load.offset, nest.vars[0], buffer) for load in loads])


def stored_by_row(nest: Nest, buffer: Buffer) -> bool:
    """Whether a nest writes, in its n-th row, only the n-th row of a buffer."""
    roots = [root for root in nest.roots if root.buffer is buffer]
    # A fold over a part of a row may add up in memory, which is cleared once, not for each row.
    whole = all([not root.fold or len(root.folded) == len(nest.vars) - 1 for root in roots])
    return whole and all([in_row(root.offset, nest.vars[0], buffer) for root in roots])


def in_row(offset: Affine, row: Var, buffer: Buffer) -> bool:
    """Whether an offset lies in the row of a buffer that a loop variable counts."""
    shape = buffer.type.shape
    if not shape or shape[0] != row.extent:
        return False
    length = math.prod(shape[1:])
    span = without(offset, row).range()
    return offset.factor(row) == length and span is not None and span[0] >= 0 and span[1] < length


def without(offset: Affine, row: Var) -> Affine:
    """An offset inside its row."""
    return Affine(offset.start, tuple([(a, f) for a, f in offset.terms if a is not row]))


def shrink(group: list[Nest], buffers: set[Buffer]) -> None:
    """Give buffers the room of one row."""
    for nest in group:
        row = nest.vars[0]
        for s in scalars(nest.body):
            if isinstance(s, Load) and s.buffer in buffers:
                s.offset = without(s.offset, row)
        for root in nest.roots:
            if root.buffer in buffers:
                root.offset = without(root.offset, row)
    for buffer in buffers:
        buffer.type = buffer.type.row
