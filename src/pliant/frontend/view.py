"""Views: how to read a part of a storage's value, and how to put a new part back.

A view is a tuple of lenses, outermost last. `get` reads through one, `put` returns the whole
with the part replaced; putting through a chain gets and puts from the inside out.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, final

import numpy as np

from pliant.core.frozen import frozen
from pliant.core.ir import Const, Value, const
from pliant.core.types import DTYPES, itemsize
from pliant.errors import ReadOnlyError
from pliant.ops.bitcast import are_parts, bitcast, viewed
from pliant.ops.block import read_block, update_block
from pliant.ops.compare import equal
from pliant.ops.complex import Complex, imag, real
from pliant.ops.index import dynamic_slice, dynamic_update_slice
from pliant.ops.select import select
from pliant.ops.shape import Slice, permute, reshape
from pliant.ops.update import UpdateSlice


class Lens(ABC):
    """One step from a whole to a part of it."""

    @abstractmethod
    def get(self, whole: Value) -> Value:
        """The part."""

    @abstractmethod
    def numpy(self, whole: Any) -> Any:
        """The part of a NumPy array: a view of it, or a copy where NumPy has no view."""

    @abstractmethod
    def put(self, whole: Value, part: Value) -> Value:
        """The whole with the part replaced."""


@final
@frozen
class WholeLens(Lens):
    """All of it: another array object on the same memory, as `x[:]` is."""

    def get(self, whole: Value) -> Value:
        return whole

    def numpy(self, whole: Any) -> Any:
        return whole.view()

    def put(self, whole: Value, part: Value) -> Value:
        return part


@final
@frozen
class SliceLens(Lens):
    """Static starts, steps and lengths, one each per axis."""

    start: tuple[int, ...]
    step: tuple[int, ...]
    length: tuple[int, ...]

    def get(self, whole: Value) -> Value:
        return Slice(self.start, self.step, self.length)(whole)

    def numpy(self, whole: Any) -> Any:
        return whole[Slice(self.start, self.step, self.length).slices()]

    def put(self, whole: Value, part: Value) -> Value:
        is_all = self.length == whole.shape and all(d == 1 for d in self.step)
        return part if is_all else UpdateSlice(self.start, self.step)(whole, part)


@final
@frozen
class DynamicLens(Lens):
    """A window whose starts are values of the program; `starts` has one entry per axis."""

    starts: tuple[Value, ...]
    length: tuple[int, ...]

    def get(self, whole: Value) -> Value:
        return dynamic_slice(whole, self.starts, self.length)

    def numpy(self, whole: Any) -> Any:
        raise AssertionError("a view at a traced place is returned as a copy")

    def put(self, whole: Value, part: Value) -> Value:
        return dynamic_update_slice(whole, part, self.starts)


@final
@frozen
class BlockLens(Lens):
    """A window whose lengths too are values of the program, of at most `shape`; beyond them it reads zeros."""

    starts: tuple[Value, ...]
    lengths: tuple[Value, ...]
    shape: tuple[int, ...]
    step: tuple[int, ...]

    def get(self, whole: Value) -> Value:
        return read_block(whole, self.starts, self.lengths, self.shape, self.step)

    def numpy(self, whole: Any) -> Any:
        raise AssertionError("a view at a traced place is returned as a copy")

    def put(self, whole: Value, part: Value) -> Value:
        return update_block(whole, part, self.starts, self.lengths, self.step)


@final
@frozen
class PermuteLens(Lens):
    """Axes in another order."""

    order: tuple[int, ...]

    def get(self, whole: Value) -> Value:
        return permute(whole, self.order)

    def numpy(self, whole: Any) -> Any:
        return np.transpose(whole, self.order)

    def put(self, whole: Value, part: Value) -> Value:
        return permute(part, tuple(sorted(range(len(self.order)), key=lambda i: self.order[i])))


@final
@frozen
class ReshapeLens(Lens):
    """Another shape, the same elements in row-major order."""

    shape: tuple[int, ...]

    def get(self, whole: Value) -> Value:
        return reshape(whole, self.shape)

    def numpy(self, whole: Any) -> Any:
        return np.reshape(whole, self.shape)

    def put(self, whole: Value, part: Value) -> Value:
        return reshape(part, whole.shape)


@final
@frozen
class DiagonalLens(Lens):
    """The diagonal of each group of neighbouring axes of one extent; `counts` says how many axes each group has."""

    counts: tuple[int, ...]

    def lenses(self, shape: tuple[int, ...]) -> tuple[Lens, ...]:
        """The same by simpler steps, which NumPy takes only where the array is row-major."""
        ends = list(itertools.accumulate(self.counts))
        extents = tuple([shape[end - 1] for end in ends])
        steps = tuple([sum([n**k for k in range(c)]) for n, c in zip(extents, self.counts, strict=True)])
        merged = ReshapeLens(tuple([n**c for n, c in zip(extents, self.counts, strict=True)]))
        return merged, SliceLens((0,) * len(ends), steps, extents)

    def get(self, whole: Value) -> Value:
        return read(whole, self.lenses(whole.shape))

    def numpy(self, whole: Any) -> Any:
        axes = [n for n, count in enumerate(self.counts) for _ in range(count)]
        return np.einsum(whole, axes, list(range(len(self.counts))))

    def put(self, whole: Value, part: Value) -> Value:
        return write(whole, self.lenses(whole.shape), part)


@final
@frozen
class RealLens(Lens):
    """The real part of a complex array."""

    def get(self, whole: Value) -> Value:
        return real(whole)

    def numpy(self, whole: Any) -> Any:
        return whole.real

    def put(self, whole: Value, part: Value) -> Value:
        return Complex()(part, imag(whole))


@final
@frozen
class ImagLens(Lens):
    """The imaginary part of a complex array."""

    def get(self, whole: Value) -> Value:
        return imag(whole)

    def numpy(self, whole: Any) -> Any:
        return whole.imag

    def put(self, whole: Value, part: Value) -> Value:
        return Complex()(real(whole), part)


@final
@frozen
class DTypeLens(Lens):
    """The same bytes as elements of another dtype; the last axis gets longer or shorter."""

    before: str
    dtype: str

    def get(self, whole: Value) -> Value:
        return viewed(whole, self.dtype)

    def numpy(self, whole: Any) -> Any:
        return whole.view(DTYPES[self.dtype])

    def put(self, whole: Value, part: Value) -> Value:
        made = viewed(part, whole.dtype)
        if whole.type.kind != "f" or are_parts(whole.dtype, self.dtype):
            return made
        # elements that keep their bits keep their derivatives
        bits = f"u{8 * itemsize(whole.dtype)}"
        return select(equal(bitcast(made, bits), bitcast(whole, bits)), whole, made)


@final
@frozen
class ReadOnlyLens(Lens):
    """A view that NumPy does not let anyone write: `broadcast_to`, `diagonal`."""

    read: Callable[[Value], Value]
    show: Callable[[Any], Any]  # the same of a NumPy array
    name: str

    def get(self, whole: Value) -> Value:
        return self.read(whole)

    def numpy(self, whole: Any) -> Any:
        return self.show(whole)

    def put(self, whole: Value, part: Value) -> Value:
        message = f"assignment destination is read-only: it is the result of {self.name}"
        raise ReadOnlyError(message, hint="copy it first")


def chained(lenses: tuple[Lens, ...], more: tuple[Lens, ...]) -> tuple[Lens, ...]:
    """A view of a view; a slice of a slice is one."""
    match (*lenses[-1:], *more[:1]):
        case (SliceLens() as outer, SliceLens() as inner):
            axes = zip(outer.start, outer.step, inner.start, strict=True)
            start = tuple([s + d * i if n else s for (s, d, i), n in zip(axes, inner.length, strict=True)])
            step = tuple([d * e for d, e in zip(outer.step, inner.step, strict=True)])
            return (*lenses[:-1], SliceLens(start, step, inner.length), *more[1:])
        case _:
            return (*lenses, *more)


def is_static(lenses: tuple[Lens, ...]) -> bool:
    """Whether a NumPy array of the caller has the same view."""
    return not any(isinstance(lens, DynamicLens | BlockLens) for lens in lenses)


def look(array: Any, lenses: tuple[Lens, ...]) -> Any:
    """The part of a NumPy array that static lenses show."""
    for lens in lenses:
        array = lens.numpy(array)
    return array


def read(value: Value, lenses: tuple[Lens, ...]) -> Value:
    """The part of `value` that the lenses show."""
    rest = in_blocks(value.shape, of_rows(value.shape, lenses), moved=False)
    while rest:
        value = rest[0].get(value)
        rest = in_blocks(value.shape, of_rows(value.shape, rest[1:]))
    return value


def write(value: Value, lenses: tuple[Lens, ...], part: Value) -> Value:
    """`value` with the part that the lenses show replaced."""
    path: list[tuple[Value, Lens]] = []
    rest = in_blocks(value.shape, of_rows(value.shape, lenses), moved=False)
    while rest:
        path.append((value, rest[0]))
        value = rest[0].get(value) if len(rest) > 1 else value
        rest = in_blocks(value.shape, of_rows(value.shape, rest[1:]))
    for whole, lens in reversed(path):
        part = lens.put(whole, part)
    return part


def in_blocks(shape: tuple[int, ...], lenses: tuple[Lens, ...], *, moved: bool = True) -> tuple[Lens, ...]:
    """The lenses of an array, where a window at a traced place, and a slice before it, are one block.

    Rows `x[i, j]` of an array not `moved` by other lenses are left as they are: they are gathered,
    and scattered.
    """
    match lenses:
        case (SliceLens(start, step, length), DynamicLens(starts, lengths), *rest):
            axes = zip(starts, start, step, length, shape, strict=True)
            if not all([isinstance(i.op, Const) or (s, d, m) == (0, 1, n) for i, s, d, m, n in axes]):
                return lenses
        case (DynamicLens(starts, lengths), *rest):
            start, step = (0,) * len(shape), (1,) * len(shape)
        case _:
            return lenses
    places = tuple([_moved(i, s, d) for i, s, d in zip(starts, start, step, strict=True)])
    wholes = [(_number(i), d, m) == (0, 1, n) for i, d, m, n in zip(places, step, lengths, shape, strict=True)]
    rows = wholes.index(True) if True in wholes else len(wholes)
    if not moved and all(wholes[rows:]) and all([m == 1 for m in lengths[:rows]]):
        return (DynamicLens(places, lengths), *rest)
    return (BlockLens(places, tuple([const(m, "i64") for m in lengths]), lengths, step), *rest)


def _number(i: Value) -> int | None:
    return int(i.op.value.real) if isinstance(i.op, Const) else None


def _moved(i: Value, start: int, step: int) -> Value:
    """start + step·i."""
    number = _number(i)
    return i if number is None else const(start + step * number, "i64")


@final
@frozen
class Window:
    """What a lens takes along one axis: `start + step·p`, for p below a length of at most `most`."""

    start: Value
    length: Value
    most: int
    step: int

    def is_whole(self, extent: int) -> bool:
        """Whether it takes all of an axis as it is."""
        return (_number(self.start), self.step, _number(self.length), self.most) == (0, 1, extent, extent)


def windows(lens: Lens) -> list[Window]:
    """What a lens takes along each axis; nothing if it takes no windows."""
    match lens:
        case SliceLens(start, step, most):
            starts, lengths = ([const(n, "i64") for n in numbers] for numbers in (start, most))
        case DynamicLens(starts, most):
            step, lengths = (1,) * len(most), [const(n, "i64") for n in most]
        case BlockLens(starts, lengths, most, step):
            pass
        case _:
            return []
    return [Window(*axis) for axis in zip(starts, lengths, most, step, strict=True)]


def of_rows(shape: tuple[int, ...], lenses: tuple[Lens, ...]) -> tuple[Lens, ...]:
    """The lenses of an array, where a window of rows of it that are taken at a traced place, as in `x[k][i:j]`, is one
    of the array itself: then no row is read, or written, for a part of it."""
    match lenses:
        case (DynamicLens() | BlockLens() as rows, ReshapeLens(between), _, *_):
            part, *rest = _turned_last(lenses[2:])
        case _:
            return lenses
    inner = windows(part)
    joined = _joined(shape, windows(rows), inner, between) if inner else None
    if joined is None:
        return lenses
    shown = () if rest and isinstance(rest[0], ReshapeLens) else (ReshapeLens(tuple([w.most for w in inner])),)
    return of_rows(shape, (_of_windows(joined), *shown, *rest))


def _of_windows(windows: list[Window]) -> Lens:
    starts, most = tuple([w.start for w in windows]), tuple([w.most for w in windows])
    if all([_number(w.length) == w.most and w.step == 1 for w in windows]):
        return DynamicLens(starts, most)
    return BlockLens(starts, tuple([w.length for w in windows]), most, tuple([w.step for w in windows]))


def _turned_last(lenses: tuple[Lens, ...]) -> tuple[Lens, ...]:
    """Lenses, where windows of axes in another order are windows, in another order of axes."""
    match lenses:
        case (PermuteLens(order) as turn, inner, *rest) if found := windows(inner):
            return (_of_windows([found[order.index(axis)] for axis in range(len(order))]), turn, *rest)
        case _:
            return lenses


def _joined(
    shape: tuple[int, ...], outer: list[Window], inner: list[Window], between: tuple[int, ...]
) -> list[Window] | None:
    """The windows of an array that windows of windows of it are, which lose axes of one element between; None where
    along some axis neither takes all there is."""
    left, found = [*zip(inner, between, strict=True)], list[Window]()
    for w, extent in zip(reversed(outer), reversed(shape), strict=True):
        if left and left[-1][1] == w.most:
            v, _ = left.pop()
            if not (w.is_whole(extent) or v.is_whole(w.most)):
                return None
            w = w if v.is_whole(w.most) else v
        elif w.most != 1:
            return None
        found.append(w)
    return None if left else found[::-1]
