"""Windows that slide over an array: `np.lib.stride_tricks.sliding_window_view`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view as numpys

from pliant.core.ir import Value
from pliant.core.origin import here
from pliant.errors import ShapeError
from pliant.frontend.array import TracedArray, view
from pliant.frontend.convert import axes_of, shape_of
from pliant.frontend.functions.common import array_of, known, unsupported
from pliant.frontend.kinds import as_tuple
from pliant.frontend.view import ReadOnlyLens
from pliant.ops.windows import Windows


def sliding_window_view(
    x: Any, window_shape: Any, axis: Any = None, *, subok: bool = False, writeable: bool = False
) -> TracedArray:
    """All windows of a shape: a view that cannot be written. The axes of the windows come last."""
    array = array_of(x)
    extents = shape_of(known(window_shape, "window_shape="))
    if writeable:
        raise unsupported("sliding_window_view: writeable=True is not supported", "write to the array itself")
    along = tuple(int(a) for a in as_tuple(known(axis, "axis="))) if axis is not None else tuple(range(array.ndim))
    axes = tuple(axes_of(a, array.ndim)[0] for a in along)  # an axis may come twice
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


FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    np.lib.stride_tricks.sliding_window_view: sliding_window_view
}
"""NumPy's views of windows."""
