"""Division by a known number, as a multiplication with two corrections: the same bits in a quarter of the time.

    q = x·r,  e = x - c·q,  x / c = q + e·r,  r the reciprocal of c

e is exact, and the last sum is rounded as the quotient is (P. Markstein, "Computation of elementary functions on the
IBM RISC System/6000 processor", 1990). Where e is zero or not a number, q is the quotient: a zero with its sign, an
infinity, NaN. It also is where it overflows. What is so small that e is not exact may differ in the last bits.

This is for loops whose steps do not wait for each other: one quotient takes as long as a division, or longer.
"""

from __future__ import annotations

import math
import platform
import struct
from typing import Final

from pliant.backends.llvm.jit import host_target
from pliant.backends.llvm.values import Writer, float_text, llvm_type
from pliant.core.ir import Number

EXPONENT: Final = {"f32": 100, "f64": 1000}
"""Numbers up to two to that, and from its reciprocal on, are divided by in this way: 1 / c is no subnormal number."""


def divided(w: Writer, d: str, x: str, number: Number) -> str:
    """x / number, where that is suited."""
    c = float(number.real)
    if d == "f32":
        (c,) = struct.unpack("f", struct.pack("f", c))
    kind, r = llvm_type(d), float_text(1.0 / c, d)
    q = w.op(f"fmul {kind} {x}, {r}")
    e = w.call(f"llvm.fma.{d}", d, float_text(-c, d), q, x)
    better = w.call(f"llvm.fma.{d}", d, e, r, q)
    is_better = w.op(f"fcmp one {kind} {e}, 0.0")
    if abs(c) < 1:  # else q is not larger than x
        is_better = w.op(f"and i1 {is_better}, {w.op(f'fcmp ord {kind} {better}, 0.0')}")
    return w.op(f"select i1 {is_better}, {kind} {better}, {kind} {q}")


def is_suited(c: Number, dtype: str) -> bool:
    """Whether division by a number is quicker so. The reciprocal of a power of two is exact, which LLVM knows."""
    if dtype not in EXPONENT or not math.isfinite(c.real) or c == 0:
        return False
    part, exponent = math.frexp(c.real)
    return abs(part) != 0.5 and abs(exponent) < EXPONENT[dtype] and has_fused()


def has_fused() -> bool:
    """Whether the processor multiplies and adds at once."""
    return "fma" in host_target().has or platform.machine() in ("aarch64", "arm64")
