"""`x.flat`: the elements of an array in row-major order, to read, to write, and one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, final

import numpy as np

from pliant.core.origin import here
from pliant.errors import IndexRangeError, ShapeError
from pliant.frontend.array import TracedArray, fresh
from pliant.frontend.convert import stored, value_of
from pliant.frontend.kinds import as_tuple
from pliant.ops.shape import reshape


@final
class Flat:
    """NumPy's `flatiter`. What is read is a copy; fewer values than places are written again from the first."""

    __slots__ = ("base",)

    def __init__(self, base: TracedArray) -> None:
        self.base = base

    def __len__(self) -> int:
        return self.base.size

    def __iter__(self) -> Iterator[Any]:
        return iter(self.copy())

    def copy(self) -> TracedArray:
        """All elements as a new array of one axis."""
        return fresh(reshape(self.base.value, (self.base.size,)), is_array=True)

    def __getitem__(self, key: Any) -> Any:
        part = self.copy()[_key(key)]
        return fresh(part.value, is_array=True) if part.shape else part

    def __setitem__(self, key: Any, y: Any) -> None:
        elements, key = self.copy(), _key(key)
        new = fresh(stored(y, self.base.type.dtype), is_array=True)
        shape = elements[key].shape
        if not shape and new.shape:
            raise ShapeError("Error setting single item of array.").at(("written here", here()))
        if not new.size:
            return
        value = fresh(reshape(new.value, (new.size,)), is_array=True) if new.size != 1 else new.reshape(())
        elements[key] = np.resize(value, shape) if new.size > 1 else value
        self.base.replace(reshape(value_of(elements), self.base.shape))


def _key(key: Any) -> Any:
    """An index of an array of one axis."""
    if isinstance(key, tuple):
        keys = as_tuple(key)
        if len(keys) != 1:
            message = f"too many indices for flat iterator: it has one axis, but {len(keys)} were indexed"
            raise IndexRangeError(message).at(("indexed here", here()))
        return keys[0]
    return slice(None) if key is Ellipsis else key
