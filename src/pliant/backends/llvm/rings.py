"""Results that wait in a ring of two parts until the part after them is computed: it still reads what they replace."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, final

from pliant.kernel.ir import Affine, Delay, Var, number_of_point

if TYPE_CHECKING:
    from pliant.backends.llvm.emit import Emitter


@final
class Ring:
    """The loops of a nest with such a root. place: where it waits."""

    def __init__(self, e: Emitter, loops: Sequence[Var], delay: Delay) -> None:
        self.e, self.delay = e, delay
        self.outer, *self.inner = loops
        self.row, self.part = math.prod([v.extent for v in self.inner]), Var(2)
        is_backward = self.outer in e.backward
        last = (self.outer.extent - 1) * self.row * is_backward
        place = Affine(last, ((self.outer, -self.row if is_backward else self.row),))
        self.place = place + Affine(0, ((self.part, 1),)) + number_of_point(self.inner)

    def emit(self, step: Callable[[], None]) -> None:
        """All steps of the outer loop, in parts."""
        e, steps = self.e, self.delay.steps

        def block(first: str, end: str) -> None:
            self.enter(first)
            e.loop(self.outer, step, (first, end))
            is_first = e.op(f"icmp eq i64 {first}, 0")
            e.unless(is_first, lambda: self.release(e.op(f"sub i64 {first}, {steps}"), first))

        e.blocks(self.outer, steps, block)
        self.release(str((self.outer.extent - 1) // steps * steps), str(self.outer.extent))

    def enter(self, first: str) -> None:
        """Let `part` be the place of a part in the ring, less that of its first step."""
        e, steps = self.e, self.delay.steps
        number = e.op(f"and i64 {e.op(f'udiv i64 {first}, {steps}')}, 1")
        slot = e.op(f"mul i64 {number}, {steps * self.row}")
        e.env[self.part] = e.op(f"sub i64 {slot}, {e.op(f'mul i64 {first}, {self.row}')}")

    def release(self, first: str, end: str) -> None:
        """Write what waits of a part to its place."""
        self.enter(first)
        e, root = self.e, self.delay.root
        target = root.buffer
        assert target

        def moved() -> None:
            e.store(target, root.offset, e.load(self.delay.ring, self.place))

        e.loop(self.outer, lambda: e.nested(tuple(self.inner), moved), (first, end))
