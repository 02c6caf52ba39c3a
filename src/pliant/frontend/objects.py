"""Arrays of objects that a traced function makes, as of None for what is set later: they have a shape and elements to
look at, and no numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, final

import numpy as np

from pliant.core.origin import here
from pliant.errors import DTypeError
from pliant.frontend.array import TracedArray, fresh_concrete
from pliant.frontend.kinds import is_array
from pliant.frontend.shaped import Shaped
from pliant.frontend.tracing import unknown_dtype


@final
class ObjectArray(Shaped):
    """What stands for such an array. Nothing is written to it."""

    __slots__ = ("array",)

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array = array

    @property
    def T(self) -> ObjectArray:
        """The same, transposed."""
        return ObjectArray(self.array.T)

    def reshape(self, *shape: Any) -> ObjectArray:
        """The same in another shape."""
        return ObjectArray(self.array.reshape(*shape))

    def copy(self) -> ObjectArray:
        """The same."""
        return self

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self.array)))

    def __getitem__(self, key: Any) -> Any:
        made = self.array[key]
        return ObjectArray(made) if is_array(made) else made

    def __eq__(self, other: object) -> Any:
        return self._compared(np.equal, other)

    def __ne__(self, other: object) -> Any:
        return self._compared(np.not_equal, other)

    def __bool__(self) -> bool:
        raise self.refused("a condition")

    def __hash__(self) -> int:
        raise TypeError("unhashable type: 'numpy.ndarray'")

    def _compared(self, compare: Any, other: Any) -> Any:
        if isinstance(other, TracedArray):
            raise self.refused("a comparison")
        return fresh_concrete(
            compare(self.array, other.array if isinstance(other, ObjectArray) else other).astype(bool)
        )

    def __setitem__(self, key: Any, x: Any) -> None:
        raise self.refused("writing")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise self.refused(f".{name}")

    def refused(self, what: str) -> DTypeError:
        """The error of a use as numbers."""
        return unknown_dtype(self.array.dtype, f"{what}: ").at(("here", here()))
