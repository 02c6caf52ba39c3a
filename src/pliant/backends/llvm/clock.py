"""What LLVM made of each step, and how long each takes, beside what the machine could do."""

from __future__ import annotations

import ctypes
import re
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, final

from pliant.backends.llvm.abi import Executable
from pliant.backends.llvm.blas import blas_text
from pliant.backends.llvm.jit import host_target
from pliant.backends.llvm.pool import threads
from pliant.backends.llvm.roofline import machine
from pliant.kernel.ir import Blocks, Host, Nest, Program, Routine, Rows, Run, Step
from pliant.kernel.price import price
from pliant.kernel.work import amount, work_of

SECONDS: Final = 0.2  # about how long a program is run again and again
MOST: Final = 1000  # runs
_FUNCTION = re.compile(r"^define [^@]*@segment(\d+)\w*\(.*?^}", re.MULTILINE | re.DOTALL)
_VECTOR = re.compile(r"(?:= f\w+ |= call |store )[^<\n]*<(\d+) x (?:float|double|half|i\d+)>")


def lanes_of(text: str) -> dict[int, int]:
    """How many elements the code of each step computes at a time, by its number. text: optimised LLVM IR."""
    found: dict[int, int] = {}
    for function in _FUNCTION.finditer(text):
        number, widths = int(function[1]), [int(n) for n in _VECTOR.findall(function[0])]
        found[number] = max([found.get(number, 1), *widths])
    return found


@final
class Stopwatch:
    """A step that keeps how long its fastest run took, in processor time: BLAS may have threads."""

    def __init__(self, run: Callable[[int, int], None]) -> None:
        self.run, self.best = run, float("inf")

    def __call__(self, places: int, codes: int) -> None:
        start = time.process_time()
        self.run(places, codes)
        self.best = min(self.best, time.process_time() - start)


def seconds_of(executable: Executable, arrays: Sequence[Any]) -> list[float | None]:
    """How long each step takes on one thread, the best of many runs; None for calls into Python."""
    watches = [step if isinstance(step, Host) else Stopwatch(step) for step in executable.steps]
    executable.steps[:] = watches
    before = threads()
    threads(1)
    try:
        end = time.process_time() + SECONDS
        for run in range(MOST):
            given = [a.copy() for a in arrays] if executable.pinned else arrays
            executable.run(*given)
            if run > 1 and time.process_time() > end:
                break
    finally:
        threads(before)
    cost = overhead()
    return [max(w.best - cost, 1e-9) if isinstance(w, Stopwatch) else None for w in watches]


def overhead() -> float:
    """Seconds that calling a function and looking at the clock take by themselves."""
    watch = Stopwatch(ctypes.PYFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(("Py_IsInitialized", ctypes.pythonapi)))
    for _ in range(100):
        watch(0, 0)
    return watch.best


def about_machine() -> str:
    """What the percentages of a measured description mean."""
    best = machine()
    copies = ", ".join(f"{amount(speed)}B/s of {amount(size)}B" for size, speed in best.copies)
    peaks = ", ".join(f"{amount(speed)}flop/s in {dtype}" for dtype, speed in best.flops.items())
    products = blas_text(frozenset(host_target().has))
    return f"one thread of this machine: copies at {copies}; {peaks}" + f"; {products}" * bool(products)


def notes(program: Program, lanes: Mapping[int, int], seconds: Sequence[float | None] | None) -> list[str]:
    """A note on each step: its work, its vectors, and its time if that was measured."""
    times = seconds or [None] * len(program.steps)
    return [note(step, lanes.get(n, 1), time) for n, (step, time) in enumerate(zip(program.steps, times, strict=True))]


def note(step: Step, lanes: int, seconds: float | None) -> str:
    """The note on one step."""
    work = work_of(step)
    parts = [str(work)]
    if isinstance(step, Nest | Rows | Blocks):
        parts.append(f"{lanes} at a time" if lanes > 1 else "no vectors")
    if seconds is not None:
        least = least_seconds(step)
        share = f", {least / seconds:.0%} of the roofline" if work.flops is not None else ""
        rates = f"{amount(work.bytes / seconds)}B/s" + (f", {amount(work.flops / seconds)}flop/s" if work.flops else "")
        parts.append(f"{amount(seconds)}s: {rates}{share}")
    return "; ".join(parts)


def least_seconds(step: Step) -> float:
    """The least time that a step takes here; what a library does by the price of its primitive."""
    work = work_of(step)
    flops = work.flops or 0
    if work.flops is None and isinstance(step, Routine | Host | Run):
        flops = int(price(step.node))
    return machine().seconds(work.bytes, flops, "f32" if "f32" in dtypes_of(step) else "f64")


def dtypes_of(step: Step) -> set[str]:
    """The dtypes of what a step reads."""
    return {b.type.dtype for b in step.reads}
