"""Copies between arrays whose elements lie apart and rows of memory, as LLVM text."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final, TypeAlias, final

from pliant.backends.llvm.lines import Lines
from pliant.core.data import frozen
from pliant.core.types import Type, itemsize

Place: TypeAlias = "tuple[str, tuple[int, ...] | None]"  # of an array, and its strides in bytes if it is not row-major
_Axis: TypeAlias = "tuple[int, int, int]"  # extent, strides ahead and behind

TOGETHER: Final = 8
"""Elements that are read before they are written."""


def copy(w: Lines, type: Type, to: Place, of: Place, *, is_aligned: bool = True) -> None:
    """Copy an array to another place: runs of elements side by side at once, others several at a time."""
    if not type.size:
        return
    size = itemsize(type.dtype)
    strides = [place[1] or row_major(type) for place in (to, of)]
    axes = _merged(list(zip(type.shape, *strides, strict=True)))
    run = 1
    if axes and axes[-1][1:] == (size, size):
        run = axes.pop()[0]
    _nest(w, axes, _Element(size, run, is_aligned), to[0], of[0])


def _merged(axes: list[_Axis]) -> list[_Axis]:
    """The axes that have a step, those walked as one put together."""
    made = list[_Axis]()
    for n, ahead, behind in axes:
        if made and made[-1][1:] == (n * ahead, n * behind):
            made[-1] = made[-1][0] * n, ahead, behind
        elif n > 1:
            made.append((n, ahead, behind))
    return made


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
    """What is copied at a place: so many elements of some bytes each, and whether they lie at multiples of these."""

    size: int
    count: int
    is_aligned: bool

    def move(self, w: Lines, pairs: list[tuple[str, str]]) -> None:
        """Copy to the first place of each pair from the second; none overlaps another."""
        if self.count > 1:
            for to, of in pairs:
                w.line(f"call void @llvm.memcpy.p0.p0.i64(ptr {to}, ptr {of}, i64 {self.size * self.count}, i1 false)")
            return
        type, align = f"i{8 * self.size}", min(self.size, 8) if self.is_aligned else 1
        read = [w.op(f"load {type}, ptr {of}, align {align}") for _, of in pairs]
        for (to, _), x in zip(pairs, read, strict=True):
            w.line(f"store {type} {x}, ptr {to}, align {align}")


def _nest(w: Lines, axes: list[_Axis], item: _Element, to: str, of: str) -> None:
    """One loop per axis."""
    if not axes:
        item.move(w, [(to, of)])
        return
    (extent, ahead, behind), *inner = axes
    if inner or item.count > 1:
        _loop(w, extent, (ahead, behind), (to, of), lambda a, b: _nest(w, inner, item, a, b))
        return

    def several(count: int, to: str, of: str) -> None:
        item.move(w, [(w.at(to, n * ahead), w.at(of, n * behind)) for n in range(count)])

    blocks, rest = divmod(extent, TOGETHER)
    if blocks:
        steps = ahead * TOGETHER, behind * TOGETHER
        _loop(w, blocks, steps, (to, of), lambda a, b: several(TOGETHER, a, b))
    several(rest, w.at(to, (extent - rest) * ahead), w.at(of, (extent - rest) * behind))


def _loop(
    w: Lines, extent: int, strides: tuple[int, int], places: tuple[str, str], body: Callable[[str, str], None]
) -> None:  # fmt: skip
    """A loop whose body gets two places that move on."""
    counter = w.local("i64")
    w.line(f"store i64 0, ptr {counter}")
    begin, done = w.label("body"), w.label("done")
    w.begin(begin)
    i = w.load("i64", counter)
    steps = [w.op(f"mul nsw i64 {i}, {stride}") for stride in strides]
    to, of = (w.op(f"getelementptr i8, ptr {p}, i64 {s}") for p, s in zip(places, steps, strict=True))
    body(to, of)
    after = w.op(f"add nuw nsw i64 {i}, 1")
    w.line(f"store i64 {after}, ptr {counter}")
    w.line(f"br i1 {w.op(f'icmp ult i64 {after}, {extent}')}, label %{begin}, label %{done}")
    w.begin(done)
