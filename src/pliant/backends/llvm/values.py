"""Scalars as LLVM text: their types, literals, and what is needed to compute with them.

A scalar is the text of an LLVM value; a complex one is a pair.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol, TypeAlias

from pliant.core.ir import Number
from pliant.core.types import REAL_OF

Val: TypeAlias = "str | tuple[str, str]"
Rule: TypeAlias = Callable[..., Any]  # (writer, dtype, operands) -> value

Parts: TypeAlias = tuple[str, ...]
"""LLVM values of one kind, numbers or vectors: one if they are real, the real and the imaginary parts otherwise."""

LLVM: Final = {"bool": "i1", "f16": "half", "f32": "float", "f64": "double", "c64": "float", "c128": "double"}


def parts_of(x: Val) -> Parts:
    """A number as its parts."""
    return x if isinstance(x, tuple) else (x,)


def number_of(parts: Sequence[str]) -> Val:
    """A number of its parts."""
    return (parts[0], parts[1]) if len(parts) == 2 else parts[0]


class Writer(Protocol):
    """What the table needs of an emitter."""

    def op(self, text: str) -> str:
        """Append an instruction; the name of its value."""
        ...

    def call_complex(self, name: str, dtype: str, x: tuple[str, str]) -> tuple[str, str]:
        """Call a function of libm from complex numbers to complex ones."""
        ...

    def complex_function(self, name: str, dtype: str, count: int) -> str:
        """The name of a function of libm of so many complex numbers, declared."""
        ...

    def call(self, name: str, dtype: str, *args: str, flags: str = "") -> str:
        """Call a function of libm, or an intrinsic, on floats of one dtype. flags: what LLVM may assume."""
        ...

    def helper(self, name: str, write: Callable[[str], str]) -> str:
        """The name of a function whose text is written once."""
        ...


def llvm_type(dtype: str) -> str:
    """The LLVM type of a scalar; of one part for a complex dtype."""
    return LLVM.get(dtype) or f"i{dtype[1:]}"


def literal(value: Number, dtype: str) -> Val:
    """The text of a constant."""
    if dtype[0] == "c":
        z, part = complex(value), REAL_OF[dtype]
        return float_text(z.real, part), float_text(z.imag, part)
    if dtype[0] == "f":
        return float_text(float(value.real), dtype)
    if dtype == "bool":
        return "true" if value else "false"
    bits = int(dtype[1:])
    whole = int(value.real) & ((1 << bits) - 1)
    return str(whole - (1 << bits) if whole >> (bits - 1) else whole)


def float_text(x: float, dtype: str) -> str:
    """The text of a real constant, exact."""
    if dtype == "f16":
        try:
            return "0xH" + struct.pack(">e", x).hex().upper()
        except OverflowError:
            return "0xH" + struct.pack(">e", math.copysign(math.inf, x)).hex().upper()
    if dtype == "f32":
        try:
            (x,) = struct.unpack("f", struct.pack("f", x))
        except OverflowError:
            x = math.copysign(math.inf, x)
    return "0x" + struct.pack(">d", x).hex().upper()
