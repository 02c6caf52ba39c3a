"""LLVM code that turns a tile of a matrix over: `to[c][r] = from[r][c]`, in blocks of registers.

A nest that walks one array along its rows and another one across reads tiles of the latter from here. Read one by one,
its elements would each wait for a line of cache of their own.

    for each tile of the two loops:
        turn over what is walked across
        for each row of the tile:
            all that the nest computes

Where results are written past the caches, tiles are larger, since longer parts of rows are read faster, and a row of a
tile begins and ends where a line of the result does.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeAlias

from pliant.backends.llvm.streams import LINE, Edges, line_before, request
from pliant.core.data import frozen
from pliant.core.types import itemsize
from pliant.kernel.ir import Affine, Buffer, Load, Root, Var

if TYPE_CHECKING:
    from pliant.backends.llvm.emit import Emitter

TILE: Final = 64
"""Steps of the outer loop in a tile, and the least of both loops."""
RUN: Final = 4096
"""Bytes of a row of a tile at most: in short ones processors ask for too few lines of cache ahead."""
FAR: Final = 1 << 21
"""Bytes that are walked across from which on they do not stay at hand."""
FAR_WIDE: Final = 4 * FAR
"""The same of wide elements, of which few share a line of cache."""
LEAST: Final = 1 << 19
"""Bytes of a second cache."""
TALL: Final = (1024, 128)
"""Bytes, and steps at most, of the outer loop in a tile where results are written past the caches."""
WIDEST: Final = 512
"""Steps at most of the inner loop in such a tile."""
SHARE: Final = 4
"""All tiles together fill this part of the second cache: beside them it holds what the rows are made with."""
BLOCK: Final = 8  # rows and columns of what lies in registers at once
SIZES: Final = (1, 2, 4, 8)  # bytes of elements
WIDE_ELEMENT: Final = 16  # bytes of those that fill a register, and are moved one by one
COLLIDING: Final = 1024
"""Bytes: of rows that are a multiple of this apart, those of a column share a few places of the first cache."""
WITHIN: Final = {4: ((0, 8, 1, 9, 4, 12, 5, 13), (0, 1, 8, 9, 4, 5, 12, 13), (0, 1, 2, 3, 8, 9, 10, 11))}
"""Bytes of elements → how the first of two rows is made in each of three rounds, each one instruction; the second is
made of what the first leaves. Other sizes exchange blocks of 1, 2 and 4."""

Turned: TypeAlias = dict[Load, tuple[Buffer, Affine]]
"""Where loads of what is walked across find their elements."""


@frozen
class Shape:
    """Steps of the outer and of the inner loop in a tile; how many that come before it are turned over as well; how
    many elements there are from row to row: a line of cache more, or a column of a power of two would lie in a few."""

    tall: int
    wide: int
    before: int
    pitch: int


def shape_of(turned: Sequence[Load], streamed: Sequence[Root]) -> Shape:
    """The shape of tiles. streamed: the roots that are written past the caches."""
    made = [itemsize(root.buffer.type.dtype) for root in streamed if root.buffer]
    read = [itemsize(s.buffer.type.dtype) for s in turned]
    if not made:
        wide = min(second_cache() // (SHARE * TILE), RUN) // max(sum(read), 1)
        return Shape(TILE, wide, 0, wide + LINE // min(read, default=LINE))
    item, (size, most) = min(made + read), TALL
    tall = min(size // item, most)
    wide = min(second_cache() // (SHARE * tall * sum(read or made)), WIDEST) // BLOCK * BLOCK
    return Shape(tall, wide, LINE // made[0], wide + LINE // item)


@lru_cache
def second_cache() -> int:
    """The bytes of a core's second cache; where the system does not tell, what most have at least."""
    name = "SC_LEVEL2_CACHE_SIZE"
    return max(os.sysconf(name) if name in getattr(os, "sysconf_names", ()) else 0, LEAST)


def is_worth_turning(load: Load, stride: int) -> bool:
    """Whether elements that lie `stride` apart are quicker to read from a tile; wide ones only where they collide, or
    where they come from far."""
    item = itemsize(load.buffer.type.dtype)
    is_bad = stride * item % COLLIDING == 0 or load.buffer.type.bytes >= FAR_WIDE
    return item in SIZES or (item == WIDE_ELEMENT and is_bad)


def is_far(turned: Sequence[Load], steps: int, bytes: int = FAR) -> bool:
    """Whether what is walked across in so many steps is more than stays at hand, or than so many bytes."""
    return any([steps * itemsize(s.buffer.type.dtype) >= bytes for s in turned])


def emit_tiles(
    e: Emitter,
    loops: tuple[Var, Var],
    turned: Sequence[Load],
    streamed: Sequence[Root],
    shape: Shape,
    row: Callable[[Turned, Edges], None],
) -> None:
    """All steps of two loops, in tiles. row: emits what a row of a tile computes, given its operands and its edges."""
    (outer, inner), corner = loops, Var(2)
    place = Affine(0, ((outer, shape.pitch), (inner, 1), (corner, 1)))
    held = {s: e.local(s.buffer.type.dtype, shape.tall * shape.pitch) for s in turned}
    begin, end = e.part.get(inner, ("0", str(inner.extent)))

    def tile(top: str, bottom: str, left: str, right: str) -> None:
        first = e.op(f"call i64 @llvm.smax.i64(i64 {e.op(f'sub nsw i64 {left}, {shape.before}')}, i64 {begin})")
        e.env[outer], e.env[inner] = top, first
        sizes = e.op(f"sub i64 {right}, {first}"), e.op(f"sub i64 {bottom}, {top}")
        for s, buffer in held.items():
            turn(e, s, s.offset.factor(inner), buffer, shape.pitch, sizes)
        del e.env[outer], e.env[inner]
        away = e.op(f"add i64 {e.op(f'mul i64 {top}, {shape.pitch}')}, {first}")
        e.env[corner] = e.op(f"sub i64 0, {away}")

        def one() -> None:
            edges = (edge(left, begin), edge(right, end)) if streamed else (left, right)
            row({s: (buffer, place) for s, buffer in held.items()}, edges)

        e.loop(outer, one, (top, bottom))

    def edge(step: str, last: str) -> str:
        """Where a row of a tile begins or ends: at a line of the result, or where the loop does."""
        before = line_before(e, inner, streamed, step)
        return e.op(f"select i1 {e.op(f'icmp eq i64 {step}, {last}')}, i64 {step}, i64 {before}")

    def across(top: str, bottom: str) -> None:
        e.blocks(inner, shape.wide, lambda left, right: tile(top, bottom, left, right))

    e.blocks(outer, shape.tall, across)


def turn(e: Emitter, load: Load, stride: int, tile: Buffer, pitch: int, sizes: tuple[str, str]) -> None:
    """Fill a tile from where a load reads its first element; sizes: of the inner loop, and the outer one."""
    item = itemsize(load.buffer.type.dtype)
    name = e.module.helper(turner(item, pitch), lambda name: turner_text(name, item, pitch))
    source, (inner, outer) = e.address(load.buffer, load.offset), sizes
    e.line(f"call void {name}(ptr {source}, i64 {stride}, ptr {e.base(tile)}, i64 {inner}, i64 {outer})")


def turner(item: int, pitch: int) -> str:
    """The name of the function for elements of so many bytes and tiles with so many elements in a row."""
    return f"turned_{item}_{pitch}"


def turner_text(name: str, item: int, pitch: int) -> str:
    """The function: (from, elements from row to row, to, rows, columns); rows of `to` are `pitch` elements apart."""
    if item == WIDE_ELEMENT:
        return TEXT.format(name=name, t="<2 x i64>", block=BLOCK, pitch=pitch, least=8, turned="\n".join(_moved(pitch)))
    t, v = f"i{8 * item}", f"<{BLOCK} x i{8 * item}>"
    align = f"align {item}"
    lines = list[str]()
    rows = [f"%row{r}" for r in range(BLOCK)]
    for r, row in enumerate(rows):
        lines += [
            f"  %at{r} = add i64 %r, {r}",
            f"  %far{r} = mul i64 %at{r}, %stride",
            f"  %place{r} = add i64 %far{r}, %c",
            f"  %source{r} = getelementptr {t}, ptr %from, i64 %place{r}",
            f"  {row} = load {v}, ptr %source{r}, {align}",
        ]
    lines += _asked_for(item)
    columns = turned(lines, rows, v, item)
    for c, column in enumerate(columns):
        lines += [
            f"  %line{c} = add i64 %c, {c}",
            f"  %down{c} = mul i64 %line{c}, {pitch}",
            f"  %spot{c} = add i64 %down{c}, %r",
            f"  %target{c} = getelementptr {t}, ptr %to, i64 %spot{c}",
            f"  store {v} {column}, ptr %target{c}, {align}",
        ]
    return TEXT.format(name=name, t=t, block=BLOCK, pitch=pitch, least=item, turned="\n".join(lines))


def _asked_for(item: int) -> list[str]:
    """The instructions that ask for lines of cache of the next block of rows: of some of them, as other blocks in the
    same lines ask for the others."""
    blocks = LINE // (BLOCK * item)  # in a line
    lines, count = list[str](), BLOCK // blocks
    lines += [
        f"  %number = udiv i64 %c, {BLOCK}",
        f"  %turn = urem i64 %number, {blocks}",
        f"  %first = mul i64 %turn, {count}",
        f"  %next = add i64 %r, {BLOCK}",
        "  %later0 = add i64 %next, %first",
    ]
    for n in range(count):
        lines += [
            f"  %later{n + 1} = add i64 %later{n}, 1",
            f"  %away{n} = mul i64 %later{n}, %stride",
            f"  %asked{n} = add i64 %away{n}, %c",
            f"  %line.at{n} = getelementptr i{8 * item}, ptr %from, i64 %asked{n}",
            f"  call {request(f'%line.at{n}')}",
        ]
    return lines


def _moved(pitch: int) -> list[str]:
    """The instructions that move a block of wide elements."""
    lines, t = list[str](), "<2 x i64>"
    for r in range(BLOCK):
        lines += [f"  %at{r} = add i64 %r, {r}", f"  %far{r} = mul i64 %at{r}, %stride"]
    for c in range(BLOCK):
        lines += [f"  %line{c} = add i64 %c, {c}", f"  %down{c} = mul i64 %line{c}, {pitch}"]
        for r in range(BLOCK):
            lines += [
                f"  %place{r}_{c} = add i64 %far{r}, %line{c}",
                f"  %source{r}_{c} = getelementptr {t}, ptr %from, i64 %place{r}_{c}",
                f"  %x{r}_{c} = load {t}, ptr %source{r}_{c}, align 8",
                f"  %spot{r}_{c} = add i64 %down{c}, %at{r}",
                f"  %target{r}_{c} = getelementptr {t}, ptr %to, i64 %spot{r}_{c}",
                f"  store {t} %x{r}_{c}, ptr %target{r}_{c}, align 8",
            ]
    return lines


def turned(lines: list[str], rows: Sequence[str], type: str, item: int, prefix: str = "%x") -> list[str]:
    """The columns of eight rows, or of sixteen of four bytes, in rounds of pairs of shuffles. prefix: of the names of
    values."""
    made, rounds = [*rows], FOUR_ROUNDS if len(rows) > BLOCK else [(1 << n, masks(item, n)) for n in range(3)]
    for number, (step, both) in enumerate(rounds):
        before = [*made]
        for r in [r for r in range(len(rows)) if not r & step]:
            for n, mask in enumerate(both):
                name = f"{prefix}{number}_{r}_{n}"
                listed = ", ".join([f"i32 {lane}" for lane in mask])
                pair = f"{type} {before[r]}, {type} {before[r + step]}"
                lines.append(f"  {name} = shufflevector {pair}, <{len(rows)} x i32> <{listed}>")
                made[r + n * step] = name
    order = ORDER_OF_FOUR if len(rows) > BLOCK else ORDER if item in WITHIN else range(BLOCK)
    return [made[n] for n in order]


def masks(item: int, round: int) -> tuple[Sequence[int], Sequence[int]]:
    """Which lanes of two rows, the second counted from 8, make the two new ones."""
    step = 1 << round
    if item in WITHIN:
        first = WITHIN[item][round]
        return first, [lane + LEFT[round] for lane in first]
    first = [lane if not lane & step else lane - step + BLOCK for lane in range(BLOCK)]
    return first, [lane + step for lane in first]


def quarters(*lanes: int) -> list[int]:
    """Lanes of two vectors of sixteen, of which the first are given, in each quarter of them alike."""
    return [lane + 4 * quarter for quarter in range(4) for lane in lanes]


def of_quarters(*numbers: int) -> list[int]:
    """Lanes of two vectors of sixteen: these quarters of them."""
    return [4 * number + lane for number in numbers for lane in range(4)]


APART: Final = of_quarters(0, 2, 4, 6), of_quarters(1, 3, 5, 7)
FOUR_ROUNDS: Final = (
    (1, (quarters(0, 16, 1, 17), quarters(2, 18, 3, 19))),
    (2, (quarters(0, 1, 16, 17), quarters(2, 3, 18, 19))),
    (4, APART),
    (8, APART),
)
"""How far the two rows of a pair are apart, and which lanes make the new ones, each by one instruction."""

LEFT: Final = (2, 2, 4)
ORDER: Final = (0, 2, 1, 3, 4, 6, 5, 7)
"""Where the columns lie after rounds that each take one instruction."""
ORDER_OF_FOUR: Final = (*ORDER, *[BLOCK + place for place in ORDER])

TEXT: Final = """define internal void @{name}(ptr %from, i64 %stride, ptr %to, i64 %rows, i64 %columns) #0 {{
start:
  %whole.rows = and i64 %rows, -{block}
  %whole.columns = and i64 %columns, -{block}
  %some.columns = icmp ne i64 %whole.columns, 0
  %some.rows = icmp ne i64 %whole.rows, 0
  %some = and i1 %some.rows, %some.columns
  br i1 %some, label %down, label %edges
down:
  %r = phi i64 [ 0, %start ], [ %r.next, %row.end ]
  br label %across
across:
  %c = phi i64 [ 0, %down ], [ %c.next, %across ]
{turned}
  %c.next = add i64 %c, {block}
  %c.more = icmp ult i64 %c.next, %whole.columns
  br i1 %c.more, label %across, label %row.end
row.end:
  %r.next = add i64 %r, {block}
  %r.more = icmp ult i64 %r.next, %whole.rows
  br i1 %r.more, label %down, label %edges
edges:
  call void @{name}_edge(ptr %from, i64 %stride, ptr %to, i64 0, i64 %whole.rows, i64 %whole.columns, i64 %columns)
  call void @{name}_edge(ptr %from, i64 %stride, ptr %to, i64 %whole.rows, i64 %rows, i64 0, i64 %columns)
  ret void
}}

define internal void @{name}_edge(ptr %from, i64 %stride, ptr %to, i64 %r, i64 %r.end, i64 %c, i64 %c.end) #0 {{
start:
  %some.rows = icmp ult i64 %r, %r.end
  %some.columns = icmp ult i64 %c, %c.end
  %some = and i1 %some.rows, %some.columns
  br i1 %some, label %single, label %end
single:
  %i = phi i64 [ %r, %start ], [ %i.next, %more ]
  %i.far = mul i64 %i, %stride
  br label %one
one:
  %j = phi i64 [ %c, %single ], [ %j.next, %one ]
  %j.from = add i64 %i.far, %j
  %j.source = getelementptr {t}, ptr %from, i64 %j.from
  %j.x = load {t}, ptr %j.source, align {least}
  %j.down = mul i64 %j, {pitch}
  %j.to = add i64 %j.down, %i
  %j.target = getelementptr {t}, ptr %to, i64 %j.to
  store {t} %j.x, ptr %j.target, align {least}
  %j.next = add i64 %j, 1
  %j.more = icmp ult i64 %j.next, %c.end
  br i1 %j.more, label %one, label %more
more:
  %i.next = add i64 %i, 1
  %i.more = icmp ult i64 %i.next, %r.end
  br i1 %i.more, label %single, label %end
end:
  ret void
}}
"""
