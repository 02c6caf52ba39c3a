"""Where CPython and NumPy keep what an entry reads of their objects: offsets in structs."""

from __future__ import annotations

import ctypes
import sys
import sysconfig
from functools import lru_cache
from types import CellType, FunctionType
from typing import Final

import numpy as np

TYPE: Final = 8  # of any object
DATA, RANK, DIMENSIONS, STRIDES, DESCR, FLAGS = 16, 24, 32, 40, 56, 64  # of an array
NUMBER: Final = 16  # of a float, a complex, and NumPy's scalars
SIZE: Final = 16  # of a tuple or a list
TUPLE: Final = tuple.__basicsize__  # where a tuple's items begin
BYTES: Final = bytes.__basicsize__ - 1  # where those of a bytes object begin
LIST: Final = 24  # where a list has the address of its items
HELD: Final = 16  # of a cell
CODE, DEFAULTS, NAMED_DEFAULTS = 48, 56, 64  # of a function of Python's; null where it has none

CONTIGUOUS: Final = 0x0001
ALIGNED: Final = 0x0100
WRITEABLE: Final = 0x0400


@lru_cache
def is_known() -> bool:
    """Whether this Python and this NumPy lay out their objects as written above."""
    if sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        return False
    if sys.platform == "win32" or hasattr(sys, "gettotalrefcount"):  # no posix_memalign; objects have more fields
        return False
    return _arrays_are() and _containers_are() and _functions_are()


def _arrays_are() -> bool:
    x = np.zeros((3, 5))
    shape, strides = ((ctypes.c_int64 * 2).from_address(_word(x, at)) for at in (DIMENSIONS, STRIDES))
    seen = (_word(x, TYPE), _word(x, DATA), _word(x, RANK) & 0xFFFFFFFF, tuple(shape), tuple(strides), _word(x, DESCR))
    wanted = (id(np.ndarray), x.ctypes.data, 2, x.shape, x.strides, id(np.dtype("float64")))
    flags = ctypes.c_int32.from_address(id(x) + FLAGS).value
    return seen == wanted and flags == x.flags.num


def _containers_are() -> bool:
    marks = [object(), object()]
    pair, cell = tuple(marks), CellType(marks[0])
    firsts = _word(pair, TUPLE), ctypes.c_int64.from_address(_word(marks, LIST)).value, _word(cell, HELD)
    sizes = _word(pair, SIZE), _word(marks, SIZE)
    numbers = [ctypes.c_double.from_address(id(x) + NUMBER).value for x in (2.5, 2.5j + 2.5, np.float64(2.5))]
    return firsts == (id(marks[0]),) * 3 and sizes == (2, 2) and numbers == [2.5] * 3


def _functions_are() -> bool:
    code = _functions_are.__code__
    plain, full = (FunctionType(code, {}, "", given) for given in (None, (1.5,)))
    full.__kwdefaults__ = {"": 2.5}
    seen = [_word(f, at) for f in (plain, full) for at in (CODE, DEFAULTS, NAMED_DEFAULTS)]
    return seen == [id(code), 0, 0, id(code), id(full.__defaults__), id(full.__kwdefaults__)]


def _word(of: object, offset: int) -> int:
    return ctypes.c_int64.from_address(id(of) + offset).value
