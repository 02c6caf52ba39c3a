"""What stands for an array has its shape and dtype."""

from __future__ import annotations

from typing import Any

import numpy as np


class Shaped:
    """The base of classes that have an array and show what it is."""

    __slots__ = ()
    array: Any

    @property
    def shape(self) -> tuple[int, ...]:
        """Extent of each axis."""
        return self.array.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy dtype."""
        return self.array.dtype

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self.array.ndim

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.array.size

    def __len__(self) -> int:
        return len(self.array)
