"""Which elements of its storage a view shows: decides, as NumPy does, whether a reshape is a view."""

from __future__ import annotations

import math
from typing import TypeAlias

from pliant.frontend.array import TracedArray
from pliant.frontend.view import DynamicLens, ImagLens, Lens, PermuteLens, RealLens, ReshapeLens, SliceLens

Extents: TypeAlias = "tuple[int, ...]"


def contiguous(shape: Extents) -> Extents:
    """The strides, in elements, of an array in row-major order."""
    return tuple(math.prod(shape[a + 1 :]) for a in range(len(shape)))


def strides_of(x: TracedArray) -> Extents | None:
    """Strides of a view in a row-major storage, in elements; None where it has none."""
    found = layout(x)
    return found[1] if found is not None else None


def layout(x: TracedArray) -> tuple[Extents, Extents] | None:
    """Shape and strides of a view in a row-major storage."""
    storage = x.storage
    shape = tuple(storage.concrete.shape) if storage.concrete is not None else storage.value.shape
    at: tuple[Extents, Extents] | None = shape, storage.strides or contiguous(shape)
    for lens in x.lenses:
        at = _through(lens, *at) if at is not None else None
    return at


def _through(lens: Lens, shape: Extents, strides: Extents) -> tuple[Extents, Extents] | None:
    if isinstance(lens, SliceLens):
        return lens.length, tuple(s * d for s, d in zip(strides, lens.step, strict=True))
    if isinstance(lens, DynamicLens):
        return lens.length, strides
    if isinstance(lens, PermuteLens):
        return tuple(shape[a] for a in lens.order), tuple(strides[a] for a in lens.order)
    if isinstance(lens, ReshapeLens):
        new = reshaped(shape, strides, lens.shape)
        return (lens.shape, new) if new is not None else None
    if isinstance(lens, RealLens | ImagLens):
        return shape, tuple(2 * s for s in strides)
    return None


def reshaped(shape: Extents, strides: Extents, new: Extents) -> Extents | None:
    """Strides that show the same elements in the same order under another shape, if there are any."""
    if 0 in shape:
        return contiguous(new)
    runs: list[tuple[int, int]] = []  # how many elements lie evenly spaced, and how far apart
    for n, stride in zip(shape, strides, strict=True):
        if runs and runs[-1][1] == n * stride:
            runs[-1] = (runs[-1][0] * n, stride)
        elif n != 1:
            runs.append((n, stride))
    made: list[int] = []
    left, step = 1, 1
    for n in reversed(new):
        if left == 1 and n != 1:
            left, step = runs.pop()
        if left % n:
            return None
        made.append(step)
        left, step = left // n, step * n
    return tuple(reversed(made))


def is_row_major(x: TracedArray) -> bool:
    """Whether a view's elements lie one after the other in its storage."""
    found = layout(x)
    return found is not None and _agrees(*found, contiguous(found[0]))


def is_column_major(x: TracedArray) -> bool:
    """Whether a view's elements lie one after the other in its storage, the first axis fastest."""
    found = layout(x)
    if found is None:
        return False
    shape, strides = found
    return _agrees(shape[::-1], strides[::-1], contiguous(shape[::-1]))


def _agrees(shape: Extents, strides: Extents, wanted: Extents) -> bool:
    return 0 in shape or all(n == 1 or s == w for n, s, w in zip(shape, strides, wanted, strict=True))
