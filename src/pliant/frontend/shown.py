"""Parts of arrays of which a call's results say where they lie, or how long they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

from pliant.core.data import frozen
from pliant.core.origin import Origin
from pliant.errors import beyond
from pliant.frontend.view import BlockLens, Lens, SliceLens


@final
@frozen
class Window:
    """A part of the caller's array whose starts are results of the program, by number: a `DynamicLens` of the trace;
    or whose lengths are too: a `BlockLens`."""

    starts: tuple[int, ...]
    length: tuple[int, ...]
    origins: tuple[Origin, ...]
    lengths: tuple[int, ...] = ()
    step: tuple[int, ...] = ()

    def known(self, array: Any, results: Sequence[Any]) -> SliceLens:
        """The window of a call; IndexRangeError if it does not lie in the array."""
        starts = tuple(int(results[n]) for n in self.starts)
        if self.lengths:
            return SliceLens(starts, self.step, tuple(int(results[n]) for n in self.lengths))
        for axis, (start, length) in enumerate(zip(starts, self.length, strict=True)):
            if not 0 <= start <= array.shape[axis] - length:
                raise beyond(start, axis, array.shape[axis], length).at(("this slice", self.origins[axis]))
        return SliceLens(starts, (1,) * len(starts), self.length)


@final
@frozen
class Cut:
    """The first elements along each axis: as many as the result of that number says, or all."""

    counts: tuple[int | None, ...]

    def known(self, array: Any, results: Sequence[Any]) -> SliceLens:
        """The part of a call's array."""
        pairs = zip(array.shape, self.counts, strict=True)
        length = tuple([n if count is None else int(results[count]) for n, count in pairs])
        return SliceLens((0,) * len(length), (1,) * len(length), length)


def is_block(lenses: Sequence[Lens]) -> bool:
    """Whether a view is a block of lengths known at run time, of an array that has all its extents."""
    return [isinstance(lens, BlockLens) for lens in lenses].count(True) == 1 and isinstance(lenses[-1], BlockLens)
