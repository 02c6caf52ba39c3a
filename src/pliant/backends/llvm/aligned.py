"""Long loops of a few operations write whole lines of cache.

NumPy's arrays begin in the middle of a line as often as not, and then every vector as long as a line is written to two
of them. Here the vectors end where lines do; the first and the last ones overlap those beside them, and write the same
numbers again: so there are no steps one by one, for which LLVM would take longer than for the loop. In the second cache
loops of a few operations are up to 1.25 times as fast by it. Where memory or the operations decide, nothing changes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Final

from pliant.backends.llvm.streams import LINE, line_before, steps_from
from pliant.core.types import itemsize
from pliant.kernel.ir import Buffer, Root, Var, root_of

if TYPE_CHECKING:
    from pliant.backends.llvm.emit import Emitter

LONG: Final = 4096
"""Steps of a loop that pay for LLVM's time."""
LINES: Final = 2
"""Whole lines at a time, at least."""
WIDE: Final = 32
"""Bytes of vectors that may lie across two lines; NumPy's arrays begin at multiples of 16."""


def first_stored(e: Emitter, roots: Sequence[Root], reads: AbstractSet[Buffer], loop: Var) -> Root | None:
    """The first result that an innermost loop writes side by side, if it is to write whole lines of it."""
    is_whole = loop.extent >= LONG and loop not in e.backward and loop not in e.ends and loop not in e.part
    if not is_whole or e.costly or e.lanes or max(e.module.widths) < WIDE:
        return None
    written = {root_of(root.buffer) for root in roots if root.buffer}
    if any([root.fold for root in roots]) or any([root_of(buffer) in written for buffer in reads]):
        return None  # a step that runs twice would not find what it found before
    return next((root for root in roots if root.offset.is_of_loops and root.offset.factor(loop) == 1), None)


def emit_aligned(e: Emitter, loop: Var, root: Root, body: Callable[[], None]) -> None:
    """The steps of a loop, by whole lines of a result; the first and the last pieces share steps with others."""
    assert root.buffer
    lines = max(LINES, e.vectors)
    size = lines * LINE // itemsize(root.buffer.type.dtype)
    before = line_before(e, loop, [root], "0")
    steps = e.op(f"sub nsw i64 {loop.extent + size - 1}, {before}")
    count = e.op(f"udiv i64 {steps}, {size}")
    number = Var(2)

    def piece() -> None:
        at = e.op(f"add nsw i64 {before}, {e.op(f'mul nuw nsw i64 {e.env[number]}, {size}')}")
        at = e.op(f"call i64 @llvm.smax.i64(i64 {at}, i64 0)")
        at = e.op(f"call i64 @llvm.smin.i64(i64 {at}, i64 {loop.extent - size})")
        steps_from(e, loop, at, Var(size), body, e.module.at_once(lines))

    e.loop(number, piece, ("0", count), wish=e.module.not_unrolled())
