"""Copies between arrays whose elements lie apart and rows of memory, as LLVM text."""

from __future__ import annotations

import math
from typing import TypeAlias, final

from pliant.backends.llvm.lines import Lines
from pliant.core.frozen import frozen
from pliant.core.types import Type, itemsize

Place: TypeAlias = "tuple[str, tuple[int, ...] | None]"  # of an array, and its strides in bytes if it is not row-major


def copy(w: Lines, type: Type, to: Place, of: Place, *, is_aligned: bool = True) -> None:
    """Copy an array to another place."""
    strides = [place[1] or row_major(type) for place in (to, of)]
    axes = [(n, a, b) for n, a, b in zip(type.shape, *strides, strict=True) if n > 1]
    if type.size:
        _nest(w, axes, _Element(itemsize(type.dtype), is_aligned), to[0], of[0])


def row_major(type: Type) -> tuple[int, ...]:
    """Strides in bytes of an array without gaps."""
    return tuple([itemsize(type.dtype) * math.prod(type.shape[axis + 1 :]) for axis in range(type.rank)])


def bounds(type: Type, strides: tuple[int, ...]) -> tuple[int, int]:
    """Where an array with elements begins and ends, in bytes from its first one."""
    reach = [s * (n - 1) for n, s in zip(type.shape, strides, strict=True)]
    return sum([r for r in reach if r < 0]), itemsize(type.dtype) + sum([r for r in reach if r > 0])


@final
@frozen
class _Element:
    """An element that is copied: its bytes, and whether it lies at a multiple of its size."""

    size: int
    is_aligned: bool


def _nest(w: Lines, axes: list[tuple[int, int, int]], item: _Element, to: str, of: str) -> None:
    """One loop per (extent, stride to, stride of)."""
    if not axes:
        _move(w, item, to, of)
        return
    (extent, ahead, behind), *inner = axes
    counter = w.local("i64")
    w.line(f"store i64 0, ptr {counter}")
    body, done = w.label("body"), w.label("done")
    w.begin(body)
    i = w.load("i64", counter)
    steps = [w.op(f"mul nsw i64 {i}, {stride}") for stride in (ahead, behind)]
    places = [w.op(f"getelementptr i8, ptr {p}, i64 {s}") for p, s in zip((to, of), steps, strict=True)]
    _nest(w, inner, item, *places)
    after = w.op(f"add nuw nsw i64 {i}, 1")
    w.line(f"store i64 {after}, ptr {counter}")
    w.line(f"br i1 {w.op(f'icmp ult i64 {after}, {extent}')}, label %{body}, label %{done}")
    w.begin(done)


def _move(w: Lines, item: _Element, to: str, of: str) -> None:
    type, align = f"i{8 * item.size}", min(item.size, 8) if item.is_aligned else 1
    w.line(f"store {type} {w.op(f'load {type}, ptr {of}, align {align}')}, ptr {to}, align {align}")
