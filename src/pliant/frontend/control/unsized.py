"""Arrays of which it is known only at run time how many elements they have, as they go from step to step, or where one
is one of two: an array of the greatest extents that it can have, and the extents that it has.

while y.size > 2:
    y = y[y < y.max()]          y never has more elements than before: the bound of a step is that of the next one
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, final

import numpy as np

from pliant.core import ir
from pliant.core.data import frozen
from pliant.core.ir import Value, const, param
from pliant.core.types import Type
from pliant.frontend.array import TracedArray
from pliant.frontend.blocks import Extent
from pliant.frontend.bounded import Bounded, bounded, extents_of, whole_of
from pliant.frontend.convert import as_traced, cast_value
from pliant.frontend.number import Kind, is_exact, with_kind
from pliant.frontend.selection import Selection, all_listed
from pliant.frontend.sizes import Size, note_range, size_of, taken_apart
from pliant.frontend.view import BlockLens, SliceLens
from pliant.ops.update import pad


@final
@frozen
class Unsized:
    """What such an array is to a loop or a branch: the kind of the whole, and its extents, None for those that are not
    known."""

    kind: Kind
    extents: tuple[int | None, ...]

    @classmethod
    def of(cls, x: Any) -> Unsized:
        """What an array is, whether its extents are known or not."""
        extents = extents_of(x)
        return cls(Kind(whole_of(x).type), tuple([None if isinstance(n, Size) else n for n in extents]))

    @property
    def room(self) -> tuple[int, ...]:
        """The greatest extents."""
        return self.kind.type.shape

    def joined(self, other: Unsized) -> Unsized | None:
        """What holds both; None if they have not as many axes."""
        if len(self.extents) != len(other.extents):
            return None
        room = tuple(map(max, self.room, other.room))
        kind = Kind(Type(self.kind.type.dtype, room)).joined(Kind(Type(other.kind.type.dtype, room)))
        pairs = zip(self.extents, other.extents, strict=True)
        return None if kind is None else Unsized(kind, tuple([a if a == b else None for a, b in pairs]))

    def is_exact(self, x: Any) -> bool:
        """Whether nobody sees a difference if x is taken for one of these."""
        whole = whole_of(x)
        return is_exact(whole, Kind(whole.type), Kind(whole.type.with_dtype(self.kind.type.dtype)))

    def params(self, hint: str) -> list[Value]:
        """Parameters for one of these."""
        counts = [param(Type("i64"), f"size_of_{hint}") for n in self.extents if n is None]
        return [param(self.kind.type, hint), *counts]

    def whole(self, x: Any) -> Value:
        """What an array holds, and zeros in the room that is left."""
        value = cast_value(whole_of(x).value, self.kind.type.dtype)
        more = tuple([n - m for n, m in zip(self.room, value.shape, strict=True)])
        return pad(value, (0,) * len(more), more) if any(more) else value

    def view(self, x: TracedArray) -> TracedArray | None:
        """An array as a view with the greatest extents, of which it is as much; None if there is not so much memory."""
        last = next((lens for lens in x.lenses[-1:] if isinstance(lens, SliceLens | BlockLens)), None)
        before = x.lenses if last is None else x.lenses[:-1]
        if any([n < m for n, m in zip(TracedArray(x.storage, before).shape, self.room, strict=True)]):
            return None
        if isinstance(last, BlockLens):
            return TracedArray(x.storage, (*before, replace(last, shape=self.room)))
        last = last or SliceLens((0,) * x.ndim, (1,) * x.ndim, x.shape)
        starts, lengths = [tuple([const(n, "i64") for n in numbers]) for numbers in (last.start, last.length)]
        return TracedArray(x.storage, (*before, BlockLens(starts, lengths, self.room, last.step)))

    def counts(self, x: Any) -> list[Value]:
        """The extents of an array that are known only at run time."""
        return [size_of(n).value for n, known in zip(extents_of(x), self.extents, strict=True) if known is None]

    def part(self, x: Any, n: int) -> Value:
        """The n-th of the values that an array is: the whole, and these extents."""
        return self.counts(x)[n - 1] if n else self.whole(x)

    def made(self, whole: TracedArray, counts: Sequence[Value]) -> Bounded:
        """The array of a whole, and these extents."""
        rest = iter(counts)
        extents = [extent_of(next(rest), m) if n is None else n for n, m in zip(self.extents, self.room, strict=True)]
        return Bounded(whole, extents)

    def nothing(self) -> Bounded:
        """One without elements."""
        counts = [const(0, "i64") for n in self.extents if n is None]
        return self.made(with_kind(ir.operators.zeros(self.kind.type), self.kind), counts)


def is_unsized(x: Any) -> bool:
    """Whether it is known only at run time how many elements an array has."""
    return type(x) in (Bounded, Selection)


def is_array(x: Any) -> bool:
    """Whether something is an array that can be written, of extents that are known or not."""
    return as_array(x) is not None


def as_array(x: Any) -> TracedArray | None:
    """An array that can be written, of its greatest extents; None for anything else."""
    array = whole_of(all_listed(x)) if is_unsized(x) else as_traced(x) if isinstance(x, np.ndarray) else x
    return array if type(array) is TracedArray and not (array.is_scalar or array.is_weak) else None


def are_of_extents(x: Any, y: Any) -> bool:
    """Whether two are arrays that have as many axes, but other extents."""
    one, other = as_array(x), as_array(y)
    return one is not None and other is not None and one.shape != other.shape and one.ndim == other.ndim


def is_shorter(x: Any, y: Any) -> bool:
    """Whether an array has fewer elements along some axes than another one, and as many along the others."""
    return are_of_extents(x, y) and all([m <= n for m, n in zip(whole_of(x).shape, whole_of(y).shape, strict=True)])


def extent_of(count: Value, most: int) -> Extent:
    """A number of elements along an axis, of which it is known that there are not more than `most`."""
    size = taken_apart(count)
    if size.range[1] is None:
        note_range(count, 0, most)
        size = taken_apart(count)
    return size if size.known is None else size.known


def with_extents(whole: TracedArray, extents: Sequence[Extent]) -> Any:
    """The first elements of an array along each axis."""
    if all([isinstance(n, Size) or n == m for n, m in zip(extents, whole.shape, strict=True)]):
        return bounded(whole, extents)
    return bounded(whole[tuple([slice(n if isinstance(n, int) else None) for n in extents])], extents)
