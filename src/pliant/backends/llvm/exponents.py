"""Functions that take floats apart into sign, exponent and mantissa, and put them together.

bits of x:   sign | exponent + bias | mantissa
"""

from __future__ import annotations

import math
from typing import Final

from pliant.backends.llvm.formulas import intrinsic
from pliant.backends.llvm.values import Writer, float_text, llvm_type
from pliant.core.data import frozen


@frozen
class Format:
    """The integer type of the bits, how many are the mantissa's, and the greatest exponent, which is the bias too."""

    bits: str
    mantissa: int
    bias: int


_FORMATS: Final = {"f32": Format("i32", 23, 127), "f64": Format("i64", 52, 1023)}


def spacing(w: Writer, d: str, x: str) -> str:
    """The distance from x to the next number away from 0; NaN for infinities."""
    t, bits = llvm_type(d), _FORMATS[d].bits
    zero = w.op(f"fcmp oeq {t} {x}, {float_text(0.0, d)}")
    from_zero = w.op(f"select i1 {zero}, {t} {float_text(0.0, d)}, {t} {x}")
    place = w.op(f"bitcast {t} {from_zero} to {bits}")
    away = w.op(f"bitcast {bits} {w.op(f'add {bits} {place}, 1')} to {t}")
    step = w.op(f"fsub {t} {away}, {from_zero}")
    ends = w.op(f"fcmp uno {t} {w.op(f'fsub {t} {x}, {x}')}, {x}")  # infinite or NaN
    return w.op(f"select i1 {ends}, {t} {float_text(math.nan, d)}, {t} {step}")


def mantissa(w: Writer, d: str, x: str) -> str:
    """m of x = m·2ᵉ with 1/2 ≤ |m| < 1; x itself if it is 0, infinite or NaN."""
    t, f = llvm_type(d), _FORMATS[d]
    is_special, normal, _ = _normal(w, d, x)
    kept = w.op(f"and {f.bits} {normal}, {~(((1 << (len_of(f) - f.mantissa - 1)) - 1) << f.mantissa)}")
    made = w.op(f"or {f.bits} {kept}, {(f.bias - 1) << f.mantissa}")
    return w.op(f"select i1 {is_special}, {t} {x}, {t} {w.op(f'bitcast {f.bits} {made} to {t}')}")


def exponent(w: Writer, d: str, x: str) -> str:
    """e of x = m·2ᵉ with 1/2 ≤ |m| < 1, an i32; 0 if x is 0, infinite or NaN."""
    f = _FORMATS[d]
    is_special, normal, less = _normal(w, d, x)
    high = w.op(f"lshr {f.bits} {normal}, {f.mantissa}")
    field = w.op(f"and {f.bits} {high}, {(1 << (len_of(f) - f.mantissa - 1)) - 1}")
    made = w.op(f"sub {f.bits} {field}, {w.op(f'add {f.bits} {less}, {f.bias - 1}')}")
    chosen = w.op(f"select i1 {is_special}, {f.bits} 0, {f.bits} {made}")
    return chosen if f.bits == "i32" else w.op(f"trunc {f.bits} {chosen} to i32")


def len_of(f: Format) -> int:
    """How many bits a number has."""
    return int(f.bits[1:])


def _normal(w: Writer, d: str, x: str) -> tuple[str, str, str]:
    """Whether x is 0, infinite or NaN; the bits of x, multiplied by a power of two if it is too small to have a leading
    bit; and the exponent of that power."""
    t, f = llvm_type(d), _FORMATS[d]
    size = intrinsic("fabs")(w, d, x)
    is_zero = w.op(f"fcmp oeq {t} {size}, {float_text(0.0, d)}")
    is_special = w.op(f"or i1 {is_zero}, {w.op(f'fcmp ueq {t} {size}, {float_text(math.inf, d)}')}")
    is_small = w.op(f"fcmp olt {t} {size}, {float_text(2.0 ** (1 - f.bias), d)}")
    by = f.mantissa + 1
    large = w.op(f"fmul {t} {x}, {float_text(2.0**by, d)}")
    bits = w.op(f"bitcast {t} {w.op(f'select i1 {is_small}, {t} {large}, {t} {x}')} to {f.bits}")
    return is_special, bits, w.op(f"select i1 {is_small}, {f.bits} {by}, {f.bits} 0")


def scaled(w: Writer, d: str, x: str, n: str, n_dtype: str) -> str:
    """x·2ⁿ, rounded once: steps towards 0 leave room for all digits. Source: scalbn of musl."""
    t, f, whole = llvm_type(d), _FORMATS[d], llvm_type(n_dtype)
    down = f.bias - 1 - (f.mantissa + 1)
    for _ in range(2):
        x, n = _step(w, t, whole, x, n, f"sgt {whole} {n}, {f.bias}", f.bias, float_text(2.0**f.bias, d))
    for _ in range(2):
        x, n = _step(w, t, whole, x, n, f"slt {whole} {n}, {1 - f.bias}", -down, float_text(2.0**-down, d))
    n = w.op(f"call {whole} @llvm.smin.{whole}({whole} {n}, {whole} {f.bias})")
    n = w.op(f"call {whole} @llvm.smax.{whole}({whole} {n}, {whole} {1 - f.bias})")
    field = w.op(f"add {whole} {n}, {f.bias}")
    if whole != f.bits:
        field = w.op(f"{'zext' if whole == 'i32' else 'trunc'} {whole} {field} to {f.bits}")
    factor = w.op(f"bitcast {f.bits} {w.op(f'shl {f.bits} {field}, {f.mantissa}')} to {t}")
    return w.op(f"fmul {t} {x}, {factor}")


def _step(w: Writer, t: str, whole: str, x: str, n: str, test: str, by: int, factor: str) -> tuple[str, str]:
    """x·2ⁿ with a part of the power in x, if a test of n holds."""
    holds = w.op(f"icmp {test}")
    made = w.op(f"select i1 {holds}, {t} {w.op(f'fmul {t} {x}, {factor}')}, {t} {x}")
    rest = w.op(f"select i1 {holds}, {whole} {w.op(f'sub {whole} {n}, {by}')}, {whole} {n}")
    return made, rest
