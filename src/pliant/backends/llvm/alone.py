"""Floats to whole numbers, one at a time: by x86's instruction, whose result is C's for all floats. LLVM has that by
name only, and makes no vectors of it; what its own conversion makes of floats that are too large is left open, so that
they have to be tested for."""

from __future__ import annotations

import platform
from typing import Final

from pliant.backends.llvm.conversion import SIGNED, convert_real
from pliant.backends.llvm.function import FunctionText
from pliant.backends.llvm.values import llvm_type

INSTRUCTIONS: Final = {
    ("f64", "i32"): "llvm.x86.sse2.cvttsd2si", ("f64", "i64"): "llvm.x86.sse2.cvttsd2si64",
    ("f32", "i32"): "llvm.x86.sse.cvttss2si", ("f32", "i64"): "llvm.x86.sse.cvttss2si64",
}  # fmt: skip
VECTORS: Final = {"f64": "<2 x double>", "f32": "<4 x float>"}


def has_instruction(a: str, b: str) -> bool:
    """Whether one instruction makes a whole number of a float, but for bits that are left out."""
    is_x86 = platform.machine() in ("x86_64", "AMD64")
    return is_x86 and b != "u64" and b[0] in "iu" and (a, SIGNED.get(b, b)) in INSTRUCTIONS


def whole(e: FunctionText, a: str, b: str, x: str) -> str:
    """The number of a whole dtype that a float of a real one becomes."""
    made, vector = SIGNED.get(b, b), VECTORS[a]
    name = INSTRUCTIONS[a, made]
    e.module.declared[name] = f"declare {made} @{name}({vector})"
    first = e.op(f"insertelement {vector} zeroinitializer, {llvm_type(a)} {x}, i64 0")
    return convert_real(e, made, b, e.op(f"call {made} @{name}({vector} {first})"))
