"""Loops over a stack of small arrays: eight of these side by side in registers, one in each lane.

    for each eight steps of the loop:
        read their rows of elements, and turn them over: one vector for each element
        all that the nest computes, as vectors
        turn the results over, and write their rows

Read one by one, elements that lie so far apart would be gathered, and written one by one.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Final, TypeVar, final

from pliant.backends.llvm.squares import LEAST, SIDE, SQUARE
from pliant.backends.llvm.streams import steps_from
from pliant.backends.llvm.tiles import turned
from pliant.core.data import frozen
from pliant.core.types import Type, itemsize
from pliant.kernel.ir import Affine, Apply, Buffer, FromIndex, Literal, Load, Root, Scalar, Var, root_of

if TYPE_CHECKING:
    from pliant.backends.llvm.emit import Emitter

LONGEST: Final = 64  # elements of one array
MOST: Final = 128  # elements of all arrays; those that do not fit into registers go through memory
DISTANT: Final = 8  # elements from step to step that LLVM reads as rows by itself
What = TypeVar("What", Load, Root)
SIMPLE: Final = (Load, Apply, Literal, FromIndex)


@final
@frozen
class Row:
    """Elements of a buffer that one step touches: `count` from `place` on, where inner loops are at 0."""

    buffer: Buffer
    place: Affine
    count: int
    stride: int  # elements from step to step

    def columns(self) -> list[int]:
        """Where the squares begin that the elements of eight steps consist of."""
        return [*range(0, self.count - SIDE, SIDE), self.count - SIDE]


@final
@frozen
class Stack:
    """How a loop is run: local memory and the rows that it holds, those that are read and those that are written; and
    where loads and roots find their elements in it, for the lane at hand."""

    read: Mapping[Buffer, Row]
    written: Mapping[Buffer, Row]
    loads: Mapping[Load, tuple[Buffer, Affine]] = field(default_factory=dict[Load, tuple[Buffer, Affine]])
    roots: Mapping[Root, tuple[Buffer, Affine]] = field(default_factory=dict[Root, tuple[Buffer, Affine]])


def stack_of(loop: Var, inner: Sequence[Var], scalars: Sequence[Scalar], roots: Sequence[Root]) -> Stack | None:
    """The elements of a loop that are turned over; None if none are, or if it has other scalars than simple ones."""
    if loop.extent < SIDE or not all([isinstance(s, SIMPLE) for s in scalars]):
        return None
    written = {root_of(root.buffer) for root in roots if root.buffer}
    loads = {s: (s.buffer, s.offset) for s in scalars if isinstance(s, Load) and root_of(s.buffer) not in written}
    stores = {root: (root.buffer, root.offset) for root in roots if root.buffer}
    read, of_loads = _places(loads, loop, inner, 2)
    made, of_roots = _places(stores, loop, inner, 1)
    count = sum([row.count for row in (*read.values(), *made.values())])
    return Stack(read, made, of_loads, of_roots) if 0 < count <= MOST else None


def _places(
    found: Mapping[What, tuple[Buffer, Affine]], loop: Var, inner: Sequence[Var], most: int
) -> tuple[dict[Buffer, Row], dict[What, tuple[Buffer, Affine]]]:
    """The rows that are turned over, and where elements are in them. most: elements of a row for each that is used."""
    groups = dict[tuple[Buffer, Affine], dict[What, Affine]]()
    for what, (buffer, offset) in found.items():
        if _is_far(buffer, offset, loop):
            outer = Affine(0, tuple([(a, f) for a, f in offset.terms if a not in inner]))
            within = Affine(offset.start, tuple([(a, f) for a, f in offset.terms if a in inner]))
            groups.setdefault((buffer, outer), {})[what] = within
    rows = dict[Buffer, Row]()
    places = dict[What, tuple[Buffer, Affine]]()
    for (buffer, outer), all_within in groups.items():
        used = {n for within in all_within.values() for n in _values(within)}
        low, count = min(used), max(used) - min(used) + 1
        if SIDE <= count <= LONGEST and count <= most * len(used):
            row = Row(buffer, outer + low, count, outer.factor(loop))
            local = local_for(buffer.type.dtype, (count,))
            rows[local] = row
            places |= {what: (local, (within - low) * SIDE) for what, within in all_within.items()}
    return rows, places


def _is_far(buffer: Buffer, offset: Affine, loop: Var) -> bool:
    """Whether elements lie further apart, from step to step, than LLVM reads as rows by itself."""
    dtype = buffer.type.dtype
    is_plain = dtype[0] != "c" and itemsize(dtype) >= LEAST
    return is_plain and offset.factor(loop) > DISTANT and all([isinstance(a, Var) for a, _ in offset.terms])


def _values(index: Affine) -> list[int]:
    """All values of an index."""
    steps = [range(0, f * a.extent, f) for a, f in index.terms if isinstance(a, Var)]
    return [index.start + sum(step) for step in itertools.product(*steps)]


def local_for(dtype: str, shape: tuple[int, ...]) -> Buffer:
    """Local memory for vectors of the elements of a small array: each element of all lanes, then the next."""
    buffer = Buffer(Type(dtype, (SIDE, *shape)), None)
    buffer.slot, buffer.offset = SQUARE, buffer.number  # like no other's
    return buffer


def emit_stack(
    e: Emitter, loop: Var, stack: Stack, step: Callable[[], None], other: Callable[[], None] | None = None
) -> None:
    """All steps of a loop. step: emits one, for the lane at hand; other: one of the last steps, as usual. If there is
    no such, the last eight steps begin earlier, and some are computed twice."""
    begin, end = e.part.get(loop, ("0", str(loop.extent)))
    number = e.op(f"sub nuw nsw i64 {end}, {begin}")
    count = e.op(f"udiv i64 {number if other else e.op(f'add nuw nsw i64 {number}, {SIDE - 1}')}, {SIDE}")
    memory = {local: e.alloca(f"[{local.type.bytes} x i8], align 64") for local in (*stack.read, *stack.written)}
    every, lane = Var(2), Var(SIDE)

    def eight() -> None:
        first = e.op(f"add nuw nsw i64 {begin}, {e.op(f'mul nuw nsw i64 {e.env[every]}, {SIDE}')}")
        if not other:
            first = e.op(f"call i64 @llvm.umin.i64(i64 {first}, i64 {e.op(f'sub nuw nsw i64 {end}, {SIDE}')})")
        e.env[loop] = first
        for local, row in stack.read.items():
            _read(e, memory[local], row)
        steps_from(e, loop, first, lane, one)
        e.env[loop] = first
        for local, row in stack.written.items():
            _write(e, memory[local], row)
        del e.env[loop]

    def one() -> None:
        for local, start in memory.items():
            at = e.op(f"getelementptr i{8 * itemsize(local.type.dtype)}, ptr {start}, i64 {e.env[lane]}")
            e.bases[local.slot, local.offset] = at
        step()

    e.unless(e.op(f"icmp eq i64 {count}, 0"), lambda: e.loop(every, eight, ("0", count)))
    if other:
        rest = e.op(f"add nuw nsw i64 {begin}, {e.op(f'mul nuw nsw i64 {count}, {SIDE}')}")
        e.unless(e.op(f"icmp eq i64 {rest}, {end}"), lambda: e.loop(loop, other, (rest, end)))


def _read(e: Emitter, memory: str, row: Row) -> None:
    """Turn the rows of eight steps over."""
    bits, meta = 8 * itemsize(row.buffer.type.dtype), e.written.get(root_of(row.buffer), e.others)
    kind = f"<{SIDE} x i{bits}>"
    for column in row.columns():
        sources = [e.address(row.buffer, row.place + (column + r * row.stride)) for r in range(SIDE)]
        rows = [e.op(f"load {kind}, ptr {at}, align {bits // 8}{meta}") for at in sources]
        for c, x in enumerate(turned(e.lines, rows, kind, bits // 8, e.fresh("t"))):
            at = e.op(f"getelementptr i{bits}, ptr {memory}, i64 {(column + c) * SIDE}")
            e.line(f"store {kind} {x}, ptr {at}, align {bits}")


def _write(e: Emitter, memory: str, row: Row) -> None:
    """Write what has been computed for eight steps."""
    bits, meta = 8 * itemsize(row.buffer.type.dtype), e.written.get(root_of(row.buffer), "")
    kind = f"<{SIDE} x i{bits}>"
    for column in row.columns():
        places = [e.op(f"getelementptr i{bits}, ptr {memory}, i64 {(column + c) * SIDE}") for c in range(SIDE)]
        held = [e.op(f"load {kind}, ptr {at}, align {bits}") for at in places]
        for r, x in enumerate(turned(e.lines, held, kind, bits // 8, e.fresh("t"))):
            at = e.address(row.buffer, row.place + (column + r * row.stride))
            e.line(f"store {kind} {x}, ptr {at}, align {bits // 8}{meta}")
