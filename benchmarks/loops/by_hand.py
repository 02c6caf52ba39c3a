"""The gradients written by hand in C, compiled when they are asked for."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.loops.programs import LoopProgram
from benchmarks.loops.programs.base import Sizes

SOURCE = Path(__file__).with_name("by_hand.c")
# Sums in any order, as Pliant's; but divisions stay divisions.
ARITHMETIC = ("-fno-math-errno", "-fno-trapping-math", "-fno-signed-zeros", "-fassociative-math")
FLAGS = ("-O3", "-march=native", "-shared", "-fPIC", *ARITHMETIC)
WORK = 8  # times the size of all arguments


@lru_cache
def library() -> Any:
    """The compiled functions; None without a C compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    made = Path(tempfile.mkdtemp()) / "by_hand.so"
    subprocess.run([compiler, *FLAGS, str(SOURCE), "-o", str(made), "-lm"], check=True)
    return ctypes.CDLL(str(made))


def value_and_gradient(program: LoopProgram, size: Sizes) -> Callable[[], tuple[float, list[Any]]] | None:
    """A call of the hand-written function on the program's inputs, if there is one."""
    found = getattr(library(), program.name, None) if library() else None
    if found is None:
        return None
    found.restype = ctypes.c_double
    xs = program.inputs(size)
    gradients = [np.zeros(xs[n].shape) for n in program.wrt]
    work = np.zeros(WORK * sum(x.size for x in xs) + 64)
    sizes = (ctypes.c_long * len(size))(*size.values())
    given = (ctypes.c_void_p * len(xs))(*(x.ctypes.data for x in xs))
    made = (ctypes.c_void_p * len(gradients))(*(x.ctypes.data for x in gradients))
    at = ctypes.c_void_p(work.ctypes.data)

    def call() -> tuple[float, list[Any]]:
        return found(sizes, given, made, at), gradients

    call.kept = (xs, work)  # type: ignore[attr-defined]  # the memory that the addresses are of
    return call
