"""Give every buffer its place: a parameter, a result, or bytes of the arena while it is live."""

from __future__ import annotations

from bisect import insort

from pliant.kernel.ir import Buffer, Program, Step, root_of, takes_over, writes

ALIGNMENT = 64


def place(program: Program) -> None:
    """Assign slots of the pointer table and offsets in the arena.

    Slot 0 is the arena; then the parameters, the results, and what host steps made.
    """
    fixed = (*program.params, *program.results, *program.host)
    for slot, buffer in enumerate(fixed, start=1):
        buffer.slot = slot
    last = last_reads(program.steps)
    program.arena = assign(program.steps, last, set(fixed))


def last_reads(steps: list[Step]) -> dict[Buffer, int]:
    """The last step that touches each buffer; a shared one lives as long as both."""
    last: dict[Buffer, int] = {}
    for number, step in enumerate(steps):
        for buffer in (*step.reads, *writes(step)):
            last[root_of(buffer)] = number
    return last


def reads_first(steps: list[Step]) -> list[Step]:
    """The steps with those that read what a step starts from brought before it, where they do not
    need its result: then it can work in that memory. Every buffer has one writer yet."""
    for step in list(steps):
        for source, _ in takes_over(step):
            steps = _with_reads_before(steps, step, source)
    return steps


def _with_reads_before(steps: list[Step], step: Step, source: Buffer) -> list[Step]:
    at = steps.index(step)
    after = [n for n in range(at + 1, len(steps)) if source in steps[n].reads]
    if not after:
        return steps
    made, early, late = {*writes(step)}, list[Step](), list[Step]()
    for other in steps[at + 1 : after[-1] + 1]:
        if made.isdisjoint(other.reads):
            early.append(other)
        else:
            late.append(other)
            made.update(writes(other))
    if any([source in other.reads for other in late]):
        return steps
    return [*steps[:at], *early, step, *late, *steps[after[-1] + 1 :]]


def share(steps: list[Step], inputs: set[Buffer], results: set[Buffer], owned: dict[Buffer, Buffer]) -> None:
    """Let steps work in the memory of the operand they start from, where nobody reads it later.

    If the step makes a result, its operand is made in the result's memory from the start. `owned`
    are inputs that may be overwritten, and the results that may lie in their memory.
    """
    last = last_reads(steps)
    for number, step in enumerate(steps):
        for copied, out in takes_over(step):
            source = root_of(copied)
            if (source in inputs and source not in owned) or source in results or last.get(source, -1) > number:
                continue
            if out in results and source in owned:
                out.shared = source if owned[source] is out else None
            elif out in results:
                source.shared = out
            else:
                out.shared = source
                last[source] = max(last.get(out, number), number)


def assign(steps: list[Step], last: dict[Buffer, int], fixed: set[Buffer]) -> int:
    """Best-fit offsets in the arena; its size."""
    free: list[tuple[int, int]] = []  # (size, offset)
    ends: dict[int, list[Buffer]] = {}
    top = 0
    for number, step in enumerate(steps):
        for buffer in writes(step):
            if buffer in fixed:
                continue
            if buffer.shared is not None:
                buffer.slot, buffer.offset = buffer.shared.slot, buffer.shared.offset
                continue
            size = size_of(buffer)
            fit = next((n for n, (room, _) in enumerate(free) if room >= size), None)
            if fit is None:
                offset, top = top, top + size
            else:
                room, offset = free.pop(fit)
                if room > size:
                    insort(free, (room - size, offset + size))
            buffer.slot, buffer.offset = 0, offset
            ends.setdefault(last.get(buffer, number), []).append(buffer)
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
