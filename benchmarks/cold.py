"""What only a new process can measure, in seconds: `python -m benchmarks.cold import|first-call pliant|jax|numpy`."""

from __future__ import annotations

import importlib
import sys
import time


def import_time(side: str) -> float:
    """Seconds to import the library, NumPy included."""
    start = time.perf_counter()
    importlib.import_module(side)
    return time.perf_counter() - start


def first_call(side: str) -> float:
    """Seconds of the first call of logistic regression's value and gradient, the library imported."""
    sides = importlib.import_module("benchmarks.sides")
    programs = importlib.import_module("benchmarks.programs")
    program = next(p for p in programs.programs() if p.fn is programs.logistic)
    call = sides.SIDES[side](program)
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


if __name__ == "__main__":
    task, side = sys.argv[1:]
    print({"import": import_time, "first-call": first_call}[task](side))
