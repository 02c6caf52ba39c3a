"""Loops over large arrays ask for memory before they come to it.

A processor fetches what it expects to be read, but too late for a loop that does more with an element than move it: it
looks ahead over so many operations, which then are fewer elements, and of vectors that lie across two lines of cache
half as many. Asked for in time, what such a loop reads comes as fast as memory gives it (10 million: exp x and the
variance 1.3 times as fast, Σ (x - y)² 1.05 to 1.08 times).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, final

from pliant.backends.llvm.streams import LINE, Edges, request
from pliant.core.data import frozen
from pliant.core.types import itemsize
from pliant.kernel.cost import FAR
from pliant.kernel.ir import Load, Scalar, Var, root_of

if TYPE_CHECKING:
    from pliant.backends.llvm.emit import Emitter

PART: Final = 16 * LINE
"""Bytes that are asked for at a time: as many lines as a processor can wait for."""
AHEAD: Final = 1 << 13
"""Bytes that lie between what is asked for and what is read."""


@final
@frozen
class Prefetch:
    """What the steps of a loop read of large arrays, side by side."""

    loop: Var
    loads: tuple[Load, ...]

    @property
    def steps(self) -> int:
        """After how many steps to ask again."""
        return PART // max([itemsize(s.buffer.type.dtype) for s in self.loads])

    def run(self, e: Emitter, body: Callable[[], None], bounds: Edges | None) -> None:
        """The loop, or a part of it: what it reads is asked for some steps before."""
        before = e.part.get(self.loop)
        e.part[self.loop] = bounds or before or ("0", str(self.loop.extent))

        def some(first: str, end: str) -> None:
            self.ask(e, first, self.steps)
            e.loop(self.loop, body, (first, end))

        e.blocks(self.loop, self.steps, some)
        del e.part[self.loop]
        if before:
            e.part[self.loop] = before

    def ask(self, e: Emitter, first: str, steps: int) -> None:
        """Ask for what so many steps read, from the first of them on."""
        e.env[self.loop] = first
        for s in self.loads:
            start = e.address(s.buffer, s.offset)
            for byte in range(AHEAD, AHEAD + steps * itemsize(s.buffer.type.dtype), LINE):
                # Beyond the end of an array nothing is fetched, and nothing goes wrong.
                line = e.op(f"getelementptr i8, ptr {start}, i64 {byte}")
                e.call_for_effect(request(line))
        del e.env[self.loop]


def prefetch_of(e: Emitter, scalars: Sequence[Scalar], loop: Var) -> Prefetch | None:
    """What a loop reads of large arrays, if there is any and the loop is long."""
    far = {(s.buffer, s.offset): s for s in scalars if isinstance(s, Load) and is_far(s, loop)}
    prefetch = Prefetch(loop, tuple(far.values()))
    return prefetch if far and loop not in e.backward and loop.extent >= 2 * prefetch.steps else None


def is_far(s: Load, loop: Var) -> bool:
    """Whether a load is of elements of a large array that lie side by side along a loop."""
    return s.offset.is_of_loops and s.offset.factor(loop) == 1 and root_of(s.buffer).type.bytes >= FAR
