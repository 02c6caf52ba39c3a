"""LLVM code of nests in parts: a function for one part, and a call that lets threads run them all.

The parts share a frame in the caller's memory. Folds over some loops lie there as arrays, one for each part;
then comes the greatest index seen by each check; then the state in which each part left each fold over all
loops. The caller looks at the indices, and puts folds together in the order of the parts.
"""

from __future__ import annotations

from dataclasses import field
from typing import Final, final

from pliant.backends.llvm.accumulator import Accumulator
from pliant.backends.llvm.emit import Emitter
from pliant.backends.llvm.math import combine
from pliant.backends.llvm.nests import NestEmitter, alive, emit_loops, emitters_of
from pliant.backends.llvm.pool import parallel
from pliant.core.data import mutable
from pliant.core.types import Type
from pliant.kernel.ir import Affine, Buffer, Checked, Nest, Root, Split, Var, writes
from pliant.kernel.split import room_of

WORD: Final = 8  # bytes of an entry of the frame
FRAME: Final = -1  # the slot of arrays in it


@final
@mutable
class Frame:
    """What lies at which word of the frame."""

    arrays: dict[Root, int] = field(default_factory=dict[Root, int])
    checks: dict[Checked, int] = field(default_factory=dict[Checked, int])
    states: dict[Root, int] = field(default_factory=dict[Root, int])
    size: int = 0

    def take(self, words: int) -> int:
        """The place of so many more words."""
        self.size += words
        return self.size - words


def emit_parts(e: Emitter, nests: list[Nest], rows: Var | None, split: Split) -> None:
    """One nest, or several over the same rows, by all threads."""
    nests = alive(nests)
    if not nests:
        return
    parameters, is_narrow = "ptr noalias %table, ptr noalias %frame, i64 %part", e.module.is_narrow(nests)
    task = Emitter(e.module, f"{e.name}_{e.fresh('task')[1:]}", parameters, is_narrow=is_narrow)
    frame = emit_task(task, nests, rows, split)
    e.module.helper(task.name, lambda _: task.text())

    e.begin_step([buffer for nest in nests for buffer in writes(nest)])
    emitters = emitters_of(e, nests, rows)
    for emitter in emitters:
        emitter.clear()
    memory = e.alloca(f"[{max(frame.size, 1)} x i64], align 64")
    for check, place in frame.checks.items():
        e.checks[check] = word(e, memory, place)
        e.line(f"store i64 0, ptr {e.checks[check]}")
    name = parallel()
    e.module.declared[name] = f"declare void @{name}(ptr, ptr, ptr, i64)"
    e.line(f"call void @{name}(ptr @{task.name}, ptr %table, ptr {memory}, i64 {split.count})")
    makers = {root: emitter for emitter in emitters for root in emitter.roots}
    for root, place in frame.states.items():
        merge_states(e, makers[root], root, (memory, place), split.count)
    for root, place in frame.arrays.items():
        merge_arrays(e, root, word(e, memory, place), split.count)
    e.end_step()


def emit_task(task: Emitter, nests: list[Nest], rows: Var | None, split: Split) -> Frame:
    """The function for one part; what it leaves in the frame."""
    task.begin_step([buffer for nest in nests for buffer in writes(nest)])
    for buffer in sorted(split.private, key=lambda b: b.number):
        task.bases[buffer.slot, buffer.offset] = task.alloca(f"[{max(buffer.type.bytes, 1)} x i8], align 64")
    first = task.op(f"mul nuw nsw i64 %part, {split.size}")
    last = task.op(f"add nuw nsw i64 {first}, {split.size}")
    task.part[split.loop] = first, task.op(f"call i64 @llvm.umin.i64(i64 {last}, i64 {split.loop.extent})")
    frame, totals = Frame(), dict[Root, Accumulator]()
    emitters = emitters_of(task, nests, rows)
    for emitter in emitters:
        for root in emitter.roots:
            if root.buffer and root.buffer in split.added:
                words = room_of(root.buffer) // WORD
                frame.arrays[root] = frame.take(split.count * words)
                place = word(task, "%frame", frame.arrays[root], task.op(f"mul nuw nsw i64 %part, {words}"))
                task.bases[root.buffer.slot, root.buffer.offset] = place
                emitter.fill(root)
        emitter.prepare()
        emitter.keep = totals.__setitem__
    emit_loops(task, emitters, nests, rows)
    for check, slot in task.checks.items():
        frame.checks[check] = place = frame.take(1)
        seen = task.op(f"load i64, ptr {slot}")
        task.line(f"atomicrmw umax ptr {word(task, '%frame', place)}, i64 {seen} monotonic")
    for root, total in totals.items():
        frame.states[root] = place = frame.take(split.count * len(total.state))
        own = task.op(f"mul nuw nsw i64 %part, {len(total.state)}")
        for number, (register, type) in enumerate(total.state):
            value = task.op(f"load {type}, ptr {register}")
            task.line(f"store {type} {value}, ptr {word(task, '%frame', place + number, own)}")
    return frame


def merge_states(e: Emitter, nest: NestEmitter, root: Root, place: tuple[str, int], count: int) -> None:
    """Put the parts of a fold over all loops together. place: of their states, in some memory."""
    total, part = nest.accumulator(root), Var(count)
    memory, first = place
    total.start()

    def one() -> None:
        own = e.affine(Affine(0, ((part, len(total.state)),)))
        places = [word(e, memory, first + number, own) for number in range(len(total.state))]
        types = [type for _, type in total.state]
        total.merge([e.op(f"load {type}, ptr {place}") for type, place in zip(types, places, strict=True)])

    e.loop(part, one, ("0", str(count)))
    nest.finish(root, total.value())


def merge_arrays(e: Emitter, root: Root, place: str, count: int) -> None:
    """Put the parts of a fold over some loops together, in its array, which is cleared. place: of the parts."""
    out, fold = root.buffer, root.fold
    assert out
    assert fold
    room = room_of(out) // (out.type.bytes // out.type.size)
    held = Buffer(Type(out.type.dtype, (count * room,)), None)
    held.slot, held.offset = FRAME, held.number  # like no other's
    e.bases[held.slot, held.offset] = place
    part, every = Var(count), Var(out.type.size)
    at = Affine(0, ((every, 1),))

    def one() -> None:
        value = e.load(held, Affine(0, ((part, room), (every, 1))))
        e.store(out, at, combine(e, fold.kind, fold.dtype, e.load(out, at), value))

    e.loop(part, lambda: e.loop(every, one, ("0", str(out.type.size))), ("0", str(count)))


def word(e: Emitter, frame: str, number: int, more: str = "0") -> str:
    """The address of an entry of the frame."""
    at = e.op(f"getelementptr inbounds i64, ptr {frame}, i64 {number}")
    return at if more == "0" else e.op(f"getelementptr inbounds i64, ptr {at}, i64 {more}")
