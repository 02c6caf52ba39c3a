"""Functions of Python's and NumPy's C API, by address, and functions in machine code as Python's own."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from typing import Any, Final, final

FASTCALL_KEYWORDS: Final = 0x0082


@lru_cache
def python_function(name: str) -> int:
    """The address of a function of Python's C API."""
    found = ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
    assert found
    return found


@lru_cache
def numpy_function(number: int) -> int:
    """An entry of NumPy's table of C functions."""
    umath: Any = import_module("numpy._core._multiarray_umath")
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = pointer(umath._ARRAY_API, None)
    return int(ctypes.cast(table, ctypes.POINTER(ctypes.c_void_p))[number] or 0)


@final
class MethodDef(ctypes.Structure):
    """CPython's description of a builtin."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    ]


def method(name: bytes, address: int) -> MethodDef:
    """A fast-call function with keywords that lies at an address."""
    return MethodDef(name, address, FASTCALL_KEYWORDS, None)


def builtin(of: MethodDef, owner: object) -> Callable[..., Any]:
    """A builtin whose `self` is `owner`; somebody else keeps the method, and its code, alive."""
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    return make(ctypes.addressof(of), owner, None)
