"""Objects that are called without a Python frame: they try C-level callables, one after the other.

A class that `callable_natively` decorates gets CPython's vectorcall protocol. While an object has no
ways to go, a call is one of its Python method `__call__`, as ever.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, Final, TypeVar

from pliant.backends import layout

C = TypeVar("C")

MEMBERS, OBJECT, NUMBER, READONLY = 72, 16, 19, 1  # of CPython's structmember.h and typeslots.h
FLAGS: Final = 1 << 18 | 1 << 11 | 1 << 10  # default, vectorcall, may be inherited from

ADDED: Final = 16  # bytes in each object


class _Member(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("type", ctypes.c_int),
        ("offset", ctypes.c_ssize_t),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    ]


class _Slot(ctypes.Structure):
    _fields_ = [("number", ctypes.c_int), ("function", ctypes.c_void_p)]


class _Spec(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("size", ctypes.c_int),
        ("item", ctypes.c_int),
        ("flags", ctypes.c_uint),
        ("slots", ctypes.c_void_p),
    ]


def callable_natively(base: type[C]) -> type[C]:
    """`base`, with two words more in each object: the function that answers calls, and `ways`, its callables."""
    if not layout.is_known():
        return base
    at = base.__basicsize__
    members = (_Member * 3)(_Member(b"__vectorcalloffset__", NUMBER, at, READONLY), _Member(b"ways", OBJECT, at + 8))
    slots = (_Slot * 2)(_Slot(MEMBERS, ctypes.addressof(members)))
    name = f"{base.__module__}.{base.__qualname__}".encode()
    spec = _Spec(name, at + ADDED, 0, FLAGS, ctypes.addressof(slots))
    make = ctypes.pythonapi.PyType_FromSpecWithBases
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object]
    made: Any = make(ctypes.addressof(spec), (base,))
    made.__doc__ = base.__doc__
    made.specification = members, slots, name  # CPython goes on reading them
    return made


def connect(thing: Any, ways: tuple[Callable[..., Any], ...], forwarding: Callable[[int], int]) -> None:
    """Have `ways` answer calls of an object. `forwarding` gives the address of a function that passes calls on to
    them, for the place of `ways` in the object's struct."""
    thing.ways = ways
    place = type(thing).__basicsize__ - ADDED
    ctypes.c_void_p.from_address(id(thing) + place).value = forwarding(place + 8)
