"""LLVM's long calls, on several threads at once.

llvmlite lets one thread at a time into LLVM. What is compiled in contexts and by target machines of their own needs no
such lock: the calls that take long go to the library by themselves.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import Any, Final

import llvmlite.binding

llvm: Final[Any] = llvmlite.binding  # it has no types


@lru_cache
def _function(name: str) -> Any:
    """A function of llvmlite's library, of the types that llvmlite says, which does not wait for others."""
    function, known = getattr(_library(), name), getattr(llvm.ffi.lib, name)
    function.argtypes, function.restype = known.argtypes, known.restype
    return function


@lru_cache
def _library() -> Any:
    return ctypes.CDLL(llvm.ffi.lib._name)


def run_passes(passes: Any, module: Any, builder: Any) -> None:
    """Run passes on a module of a context that no other thread uses, and free them: llvmlite does not, as
    `ObjectRef._dispose`, which does nothing, comes before theirs."""
    try:
        _function("LLVMPY_RunNewModulePassManager")(passes, module, builder)
    finally:
        _function("LLVMPY_DisposeNewModulePassManger")(passes)
        passes.detach()


def emit_object(machine: Any, module: Any) -> bytes:
    """The machine code of a module, by a target machine that no other thread uses."""
    lib, is_object = llvm.ffi.lib, 1
    with llvm.ffi.OutputString() as error:
        buffer = _function("LLVMPY_TargetMachineEmitToMemory")(machine, module, is_object, error)
        if not buffer:
            raise RuntimeError(str(error))
    try:
        return ctypes.string_at(lib.LLVMPY_GetBufferStart(buffer), lib.LLVMPY_GetBufferSize(buffer))
    finally:
        lib.LLVMPY_DisposeMemoryBuffer(buffer)
