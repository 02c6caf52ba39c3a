"""Long folds ask for memory before they come to it.

A processor fetches what it expects to be read, but too late for a loop that does more with an element than add it up:
it looks ahead over so many operations, which then are fewer elements, and of vectors that lie across two lines of cache
half as many. Asked for in time, what such a loop reads comes as fast as memory gives it (variance: 1.3 times as fast).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from pliant.backends.llvm.streams import LINE
from pliant.core.types import itemsize
from pliant.kernel.cost import FAR
from pliant.kernel.ir import Apply, Load, Root, Scalar, Var, root_of

if TYPE_CHECKING:
    from pliant.backends.llvm.emit import Emitter

PART: Final = 16 * LINE
"""Bytes that are asked for at a time: as many lines as a processor can wait for."""
AHEAD: Final = 1 << 13
"""Bytes that lie between what is asked for and what is read."""
LIGHT: Final = 2
"""Operations on each element that is read, of which a processor looks far enough ahead."""


def asking(
    e: Emitter, scalars: Sequence[Scalar], roots: Sequence[Root], loop: Var
) -> tuple[int, Callable[[str], None]] | None:
    """After how many steps of a loop to ask for memory, and how to, from the first of these steps on; None if the loop
    does little but add up, or reads no large array side by side."""
    loads = [s for s in scalars if isinstance(s, Load)]
    work = len([s for s in scalars if isinstance(s, Apply)]) + len(roots)
    far = [*{(s.buffer, s.offset): s for s in loads if is_far(s, loop)}.values()]
    if work <= LIGHT * len(loads) or loop in e.backward or not far:
        return None
    steps = PART // max([itemsize(s.buffer.type.dtype) for s in far])

    def ask(first: str) -> None:
        e.env[loop] = first
        for s in far:
            start = e.address(s.buffer, s.offset)
            for byte in range(AHEAD, AHEAD + steps * itemsize(s.buffer.type.dtype), LINE):
                # Beyond the end of an array nothing is fetched, and nothing goes wrong.
                line = e.op(f"getelementptr i8, ptr {start}, i64 {byte}")
                e.call_for_effect(f"void @llvm.prefetch.p0(ptr {line}, i32 0, i32 3, i32 1)")
        del e.env[loop]

    return steps, ask


def is_far(s: Load, loop: Var) -> bool:
    """Whether a load is of elements of a large array that lie side by side along a loop."""
    is_plain = all([isinstance(atom, Var) for atom, _ in s.offset.terms])
    return is_plain and s.offset.factor(loop) == 1 and root_of(s.buffer).type.bytes >= FAR
