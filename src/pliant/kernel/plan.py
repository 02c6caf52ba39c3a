"""The memory of a program as a list: what lies where, for how long, and why it does not share."""

from __future__ import annotations

from typing import final

from pliant.core.data import frozen
from pliant.core.origin import Origin
from pliant.kernel.ir import Buffer, Copy, Program, root_of, writes


@final
@frozen
class Life:
    """One array in memory. `birth` and `death` are the numbers of the first step that writes it and of
    the last that touches it: -1 for what is there before the call, the number of steps for what stays.

    place: "argument", "result" or "workspace". inside: the buffer whose memory it has taken over, at last.
    reason: why it has memory of its own.
    """

    buffer: Buffer
    bytes: int
    birth: int
    death: int
    place: str
    inside: Buffer | None
    reason: str
    origin: Origin | None


@final
@frozen
class Copied:
    """Bytes that a step only moves, and why."""

    step: int
    bytes: int
    reason: str
    origin: Origin | None


@final
@frozen
class Plan:
    """All arrays of a program in the order of their birth, and all copies."""

    lives: tuple[Life, ...]
    copies: tuple[Copied, ...]
    workspace: int  # bytes, kept between calls
    results: int  # bytes that every call allocates: results that lie in no argument

    @property
    def temporaries(self) -> tuple[Life, ...]:
        """Arrays that have bytes of the workspace of their own."""
        return tuple([life for life in self.lives if life.place == "workspace" and life.inside is None])

    @property
    def peak(self) -> int:
        """The most bytes of the workspace that are in use at once."""
        lives = [life for life in self.lives if life.place == "workspace"]
        return max(
            [_covered([x for x in lives if x.birth <= n <= x.death]) for n in {x.birth for x in lives}], default=0
        )


def plan_of(program: Program) -> Plan:
    """The plan of a program, not of those inside its loops and branches."""
    first: dict[Buffer, int] = dict.fromkeys(program.params, -1)
    last: dict[Buffer, int] = {}
    for number, step in enumerate(program.steps):
        for buffer in writes(step):
            first.setdefault(buffer, number)
            last[buffer] = number
        for buffer in step.reads:
            last[buffer] = number
    for buffer in program.results:
        first.setdefault(buffer, -1)
        last[buffer] = len(program.steps)
    outside = {b for b in program.results if root_of(b) is b}
    lives = tuple([_life(b, program, first[b], last.get(b, first[b])) for b in first])
    copies = tuple(
        [
            Copied(number, step.out.type.bytes, step.reason, origin_of(step.out))
            for number, step in enumerate(program.steps)
            if isinstance(step, Copy)
        ]
    )
    return Plan(lives, copies, program.arena, sum([b.type.bytes for b in outside]))


def _covered(lives: list[Life]) -> int:
    """The bytes that arrays cover, of which some lie in others' memory."""
    total = end = 0
    for low, high in sorted([(x.buffer.offset, x.buffer.offset + x.bytes) for x in lives]):
        total += max(high - max(low, end), 0)
        end = max(end, high)
    return total


def _life(buffer: Buffer, program: Program, birth: int, death: int) -> Life:
    root = root_of(buffer)
    params = len(program.params)
    at = root.slot - 1
    place = "workspace" if root.slot == 0 else "argument" if at < params else "result"
    inside = None if root is buffer else root
    return Life(buffer, buffer.type.bytes, birth, death, place, inside, buffer.reason, origin_of(buffer))


def origin_of(buffer: Buffer) -> Origin | None:
    """Where the user's program makes what a buffer holds."""
    return buffer.value.origin if buffer.value else None
