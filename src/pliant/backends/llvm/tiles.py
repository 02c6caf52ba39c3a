"""LLVM code that turns a tile of a matrix over: `to[c][r] = from[r][c]`, in blocks of registers.

A nest that walks one array along its rows and another one across reads tiles of the latter from here. Read one by one,
its elements would each wait for a line of cache of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

BLOCK: Final = 8  # rows and columns of what lies in registers at once
SIZES: Final = (1, 2, 4, 8)  # bytes of elements
WITHIN: Final = {4: ((0, 8, 1, 9, 4, 12, 5, 13), (0, 1, 8, 9, 4, 5, 12, 13), (0, 1, 2, 3, 8, 9, 10, 11))}
"""Bytes of elements → how the first of two rows is made in each of three rounds, each one instruction; the second is
made of what the first leaves. Other sizes exchange blocks of 1, 2 and 4."""


def turner(item: int, pitch: int) -> str:
    """The name of the function for elements of so many bytes and tiles with so many elements in a row."""
    return f"turned_{item}_{pitch}"


def turner_text(name: str, item: int, pitch: int) -> str:
    """The function: (from, elements from row to row, to, rows, columns); rows of `to` are `pitch` elements apart."""
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
            f"  %far.next{r} = getelementptr {t}, ptr %source{r}, i64 %ahead",
            f"  call void @llvm.prefetch.p0(ptr %far.next{r}, i32 0, i32 3, i32 1)",
        ]
    columns = turned(lines, rows, v, item)
    for c, column in enumerate(columns):
        lines += [
            f"  %line{c} = add i64 %c, {c}",
            f"  %down{c} = mul i64 %line{c}, {pitch}",
            f"  %spot{c} = add i64 %down{c}, %r",
            f"  %target{c} = getelementptr {t}, ptr %to, i64 %spot{c}",
            f"  store {v} {column}, ptr %target{c}, {align}",
        ]
    return TEXT.format(name=name, t=t, block=BLOCK, pitch=pitch, turned="\n".join(lines))


def turned(lines: list[str], rows: Sequence[str], type: str, item: int, prefix: str = "%x") -> list[str]:
    """The columns of eight rows, in three rounds of pairs of shuffles. prefix: of the names of values."""
    made = [*rows]
    for round in range(3):
        step, before = 1 << round, [*made]
        for r in [r for r in range(BLOCK) if not r & step]:
            for n, mask in enumerate(masks(item, round)):
                name = f"{prefix}{round}_{r}_{n}"
                listed = ", ".join([f"i32 {lane}" for lane in mask])
                pair = f"{type} {before[r]}, {type} {before[r + step]}"
                lines.append(f"  {name} = shufflevector {pair}, <{BLOCK} x i32> <{listed}>")
                made[r + n * step] = name
    return [made[n] for n in (ORDER if item in WITHIN else range(BLOCK))]


def masks(item: int, round: int) -> tuple[Sequence[int], Sequence[int]]:
    """Which lanes of two rows, the second counted from 8, make the two new ones."""
    step = 1 << round
    if item in WITHIN:
        first = WITHIN[item][round]
        return first, [lane + LEFT[round] for lane in first]
    first = [lane if not lane & step else lane - step + BLOCK for lane in range(BLOCK)]
    return first, [lane + step for lane in first]


LEFT: Final = (2, 2, 4)
ORDER: Final = (0, 2, 1, 3, 4, 6, 5, 7)
"""Where the columns lie after rounds that each take one instruction."""

TEXT: Final = """define internal void @{name}(ptr %from, i64 %stride, ptr %to, i64 %rows, i64 %columns) #0 {{
start:
  %ahead = mul i64 %stride, {block}
  br label %down
down:
  %r = phi i64 [ 0, %start ], [ %r.next, %next ]
  %r.next = add i64 %r, {block}
  %r.fits = icmp ule i64 %r.next, %rows
  %r.end = call i64 @llvm.umin.i64(i64 %r.next, i64 %rows)
  br label %across
across:
  %c = phi i64 [ 0, %down ], [ %c.next, %done ]
  %c.next = add i64 %c, {block}
  %c.fits = icmp ule i64 %c.next, %columns
  %c.end = call i64 @llvm.umin.i64(i64 %c.next, i64 %columns)
  %fits = and i1 %r.fits, %c.fits
  br i1 %fits, label %whole, label %single
whole:
{turned}
  br label %done
single:
  %i = phi i64 [ %r, %across ], [ %i.next, %more ]
  %i.far = mul i64 %i, %stride
  br label %one
one:
  %j = phi i64 [ %c, %single ], [ %j.next, %one ]
  %j.from = add i64 %i.far, %j
  %j.source = getelementptr {t}, ptr %from, i64 %j.from
  %j.x = load {t}, ptr %j.source
  %j.down = mul i64 %j, {pitch}
  %j.to = add i64 %j.down, %i
  %j.target = getelementptr {t}, ptr %to, i64 %j.to
  store {t} %j.x, ptr %j.target
  %j.next = add i64 %j, 1
  %j.more = icmp ult i64 %j.next, %c.end
  br i1 %j.more, label %one, label %more
more:
  %i.next = add i64 %i, 1
  %i.more = icmp ult i64 %i.next, %r.end
  br i1 %i.more, label %single, label %done
done:
  %c.more = icmp ult i64 %c.next, %columns
  br i1 %c.more, label %across, label %next
next:
  %r.more = icmp ult i64 %r.next, %rows
  br i1 %r.more, label %down, label %end
end:
  ret void
}}
"""
