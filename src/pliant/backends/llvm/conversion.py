"""LLVM code that converts numbers between dtypes, as C does on x86."""

from __future__ import annotations

from typing import Final

from pliant.backends.llvm.values import Val, Writer, float_text, llvm_type
from pliant.core.types import REAL_OF

SIGNED: Final = {"i8": "i32", "i16": "i32", "u8": "i32", "u16": "i32", "u32": "i64", "u64": "i64"}
"""By way of what a float becomes a number of a whole dtype."""


def convert(w: Writer, a: str, b: str, x: Val) -> Val:
    """A number in another dtype, as C converts on x86."""
    if a == b:
        return x
    if a[0] == "c":
        assert isinstance(x, tuple)
        part = REAL_OF[a]
        if b[0] == "c":
            return convert_real(w, part, REAL_OF[b], x[0]), convert_real(w, part, REAL_OF[b], x[1])
        if b == "bool":
            return w.op(f"or i1 {nonzero(w, part, x[0])}, {nonzero(w, part, x[1])}")
        return convert_real(w, part, b, x[0])
    assert isinstance(x, str)
    if b[0] == "c":
        return convert_real(w, a, REAL_OF[b], x), float_text(0.0, REAL_OF[b])
    return convert_real(w, a, b, x)


def convert_real(w: Writer, a: str, b: str, x: str) -> str:
    """A real number in another real dtype."""
    if a == b:
        return x
    if b == "bool":
        return nonzero(w, a, x)
    ta, tb = llvm_type(a), llvm_type(b)
    if a[0] == "f" and b[0] == "f":
        return w.op(f"{'fpext' if int(a[1:]) < int(b[1:]) else 'fptrunc'} {ta} {x} to {tb}")
    if a[0] == "f":
        return _float_to_int(w, a, b, x)
    if b == "f16":
        return convert_real(w, "f32", "f16", convert_real(w, a, "f32", x))
    if b[0] == "f":
        return w.op(f"{'sitofp' if a[0] == 'i' else 'uitofp'} {ta} {x} to {tb}")
    if a != "bool" and int(a[1:]) >= int(b[1:]):
        return x if a[1:] == b[1:] else w.op(f"trunc {ta} {x} to {tb}")
    return w.op(f"{'sext' if a[0] == 'i' else 'zext'} {ta} {x} to {tb}")


def _float_to_int(w: Writer, a: str, b: str, x: str) -> str:
    if a == "f16":
        return _float_to_int(w, "f32", b, convert_real(w, "f16", "f32", x))
    via = SIGNED.get(b, b)
    if b != "u64":
        return convert_real(w, via, b, _to_signed(w, a, via, x))
    half, t = float_text(2.0**63, a), llvm_type(a)
    is_high = w.op(f"fcmp oge {t} {x}, {half}")
    low = _to_signed(w, a, via, w.op(f"select i1 {is_high}, {t} {w.op(f'fsub {t} {x}, {half}')}, {t} {x}"))
    return w.op(f"xor i64 {low}, {w.op(f'select i1 {is_high}, i64 {-(2**63)}, i64 0')}")


def _to_signed(w: Writer, a: str, b: str, x: str) -> str:
    """Out of range and NaN: the least number on x86, poison in LLVM, which takes the other side of a choice then."""
    limit, t, least = 2.0 ** (int(b[1:]) - 1), llvm_type(a), -(2 ** (int(b[1:]) - 1))
    is_inside = w.op(f"fcmp olt {t} {w.call(_FABS[a], a, x)}, {float_text(limit, a)}")
    return w.op(f"select i1 {is_inside}, {b} {w.op(f'fptosi {t} {x} to {b}')}, {b} {least}")


_FABS: Final = {"f32": "llvm.fabs.f32", "f64": "llvm.fabs.f64"}


def bitcast(w: Writer, a: str, b: str, x: Val) -> str:
    """The bits of a real number as a number of another dtype."""
    assert isinstance(x, str)
    if "bool" in (a, b):
        return nonzero(w, a, x) if b == "bool" else w.op(f"zext i1 {x} to {llvm_type(b)}")
    return w.op(f"bitcast {llvm_type(a)} {x} to {llvm_type(b)}")


def nonzero(w: Writer, dtype: str, x: str) -> str:
    """Whether a real number differs from 0."""
    if dtype == "bool":
        return x
    if dtype[0] == "f":
        return w.op(f"fcmp une {llvm_type(dtype)} {x}, {float_text(0.0, dtype)}")
    return w.op(f"icmp ne {llvm_type(dtype)} {x}, 0")
