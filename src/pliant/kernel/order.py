"""The order of steps: what reads an array comes before what writes over it, where that is possible; and what may fail
before what writes to the caller's arrays, so that these are as before where a call raises.

This is a preference only. A reader that has to come later costs a copy, which `share` makes.
"""

from __future__ import annotations

from typing import Final

from pliant.kernel.ir import Buffer, Step, takes_over, writes
from pliant.kernel.spill import may_fail

FARTHEST: Final = 256  # steps that a reader is brought forward at most: so ordering takes linear time


def reads_first(steps: list[Step], homes: dict[Buffer, Buffer]) -> list[Step]:
    """The steps with those that read what a step writes over brought before it, where they do not need
    its result. `homes`: results, and the parameters in whose memory they are to lie."""
    out, last = list(steps), dict[Buffer, int]()
    _note(last, out, 0, len(out))
    done, number = set[int](), 0
    while number < len(out):
        step = out[number]
        if id(step) not in done:
            done.add(id(step))
            for source in _written_over(step, homes):
                at = out.index(step, number)
                if at < last.get(source, -1) <= at + FARTHEST:
                    end = last[source] + 1
                    out[at:end] = _with_reads_before(out[at:end], source, homes)
                    _note(last, out, at, end)
        if out[number] is step:
            number += 1
    return out


def failing_first(steps: list[Step], homes: dict[Buffer, Buffer]) -> list[Step]:
    """The steps with those that may fail, and what these need, brought before all others; with them what reads an array
    that they write over."""
    early, needed, over = set[int](), set[Buffer](), set[Buffer]()
    for number, step in reversed([*enumerate(steps)]):
        if may_fail(step) or not needed.isdisjoint(writes(step)) or not over.isdisjoint(step.reads):
            early.add(number)
            needed |= step.reads
            over.update(_written_over(step, homes))
    return [s for n, s in enumerate(steps) if n in early] + [s for n, s in enumerate(steps) if n not in early]


def _written_over(step: Step, homes: dict[Buffer, Buffer]) -> list[Buffer]:
    """What a step would best write over."""
    return [source for source, _ in takes_over(step)] + [homes[b] for b in writes(step) if b in homes]


def _note(last: dict[Buffer, int], steps: list[Step], begin: int, end: int) -> None:
    """Note the last reader of each buffer that these steps read."""
    for number in range(begin, end):
        for buffer in steps[number].reads:
            if last.get(buffer, -1) < end:
                last[buffer] = number


def _with_reads_before(steps: list[Step], source: Buffer, homes: dict[Buffer, Buffer]) -> list[Step]:
    """Some steps, the first of which writes over `source`: after all that can run before it; as they are if one of
    these would write over a larger array that the first reads."""
    made, early, late = {*writes(steps[0])}, list[Step](), list[Step]()
    for other in steps[1:]:
        if made.isdisjoint(other.reads):
            early.append(other)
        else:
            late.append(other)
            made.update(writes(other))
    lost = [b for other in early for b in _written_over(other, homes) if b in steps[0].reads]
    if any([source in other.reads for other in late]) or any([b.type.bytes > source.type.bytes for b in lost]):
        return steps
    return [*early, steps[0], *late]
