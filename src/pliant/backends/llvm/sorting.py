"""Sorting by NumPy's own routines, which are made for each dtype and processor, on memory as it lies."""

from __future__ import annotations

import ctypes
import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from pliant.backends.llvm.capi import numpy_function
from pliant.backends.llvm.jit import symbol
from pliant.core.ir import Op
from pliant.core.types import DTYPES, Type
from pliant.kernel.ir import Affine, Routine, Var
from pliant.ops.sort import Sort

if TYPE_CHECKING:
    from pliant.backends.llvm.emit import Emitter

ROUTINES_OF_DTYPE: Final = 365  # entry of NumPy's table of C functions: PyDataType_GetArrFuncs
QUICKSORT: Final = 33  # entry of PyArray_ArrFuncs, after 21 casts and 12 others
SAMPLE: Final = 1001


def has(op: Op, types: tuple[Type, ...]) -> bool:
    """Whether a primitive sorts rows of a dtype for which there is a routine."""
    return isinstance(op, Sort) and op.axis == types[0].rank - 1 and sorter(types[0].dtype) != 0


@lru_cache
def sorter(dtype: str) -> int:
    """The address of NumPy's `int sort(void *start, intptr_t count, void *)`, or 0 if it is not found."""
    if not 2 <= int(np.__version__.partition(".")[0]) < 3:
        return 0
    descr = np.dtype(DTYPES[dtype])
    routines = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(numpy_function(ROUTINES_OF_DTYPE))(id(descr))
    found = ctypes.cast(routines, ctypes.POINTER(ctypes.c_void_p))[QUICKSORT] or 0
    return found if found and sorts(found, descr) else 0


def sort_function(dtype: str) -> str:
    """The name under which code finds NumPy's routine for a dtype, for which there is one."""
    return symbol(f"pliant_sort_{dtype}", sorter(dtype))


def sorts(address: int, descr: np.dtype[Any]) -> bool:
    """Whether a function sorts as NumPy does."""
    x = (np.arange(SAMPLE) * 7919 % 1013).astype(descr)
    wanted = np.sort(x)
    ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_void_p)(address)(
        x.ctypes.data, SAMPLE, None
    )
    return np.array_equal(x, wanted)


def emit_sort(e: Emitter, step: Routine) -> None:
    """One call for each row, in place: the result begins as the operand."""
    (out,) = step.outs
    *_, length = out.type.shape
    if not out.type.size:
        return
    e.begin_step([out])
    row = Var(math.prod(out.type.shape[:-1]))
    place = Affine(0, ((row, length),))
    name = sort_function(out.type.dtype)
    e.module.declared[name] = f"declare i32 @{name}(ptr, i64, ptr)"
    e.nested((row,), lambda: e.call_for_effect(f"i32 @{name}(ptr {e.address(out, place)}, i64 {length}, ptr null)"))
    e.end_step()
