"""Squares of arrays that come from far, in bands of a few lines of cache that are walked from end to end.

    for each band of the outer loop:
        for each piece of the inner loop:
            for each square of the piece:
                ask for what a later square reads
                turn the square over, and compute its rows
            move what is written past the caches by whole lines; what is left of a line waits for the next piece

A core waits for few lines at once that its first cache asks for, and for more that the second one asks for: requests of
the latter bring lines that lie far apart as fast as those that lie side by side. Nothing pauses meanwhile to turn over
a tile or to write one (with Zen 4 tiles take 1.5 times as long for 3162 x 3162 elements, and 1.3 to 1.7 times for
1000 x 1000; with Emerald Rapids 1.3 to 1.4 times, 1.4 to 1.6 times for 2000 x 2000, and as long for 1000 x 1000; with
Granite Rapids 1.2 times for all of these).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, final

from pliant.backends.llvm.jit import host_target
from pliant.backends.llvm.squares import SIDE, Loop, Squares, are_colliding
from pliant.backends.llvm.streams import LINE, Edges, Held, address_at, request
from pliant.backends.llvm.tiles import Turned, is_far
from pliant.core.data import frozen
from pliant.core.types import itemsize
from pliant.kernel.ir import Affine, Buffer, Load, Root, Var

if TYPE_CHECKING:
    from pliant.backends.llvm.emit import Emitter

PIECE: Final = 4 * LINE
"""Bytes of a row of a result that wait to be written."""


@final
@frozen
class Pace:
    """How bands are walked. wide: bytes of a row of what is walked across that a band takes; tall: its steps at most.
    ahead: steps of the inner loop from a square to the one whose lines are asked for; again: the same where lines are
    asked for once more, as some processors drop requests while memory is busy; 0 if never."""

    wide: int
    tall: int
    ahead: int
    again: int = 0


ZEN, COVE = Pace(4 * LINE, 4 * LINE, ahead=64, again=32), Pace(4 * LINE, 2 * SIDE, ahead=24)
COVES: Final = ("sapphirerapids", "emeraldrapids", "graniterapids")
"""Intel's processors with AMX, as LLVM names them; virtual machines may show them as older ones, but with AMX."""


def pace() -> Pace | None:
    """How this processor walks bands, if it gains by them: measured with Zen 4, Emerald and Granite Rapids."""
    target = host_target()
    if target.cpu == "znver4":
        return ZEN
    return COVE if target.cpu in COVES or "amx-tile" in target.has else None


def are_far(turned: Sequence[Load], inner: Var, elements: int) -> bool:
    """Whether bands are best for what is walked across in so many steps."""
    return pace() is not None and is_far(turned, elements) and not are_colliding(turned, inner)


def emit_bands(
    e: Emitter,
    loops: tuple[Var, Var],
    turned: Sequence[Load],
    beside: Sequence[Load | Root],
    streamed: Sequence[Root],
    row: Callable[[Turned, Held, Loop], None],
) -> None:
    """All steps of two loops. turned, beside: what is walked across, and along its rows; streamed: what is written past
    the caches; row: emits what a row of a square computes, given its operands, where results wait, and its loop."""
    (outer, inner), least = loops, min([itemsize(s.buffer.type.dtype) for s in turned])
    way = pace() or ZEN
    tall = min(way.wide // least, way.tall)
    rooms = [Room.new(e, root, tall) for root in streamed]
    held = {room.root: (room.buffer, room.place(loops)) for room in rooms}
    is_repeated = bool(rooms and way.again) and SIDE * least >= LINE
    requests = Requests(Squares.new(e, loops, turned, SIDE), turned, beside, tall, way, is_repeated)

    def square(i: str, j: str) -> None:
        ask = requests.at(i, j)
        requests.squares.compute((i, j), lambda turned, along: row(turned, held, along), ask, e.module.unrolled())

    def piece(rows: Edges, columns: Edges) -> None:
        for room in rooms:
            room.begin(e, (rows[0], columns[0]))
        requests.squares.each(rows, columns, square, down=True)
        if rooms:
            move_all(e, rooms, loops, rows, columns)

    wide = min([room.wide for room in rooms], default=PIECE // least)

    def band(top: str, bottom: str) -> None:
        e.blocks(inner, wide, lambda left, right: piece((top, bottom), (left, right)))

    e.blocks(outer, tall, band)
    e.is_past_caches = e.is_past_caches or bool(rooms)


@final
@frozen
class Requests:
    """What the squares of a band ask for. tall: the steps of a band; is_repeated: whether all is asked for once more,
    as no square beside this one asks for the same lines."""

    squares: Squares
    turned: Sequence[Load]
    beside: Sequence[Load | Root]
    tall: int
    pace: Pace
    is_repeated: bool

    def at(self, i: str, j: str) -> Callable[[str], None]:
        """What asks for a row of a later square, given its number; emitted before that row of the one at two steps."""
        e, loops, places = self.squares.e, self.squares.loops, [self.further(i, j)]
        if self.is_repeated:
            near = self.squares.at_most(e.op(f"add nuw nsw i64 {j}, {self.pace.again}"), loops[1])
            places.append((i, near, near))

        def ask(number: str) -> None:
            down = e.env[loops[0]]
            for top, left, later in places:
                for s in self.turned:
                    ask_for(e, s, loops, (top, e.op(f"add nuw nsw i64 {left}, {number}")))
                for s in self.beside:
                    ask_for(e, s, loops, (down, later))
            e.env[loops[0]] = down

        return ask

    def further(self, i: str, j: str) -> tuple[str, str, str]:
        """Where the square begins that is asked for of what is walked across, perhaps in the next band; and the step of
        the inner loop for what is walked along its rows."""
        e, (outer, inner), at_most = self.squares.e, self.squares.loops, self.squares.at_most
        begin, end = e.part.get(inner, ("0", str(inner.extent)))
        later = e.op(f"add nuw nsw i64 {j}, {self.pace.ahead}")
        is_over = e.op(f"icmp ugt i64 {later}, {self.squares.last[inner]}")
        below = at_most(e.op(f"add nuw nsw i64 {i}, {self.tall}"), outer)
        over = e.op(f"sub nsw i64 {later}, {e.op(f'sub nsw i64 {end}, {begin}')}")
        again = e.op(f"call i64 @llvm.smax.i64(i64 {over}, i64 {begin})")
        top = e.op(f"select i1 {is_over}, i64 {below}, i64 {i}")
        left = e.op(f"select i1 {is_over}, i64 {again}, i64 {later}")
        return top, at_most(left, inner), at_most(later, inner)


def lies_along(s: Load | Root, inner: Var) -> bool:
    """Whether what is read or written lies side by side along a loop, where loops alone tell."""
    return s.buffer is not None and s.offset.is_of_loops and s.offset.factor(inner) == 1


def ask_for(e: Emitter, s: Load | Root, loops: tuple[Var, Var], at: Edges) -> None:
    """Let the second cache fetch the last line of a square's row that begins at two steps."""
    assert s.buffer
    e.env[loops[0]], e.env[loops[1]] = at
    last = (SIDE - 1) * itemsize(s.buffer.type.dtype)
    line = e.op(f"getelementptr i8, ptr {e.address(s.buffer, s.offset)}, i64 {last}")
    e.call_for_effect(request(line, cache=2))
    del e.env[loops[0]], e.env[loops[1]]


@final
@frozen
class Room:
    """Where a piece of a result waits. Before each of its rows there is room for what is left of a line of cache, and
    before all of them for a square that begins earlier. corner: stands for where the piece begins."""

    root: Root
    buffer: Buffer
    wide: int
    before: int
    corner: Var

    @classmethod
    def new(cls, e: Emitter, root: Root, tall: int) -> Room:
        """The room for pieces of so many rows."""
        item = itemsize(root.value.dtype)
        wide, before = PIECE // item, max(LINE // item, SIDE)
        return cls(root, e.local(root.value.dtype, (tall + SIDE) * (before + wide)), wide, before, Var(2))

    @property
    def pitch(self) -> int:
        """Elements from row to row."""
        return self.before + self.wide

    def place(self, loops: tuple[Var, Var]) -> Affine:
        """Where the element of a step waits."""
        return Affine(0, ((loops[0], self.pitch), (loops[1], 1), (self.corner, 1)))

    def begin(self, e: Emitter, corner: Edges) -> None:
        """A piece begins at two steps."""
        away = e.op(f"add i64 {e.op(f'mul i64 {corner[0]}, {self.pitch}')}, {corner[1]}")
        e.env[self.corner] = e.op(f"sub i64 {SIDE * self.pitch + self.before}, {away}")

    def move(self, e: Emitter, loops: tuple[Var, Var], columns: Edges, ends: Edges) -> None:
        """Write a row of a piece past the caches. ends: whether the loop begins and ends with it."""
        (_, inner), (left, right) = loops, columns
        target = address_at(e, inner, self.root, left)
        e.env[inner] = left
        source = e.address(self.buffer, self.place(loops))
        del e.env[inner]
        size = e.op(f"mul i64 {e.op(f'sub i64 {right}, {left}')}, {itemsize(self.root.value.dtype)}")
        name = e.module.helper("row_moved", lambda name: TEXT.format(name=name, mark=e.module.tuple_of(["i32 1"])))
        e.line(f"call void {name}(ptr {target}, ptr {source}, i64 {size}, i1 {ends[0]}, i1 {ends[1]})")


def move_all(e: Emitter, rooms: Sequence[Room], loops: tuple[Var, Var], rows: Edges, columns: Edges) -> None:
    """Write a piece of all results past the caches."""
    begin, end = e.part.get(loops[1], ("0", str(loops[1].extent)))
    ends = e.op(f"icmp eq i64 {columns[0]}, {begin}"), e.op(f"icmp eq i64 {columns[1]}, {end}")

    def row() -> None:
        for room in rooms:
            room.move(e, loops, columns, ends)

    e.loop(loops[0], row, rows, e.module.not_unrolled())


TEXT: Final = """define internal void @{name}(ptr %to, ptr %from, i64 %size, i1 %is.first, i1 %is.last) #0 {{
start:
  %begin = ptrtoint ptr %to to i64
  %end = add i64 %begin, %size
  %line.before = and i64 %begin, -64
  %last.line = and i64 %end, -64
  %up = add i64 %begin, 63
  %next.line = and i64 %up, -64
  %first.line = select i1 %is.first, i64 %next.line, i64 %line.before
  %is.short = icmp ugt i64 %next.line, %end
  %head.end = select i1 %is.short, i64 %end, i64 %next.line
  %some.head = icmp ne i64 %head.end, %begin
  %is.headed = and i1 %is.first, %some.head
  br i1 %is.headed, label %head, label %middle
head:
  %head.size = sub i64 %head.end, %begin
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %head.size, i1 false)
  br label %middle
middle:
  %some = icmp ult i64 %first.line, %last.line
  br i1 %some, label %lines, label %after
lines:
  %at = phi i64 [ %first.line, %middle ], [ %at.next, %lines ]
  %away = sub i64 %at, %begin
  %source = getelementptr i8, ptr %from, i64 %away
  %target = getelementptr i8, ptr %to, i64 %away
  %line = load <8 x i64>, ptr %source, align 1
  store <8 x i64> %line, ptr %target, align 64, !nontemporal {mark}
  %at.next = add i64 %at, 64
  %more = icmp ult i64 %at.next, %last.line
  br i1 %more, label %lines, label %after
after:
  %is.inside = icmp uge i64 %last.line, %first.line
  %tail.begin = select i1 %is.inside, i64 %last.line, i64 %head.end
  %tail.size = sub i64 %end, %tail.begin
  %some.tail = icmp ne i64 %tail.size, 0
  %is.tailed = and i1 %is.last, %some.tail
  br i1 %is.tailed, label %tail, label %keep
tail:
  %tail.away = sub i64 %tail.begin, %begin
  %tail.source = getelementptr i8, ptr %from, i64 %tail.away
  %tail.target = getelementptr i8, ptr %to, i64 %tail.away
  call void @llvm.memcpy.p0.p0.i64(ptr %tail.target, ptr %tail.source, i64 %tail.size, i1 false)
  br label %keep
keep:
  %kept.away = sub i64 %size, 64
  %kept.source = getelementptr i8, ptr %from, i64 %kept.away
  %kept.target = getelementptr i8, ptr %from, i64 -64
  %kept = load <8 x i64>, ptr %kept.source, align 1
  store <8 x i64> %kept, ptr %kept.target, align 1
  ret void
}}
"""
