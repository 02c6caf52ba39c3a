"""Division by one number in all steps of a loop, as a multiplication with two corrections: the same bits in a quarter
of the time.

    q = x·r,  e = x - c·q,  x / c = q + e·r,  r the reciprocal of c

e is exact, and the last sum is rounded as the quotient is (P. Markstein, "Computation of elementary functions on the
IBM RISC System/6000 processor", 1990). Where that sum is not a number, or equal to q, q is the quotient: a zero with
its sign, an infinity, NaN. What is so small that e is not exact may differ in the last bits.

Of numbers known only at run time, x and c are scaled first where the reciprocal would be too large or too small.

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
SCALE: Final = {"f32": 30, "f64": 100}
"""Others are multiplied by two to that, or its reciprocal, and what is divided by them too."""
FEWEST: Final = 64
"""Steps of a loop that pay for what is found before it."""


def divided(w: Writer, d: str, x: str, number: Number) -> str:
    """x / number, where that is suited."""
    c = float(number.real)
    if d == "f32":
        (c,) = struct.unpack("f", struct.pack("f", c))
    return corrected(w, d, x, float_text(-c, d), float_text(1.0 / c, d))


def divided_by(w: Writer, d: str, x: str, c: str) -> str:
    """x / c, where c is the same for all steps."""
    kind, large = llvm_type(d), EXPONENT[d]
    size = w.call(f"llvm.fabs.{d}", d, c)
    is_small = w.op(f"fcmp olt {kind} {size}, {float_text(2.0**-large, d)}")
    is_large = w.op(f"fcmp ogt {kind} {size}, {float_text(2.0**large, d)}")
    up, down = (float_text(2.0 ** (sign * SCALE[d]), d) for sign in (1, -1))
    scale = w.op(f"select i1 {is_small}, {kind} {up}, {kind} {float_text(1.0, d)}")
    scale = w.op(f"select i1 {is_large}, {kind} {down}, {kind} {scale}")
    scaled = w.op(f"fmul {kind} {c}, {scale}")
    r = w.op(f"fdiv {kind} {float_text(1.0, d)}, {scaled}")
    return corrected(w, d, w.op(f"fmul {kind} {x}, {scale}"), w.op(f"fneg {kind} {scaled}"), r)


def corrected(w: Writer, d: str, x: str, minus: str, r: str) -> str:
    """x / c. minus: -c; r: 1 / c."""
    kind = llvm_type(d)
    q = w.op(f"fmul {kind} {x}, {r}")
    e = w.call(f"llvm.fma.{d}", d, minus, q, x)
    better = w.call(f"llvm.fma.{d}", d, e, r, q)
    is_better = w.op(f"fcmp one {kind} {better}, {q}")
    return w.op(f"select i1 {is_better}, {kind} {better}, {kind} {q}")


def is_suited(c: Number, dtype: str) -> bool:
    """Whether division by a number is quicker so. The reciprocal of a power of two is exact, which LLVM knows."""
    if dtype not in EXPONENT or not math.isfinite(c.real) or c == 0:
        return False
    part, exponent = math.frexp(c.real)
    return abs(part) != 0.5 and abs(exponent) < EXPONENT[dtype] and has_fused()


def is_same(name: str, dtype: str, c: str, steps: int) -> bool:
    """Whether a primitive is a division that is quicker so by what is the same for all steps of a loop."""
    return name == "div" and dtype in EXPONENT and c[0] == "%" and steps >= FEWEST and has_fused()


def has_fused() -> bool:
    """Whether the processor multiplies and adds at once."""
    return "fma" in host_target().has or platform.machine() in ("aarch64", "arm64")
