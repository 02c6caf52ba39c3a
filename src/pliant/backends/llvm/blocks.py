"""LLVM code of steps that run for a block of rows at a time: a function of a block for some steps, and calls of these.

    @blocks(table, frame, room, first, last):
        for each block of the rows from first to last:
            @block0(table, frame, room, begin, end)   ; some steps, for these rows
            @block1(table, frame, room, begin, end)   ; the next ones

`room` is memory for one block. `frame` holds the greatest index seen by each check.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Final, final

from pliant.backends.llvm.blas import by_one_thread, emit_stack, is_alone
from pliant.backends.llvm.emit import Emitter
from pliant.backends.llvm.lapack import emit_matrices, is_called
from pliant.backends.llvm.nests import emit_loops, emitters_of
from pliant.backends.llvm.parts import word
from pliant.backends.llvm.pool import parallel
from pliant.backends.llvm.values import literal
from pliant.core.data import mutable
from pliant.kernel.identities import identity_of
from pliant.kernel.ir import Affine, Blocks, Checked, Fill, Nest, Product, Root, Routine, RowStep, Var, writes
from pliant.kernel.product import stack_of

PARAMETERS: Final = "ptr noalias %table, ptr noalias %frame, ptr noalias %room, i64 %first, i64 %last"


@final
@mutable
class Block:
    """The function of a block for some steps."""

    e: Emitter
    blocks: Blocks
    checks: list[Checked] = field(default_factory=list[Checked])

    def begin(self) -> None:
        """Let the loops run over the rows of the block, and what is private lie in the room."""
        e, rows, room = self.e, self.blocks.rows.extent, self.blocks.room
        e.env[self.blocks.first] = "%first"
        spans = {1: ("%first", "%last")}
        for loop in sorted(self.blocks.loops, key=lambda v: v.number):
            times = loop.extent // rows
            if times not in spans:
                spans[times] = self.times(times)
            e.part[loop] = spans[times]
        for buffer in sorted(self.blocks.private, key=lambda b: b.number):
            if (buffer.slot, buffer.offset) not in e.bases:
                place = e.op(f"getelementptr inbounds i8, ptr %room, i64 {buffer.offset - room.offset}")
                e.bases[buffer.slot, buffer.offset] = place

    def times(self, factor: int) -> tuple[str, str]:
        """The first row and the last plus one, both times a factor."""
        first, last = (self.e.op(f"mul nuw nsw i64 {name}, {factor}") for name in ("%first", "%last"))
        return first, last

    def clear(self, root: Root) -> None:
        """Fill the rows of the block, of a fold that adds up in memory, with what it starts from."""
        assert root.fold
        assert root.buffer
        buffer, blocks = root.buffer, self.blocks
        is_private = buffer in blocks.private
        length = buffer.type.size // (blocks.size if is_private else blocks.rows.extent)
        value = literal(identity_of(root.fold.kind, root.fold.dtype), root.fold.dtype)
        every = Var(buffer.type.size)
        place = Affine(0, ((every, 1), (blocks.first, -length)) if is_private else ((every, 1),))
        self.e.loop(every, lambda: self.e.store(buffer, place, value), self.times(length))

    def step(self, step: RowStep, word_of: Callable[[Checked], int]) -> None:
        """One step; the greatest index of each check goes to its word of the frame."""
        e = self.e
        e.begin_step(writes(step))
        if isinstance(step, Nest):
            (emitter,) = emitters = emitters_of(e, [step], None)
            for root in filter(emitter.in_memory, emitter.folds):
                self.clear(root)
            emitter.prepare()
            emit_loops(e, emitters, [step], None)
        elif isinstance(step, Fill):
            e.region(step.body)
        elif isinstance(step, Product):
            self.products(step)
        else:
            self.matrices(step)
        for check, slot in e.checks.items():
            seen = e.op(f"load i64, ptr {slot}")
            e.line(f"atomicrmw umax ptr {word(e, '%frame', word_of(check))}, i64 {seen} monotonic")

    def matrices(self, step: Routine) -> None:
        """What is computed matrix by matrix, for the rows of the block."""
        private = [b for b in (*step.args, *step.outs) if b in self.blocks.private]
        lengths = {b: b.type.size // self.blocks.size for b in private}
        self.e.shifts = {b: Affine(0, ((self.blocks.first, -length),)) for b, length in lengths.items()}
        emit_matrices(self.e, step, ("%first", "%last"))
        self.e.shifts = {}

    def products(self, step: Product) -> None:
        """A stack of products, whose first loop runs over rows."""
        loops, starts = stack_of(step)
        self.e.part[loops[0]] = "%first", "%last"
        left, right, out = (
            start + Affine(0, ((self.blocks.first, -start.factor(loops[0])),)) if b in self.blocks.private else start
            for b, start in zip((step.left.buffer, step.right.buffer, step.out), starts, strict=True)
        )
        emit_stack(self.e, step, loops, (left, right, out))


def emit_blocks(e: Emitter, step: Blocks, most: int, length_of: Callable[[RowStep], int]) -> None:
    """All blocks, by all threads. most: the length of a function."""
    name, checks = f"{e.name}_{e.fresh('blocks')[1:]}", dict[Checked, int]()
    functions, length = list[Emitter](), most
    block = None
    for inner in step.steps:
        size = length_of(inner) + 10
        if block is None or length + size > most:
            block, length = Block(Emitter(e.module, f"{name}_{len(functions)}", PARAMETERS), step), 0
            block.begin()
            functions.append(block.e)
        length += size
        block.step(inner, lambda check: checks.setdefault(check, len(checks)))
    every = Emitter(e.module, name, PARAMETERS)
    every.part[step.rows] = "%first", "%last"

    def run(first: str, last: str) -> None:
        for function in functions:
            every.line(f"call void @{function.name}(ptr %table, ptr %frame, ptr %room, i64 {first}, i64 {last})")

    every.blocks(step.rows, step.size, run)
    for function in (*functions, every):
        e.module.helper(function.name, lambda _, function=function: function.text())
    called(e, step, name, checks)


def called(e: Emitter, step: Blocks, name: str, checks: dict[Checked, int]) -> None:
    """The call that runs all blocks, and reports what is out of range."""
    e.begin_step(())
    frame = e.alloca(f"[{max(len(checks), 1)} x i64], align 64")
    for check, place in checks.items():
        e.checks[check] = word(e, frame, place)
        e.line(f"store i64 0, ptr {e.checks[check]}")
    room = e.base(step.room) if step.private else "null"
    call = f"@{name}(ptr %table, ptr {frame}, ptr {room}, i64 0, i64 {step.rows.extent})"
    if step.split:
        pool = parallel()
        e.module.declared[pool] = f"declare void @{pool}(ptr, ptr, ptr, i64)"
        call = f"@{pool}(ptr @{part_of(e, step, name)}, ptr %table, ptr {frame}, i64 {step.split.count})"
    products = [inner for inner in step.steps if isinstance(inner, Product)]
    routines = [inner for inner in step.steps if isinstance(inner, Routine)]
    alone = any([is_alone(inner) for inner in products]) or any([is_called(inner) for inner in routines])
    by_one_thread(e, alone, lambda: e.line(f"call void {call}"))
    e.end_step()


def part_of(e: Emitter, step: Blocks, name: str) -> str:
    """The name of the function of one part, which has room of its own."""
    assert step.split
    size, rows = step.split.size, step.rows.extent
    task = Emitter(e.module, f"{name}_part", "ptr noalias %table, ptr noalias %frame, i64 %part")
    room = task.alloca(f"[{step.room.type.size} x i8], align 64")
    first = task.op(f"mul nuw nsw i64 %part, {size}")
    last = task.op(f"call i64 @llvm.umin.i64(i64 {task.op(f'add nuw nsw i64 {first}, {size}')}, i64 {rows})")
    task.line(f"call void @{name}(ptr %table, ptr %frame, ptr {room}, i64 {first}, i64 {last})")
    e.module.helper(task.name, lambda _: task.text())
    return task.name
