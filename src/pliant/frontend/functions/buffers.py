"""`np.frombuffer`: the memory of an array as elements of a dtype along one axis, a view."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.core.origin import here
from pliant.core.types import itemsize
from pliant.errors import DTypeError, ShapeError
from pliant.frontend.adopt import adopt, has_traced
from pliant.frontend.array import TracedArray
from pliant.frontend.convert import short
from pliant.frontend.functions.common import known, unsupported
from pliant.frontend.functions.methods import view
from pliant.frontend.strides import is_whole


def frombuffer(buffer: Any, dtype: Any = float, count: Any = -1, offset: Any = 0, *, like: Any = None) -> Any:
    """np.frombuffer."""
    count, offset = int(known(count, "count=")), int(known(offset, "offset="))
    if not has_traced((buffer,)):
        return adopt(np.frombuffer(buffer, dtype, count, offset))
    if type(buffer) is not TracedArray or buffer.is_weak:
        got = f"a traced number {buffer.type}" if type(buffer) is TracedArray else f"a {type(buffer).__name__}"
        message, hint = f"np.frombuffer: a bytes-like object is required, not {got}", "make an array of it: np.array(x)"
        raise DTypeError(message, hint=hint).at(("here", here()))
    _check_order(buffer)
    old = itemsize(buffer.type.dtype)
    start, stop = _part(buffer.size * old, itemsize(short(dtype)), count, offset)
    flat = buffer.reshape(-1)
    if start % old or stop % old:
        flat, old = view(flat, np.uint8), 1
    return view(flat[start // old : stop // old], dtype)


def _check_order(x: TracedArray) -> None:
    """ShapeError where elements do not lie one after the other."""
    in_order = is_whole(x, "C")
    if in_order is None:
        raise unsupported("np.frombuffer of an array of unknown strides", "copy it first")
    if not in_order:
        hint = "np.ascontiguousarray(x) is a copy that is"
        raise ShapeError("np.frombuffer: the array is not C-contiguous", hint=hint).at(("here", here()))


def _part(size: int, width: int, count: int, offset: int) -> tuple[int, int]:
    """Where the bytes of so many elements, or of all from an offset on, begin and end."""
    if not 0 <= offset <= size:
        raise ShapeError(
            f"np.frombuffer: offset must be non-negative and no greater than buffer length ({size}), got {offset}"
        ).at(("here", here()))
    left = size - offset
    if count < 0 and left % width:
        message = f"np.frombuffer: buffer size must be a multiple of element size: {left} bytes, elements of {width}"
        raise ShapeError(message, hint="offset= and count= take a part of it").at(("here", here()))
    if count * width > left:
        message = f"np.frombuffer: buffer is smaller than requested size: {count} elements of {width} in {left} bytes"
        raise ShapeError(message, hint="count=-1 takes all there are").at(("here", here()))
    return offset, offset + (count * width if count >= 0 else left)
