"""Arrays of a call that overlap in memory: found before it, and traced as views of one storage.

Only what is written matters. A group holds a written array and all that share elements with it,
directly or through another written one. Its storage is flat: the elements from the lowest to the
highest of its members, each of which is a view of it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final, cast, final

import numpy as np
from numpy.lib.array_utils import byte_bounds
from numpy.lib.stride_tricks import as_strided

from pliant.core.data import frozen
from pliant.core.ir import Value
from pliant.core.types import SHORT, Type
from pliant.errors import DTypeError, ReadOnlyError
from pliant.frontend.memory import address_of
from pliant.frontend.view import DTypeLens, Lens, PermuteLens, ReshapeLens, SliceLens, WholeLens, read_only
from pliant.ops.index import scatter_set
from pliant.ops.strided import is_injective as injective
from pliant.ops.strided import places_of, strided

FEW: Final = 8  # pairs of arrays up to which each pair is tested
WORK: Final = 100_000  # of NumPy's exact test of two arrays; what is not settled then counts as overlapping


@final
@frozen
class Member:
    """One array of a group. Offset, shape and strides are in elements of the group's storage: where these are bytes,
    an element of the array is a last axis of them."""

    place: int  # among the leaves of the call, then the arrays read from outside
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    is_writeable: bool
    type: Type | None = None  # of the array, if its elements are not those of the storage

    @property
    def steps(self) -> list[tuple[int, int]]:
        """(stride, extent) of the axes that have a step, the longest stride first."""
        steps = [(s, n) for s, n in zip(self.strides, self.shape, strict=True) if n > 1]
        return sorted(steps, key=lambda p: -abs(p[0]))

    @property
    def run(self) -> tuple[int, int] | None:
        """Its elements in the storage, from the lowest to past the highest, if it has all of these."""
        extents = [n for _, n in self.steps]
        low = self.offset - _below(self)
        is_dense = [abs(s) for s, _ in self.steps] == contiguous(extents)
        return (low, low + math.prod(extents)) if is_dense else None

    @property
    def is_injective(self) -> bool:
        """Whether no element appears twice, as far as strides tell without search."""
        return injective(self.strides, self.shape)


@final
@frozen
class Group:
    """Overlapping arrays, and what their storage is: elements of the arrays, or bytes if these are of different
    widths or lie crooked."""

    members: tuple[Member, ...]
    dtype: Any
    size: int

    @property
    def type(self) -> Type:
        """IR type of the storage."""
        return Type(SHORT[self.dtype.name], (self.size,))

    @property
    def frame(self) -> tuple[Member, tuple[int, ...]] | None:
        """A member that is the whole storage without gaps, and its extents by falling stride."""
        for m in self.writeable_first:
            extents = tuple(n for _, n in m.steps)
            if m.offset == 0 and math.prod(extents) == self.size and [s for s, _ in m.steps] == contiguous(extents):
                return m, extents
        return None

    @property
    def writeable_first(self) -> list[Member]:
        """The members, those that may be written before the others."""
        return sorted(self.members, key=lambda m: not m.is_writeable)

    @property
    def is_whole(self) -> bool:
        """Whether each element of the storage is one of a member that may be written: then it can be written where it
        is."""
        end = 0
        for low, high in sorted([m.run for m in self.members if m.is_writeable and m.run]):
            if low > end:
                break
            end = max(end, high)
        return end == self.size

    def lenses(self) -> list[tuple[Lens, ...]]:
        """How each member looks at the storage: no two by the same lenses, as they are two arrays."""
        frame = self.frame
        frames = [*([frame[1]] if frame and len(frame[1]) > 1 else []), (self.size,)]
        made = [_lenses(m, frames, self.type) for m in self.members]
        return [lenses or ((WholeLens(),) if () in made[:n] else ()) for n, lenses in enumerate(made)]

    def flat(self, arrays: Sequence[Any]) -> Any:
        """The storage's elements as an array of one axis that shares the members' memory."""
        frame = self.frame
        if frame is not None:
            member = frame[0]
            order = sorted(range(len(member.shape)), key=lambda a: -member.strides[a])
            return np.transpose(self._cells(arrays[member.place]), order).reshape(-1)
        member = next(m for m in self.writeable_first if m.offset == _below(m))  # one holds the lowest element
        cells = self._cells(arrays[member.place])
        ascending = [slice(None, None, -1) if s < 0 else slice(None) for s in member.strides]
        lowest = cells[(..., *ascending)]  # the ellipsis keeps an array of rank 0 an array
        return as_strided(lowest, (self.size,), (self.dtype.itemsize,), writeable=self.is_whole)

    def write_back(self, arrays: Sequence[Any], value: Any) -> None:
        """Put the storage's elements into the members that may be written."""
        if self.is_whole:
            np.copyto(self.flat(arrays), value)
            return
        for m in self.members:
            if m.is_writeable:
                strides = tuple(s * value.itemsize for s in m.strides)
                new = as_strided(value[m.offset :], m.shape, strides, writeable=False)
                np.copyto(self._cells(arrays[m.place]), new)

    def _cells(self, array: Any) -> Any:
        """An array as elements of the storage."""
        if array.dtype == self.dtype:
            return array
        return (array if array.itemsize == self.dtype.itemsize else array[..., None]).view(self.dtype)


@final
@frozen
class Shared:
    """Where a group's storage comes from: the group, and its members' views."""

    group: Group
    lenses: tuple[tuple[Lens, ...], ...]

    def seen_through(self, lenses: tuple[Lens, ...]) -> tuple[int, tuple[Lens, ...]]:
        """The place of a member and the view of it that a view of the storage is."""
        best = max(self._prefixes(lenses), key=lambda m: len(m[1]))
        return best[0].place, lenses[len(best[1]) :]

    def _prefixes(self, lenses: tuple[Lens, ...]) -> Iterator[tuple[Member, tuple[Lens, ...]]]:
        for member, prefix in zip(self.group.members, self.lenses, strict=True):
            if len(prefix) <= len(lenses) and all(a is b for a, b in zip(prefix, lenses, strict=False)):
                yield member, prefix


@final
@frozen
class StridedLens(Lens):
    """Any strided view of a flat storage."""

    offset: int
    strides: tuple[int, ...]
    shape: tuple[int, ...]
    is_injective: bool

    def get(self, whole: Value) -> Value:
        return strided(whole, self.offset, self.strides, self.shape)

    def numpy(self, whole: Any) -> Any:
        steps = [s * whole.itemsize for s in self.strides]
        return as_strided(whole[self.offset :], self.shape, steps, writeable=self.is_injective)

    def put(self, whole: Value, part: Value) -> Value:
        if not self.is_injective:
            raise ReadOnlyError("assignment to an array with several elements in one place", hint="copy it first")
        places = places_of(self.offset, self.strides, self.shape)
        return scatter_set(whole, (places,), part, unique=True)


def groups_of(arrays: Sequence[Any], written: Collection[int]) -> tuple[Group, ...]:
    """The groups of overlapping arrays for writes to those numbered `written`; what is no array is passed over."""
    pairs = list(overlaps(arrays, written)) if written else []
    if not pairs:
        return ()
    owner: dict[int, set[int]] = {}
    for i, j in pairs:
        joined = owner.get(i, {i}) | owner.get(j, {j})
        for k in joined:
            owner[k] = joined
    parts = sorted({tuple(sorted(part)) for part in owner.values()})
    return tuple(_group(arrays, part) for part in parts)


def overlaps(arrays: Sequence[Any], written: Collection[int]) -> Iterator[tuple[int, int]]:
    """Pairs (written, other) that share an element."""
    others = [j for j, a in enumerate(arrays) if isinstance(a, np.ndarray)]
    if len(written) * len(others) <= FEW:
        near = ((i, j) for i in written for j in others if i != j and np.may_share_memory(arrays[i], arrays[j]))
    else:
        near = _near(arrays, set(written), others)
    for i, j in near:
        if share(arrays[i], arrays[j]):
            yield i, j


def _near(arrays: Sequence[Any], written: set[int], others: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Pairs whose intervals of memory meet, by a sweep over them."""
    active: list[tuple[int, int]] = []  # (end, number)
    for low, high, j in sorted([(*bounds(arrays[j]), j) for j in others if arrays[j].size]):
        if active:
            active = [(end, i) for end, i in active if end > low]
        for _, i in active:
            if i in written or j in written:
                yield (i, j) if i in written else (j, i)
        active.append((high, j))


def bounds(a: Any) -> tuple[int, int]:
    """First and past-the-end address of an array's elements."""
    if a.flags.forc:
        low = address_of(a)
        return low, low + a.nbytes
    return byte_bounds(a)


def share(a: Any, b: Any) -> bool:
    """Whether two arrays share an element; in doubt, yes."""
    if a is b:
        return bool(a.size)
    try:
        return np.may_share_memory(a, b) and bool(np.shares_memory(a, b, max_work=cast("Any", WORK)))
    except np.exceptions.TooHardError:
        return True


def is_injective(array: Any) -> bool:
    """Whether no two elements of an array lie in one place, as far as strides tell without search."""
    flags = array.flags
    return flags.c_contiguous or flags.f_contiguous or Member(0, 0, array.shape, array.strides, True).is_injective


def contiguous(extents: Sequence[int]) -> list[int]:
    """Strides of an array in row-major order."""
    return [math.prod(extents[a + 1 :]) for a in range(len(extents))]


_BYTES = "convert one with .astype(...), which copies it, to the byte order of this machine"


def _group(arrays: Sequence[Any], places: tuple[int, ...]) -> Group:
    """The group of the arrays at some places."""
    parts = [arrays[p] for p in places]
    base, end = min(bounds(a)[0] for a in parts), max(bounds(a)[1] for a in parts)
    dtype, unit = parts[0].dtype, parts[0].itemsize
    steps = [(address_of(a) - base, *a.strides) for a in parts]
    is_even = all([a.itemsize == unit and not any([n % unit for n in s]) for a, s in zip(parts, steps, strict=True)])
    is_of_one = is_even and len({a.dtype for a in parts}) == 1
    if not is_of_one and any([not a.dtype.isnative for a in parts]):
        kinds = " and ".join(sorted({str(a.dtype) for a in parts}))
        where = "" if is_even else ", and lie no whole number of elements apart"
        raise DTypeError(f"arrays that overlap, one of them written, have dtypes {kinds}{where}", hint=_BYTES)
    if not is_even:
        dtype, unit = np.dtype(np.uint8), 1
    members = [_member(place, a, address_of(a) - base, dtype) for place, a in zip(places, parts, strict=True)]
    return Group(tuple(members), dtype, (end - base) // unit)


def _member(place: int, a: Any, offset: int, dtype: np.dtype[Any]) -> Member:
    """An array that begins `offset` bytes behind a storage of elements of `dtype`."""
    unit = dtype.itemsize
    cells = () if a.itemsize == unit else (a.itemsize // unit,)
    own = None if a.dtype == dtype else Type(SHORT[a.dtype.name], a.shape)
    strides = (*(s // unit for s in a.strides), *(1 for _ in cells))
    return Member(place, offset // unit, (*a.shape, *cells), strides, bool(a.flags.writeable), own)


def _below(m: Member) -> int:
    """How far the first element lies above the lowest."""
    return sum(-s * (n - 1) for s, n in zip(m.strides, m.shape, strict=True) if s < 0)


def _lenses(m: Member, frames: Sequence[tuple[int, ...]], storage: Type) -> tuple[Lens, ...]:
    """How a member looks at a flat storage: by slices of it in one of the frames, or by arithmetic."""
    for frame in frames:
        made = _sliced(m, frame, storage.size)
        if made is not None:
            break
    else:
        made = (StridedLens(m.offset, m.strides, m.shape, m.is_injective),)
    if m.type is not None:
        made = (*made, DTypeLens(storage.dtype, m.type.dtype))
        made = (*made, ReshapeLens(m.type.shape)) if len(m.shape) > m.type.rank else made
    return made if m.is_writeable else (*made, read_only("a read-only view"))


def _sliced(m: Member, frame: tuple[int, ...], size: int) -> tuple[Lens, ...] | None:
    """A member as a slice of the storage reshaped to `frame`; None where it is none."""
    units = contiguous(frame)
    start = [m.offset // unit % n for unit, n in zip(units, frame, strict=True)]
    step, length = [1] * len(frame), [1] * len(frame)
    owner: list[int] = []  # axis of the frame for each axis of the member that has a step
    for stride, n in zip(m.strides, m.shape, strict=True):
        if n == 1:
            continue
        fitting = [
            a for a, unit in enumerate(units)
            if a not in owner and stride and stride % unit == 0 and 0 <= start[a] + stride // unit * (n - 1) < frame[a]
        ]  # fmt: skip
        if not fitting:
            return None
        step[fitting[0]], length[fitting[0]] = stride // units[fitting[0]], n
        owner.append(fitting[0])
    rows = tuple(length[a] for a in sorted(owner))
    order = tuple(sorted(owner).index(a) for a in owner)
    steps = (
        (ReshapeLens(frame), (size,) != frame),
        (SliceLens(tuple(start), tuple(step), tuple(length)), tuple(length) != frame or any(d != 1 for d in step)),
        (ReshapeLens(rows), tuple(length) != rows),
        (PermuteLens(order), order != tuple(range(len(order)))),
        (ReshapeLens(m.shape), tuple(rows[a] for a in order) != m.shape),
    )
    return tuple(lens for lens, is_needed in steps if is_needed)
