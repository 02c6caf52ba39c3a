"""LLVM code of nests in parts: a function for one part, and a call that lets threads run them all.

The parts share a frame in the caller's memory: for each index that is checked the greatest one that was
seen, then for each fold over all loops the state in which each part left it. The caller looks at the
indices, and merges the states in the order of the parts.
"""

from __future__ import annotations

from typing import Final

from pliant.backends.llvm.emit import Accumulator, Emitter
from pliant.backends.llvm.nests import NestEmitter, alive, emit_loops, emitters_of
from pliant.backends.llvm.pool import parallel
from pliant.kernel.ir import Affine, Nest, Root, Split, Var, writes

WORD: Final = 8  # bytes of an entry of the frame


def emit_parts(e: Emitter, nests: list[Nest], rows: Var | None, split: Split) -> None:
    """One nest, or several over the same rows, by all threads."""
    nests = alive(nests)
    if not nests:
        return
    task = Emitter(e.module, f"{e.name}_{e.fresh('task')[1:]}", "ptr noalias %table, ptr noalias %frame, i64 %part")
    totals = emit_task(task, nests, rows, split)
    e.module.helper(task.name, lambda _: task.text())

    e.begin_step([buffer for nest in nests for buffer in writes(nest)])
    emitters = emitters_of(e, nests, rows)
    for emitter in emitters:
        emitter.clear()
    frame = e.alloca(f"[{max(len(task.checks) + split.count * sum(totals.values()), 1)} x i64]")
    for number, check in enumerate(task.checks):
        e.checks[check] = place = word(e, frame, number)
        e.line(f"store i64 0, ptr {place}")
    name = parallel()
    e.module.declared[name] = f"declare void @{name}(ptr, ptr, ptr, i64)"
    e.line(f"call void @{name}(ptr @{task.name}, ptr %table, ptr {frame}, i64 {split.count})")
    makers = {root: emitter for emitter in emitters for root in emitter.roots}
    first = len(task.checks)
    for root, words in totals.items():
        merge(e, makers[root], root, frame, first, split.count)
        first += split.count * words
    e.end_step()


def emit_task(task: Emitter, nests: list[Nest], rows: Var | None, split: Split) -> dict[Root, int]:
    """The function for one part; for each fold over all loops, how many words its state takes."""
    task.begin_step([buffer for nest in nests for buffer in writes(nest)])
    for buffer in split.private:
        task.bases[buffer.slot, buffer.offset] = task.alloca(f"[{max(buffer.type.bytes, 1)} x i8], align 64")
    first = task.op(f"mul nuw nsw i64 %part, {split.size}")
    last = task.op(f"add nuw nsw i64 {first}, {split.size}")
    task.part[split.loop] = first, task.op(f"call i64 @llvm.umin.i64(i64 {last}, i64 {split.loop.extent})")
    found = dict[Root, Accumulator]()
    emitters = emitters_of(task, nests, rows)
    for emitter in emitters:
        emitter.prepare()
        emitter.keep = found.__setitem__
    emit_loops(task, emitters, nests, rows)
    for number, slot in enumerate(task.checks.values()):
        seen = task.op(f"load i64, ptr {slot}")
        task.line(f"atomicrmw umax ptr {word(task, '%frame', number)}, i64 {seen} monotonic")
    start = len(task.checks)
    for total in found.values():
        own = task.op(f"mul nuw nsw i64 %part, {len(total.state)}")
        for number, (place, type) in enumerate(total.state):
            value = task.op(f"load {type}, ptr {place}")
            task.line(f"store {type} {value}, ptr {word(task, '%frame', start + number, own)}")
        start += split.count * len(total.state)
    return {root: len(total.state) for root, total in found.items()}


def merge(e: Emitter, nest: NestEmitter, root: Root, frame: str, first: int, count: int) -> None:
    """Put the parts of a fold together: their states begin at the word `first` of the frame."""
    total, part = nest.accumulator(root), Var(count)
    total.start()

    def one() -> None:
        own = e.affine(Affine(0, ((part, len(total.state)),)))
        places = [word(e, frame, first + number, own) for number in range(len(total.state))]
        types = [type for _, type in total.state]
        total.merge([e.op(f"load {type}, ptr {place}") for type, place in zip(types, places, strict=True)])

    e.loop(part, one, ("0", str(count)))
    nest.finish(root, total.value())


def word(e: Emitter, frame: str, number: int, more: str = "0") -> str:
    """The address of an entry of the frame."""
    at = e.op(f"getelementptr inbounds i64, ptr {frame}, i64 {number}")
    return at if more == "0" else e.op(f"getelementptr inbounds i64, ptr {at}, i64 {more}")
