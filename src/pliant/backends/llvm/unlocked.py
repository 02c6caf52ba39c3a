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
def _library() -> Any:
    """llvmlite's library, with functions that do not wait for one another."""
    library, ffi = ctypes.CDLL(llvm.ffi.lib._name), llvm.ffi
    run, emit = library.LLVMPY_RunNewModulePassManager, library.LLVMPY_TargetMachineEmitToMemory
    run.argtypes, run.restype = [ffi.LLVMModulePassManagerRef, ffi.LLVMModuleRef, ffi.LLVMPassBuilderRef], None
    emit.argtypes = [ffi.LLVMTargetMachineRef, ffi.LLVMModuleRef, ctypes.c_int, ctypes.POINTER(ctypes.c_char_p)]
    emit.restype = ffi.LLVMMemoryBufferRef
    return library


def run_passes(passes: Any, module: Any, builder: Any) -> None:
    """Run passes on a module of a context that no other thread uses."""
    _library().LLVMPY_RunNewModulePassManager(passes, module, builder)


def emit_object(machine: Any, module: Any) -> bytes:
    """The machine code of a module, by a target machine that no other thread uses."""
    lib = llvm.ffi.lib
    with llvm.ffi.OutputString() as error:
        buffer = _library().LLVMPY_TargetMachineEmitToMemory(machine, module, 1, error)
        if not buffer:
            raise RuntimeError(str(error))
    try:
        return ctypes.string_at(lib.LLVMPY_GetBufferStart(buffer), lib.LLVMPY_GetBufferSize(buffer))
    finally:
        lib.LLVMPY_DisposeMemoryBuffer(buffer)
