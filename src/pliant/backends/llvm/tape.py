"""LLVM code of a loop of unknown length that is run forward with a tape, then back over it.

The tape begins on the stack, moves to memory of its own when that is full, which doubles then, and is given back
at the end of the step, also when an index was out of range.
"""

from __future__ import annotations

from typing import Final, final

from pliant.backends.llvm.emit import Emitter
from pliant.backends.llvm.nested import Carries, EmitSegment, Part, and_fine, copy, move, name_of, repeat, unless_failed
from pliant.backends.llvm.tapes import HEADER, tape_functions
from pliant.kernel.carries import is_in_place, is_small
from pliant.kernel.ir import Buffer, Run
from pliant.kernel.retrace import row_of
from pliant.ops.retrace import Retrace
from pliant.ops.while_once import WhileOnce

FIRST: Final = 4096
"""Bytes of a tape on the stack."""
SECOND: Final = 1 << 16
"""Bytes that it has then, at least."""


@final
class Tape:
    """Rows in memory that grows."""

    def __init__(self, e: Emitter, saved: tuple[Buffer, ...], site: int) -> None:
        self.e, self.site = e, site
        self.starts, self.width = row_of(saved)
        self.memory, self.count, self.room = e.alloca("ptr"), e.alloca("i64"), e.alloca("i64")
        rows = FIRST // self.width if self.width else 0
        self.first = e.alloca(f"[{max(rows * self.width, 1)} x i8], align 16")
        e.line(f"store ptr {self.first}, ptr {self.memory}")
        e.line(f"store i64 0, ptr {self.count}")
        e.line(f"store i64 {rows}, ptr {self.room}")
        if self.width:
            self.more, self.give = tape_functions()
            e.module.declared[self.more] = f"declare ptr @{self.more}(ptr, ptr, i64, i64) nounwind"
            e.module.declared[self.give] = f"declare void @{self.give}(ptr, ptr) nounwind"

    @property
    def length(self) -> str:
        """How many rows there are."""
        return self.e.op(f"load i64, ptr {self.count}")

    def append(self) -> list[str]:
        """A new row at the end: the addresses of its parts."""
        e, count = self.e, self.length
        if self.width:
            full = e.op(f"icmp eq i64 {count}, {e.op(f'load i64, ptr {self.room}')}")
            e.unless(e.op(f"xor i1 {full}, true"), lambda: self._grow(count))
        e.line(f"store i64 {e.op(f'add nuw nsw i64 {count}, 1')}, ptr {self.count}")
        return self._row(count)

    def pop(self) -> list[str]:
        """The last row, taken off: the addresses of its parts."""
        count = self.e.op(f"sub nuw nsw i64 {self.length}, 1")
        self.e.line(f"store i64 {count}, ptr {self.count}")
        return self._row(count)

    def free(self) -> None:
        """Give the memory back."""
        if self.width:
            memory = self.e.op(f"load ptr, ptr {self.memory}")
            self.e.line(f"call void @{self.give}(ptr {memory}, ptr {self.first})")

    def _grow(self, count: str) -> None:
        e = self.e
        twice = e.op(f"shl i64 {count}, 1")
        room = e.op(f"call i64 @llvm.umax.i64(i64 {twice}, i64 {max(SECOND // self.width, 1)})")
        used, size = (e.op(f"mul i64 {rows}, {self.width}") for rows in (count, room))
        memory = e.op(f"load ptr, ptr {self.memory}")
        new = e.op(f"call ptr @{self.more}(ptr {memory}, ptr {self.first}, i64 {used}, i64 {size})")
        fine, none = e.fresh("fine")[1:], e.fresh("none")[1:]
        after = e.fresh("after")[1:]
        e.line(f"br i1 {e.op(f'icmp eq ptr {new}, null')}, label %{none}, label %{fine}")
        e.label(none)
        e.line(f"store i64 {self.site + 1}, ptr %error")
        e.line(f"br label %{after}")
        e.label(fine)
        bytes = e.op(f"load i64, ptr {e.op(f'getelementptr i8, ptr {new}, i64 -{HEADER}')}")
        e.line(f"store ptr {new}, ptr {self.memory}")
        e.line(f"store i64 {e.op(f'udiv i64 {bytes}, {self.width}')}, ptr {self.room}")
        e.line(f"br label %{after}")
        e.label(after)

    def _row(self, number: str) -> list[str]:
        if not self.width:
            return [self.memory for _ in self.starts]
        memory = self.e.op(f"load ptr, ptr {self.memory}")
        row = self.e.op(f"getelementptr i8, ptr {memory}, i64 {self.e.op(f'mul i64 {number}, {self.width}')}")
        return [self.e.op(f"getelementptr i8, ptr {row}, i64 {start}") for start in self.starts]


@final
class Held:
    """The carries of the loop on the way forward, which nobody outside sees."""

    def __init__(self, e: Emitter, step: Run, op: Retrace, part: Part) -> None:
        self.e, self.part, self.carries = e, part, op.carries
        self.body = step.parts[1]
        self.local = dict[int, tuple[str, str]]()
        homes = iter(step.homes)
        for p, r in op.carries:
            type, source = self.body.params[p].type, e.base(step.args[p])
            if is_small(type):
                held = made = e.alloca(f"[{max(type.bytes, 1)} x i8], align 16")
                if not is_in_place(self.body, p, r):
                    made = e.alloca(f"[{max(type.bytes, 1)} x i8], align 16")
                self.local[r] = held, made
                move(e, held, source, type)
            else:
                held, made = (self.place(step, at) for at in next(homes))
                copy(e, held, source, type.bytes)
            part.put(part.param(p), held)
            part.put(part.result(r), made)

    def place(self, step: Run, at: int) -> str:
        """An address in scratch memory."""
        return self.e.op(f"getelementptr inbounds i8, ptr {self.e.base(step.scratch)}, i64 {at}")

    def after(self) -> None:
        """The end of a step: small ones move, of large ones the addresses do."""
        part = self.part
        for p, r in self.carries:
            if r in self.local:
                held, made = self.local[r]
                if held != made:
                    move(self.e, held, made, self.body.params[p].type)
            elif not is_in_place(self.body, p, r):
                old, new = part.get(part.param(p)), part.get(part.result(r))
                part.put(part.param(p), new)
                part.put(part.result(r), old)


def emit_retrace(e: Emitter, step: Run, op: Retrace | WhileOnce, segment: EmitSegment) -> None:
    """Forward while the condition holds, then back; what lies in between makes what the way back starts from."""
    e.begin_step([])
    scratch = e.base(step.scratch)
    parts = [Part(e, program, name_of(e), segment, scratch) for program in step.parts]
    both = op.retrace if isinstance(op, WhileOnce) else op
    tape = Tape(e, step.parts[1].results[len(both.carries) :], step.site)
    can_fail = tape.width > 0 or any([part.can_fail for part in parts])
    ahead, back = parts[1], parts[-1]
    _forward(e, step, both, (parts[0], ahead), tape, can_fail=can_fail)
    for k, n in enumerate(op.reads):
        back.put(back.param(both.saved + k), e.base(step.args[n]))
    first = len(op.ins)
    if isinstance(op, WhileOnce):
        carries = Carries(e, step, [(p, r, None) for p, r in both.carries_back])
        carries.begin(back)
        lasts = [ahead.get(ahead.param(p)) for p, _ in both.carries]
        outs = [*(back.get(back.param(p)) for p, _ in both.carries_back), *map(e.base, step.outs[op.starts :])]
        _between(e, parts[2], [*lasts, *map(e.base, step.args[first:])], outs, can_fail=can_fail)
    else:
        carries = Carries(e, step, [(p, r, first + r) for p, r in both.carries_back])
        carries.begin(back)

    def more() -> str:
        left = e.op(f"icmp ne i64 {tape.length}, 0")
        return and_fine(e, left) if can_fail else left

    def once() -> None:
        for n, at in enumerate(tape.pop()):
            back.put(back.param(n), at)
        back.call()
        carries.after(back)

    repeat(e, more, once)
    carries.end(back, known=False)
    tape.free()
    e.end_step()


def _between(e: Emitter, part: Part, given: list[str], made: list[str], *, can_fail: bool) -> None:
    """What is done before the way back begins."""
    for n, at in enumerate(given):
        part.put(part.param(n), at)
    for n, at in enumerate(made):
        part.put(part.result(n), at)
    if can_fail:
        unless_failed(e, part.call)
    else:
        part.call()


def _forward(e: Emitter, step: Run, op: Retrace, parts: tuple[Part, Part], tape: Tape, *, can_fail: bool) -> None:
    test, ahead = parts
    flag = e.alloca("i8")
    test.put(test.result(0), flag)
    for n, kind in enumerate(op.ins):
        if kind == "const":
            for part in parts:
                part.put(part.param(n), e.base(step.args[n]))
    held = Held(e, step, op, ahead)

    def going() -> str:
        for p, _ in op.carries:
            test.put(test.param(p), ahead.get(ahead.param(p)))
        test.call()
        holds = e.op(f"icmp ne i8 {e.op(f'load i8, ptr {flag}')}, 0")
        return and_fine(e, holds) if can_fail else holds

    def run(row: list[str]) -> None:
        for n, at in enumerate(row):
            ahead.put(ahead.result(len(op.carries) + n), at)
        ahead.call()
        held.after()

    def once() -> None:
        row = tape.append()
        if tape.width:
            unless_failed(e, lambda: run(row))
        else:
            run(row)

    repeat(e, going, once)
