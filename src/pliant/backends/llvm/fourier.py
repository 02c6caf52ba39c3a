"""Fourier transforms by NumPy's own loops over rows, on memory as it lies: no call of Python for a short one."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from pliant.backends.llvm.jit import symbol
from pliant.backends.llvm.values import float_text, llvm_type
from pliant.core.ir import Op
from pliant.core.types import DTYPES, Type, itemsize, real_dtype
from pliant.kernel.ir import Affine, Routine
from pliant.ops.fft import Fft

if TYPE_CHECKING:
    from pliant.backends.llvm.emit import Emitter

PREFIX: Final = "pliant_fourier_"
LOOPS: Final = 32  # where a universal function has the address of its table of loops
FUNCTIONS: Final = {"fft": "fft", "ifft": "ifft", "rffteven": "rfft_n_even", "rfftodd": "rfft_n_odd", "irfft": "irfft"}
CHECKED: Final = {"rfftodd": 7}  # points of the transform that a loop is tried on, if they must be odd
ROWS: Final = 3
CLOSE: Final = 4  # units of the last place of the largest number


def has(op: Op, types: tuple[Type, ...]) -> bool:
    """Whether a primitive is a transform for which there is a loop."""
    return isinstance(op, Fft) and function_named(name_of(op, types[0].dtype)) != ""


def name_of(op: Fft, dtype: str) -> str:
    """The name under which code finds a loop; real transforms have one for even and one for odd lengths."""
    parity = ("even", "odd")[op.length % 2] if op.kind == "rfft" else ""
    return f"{PREFIX}{op.kind}{parity}_{real_dtype(dtype)}"


@lru_cache
def function_named(name: str) -> str:
    """The name of one of NumPy's loops, under which code finds it from now on; empty if there is none."""
    kind, dtype = name.removeprefix(PREFIX).split("_")
    address = loop_of(FUNCTIONS[kind], np.dtype(DTYPES[dtype]).char)
    return symbol(name, address) if address and transforms(address, kind, dtype) else ""


def loop_of(name: str, letter: str) -> int:
    """The address of a loop of a universal function for numbers with a letter, or 0 if it is not found."""
    if not 2 <= int(np.__version__.partition(".")[0]) < 3:
        return 0
    try:
        function: Any = getattr(import_module("numpy.fft._pocketfft_umath"), name)
    except (ImportError, AttributeError):
        return 0
    numbers = [n for n, types in enumerate(function.types) if types[1] == letter]
    table = ctypes.c_void_p.from_address(id(function) + LOOPS).value
    if len(numbers) != 1 or not table:
        return 0
    return ctypes.cast(table, ctypes.POINTER(ctypes.c_void_p))[numbers[0]] or 0


def transforms(address: int, kind: str, dtype: str) -> bool:
    """Whether a loop gives what NumPy gives, which computes some transforms of f32 in f64."""
    wide, narrow = (np.float64, np.complex128) if dtype == "f64" else (np.float32, np.complex64)
    n, name = CHECKED.get(kind, 6), kind.removesuffix("even").removesuffix("odd")
    wave = np.exp(np.arange(ROWS * n) * 0.7j).reshape(ROWS, n).astype(narrow)
    x = np.ascontiguousarray({"rfft": wave.real, "irfft": wave[:, : n // 2 + 1]}.get(name, wave))
    wanted: Any = getattr(np.fft, name)(x, n=n)
    out, factor = np.empty_like(wanted), np.array(factor_of(name, n), wide)
    if x.dtype == out.dtype:  # these are made in place
        out[...] = x
        x = out
    arrays = (ctypes.c_void_p * 3)(*[a.ctypes.data for a in (x, factor, out)])
    sizes = (ctypes.c_ssize_t * 3)(ROWS, x.shape[1], out.shape[1])
    steps = (ctypes.c_ssize_t * 5)(x.strides[0], 0, out.strides[0], x.itemsize, out.itemsize)
    direction = ctypes.c_bool(name == "fft")
    ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)(address)(arrays, sizes, steps, ctypes.byref(direction))
    return bool(np.abs(out - wanted).max() <= CLOSE * np.finfo(wide).eps * np.abs(wanted).max())


def factor_of(kind: str, length: int) -> float:
    """What a loop is told to multiply with."""
    return 1.0 if kind in ("fft", "rfft") else 1 / length


def emit_transform(e: Emitter, step: Routine) -> None:
    """One call for all rows; in place, if the result begins as the operand."""
    (out,), op = step.outs, step.node.op
    x = out if step.is_update else step.args[0]
    assert isinstance(op, Fft)
    if not out.type.size:
        return
    e.begin_step(())
    n, m = x.type.shape[-1], out.type.shape[-1]
    sizes = itemsize(x.type.dtype), itemsize(out.type.dtype)
    real = real_dtype(out.type.dtype)
    factor, direction = e.alloca(llvm_type(real)), e.alloca("i8")
    e.line(f"store {llvm_type(real)} {float_text(factor_of(op.kind, op.length), real)}, ptr {factor}")
    e.line(f"store i8 {int(op.kind == 'fft')}, ptr {direction}")
    arrays = _table(e, "ptr", [e.address(x, Affine()), factor, e.address(out, Affine())])
    counts = _table(e, "i64", [math.prod(out.type.shape[:-1]), n, m])
    steps = _table(e, "i64", [n * sizes[0], 0, m * sizes[1], *sizes])
    name = function_named(name_of(op, x.type.dtype))
    e.module.declared[name] = f"declare void @{name}(ptr, ptr, ptr, ptr)"
    e.call_for_effect(f"void @{name}(ptr {arrays}, ptr {counts}, ptr {steps}, ptr {direction})")
    e.end_step()


def _table(e: Emitter, type: str, items: Sequence[str | int]) -> str:
    """The address of some items in local memory."""
    table = e.alloca(f"[{len(items)} x {type}]")
    for n, item in enumerate(items):
        e.line(f"store {type} {item}, ptr {e.op(f'getelementptr {type}, ptr {table}, i64 {n}')}")
    return table
