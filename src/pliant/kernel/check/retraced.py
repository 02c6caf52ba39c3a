"""Loops with a tape: what is carried forward is where the next step reads it, and apart from all else."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import final

from pliant.core.frozen import frozen
from pliant.kernel.carries import is_small
from pliant.kernel.check.faults import fault
from pliant.kernel.ir import Run
from pliant.ops.retrace import Retrace


@final
@frozen
class Effect:
    """What a program does to memory: the parameters whose content is lost, and for each result the
    parameter in whose memory it lies at the end, or None."""

    clobbered: frozenset[int]
    places: tuple[int | None, ...]


def check_retrace(step: Run, op: Retrace, effects: Sequence[Effect]) -> None:
    """The way forward: a step writes only to what it carries, and to the tape."""
    test, ahead, *_ = effects
    body, out = step.parts[1], step.outs[0]
    if test.clobbered or test.places != (None,):
        raise fault(out, "is carried by a loop whose condition writes to memory")
    if lost := ahead.clobbered - {p for p, _ in op.carries}:
        raise fault(body.params[min(lost)], "is overwritten by a step of a loop, though the next one reads it")
    own = {r: p for p, r in op.carries}
    for r, place in enumerate(ahead.places):
        if place not in (None, own.get(r)):
            raise fault(body.results[r], "is left in other memory than the next step reads")
    large = [(p, r) for p, r in op.carries if not is_small(body.params[p].type)]
    used = [(0, max([part.arena for part in step.parts]))]
    for (p, r), (first, second) in zip(large, step.homes, strict=True):
        size = body.params[p].type.bytes
        used.append((first, first + size))
        if ahead.places[r] is None:
            used.append((second, second + size))
    if step.roles:
        used += [(at, at + _size(step, op, n)) for n, at in enumerate(step.roles.homes) if at is not None]
    used.sort()
    if any([end > low for (_, end), (low, _) in pairwise(used)]) or used[-1][1] > step.scratch.type.bytes:
        raise fault(step.scratch, "is divided into parts that overlap or do not fit")


def check_between(step: Run, middle: Effect) -> None:
    """What lies between the two ways writes to its results only."""
    if middle.clobbered or any([place is not None for place in middle.places]):
        raise fault(step.outs[0], "is made by a loop that writes to memory before it turns back")


def _size(step: Run, op: Retrace, n: int) -> int:
    """The bytes of a memory that changes roles on the way back."""
    assert step.roles
    at = n if n < len(step.roles.results) else step.roles.before.index(n)
    first, _ = op.carries_back[0]
    return step.parts[-1].params[first + step.roles.results[at]].type.bytes
