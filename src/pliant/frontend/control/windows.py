"""A name that each step binds to a window of one array at another place: the place is carried, and what lies there is
read and written where it lies.

    for i in range(1, n):           after a step, row is M[i]:
        row *= s                    in the next one this is a write to M[i - 1]
        row = M[i]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import final

from pliant.core.build import number_of
from pliant.core.data import frozen
from pliant.core.ir import Value, const
from pliant.frontend.array import TracedArray
from pliant.frontend.tracing import Storage
from pliant.frontend.view import DynamicLens, Lens, SliceLens


@final
@frozen
class Window:
    """The plan for such a name: the allocation, its lenses without their starts, and those starts that are the same in
    all steps; None for the others."""

    storage: Storage
    lenses: tuple[Lens, ...]
    starts: tuple[int | None, ...]

    def at(self, places: Sequence[Value]) -> TracedArray:
        """The array whose other starts are these."""
        rest = iter(places)
        starts = iter([next(rest) if n is None else const(n, "i64") for n in self.starts])
        return TracedArray(self.storage, tuple([_placed(lens, starts) for lens in self.lenses]))

    def places(self, x: TracedArray) -> list[Value]:
        """The other starts of a window."""
        return [p for p, n in zip(_starts(x), self.starts, strict=True) if n is None]


def window_of(first: TracedArray, x: TracedArray) -> Window | None:
    """What two windows of one array have in common; None if they differ in more than where they begin."""
    if first.storage is not x.storage or type(x.storage) is not Storage:
        return None
    ones, others = (tuple(map(_placeless, a.lenses)) for a in (first, x))
    if ones != others:
        return None
    known = [[number_of(start) for start in _starts(seen)] for seen in (first, x)]
    return Window(x.storage, ones, tuple([a if a == b else None for a, b in zip(*known, strict=True)]))


def _placed(lens: Lens, starts: Iterator[Value]) -> Lens:
    return replace(lens, starts=tuple([next(starts) for _ in lens.length])) if isinstance(lens, DynamicLens) else lens


def _placeless(lens: Lens) -> Lens:
    match lens:
        case DynamicLens():
            return replace(lens, starts=())
        case SliceLens() if _is_plain(lens):
            return DynamicLens((), lens.length)
        case _:
            return lens


def _starts(x: TracedArray) -> list[Value]:
    found = list[Value]()
    for lens in x.lenses:
        if isinstance(lens, DynamicLens):
            found += lens.starts
        elif isinstance(lens, SliceLens) and _is_plain(lens):
            found += [const(n, "i64") for n in lens.start]
    return found


def _is_plain(lens: SliceLens) -> bool:
    return all([d == 1 for d in lens.step])
