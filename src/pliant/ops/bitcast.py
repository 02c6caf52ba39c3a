"""The bits of numbers: as numbers of another dtype, and arrays seen as arrays of another dtype, `x.view(dtype)`."""

from __future__ import annotations

import sys
from typing import Any, final

from pliant.core.data import frozen
from pliant.core.ir import Namespace, Value, const
from pliant.core.types import DTYPES, REAL_OF, Type, itemsize
from pliant.errors import DTypeError
from pliant.ops.base import Unary
from pliant.ops.bits import bitwise_or, left_shift, right_shift
from pliant.ops.complex import Complex, imag, real
from pliant.ops.elementwise import convert
from pliant.ops.shape import Slice, concatenate, reshape


@final
@frozen
class Bitcast(Unary):
    """The number of another dtype that has the same bits. Nothing is differentiated through bits."""

    dtype: str
    domain = "biuf"

    def infer(self, x: Type) -> Type:
        if self.dtype not in DTYPES or "c" in (x.kind, self.dtype[0]) or itemsize(x.dtype) != itemsize(self.dtype):
            raise DTypeError(f"bitcast: {x} has no bits of {self.dtype}")
        return x.with_dtype(self.dtype)

    def array(self, xp: Namespace, x: Any) -> Any:
        return x != 0 if self.dtype == "bool" else x.view(getattr(xp, DTYPES[self.dtype]))


def bitcast(x: Value, dtype: str) -> Value:
    """`Bitcast` as a function."""
    return x if x.dtype == dtype else Bitcast(dtype)(x)


def are_parts(a: str, b: str) -> bool:
    """Whether one dtype is complex, and the other that of its parts: then views have derivatives."""
    return REAL_OF.get(a) == b or REAL_OF.get(b) == a


def viewed(x: Value, dtype: str) -> Value:
    """What NumPy's `x.view(dtype)` shows: the last axis has as many elements as its bytes make."""
    if not x.shape:
        return reshape(viewed(reshape(x, (1,)), dtype), ())
    if dtype == x.dtype:
        return x
    if x.dtype in REAL_OF:
        return viewed(_joined([real(x), imag(x)]), dtype)
    if dtype in REAL_OF:
        return Complex()(*_split(viewed(x, REAL_OF[dtype]), 2))
    whole = bitcast(x, f"u{8 * itemsize(x.dtype)}")
    old, new = itemsize(x.dtype), itemsize(dtype)
    made = _narrow(whole, new) if new < old else _wide(whole, new // old) if new > old else whole
    return bitcast(made, dtype)


def _narrow(x: Value, size: int) -> Value:
    """Unsigned numbers as several of `size` bytes each."""
    bits, parts = 8 * size, itemsize(x.dtype) // size
    pieces = [convert(right_shift(x, const(bits * n, x.dtype)), f"u{bits}") for n in range(parts)]
    return _joined(_in_memory(pieces))


def _wide(x: Value, count: int) -> Value:
    """Unsigned numbers, `count` of them as one."""
    bits = 8 * itemsize(x.dtype)
    made: Value | None = None
    for n, piece in enumerate(_in_memory(_split(x, count))):
        shifted = left_shift(convert(piece, f"u{bits * count}"), const(bits * n, f"u{bits * count}"))
        made = shifted if made is None else bitwise_or(made, shifted)
    assert made is not None
    return made


def _in_memory(pieces: list[Value]) -> list[Value]:
    """Pieces, the least significant first, in the order of their addresses; or back."""
    return pieces if sys.byteorder == "little" else pieces[::-1]


def _joined(pieces: list[Value]) -> Value:
    """Elements of several arrays in turn along the last axis."""
    (*lead, n), count = pieces[0].shape, len(pieces)
    return reshape(concatenate(tuple(reshape(p, (*lead, n, 1)) for p in pieces), len(lead) + 1), (*lead, n * count))


def _split(x: Value, count: int) -> list[Value]:
    """Every `count`-th element along the last axis, from the first, from the second, …"""
    (*lead, n) = x.shape
    zeros, ones = (0,) * len(lead), (1,) * len(lead)
    length = (*lead, n // count)
    return [Slice((*zeros, k if n else 0), (*ones, count), length)(x) for k in range(count)]
