"""Sorting by NumPy's own routines, which are made for each dtype and processor, on memory as it lies; the order of
long rows by their digits, and rows of bytes by counting."""

from __future__ import annotations

import ctypes
import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from pliant.backends.llvm import counted, radix, selection
from pliant.backends.llvm.capi import numpy_function
from pliant.backends.llvm.jit import symbol
from pliant.backends.llvm.selection import emit_selection
from pliant.core.ir import Op
from pliant.core.types import DTYPES, Type
from pliant.kernel.ir import Affine, Routine, Var
from pliant.ops.sort import Argpartition, Argsort, Partition, Sort

if TYPE_CHECKING:
    from pliant.backends.llvm.emit import Emitter

ROUTINES_OF_DTYPE: Final = 365  # entry of NumPy's table of C functions: PyDataType_GetArrFuncs
QUICKSORT: Final = 33  # entry of PyArray_ArrFuncs, after 21 casts and 12 others
ORDER: Final = QUICKSORT + 3  # after three that sort
STABLE_ORDER: Final = ORDER + 2
SAMPLE: Final = 1001


def has(op: Op, types: tuple[Type, ...]) -> bool:
    """Whether a primitive sorts rows of a dtype for which there is a routine, or selects in them."""
    if isinstance(op, Partition | Argpartition):
        found = [address_of(kind, types[0].dtype) for kind in ("sort", "arrange")]
        return selection.has(op, types) and 0 not in found
    if not isinstance(op, Sort | Argsort) or op.axis != types[0].rank - 1:
        return False
    return address_of(kind_of(op), types[0].dtype) != 0


def kind_of(op: Sort | Argsort) -> str:
    """The kind of routine: one that sorts, one that orders, or one that orders and is stable."""
    return "sort" if isinstance(op, Sort) else "order" if op.stable else "arrange"


def address_of(kind: str, dtype: str) -> int:
    """The address of NumPy's routine of a kind, or 0 if it is not found."""
    return sorter(dtype) if kind == "sort" else orderer(dtype, is_stable=kind == "order")


@lru_cache
def sorter(dtype: str) -> int:
    """The address of NumPy's `int sort(void *start, intptr_t count, void *)`, or 0 if it is not found."""
    descr = np.dtype(DTYPES[dtype])
    found = _entry(descr, QUICKSORT)
    return found if found and sorts(found, descr) else 0


@lru_cache
def orderer(dtype: str, *, is_stable: bool) -> int:
    """The address of NumPy's `int argsort(void *start, intptr_t *order, intptr_t count, void *)`, or 0 if it is not
    found."""
    descr = np.dtype(DTYPES[dtype])
    found = _entry(descr, STABLE_ORDER if is_stable else ORDER)
    return found if found and orders(found, descr, is_stable=is_stable) else 0


def _entry(descr: np.dtype[Any], number: int) -> int:
    """An entry of NumPy's table of routines for a dtype, 0 if there is none."""
    if not 2 <= int(np.__version__.partition(".")[0]) < 3:
        return 0
    routines = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(numpy_function(ROUTINES_OF_DTYPE))(id(descr))
    return ctypes.cast(routines, ctypes.POINTER(ctypes.c_void_p))[number] or 0


def function_named(name: str) -> str:
    """The name under which code finds NumPy's routine, as `pliant_sort_f64`; empty if there is none."""
    _, kind, dtype = name.split("_")
    address = address_of(kind, dtype)
    return symbol(name, address) if address else ""


def sorts(address: int, descr: np.dtype[Any]) -> bool:
    """Whether a function sorts as NumPy does."""
    x = (np.arange(SAMPLE) * 7919 % 1013).astype(descr)
    wanted = np.sort(x)
    ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_void_p)(address)(
        x.ctypes.data, SAMPLE, None
    )
    return np.array_equal(x, wanted)


def orders(address: int, descr: np.dtype[Any], *, is_stable: bool) -> bool:
    """Whether a function orders as NumPy does; a stable one keeps equal elements as they come."""
    x = (np.arange(SAMPLE) * 7919 % 101).astype(descr)
    order = np.arange(SAMPLE)
    ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_void_p)(address)(
        x.ctypes.data, order.ctypes.data, SAMPLE, None
    )
    return np.array_equal(order, np.argsort(x, stable=is_stable))


def emit_sort(e: Emitter, step: Routine) -> None:
    """One call for each row: in place, the result begins as the operand; or of indices, which are made first."""
    (x,), (out,) = step.args, step.outs
    *_, length = out.type.shape
    if not out.type.size:
        return
    if isinstance(step.node.op, Partition | Argpartition):
        sort, order = [function_named(f"pliant_{kind}_{x.type.dtype}") for kind in ("sort", "arrange")]
        e.module.declared[sort] = f"declare i32 @{sort}(ptr, i64, ptr)"
        e.module.declared[order] = f"declare i32 @{order}(ptr, ptr, i64, ptr)"
        emit_selection(e, step, f"@{sort}", f"@{order}")
        return
    e.begin_step([out])
    row = Var(math.prod(out.type.shape[:-1]))
    place = Affine(0, ((row, length),))
    op, arrays = step.node.op, (out,) if step.is_update else (x, out)
    assert isinstance(op, Sort | Argsort)
    name, column = function_named(f"pliant_{kind_of(op)}_{x.type.dtype}"), Var(length)
    index = Affine(0, ((column, 1),))

    def call() -> None:
        widest = max(e.module.widths, default=0)
        if isinstance(op, Argsort) and radix.has(x.type.dtype, length, is_stable=op.stable, widest=widest):
            radix.emit_order(e, x.type.dtype, f"@{name}", [e.address(b, place) for b in arrays], length)
            return
        if isinstance(op, Sort) and counted.has(x.type.dtype, length):
            counted.emit_counted(e, x.type.dtype, [e.address(b, place) for b in arrays], length)
            return
        if not step.is_update:
            e.nested((column,), lambda: e.store(out, place + index, e.affine(index)))
        places = [f"ptr {e.address(b, place)}" for b in arrays]
        e.call_for_effect(f"i32 @{name}({', '.join(places)}, i64 {length}, ptr null)")

    e.module.declared[name] = f"declare i32 @{name}({'ptr, ' * len(arrays)}i64, ptr)"
    e.nested((row,), call)
    e.end_step()
