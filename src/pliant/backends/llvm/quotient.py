"""Division by one number in all steps of a loop, as a multiplication with two corrections: the same bits in a quarter
of the time.

    q = x·r,  e = x - c·q,  x / c = q + e·r,  r the reciprocal of c

e is exact, and the last sum is rounded as the quotient is (P. Markstein, "Computation of elementary functions on the
IBM RISC System/6000 processor", 1990). Where that sum is not a number, or equal to q, q is the quotient: a zero with
its sign, an infinity, NaN. Where x is so small that e is not exact, within 1 / ε of the subnormal numbers, the last bit
may differ.

By numbers below 1 half of the quotient is computed: q could be too large where the quotient is just not. Of numbers
known only at run time, x and c are scaled first where the reciprocal would be too large or too small.

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
    if abs(c) >= 1:
        return corrected(w, d, x, float_text(-c, d), float_text(1.0 / c, d))
    half = corrected(w, d, x, float_text(-2 * c, d), float_text(0.5 / c, d))
    return w.op(f"fmul {llvm_type(d)} {half}, {float_text(2.0, d)}")


def divided_by(w: Writer, d: str, x: str, c: str) -> str:
    """x / c, where c is the same for all steps."""
    kind, large = llvm_type(d), EXPONENT[d]

    def number(n: float) -> str:
        return float_text(n, d)

    def choose(condition: str, than: float, one: float, other: str) -> str:
        test = w.op(f"fcmp {condition} {kind} {size}, {number(than)}")
        return w.op(f"select i1 {test}, {kind} {number(one)}, {kind} {other}")

    size = w.call(f"llvm.fabs.{d}", d, c)
    scale = choose("olt", 2.0**-large, 2.0 ** SCALE[d], number(1.0))
    scale = choose("ogt", 2.0**large, 2.0 ** -SCALE[d], scale)
    twice = choose("olt", 1.0, 2.0, number(1.0))
    scaled = w.op(f"fmul {kind} {w.op(f'fmul {kind} {c}, {scale}')}, {twice}")
    r = w.op(f"fdiv {kind} {number(1.0)}, {scaled}")
    part = corrected(w, d, w.op(f"fmul {kind} {x}, {scale}"), w.op(f"fneg {kind} {scaled}"), r)
    return w.op(f"fmul {kind} {part}, {twice}")


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
