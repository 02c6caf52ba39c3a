"""Arrays of a dtype that no program has, in objects and containers that a function is given: nobody may read them.

class Filter:
    def __init__(self):
        self.z = np.array([[None]])
    def update(self, z):
        self.z = z                  what is overwritten, or left alone, may be anything
"""

from __future__ import annotations

from typing import Any, NoReturn, final

import numpy as np

from pliant.core.origin import here
from pliant.core.types import SHORT
from pliant.errors import DTypeError
from pliant.frontend.tracing import unknown_dtype


@final
class Unread:
    """What a function gets for such an array."""

    __slots__ = ("dtype", "name")

    def __init__(self, array: Any, name: str) -> None:
        self.dtype, self.name = array.dtype, name

    @property
    def error(self) -> DTypeError:
        """That it is read."""
        return unknown_dtype(self.dtype, f"{self.name}: ").at(("read here", here()))

    def _fail(self, *_: Any, **__: Any) -> NoReturn:
        raise self.error

    __array_ufunc__ = __array_function__ = __array__ = __getitem__ = __setitem__ = __len__ = __iter__ = _fail
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __bool__ = __float__ = __int__ = __index__ = _fail
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __pow__ = _fail
    __matmul__ = __rmatmul__ = __neg__ = __abs__ = _fail
    __hash__ = object.__hash__

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise self.error


def is_unreadable(leaf: Any) -> bool:
    """Whether a leaf is an array that no program can have."""
    return leaf.__class__ is np.ndarray and leaf.dtype.name not in SHORT
