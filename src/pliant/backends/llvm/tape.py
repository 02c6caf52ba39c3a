"""LLVM code of a loop of unknown length that leaves a tape, and of the way back over it.

Rows of all tapes lie one after the other in memory that a call has for them: first on the stack, then in blocks that
are kept for later calls. A row begins with the address of the row before, and a tape is the address of its last row;
or, if nothing is saved, the number of steps. The memory is given back at the end of the call, or of a step of a
loop from which no tape is handed on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, final

from pliant.backends.llvm.emit import Emitter
from pliant.backends.llvm.nested import (
    Carries,
    EmitSegment,
    Part,
    and_fine,
    emit_while,
    repeat,
    tapes_at,
    unless_failed,
)
from pliant.backends.llvm.tapes import tape_functions
from pliant.kernel.ir import Buffer, Run
from pliant.kernel.retrace import row_of
from pliant.ops.tape import Record, Rewind

SECOND: Final = 1 << 16
"""Bytes of the first block after these, at least."""


@final
class Tape:
    """Rows that steps append to; where memory is free is in registers while the loop runs."""

    def __init__(self, e: Emitter, saved: tuple[Buffer, ...], site: int) -> None:
        self.e, self.site = e, site
        self.starts, self.width = row_of(saved)
        self.last, self.free, self.end = e.alloca("i64"), e.alloca("ptr"), e.alloca("ptr")
        e.line(f"store i64 0, ptr {self.last}")
        if self.width:
            self.more = tape_functions()[0]
            e.module.declared[self.more] = f"declare ptr @{self.more}(ptr, i64, i64) nounwind"
            self.take()

    def take(self) -> None:
        """Look where memory is free."""
        state = tapes_at(self.e)
        for n, place in enumerate((self.free, self.end)):
            value = self.e.op(f"load ptr, ptr {self.e.op(f'getelementptr ptr, ptr {state}, i64 {n}')}")
            self.e.line(f"store ptr {value}, ptr {place}")

    def give(self) -> None:
        """Say where memory is free."""
        self.e.line(f"store ptr {self.e.op(f'load ptr, ptr {self.free}')}, ptr {tapes_at(self.e)}")

    def append(self, part: Part, first: int, run: Callable[[], None]) -> None:
        """Run a step whose results from `first` on lie in a new row; nothing is done if there is no more memory."""
        e = self.e
        if not self.width:
            count = e.op(f"load i64, ptr {self.last}")
            e.line(f"store i64 {e.op(f'add nuw nsw i64 {count}, 1')}, ptr {self.last}")
            for n in range(len(self.starts)):
                part.put(part.result(first + n), self.last)
            run()
            return
        row, is_shared = self._row(), part.program.tapes != "none"

        def step() -> None:
            e.line(f"store i64 {e.op(f'load i64, ptr {self.last}')}, ptr {row}")
            e.line(f"store i64 {e.op(f'ptrtoint ptr {row} to i64')}, ptr {self.last}")
            for n, start in enumerate(self.starts):
                part.put(part.result(first + n), e.op(f"getelementptr i8, ptr {row}, i64 {start}"))
            if is_shared:
                self.give()
            run()
            if is_shared:
                self.take()

        unless_failed(e, step)

    def _row(self) -> str:
        e = self.e
        free = e.op(f"load ptr, ptr {self.free}")
        after = e.op(f"getelementptr i8, ptr {free}, i64 {self.width}")
        fits = e.op(f"icmp ule ptr {after}, {e.op(f'load ptr, ptr {self.end}')}")
        place = e.alloca("ptr")
        e.line(f"store ptr {free}, ptr {place}")
        e.line(f"store ptr {after}, ptr {self.free}")
        e.unless(fits, lambda: self._grow(place))
        return e.op(f"load ptr, ptr {place}")

    def _grow(self, place: str) -> None:
        e = self.e
        new = e.op(f"call ptr @{self.more}(ptr {tapes_at(e)}, i64 {self.width}, i64 {SECOND})")
        e.line(f"store ptr {new}, ptr {place}")
        before = e.op("load i64, ptr %error")
        failed = e.op(f"icmp eq ptr {new}, null")
        e.line(f"store i64 {e.op(f'select i1 {failed}, i64 {self.site + 1}, i64 {before}')}, ptr %error")
        self.take()


def emit_record(e: Emitter, step: Run, op: Record, segment: EmitSegment) -> None:
    """Forward while the condition holds, with a row for each step."""
    e.begin_step([])
    first = len(op.carries)
    tape = Tape(e, step.parts[1].results[first:], step.site)
    e.can_fail = tape.width > 0

    def run(part: Part, once: Callable[[], None]) -> None:
        tape.append(part, first, once)

    emit_while(e, step, op, segment, run)
    if tape.width:
        tape.give()
    e.line(f"store i64 {e.op(f'load i64, ptr {tape.last}')}, ptr {e.base(step.outs[first])}")
    e.end_step()
    if e.can_fail:
        e.return_if_failed()


def emit_rewind(e: Emitter, step: Run, op: Rewind, segment: EmitSegment) -> None:
    """Back from the last row to the first."""
    e.begin_step([])
    e.can_fail = False
    carries = Carries(e, step, [(p, r, p - op.saved + 1) for p, r in op.carries])
    part = carries.part(segment)
    starts, width = row_of(step.parts[0].params[: op.saved])
    for n in range(op.saved, len(step.parts[0].params)):
        part.put(part.param(n), e.base(step.args[n - op.saved + 1]))
    carries.begin(part)
    last = e.alloca("i64")
    e.line(f"store i64 {e.op(f'load i64, ptr {e.base(step.args[0])}')}, ptr {last}")

    def more() -> str:
        left = e.op(f"icmp ne i64 {e.op(f'load i64, ptr {last}')}, 0")
        return and_fine(e, left) if part.can_fail else left

    def once() -> None:
        at = e.op(f"load i64, ptr {last}")
        if width:
            row = e.op(f"inttoptr i64 {at} to ptr")
            e.line(f"store i64 {e.op(f'load i64, ptr {row}')}, ptr {last}")
            for n, start in enumerate(starts):
                part.put(part.param(n), e.op(f"getelementptr i8, ptr {row}, i64 {start}"))
        else:
            e.line(f"store i64 {e.op(f'sub nuw nsw i64 {at}, 1')}, ptr {last}")
            for n in range(len(starts)):
                part.put(part.param(n), last)
        part.call()
        carries.after(part)

    repeat(e, more, once)
    carries.end(part, known=False)
    e.end_step()
    if e.can_fail:
        e.return_if_failed()
