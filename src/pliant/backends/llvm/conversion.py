"""LLVM code that converts numbers between dtypes, as C does on x86."""

from __future__ import annotations

from typing import Final

from pliant.backends.llvm.values import Val, Writer, float_text, llvm_type
from pliant.core.types import REAL_OF


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
    via = {"i8": "i32", "i16": "i32", "u8": "i32", "u16": "i32", "u32": "i64"}.get(b, b)
    if via == "u64":  # out of range it is any number, in C too
        return w.op(f"freeze i64 {w.op(f'fptoui {llvm_type(a)} {x} to i64')}")
    # Out of range and NaN: the least number on x86, poison in LLVM, which takes the other side of a choice then.
    limit = 2.0 ** (int(via[1:]) - 1)
    is_inside = w.op(f"fcmp olt {llvm_type(a)} {w.call(_FABS[a], a, x)}, {float_text(limit, a)}")
    made = w.op(f"fptosi {llvm_type(a)} {x} to {via}")
    return convert_real(w, via, b, w.op(f"select i1 {is_inside}, {via} {made}, {via} {-int(limit)}"))


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
