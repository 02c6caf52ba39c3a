"""Windows that slide over an array: `sliding_window_view` and `as_strided` of `np.lib.stride_tricks`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided as numpys_strided
from numpy.lib.stride_tricks import sliding_window_view as numpys

from pliant.core.ir import Value
from pliant.core.origin import here
from pliant.core.types import itemsize
from pliant.errors import ShapeError
from pliant.frontend.array import TracedArray, view
from pliant.frontend.convert import axis_of, each_axis, shape_of
from pliant.frontend.functions.common import array_of, known, unsupported
from pliant.frontend.functions.methods import bytes_apart
from pliant.frontend.functions.shape import transpose
from pliant.frontend.strides import axes_in_memory, is_row_major, start_of
from pliant.frontend.view import ReadOnlyLens
from pliant.ops.shape import reshape
from pliant.ops.strided import strided
from pliant.ops.windows import Windows


def sliding_window_view(
    x: Any, window_shape: Any, axis: Any = None, *, subok: bool = False, writeable: bool = False
) -> TracedArray:
    """All windows of a shape: a view that cannot be written. The axes of the windows come last."""
    array = array_of(x)
    extents = shape_of(known(window_shape, "window_shape="))
    if writeable:
        raise unsupported("sliding_window_view: writeable=True is not supported", "write to the array itself")
    along = each_axis(known(axis, "axis=")) if axis is not None else range(array.ndim)
    axes = tuple(axis_of(a, array.ndim) for a in along)  # one may come twice
    if len(axes) != len(extents):
        raise ShapeError(f"{len(extents)} extents of a window for {len(axes)} axes").at(("here", here()))
    left = list(array.shape)
    for a, n in zip(axes, extents, strict=True):
        left[a] -= n - 1
    if min(extents, default=0) < 0 or min(left, default=0) < 0:
        raise ShapeError(f"a window of shape {extents} is larger than {array.type}").at(("here", here()))

    def read(value: Value) -> Value:
        return Windows(axes, extents)(value)

    def show(plain: Any) -> Any:
        return numpys(plain, extents, axes)

    return view(array, ReadOnlyLens(read, show, "sliding_window_view"))


def as_strided(
    x: Any, shape: Any = None, strides: Any = None, subok: bool = False, writeable: bool = True
) -> TracedArray:
    """A view of other extents and strides, in bytes, which cannot be written: of the memory of an array, and of no
    element outside of it."""
    array = array_of(x)
    extents = array.shape if shape is None else shape_of(known(shape, "shape="))
    apart = bytes_apart(array) if strides is None else shape_of(known(strides, "strides="))
    if len(extents) != len(apart) or min(extents, default=0) < 0:
        raise ShapeError(f"as_strided: {len(apart)} strides for the shape {extents}").at(("here", here()))
    item = itemsize(array.type.dtype)
    found = _memory(array)
    if found is None or any([step % item for step in apart]):
        raise unsupported(
            "as_strided of parts of elements, or of an array of which it is not known how it lies in memory",
            "use sliding_window_view(x, n), or copy x first",
        )
    memory, start = found
    steps = tuple([step // item for step in apart])
    reach = [step * (n - 1) for step, n in zip(steps, extents, strict=True)]
    low, high = (start + sum([limit(r, 0) for r in reach]) for limit in (min, max))
    if 0 not in extents and not 0 <= low <= high < memory.size:
        raise ShapeError(
            f"as_strided: elements {low} to {high} are asked for of {memory.type}", hint="other memory is not its own"
        ).at(("here", here()))

    def read(value: Value) -> Value:
        return strided(reshape(value, (value.type.size,)), start, steps, extents)

    def show(plain: Any) -> Any:
        line = plain.reshape(-1)
        return numpys_strided(line[start:], extents, [step * line.strides[0] for step in steps])

    return view(memory, ReadOnlyLens(read, show, "as_strided"))


def _memory(x: TracedArray) -> tuple[TracedArray, int] | None:
    """An array whose elements lie in order, one after the other, and which of them is the first one of x; None if that
    is not known."""
    start, whole = start_of(x), TracedArray(x.storage)
    axes = axes_in_memory(whole)
    line = None if start is None or axes is None else transpose(whole, axes)
    if start is not None and line is not None and is_row_major(line):
        return line, start
    return (x, 0) if is_row_major(x) else None


FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    np.lib.stride_tricks.sliding_window_view: sliding_window_view
}
"""NumPy's views of windows."""
