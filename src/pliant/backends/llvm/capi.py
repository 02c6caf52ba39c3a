"""Functions of Python's and NumPy's C API, by address."""

from __future__ import annotations

import ctypes
from functools import lru_cache
from importlib import import_module
from typing import Any


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
