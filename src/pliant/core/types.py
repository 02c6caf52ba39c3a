"""Array types: a dtype and a shape, printed `f64[3, 4]`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Final, final

DTYPES: Final = {
    "bool": "bool",
    **{f"i{8 * n}": f"int{8 * n}" for n in (1, 2, 4, 8)},
    **{f"u{8 * n}": f"uint{8 * n}" for n in (1, 2, 4, 8)},
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
    "c64": "complex64",
    "c128": "complex128",
}
"""IR name of every dtype → the array API's name."""

SHORT: Final = {long: short for short, long in DTYPES.items()}
"""The array API's name of every dtype → its IR name."""

REAL_OF: Final = {"c64": "f32", "c128": "f64"}
COMPLEX_OF: Final = {"f16": "c64", "f32": "c64", "f64": "c128"}


@final
@dataclass(frozen=True, slots=True)
class Type:
    """The type of an array value, e.g. `f64[3, 4]`; a scalar is `f64[]`."""

    dtype: str
    shape: tuple[int, ...] = ()

    def __str__(self) -> str:
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]"

    @property
    def rank(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def kind(self) -> str:
        """`b`ool, `i`nt, `u`nsigned, `f`loat or `c`omplex."""
        return self.dtype[0]

    @property
    def bytes(self) -> int:
        """Size of the array in memory, in bytes."""
        return self.size * itemsize(self.dtype)

    @property
    def is_float(self) -> bool:
        """Whether derivatives flow through values of this type (complex ones too)."""
        return self.dtype[0] in "fc"

    def with_shape(self, shape: tuple[int, ...]) -> Type:
        """Same dtype, other shape."""
        return Type(self.dtype, shape)

    def with_dtype(self, dtype: str) -> Type:
        """Same shape, other dtype."""
        return Type(dtype, self.shape)

    def without(self, axes: tuple[int, ...]) -> Type:
        """Drop `axes`: `f64[2, 3, 4].without((0, 2))` is `f64[3]`."""
        return self.with_shape(tuple(n for axis, n in enumerate(self.shape) if axis not in axes))

    def stacked(self, length: int) -> Type:
        """A new leading axis of extent `length`."""
        return self.with_shape((length, *self.shape))

    @property
    def row(self) -> Type:
        """The type of one slice along axis 0."""
        return self.with_shape(self.shape[1:])


def itemsize(dtype: str) -> int:
    """Bytes per element: `itemsize("f32")` is 4."""
    return 1 if dtype == "bool" else int(dtype[1:]) // 8


def real_dtype(dtype: str) -> str:
    """The dtype of the real part: `f64` for `c128`; a real dtype unchanged."""
    return REAL_OF.get(dtype, dtype)


@cache
def scalar(dtype: str) -> tuple[Type]:
    """The types of a node whose only result is a scalar."""
    return (Type(dtype),)
