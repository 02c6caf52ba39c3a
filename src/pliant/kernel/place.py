"""Give every buffer its place: a parameter, a result, or bytes of the arena while it is live."""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence

from pliant.core.types import Type
from pliant.kernel.ir import Blocks, Buffer, Program, Step, root_of, writes

ALIGNMENT = 64


def place(program: Program, *, reuse: bool = True) -> None:
    """Assign slots of the pointer table and offsets in the arena; without `reuse`, bytes of its own to each.

    Slot 0 is the arena; then the parameters and the results.
    """
    fixed = (*program.params, *program.results)
    for slot, buffer in enumerate(fixed, start=1):
        buffer.slot = slot
    blocks = [step for step in program.steps if isinstance(step, Blocks)]
    for step in blocks:
        others = {root_of(b) for part in step.steps for b in writes(part)} - step.private
        step.room.type = Type("u8", (assign(step.steps, last_uses(step.steps), others),))
    last = last_uses(program.steps) if reuse else {}
    program.arena = assign(program.steps, last, set(fixed))
    for buffer in {b for step in program.steps for b in (*writes(step), *step.reads)} | {*program.results}:
        root = root_of(buffer)  # one address for all that lie there: LLVM sees that it is the same
        buffer.slot, buffer.offset = root.slot, root.offset
    for step in blocks:
        for buffer in [b for b in step.private if b.shared is None]:
            buffer.slot, buffer.offset = step.room.slot, step.room.offset + buffer.offset
        for buffer in {b for part in step.steps for b in (*writes(part), *part.reads)}:
            root = root_of(buffer)
            buffer.slot, buffer.offset = root.slot, root.offset


def last_uses(steps: Sequence[Step]) -> dict[Buffer, int]:
    """The last step that touches each piece of memory, by the buffer that had it first."""
    last: dict[Buffer, int] = {}
    for number, step in enumerate(steps):
        for buffer in (*step.reads, *writes(step)):
            last[root_of(buffer)] = number
    return last


def assign(steps: Sequence[Step], last: dict[Buffer, int], fixed: set[Buffer]) -> int:
    """Best-fit offsets in the arena; its size. What is not in `last` keeps its bytes."""
    free: list[tuple[int, int]] = []  # (size, offset)
    ends: dict[int, list[Buffer]] = {}
    seen, top = set[Buffer](), 0
    for number, step in enumerate(steps):
        for buffer in dict.fromkeys([root_of(b) for b in writes(step)]):  # some lie in memory of a later one
            if buffer in fixed or buffer in seen:
                continue
            seen.add(buffer)
            size = size_of(buffer)
            fit = next((n for n, (room, _) in enumerate(free) if room >= size), None)
            if fit is None:
                offset, top = top, top + size
            else:
                room, offset = free.pop(fit)
                if room > size:
                    insort(free, (room - size, offset + size))
            buffer.slot, buffer.offset = 0, offset
            ends.setdefault(last.get(buffer, len(steps)), []).append(buffer)
        for buffer in ends.pop(number, ()):
            release(free, buffer.offset, size_of(buffer))
    return top + ALIGNMENT


def release(free: list[tuple[int, int]], offset: int, size: int) -> None:
    """Give a range back, merged with its free neighbours."""
    for room, start in list(free):
        if start + room == offset or start == offset + size:
            free.remove((room, start))
            offset, size = min(offset, start), size + room
    insort(free, (size, offset))


def size_of(buffer: Buffer) -> int:
    """Bytes it takes, a multiple of the alignment."""
    return max(-(-buffer.type.bytes // ALIGNMENT), 1) * ALIGNMENT
