"""Arguments that are read where they lie: what is passed of an array that is not row-major is its memory, from its
lowest element to its highest, as a vector of which it is a strided view."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, final

import numpy as np
from numpy.lib.stride_tricks import as_strided

from pliant.core.data import frozen
from pliant.core.ir import Value
from pliant.core.types import SHORT, Type
from pliant.ops.strided import strided


@final
@frozen
class Memory:
    """Where an array's elements lie, in elements from the lowest."""

    type: Type  # of the memory
    start: int
    step: tuple[int, ...]
    shape: tuple[int, ...]

    def shown(self, memory: Value) -> Value:
        """The array, of its memory."""
        return strided(memory, self.start, self.step, self.shape)

    def of(self, array: Any) -> Any:
        """The memory of such an array, as a vector; of one that is not aligned a copy, but for what lies between its
        elements."""
        size = self.type.size
        if array.flags.aligned:
            lowest = array[(..., *[slice(None, None, -1 if s < 0 else 1) for s in array.strides])]
            return as_strided(lowest, (size,), (array.itemsize,), writeable=False)
        made = np.empty(size, array.dtype)
        as_strided(made[self.start :], self.shape, [s * made.itemsize for s in self.step])[...] = array
        return made


def address_of(array: Any) -> int:
    """Where the first element of an array lies."""
    return array.__array_interface__["data"][0]


Memories: TypeAlias = "tuple[Memory | None, ...]"


def memories_of(leaves: Sequence[Any]) -> Memories:
    """Of each leaf that is read where it lies; nothing if there are none."""
    found = tuple([memory_of(leaf) if leaf.__class__ is np.ndarray else None for leaf in leaves])
    return found if any(found) else ()


def memory_of(array: Any) -> Memory | None:
    """How an array lies in its memory; None if it is row-major, or its elements do not lie a whole number of elements
    apart."""
    item, dtype = array.itemsize, SHORT.get(array.dtype.name)
    if array.flags.c_contiguous or dtype is None or not array.dtype.isnative or any([s % item for s in array.strides]):
        return None
    step = tuple([s // item if n > 1 else 0 for s, n in zip(array.strides, array.shape, strict=True)])
    reach = [s * (n - 1) for s, n in zip(step, array.shape, strict=True)]
    size = 1 + sum(map(abs, reach))
    return Memory(Type(dtype, (size,)), -sum([min(r, 0) for r in reach]), step, tuple(array.shape))
