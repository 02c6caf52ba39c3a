"""Python's numbers as scalars of a program, and back, in an entry."""

from __future__ import annotations

import numpy as np

from pliant.backends import layout
from pliant.backends.calls import Number
from pliant.backends.llvm.lines import Lines, constant
from pliant.core.types import Type


def python_number(w: Lines, x: str, part: Number) -> str:
    """The address of the bool, i64, f64 or c128 that a Python number is: an object of just the wanted class."""
    if part.kind in (float, complex):
        return w.at(x, layout.NUMBER)
    if part.kind is int:
        place = w.local("i64")
        w.line(f"store i64 {_integer(w, x, part.limits)}, ptr {place}")
        return place
    place = w.local("i8")
    value = w.op(f"zext i1 {w.op(f'icmp eq ptr {x}, {constant(True)}')} to i8")
    w.line(f"store i8 {value}, ptr {place}")
    return place


def store_number(w: Lines, x: str, part: Number, place: str, size: int) -> None:
    """Store a number, of just the wanted class, which has so many bytes."""
    w.require_type(x, part.kind)
    of = w.at(x, layout.NUMBER) if issubclass(part.kind, np.generic) else python_number(w, x, part)
    w.line(f"call void @llvm.memcpy.p0.p0.i64(ptr {place}, ptr {of}, i64 {size}, i1 false)")


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


def _integer(w: Lines, x: str, limits: tuple[int, int] | None) -> str:
    """A Python int of 64 bits, between limits if there are any; others are refused."""
    overflow = w.local("i32")
    value = w.call("i64", "PyLong_AsLongLongAndOverflow", f"ptr {x}, ptr {overflow}")
    w.require_equal("i32", w.load("i32", overflow), "0")
    if limits:
        w.require(w.op(f"icmp sge i64 {value}, {limits[0]}"))
        w.require(w.op(f"icmp sle i64 {value}, {min(limits[1], 2**63 - 1)}"))
    return value
