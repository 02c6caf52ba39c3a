"""Reading and writing through lenses, in as few steps as can be: a part of a row of an array is a part of the array."""

from __future__ import annotations

from typing import final

from pliant.core.build import number_of
from pliant.core.data import frozen
from pliant.core.ir import Const, Value, const
from pliant.frontend.view import BlockLens, DynamicLens, Lens, PermuteLens, ReshapeLens, SliceLens
from pliant.ops.shape import Reshape, Slice
from pliant.ops.update import Window as Write
from pliant.ops.update import misses


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


def is_shown(lenses: tuple[Lens, ...], old: Value, new: Value) -> bool:
    """Whether the lenses may show what writes have changed of an array since it was an older one."""
    shape = old.shape
    if lenses and type(lenses[0]) is ReshapeLens:
        shape, lenses = lenses[0].shape, lenses[1:]
    lens = lenses[0] if lenses else None
    seen = Slice(lens.start, lens.step, lens.length) if type(lens) is SliceLens else None
    while new is not old:
        is_apart = isinstance(new.op, Write) and new.shape == shape and seen is not None and misses(new, seen)
        if not (is_apart or isinstance(new.op, Reshape)):
            return True
        new = new.args[0]
    return False


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
    wholes = [(number_of(i), d, m) == (0, 1, n) for i, d, m, n in zip(places, step, lengths, shape, strict=True)]
    rows = wholes.index(True) if True in wholes else len(wholes)
    if not moved and all(wholes[rows:]) and all([m == 1 for m in lengths[:rows]]):
        return (DynamicLens(places, lengths), *rest)
    return (BlockLens(places, tuple([const(m, "i64") for m in lengths]), lengths, step), *rest)


def _moved(i: Value, start: int, step: int) -> Value:
    """start + step·i."""
    number = number_of(i)
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
        return (number_of(self.start), self.step, number_of(self.length), self.most) == (0, 1, extent, extent)


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
    if all([number_of(w.length) == w.most and w.step == 1 for w in windows]):
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
