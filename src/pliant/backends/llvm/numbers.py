"""Python's numbers as scalars of a program, and back, in an entry."""

from __future__ import annotations

from pliant.backends import layout
from pliant.backends.calls import Number
from pliant.backends.llvm.lines import Lines, constant
from pliant.backends.llvm.values import llvm_type
from pliant.core.types import REAL_OF, Type

EXACT = 2**53  # integers up to here are floats


def python_number(w: Lines, x: str, part: Number, type: Type) -> str:
    """The address of a Python number, an object of just the wanted class, as a scalar of a type."""
    place, t = w.local("[16 x i8]"), llvm_type(type.dtype)
    if part.kind is bool:
        value = w.op(f"zext i1 {w.op(f'icmp eq ptr {x}, {constant(True)}')} to i8")
        w.line(f"store i8 {value}, ptr {place}")
    elif part.kind is int:
        w.line(f"store {t} {_integer(w, x, part, type)}, ptr {place}")
    else:
        size = 4 if REAL_OF.get(type.dtype, type.dtype) == "f32" else 8
        for number in range(2 if type.kind == "c" else 1):
            value = _float(w, x, number, size) if number == 0 or part.kind is complex else "0.0"
            w.line(f"store {'float' if size == 4 else 'double'} {value}, ptr {w.at(place, number * size)}")
    return place


def fits(kind: type, type: Type) -> bool:
    """Whether `python_number` can make a scalar of this type of a number of a Python class."""
    if kind is bool:
        return type.dtype == "bool"
    if kind is int:
        return type.kind in "iu" or type.dtype in ("f32", "f64")
    return type.kind == "c" or (kind is float and type.dtype in ("f32", "f64"))


def new_number(w: Lines, place: str, type: Type) -> str:
    """A new Python number of a scalar of type bool, i64, f64 or c128; null if there is no memory."""
    if type.dtype == "bool":
        byte = w.load("i8", place)
        return w.call("ptr", "PyBool_FromLong", f"i64 {w.op(f'zext i8 {byte} to i64')}")
    if type.dtype == "i64":
        return w.call("ptr", "PyLong_FromLongLong", f"i64 {w.load('i64', place)}")
    if type.dtype == "f64":
        return w.call("ptr", "PyFloat_FromDouble", f"double {w.load('double', place)}")
    parts = [w.load("double", place, 8 * n) for n in range(2)]
    return w.call("ptr", "PyComplex_FromDoubles", f"double {parts[0]}, double {parts[1]}")


def _float(w: Lines, x: str, number: int, size: int) -> str:
    value = w.load("double", x, layout.NUMBER + 8 * number)
    return w.op(f"fptrunc double {value} to float") if size == 4 else value


def _integer(w: Lines, x: str, part: Number, type: Type) -> str:
    """A Python int that fits; others are refused."""
    overflow = w.local("i32")
    value = w.call("i64", "PyLong_AsLongLongAndOverflow", f"ptr {x}, ptr {overflow}")
    w.require_equal("i32", w.load("i32", overflow), "0")
    t = llvm_type(type.dtype)
    if type.kind in "iu":
        bits = int(type.dtype[1:])
        low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if type.kind == "i" else (0, 2 ** min(bits, 63) - 1)
        _require_between(w, value, *(part.limits or (low, high)))
        return value if bits == 64 else w.op(f"trunc i64 {value} to {t}")
    _require_between(w, value, -EXACT, EXACT)
    wide = w.op(f"sitofp i64 {value} to double")
    return wide if type.dtype == "f64" else w.op(f"fptrunc double {wide} to float")


def _require_between(w: Lines, value: str, low: int, high: int) -> None:
    w.require(w.op(f"icmp sge i64 {value}, {low}"))
    w.require(w.op(f"icmp sle i64 {value}, {high}"))
