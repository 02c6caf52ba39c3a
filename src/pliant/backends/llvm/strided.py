"""Copies between arrays whose elements lie apart and rows of memory, as LLVM text."""

from __future__ import annotations

import math

from pliant.backends.llvm.lines import Lines
from pliant.core.types import Type, itemsize


def gather(w: Lines, type: Type, strides: tuple[int, ...], of: str, to: str) -> None:
    """Copy an array, whose strides are in bytes, to a row-major one."""
    _copy(w, type, (to, row_major(type)), (of, strides))


def scatter(w: Lines, type: Type, strides: tuple[int, ...] | None, of: str, to: str) -> None:
    """Copy a row-major array to one with other strides, in bytes, or to another row-major one."""
    _copy(w, type, (to, strides or row_major(type)), (of, row_major(type)))


def row_major(type: Type) -> tuple[int, ...]:
    """Strides in bytes of an array without gaps."""
    return tuple([itemsize(type.dtype) * math.prod(type.shape[axis + 1 :]) for axis in range(type.rank)])


def bounds(type: Type, strides: tuple[int, ...]) -> tuple[int, int]:
    """Where an array with elements begins and ends, in bytes from its first one."""
    reach = [s * (n - 1) for n, s in zip(type.shape, strides, strict=True)]
    return sum([r for r in reach if r < 0]), itemsize(type.dtype) + sum([r for r in reach if r > 0])


def _copy(w: Lines, type: Type, to: tuple[str, tuple[int, ...]], of: tuple[str, tuple[int, ...]]) -> None:
    axes = [(n, a, b) for n, a, b in zip(type.shape, to[1], of[1], strict=True) if n > 1]
    if type.size:
        _nest(w, axes, itemsize(type.dtype), to[0], of[0])


def _nest(w: Lines, axes: list[tuple[int, int, int]], item: int, to: str, of: str) -> None:
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


def _move(w: Lines, item: int, to: str, of: str) -> None:
    type, align = f"i{8 * item}", min(item, 8)
    w.line(f"store {type} {w.op(f'load {type}, ptr {of}, align {align}')}, ptr {to}, align {align}")
