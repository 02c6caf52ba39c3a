"""Nests that walk one array along its rows and another one across, in squares that are turned over in registers.

    for each tile of the two loops:
        for each square of the tile:
            read the rows of what is walked across, and turn them over
            for each row of the square:
                ask for the line of cache that a later square of this row writes
                all that the nest computes, as vectors

For processors that look far ahead by themselves squares of small elements are larger, all of a square is in registers,
and there are no requests: each instruction less lets them begin more squares at once.

A last square that does not fit begins earlier, and some elements are computed twice. So nothing may be read that is
written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import gcd
from typing import TYPE_CHECKING, Final, TypeAlias, final

from pliant.backends.llvm.jit import host_target
from pliant.backends.llvm.streams import LINE, Edges, request
from pliant.backends.llvm.tiles import BLOCK, COLLIDING, WIDE_ELEMENT, Turned, is_far, turned
from pliant.core.data import frozen
from pliant.core.types import Type, itemsize
from pliant.kernel.cost import FUNCTION, scalar_cost
from pliant.kernel.ir import Affine, Apply, Buffer, FromIndex, Literal, Load, Root, Scalar, Var, root_of

if TYPE_CHECKING:
    from pliant.backends.llvm.emit import Emitter

SIDE: Final = BLOCK
"""Rows and columns of a square."""
WIDE_SIDE: Final = 16
"""Rows and columns of a square of elements of four bytes, whose rows are lines of cache, where vectors are as long."""
TALL: Final = 64
WIDE: Final = 128
"""Steps of the outer and of the inner loop in a tile, whose lines of cache stay at hand."""
LONG: Final = 1024
"""The same of the inner loop for processors that look far ahead."""
AHEAD: Final = 16
"""Columns from a square to the one whose lines of cache are asked for: eight rows at once are more than a processor
foresees, and each store would wait for its line."""
MOST_TURNED: Final = 2  # arrays whose squares are at hand at the same time
LEAST: Final = 4  # bytes of elements; lines of smaller ones are too long for squares
NARROW: Final = 32  # bytes of vectors
BEYOND: Final = 1 << 24
"""Bytes of an array that with another one is beyond all caches."""
WAY: Final = 4096
"""Bytes from which on addresses share their places in the first cache."""
WAYS: Final = 7
"""Lines of cache in a place, but for one that what is walked along its rows needs."""
SQUARE: Final = -3  # the slot of local memory for squares

Loop: TypeAlias = Callable[[Callable[[], None]], None]
"""Emits a loop around a body."""


def fits(turned: Sequence[Load], levels: Sequence[Sequence[Scalar]], roots: Sequence[Root]) -> bool:
    """Whether a nest is computed in squares. turned: what is walked across; levels: the scalars of each loop."""
    if not 1 <= len(turned) <= MOST_TURNED or any(
        [not LEAST <= itemsize(s.buffer.type.dtype) < WIDE_ELEMENT for s in turned]
    ):
        return False
    written = {root_of(root.buffer) for root in roots if root.buffer}
    read = {root_of(s.buffer) for level in levels for s in level if isinstance(s, Load)}
    simple = all([isinstance(s, Load | Apply | Literal | FromIndex) for s in levels[-1]])
    # Where much is computed, it does not matter how elements are read.
    return not written & read and simple and sum([scalar_cost(s) for s in levels[-1]]) < FUNCTION


def steps_of(turned: Sequence[Load], inner: Var) -> list[int]:
    """Bytes from one element that is read to the next, of each array."""
    return [s.offset.factor(inner) * itemsize(s.buffer.type.dtype) for s in turned]


def are_best(turned: Sequence[Load], inner: Var, elements: int = 0) -> bool:
    """Whether squares are best, and without requests: with AMD's processors that have AVX-512, as they begin to read so
    much ahead. A transposed array is 1.2 to 1.7 times as fast as by tiles then, and as fast as by C with intrinsics;
    but with Zen 4 tiles are up to 1.3 times as fast where arrays of so many elements are beyond all caches. Not where
    rows share a few places of the caches: two squares read each line.
    """
    target = host_target()
    if target.cpu == "znver4" and is_far(turned, elements, BEYOND):
        return False
    is_able = target.cpu.startswith("znver") and target.widths[-1] > NARROW
    return is_able and not are_colliding(turned, inner)


def are_colliding(turned: Sequence[Load], inner: Var) -> bool:
    """Whether rows of what is walked across share a few places of the caches."""
    return any([step % COLLIDING == 0 for step in steps_of(turned, inner)])


def side_of(turned: Sequence[Load], loops: tuple[Var, Var]) -> int:
    """Rows and columns of a square in two loops: of small elements so many that a row is a line of cache."""
    is_small = all([itemsize(s.buffer.type.dtype) == 4 for s in turned])
    is_long = min([v.extent for v in loops]) >= WIDE_SIDE
    return WIDE_SIDE if is_small and is_long and are_best(turned, loops[1]) else SIDE


def stays_at_hand(turned: Sequence[Load], inner: Var) -> bool:
    """Whether what is walked across is read from the first cache as it is: each step of the outer loop reads the lines
    of the one before, one for each step of the inner loop. Processors with vectors of 32 bytes take longer for squares
    than for elements one by one, but for Zen 4 (0.55 to 0.95 of the time for 150 to 440 rows)."""
    target = host_target()
    if target.widths[-1:] != (NARROW,) or target.cpu == "znver4":
        return False
    places = min([WAY // max(gcd(step, WAY), LINE) for step in steps_of(turned, inner)])
    return len(turned) * inner.extent <= places * WAYS


def emit_squares(
    e: Emitter,
    loops: tuple[Var, Var],
    turned: Sequence[Load],
    roots: Sequence[Root],
    row: Callable[[Turned, Loop], None],
    usual: Callable[[], None],
) -> None:
    """All steps of two loops. row: emits what a row of a square computes, given its operands and its loop; usual: the
    loops as usual, for a part that is shorter than a square."""
    if loops[0] not in e.part:
        _all_squares(e, loops, turned, roots, row)
        return
    begin, end = e.part[loops[0]]
    is_short = e.op(f"icmp ult i64 {e.op(f'sub nuw nsw i64 {end}, {begin}')}, {side_of(turned, loops)}")
    e.unless(is_short, lambda: _all_squares(e, loops, turned, roots, row))
    e.unless(e.op(f"xor i1 {is_short}, true"), usual)


def _all_squares(
    e: Emitter,
    loops: tuple[Var, Var],
    turned: Sequence[Load],
    roots: Sequence[Root],
    row: Callable[[Turned, Loop], None],
) -> None:
    """All steps of two loops, in squares."""
    (outer, inner), is_plain = loops, are_best(turned, loops[1])
    squares = Squares.new(e, loops, turned, side_of(turned, loops))

    def square(i: str, j: str) -> None:
        later = squares.at_most(e.op(f"add nuw nsw i64 {j}, {AHEAD}"), inner)

        def ask(_: str) -> None:
            e.env[inner] = later
            for root in () if is_plain else roots:
                ask_for(e, root)
            del e.env[inner]

        # Copies of the loop, in whose registers the square stays, take LLVM longer.
        squares.compute((i, j), row, ask, e.module.unrolled() if is_plain else "")

    wide = LONG if is_plain else WIDE

    def band(top: str, bottom: str) -> None:
        e.blocks(inner, wide, lambda left, right: squares.each((top, bottom), (left, right), square))

    e.blocks(outer, TALL, band)


@final
@frozen
class Squares:
    """What all squares of two loops have in common. held: where they lie; last: where the last one begins."""

    e: Emitter
    loops: tuple[Var, Var]
    side: int
    held: Mapping[Load, Buffer]
    last: Mapping[Var, str]

    @classmethod
    def new(cls, e: Emitter, loops: tuple[Var, Var], turned: Sequence[Load], side: int) -> Squares:
        """The squares of what is walked across. side: their rows and columns."""
        held = {s: held_for(e, s, side) for s in turned}
        return cls(e, loops, side, held, {loop: last_square(e, loop, side) for loop in loops})

    def at_most(self, step: str, loop: Var) -> str:
        """A step, or that of the last square if it is behind that."""
        return self.e.op(f"call i64 @llvm.umin.i64(i64 {step}, i64 {self.last[loop]})")

    def each(self, rows: Edges, columns: Edges, body: Callable[[str, str], None], down: bool = False) -> None:
        """A body for the beginning of each square of a tile. down: column by column."""
        (outer, inner), e, side = self.loops, self.e, self.side
        tall, wide = (self.last[outer], side), (self.last[inner], side)
        if down:
            stepped(e, columns, wide, lambda j: stepped(e, rows, tall, lambda i: body(i, j)))
        else:
            stepped(e, rows, tall, lambda i: stepped(e, columns, wide, lambda j: body(i, j)))

    def compute(
        self, at: Edges, row: Callable[[Turned, Loop], None], ask: Callable[[str], None], wish: str = ""
    ) -> None:
        """The square that begins at two steps. row: emits what a row computes; ask: is called before, in the step of
        the outer loop, with the row's number."""
        e, (outer, inner), (i, j), down, step = self.e, self.loops, at, Var(self.side), Var(self.side)
        e.env[outer], e.env[inner] = at
        for s, buffer in self.held.items():
            turn(e, s, s.offset.factor(inner), buffer, self.side)
        del e.env[inner]
        place = Affine(0, ((down, self.side), (step, 1)))

        def one(body: Callable[[], None]) -> None:
            e.env[inner] = e.op(f"add nuw nsw i64 {j}, {e.env[step]}")
            body()

        def along(body: Callable[[], None]) -> None:
            e.loop(step, lambda: one(body), wish=e.module.at_once(1))
            del e.env[inner]

        def line() -> None:
            e.env[outer] = e.op(f"add nuw nsw i64 {i}, {e.env[down]}")
            ask(e.env[down])
            row({s: (buffer, place) for s, buffer in self.held.items()}, along)

        e.loop(down, line, wish=wish)
        del e.env[outer]


def ask_for(e: Emitter, root: Root) -> None:
    """Let the line of cache be fetched that a root writes."""
    if root.buffer and root.offset.is_of_loops:
        e.call_for_effect(request(e.address(root.buffer, root.offset), writes=True))


def last_square(e: Emitter, loop: Var, side: int) -> str:
    """Where the last square along a loop begins."""
    if loop not in e.part:
        return str(loop.extent - side)
    return e.op(f"sub nuw nsw i64 {e.part[loop][1]}, {side}")


def stepped(e: Emitter, steps: Edges, squares: tuple[str, int], body: Callable[[str], None]) -> None:
    """A body for the beginning of each square between two steps. squares: where the last one begins, and its side."""
    (first, end), (last, side) = steps, squares
    every = Var(2)
    count = e.op(f"add nuw nsw i64 {e.op(f'sub nuw nsw i64 {end}, {first}')}, {side - 1}")

    def one() -> None:
        at = e.op(f"add nuw nsw i64 {first}, {e.op(f'mul nuw nsw i64 {e.env[every]}, {side}')}")
        body(e.op(f"call i64 @llvm.umin.i64(i64 {at}, i64 {last})"))

    e.loop(every, one, ("0", e.op(f"udiv i64 {count}, {side}")))


def held_for(e: Emitter, load: Load, side: int) -> Buffer:
    """Local memory for a square."""
    buffer = Buffer(Type(load.buffer.type.dtype, (side * side,)), None)
    buffer.slot, buffer.offset = SQUARE, buffer.number  # like no other's
    e.bases[buffer.slot, buffer.offset] = e.alloca(f"[{buffer.type.bytes} x i8], align 64")
    return buffer


def turn(e: Emitter, load: Load, stride: int, square: Buffer, side: int) -> None:
    """Fill a square from where a load reads its first element, its rows being so many elements apart."""
    item = itemsize(load.buffer.type.dtype)
    kind, start, rows = f"<{side} x i{8 * item}>", e.address(load.buffer, load.offset), list[str]()
    for r in range(side):
        at = e.op(f"getelementptr i{8 * item}, ptr {start}, i64 {r * stride}")
        rows.append(e.op(f"load {kind}, ptr {at}, align {item}{e.others}"))
    for c, column in enumerate(turned(e.lines, rows, kind, item, e.fresh("t"))):
        at = e.op(f"getelementptr i{8 * item}, ptr {e.base(square)}, i64 {c * side}")
        e.line(f"store {kind} {column}, ptr {at}, align {8 * item}")
