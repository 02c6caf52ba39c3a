"""Clocks: for calls that take turns, which the suite of Pliant has too, for single calls and for new processes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from pliant.tools.bench.measure import calls_in, interleaved, repeated

__all__ = ["Times", "calls_in", "in_new_process", "interleaved", "once", "repeated"]

Side = str  # "pliant", "jax" or "numpy"
Times = dict[Side, float]


def once(fn: Callable[[], Any]) -> float:
    """Seconds that one call takes."""
    start = time.perf_counter()
    fn()
    return time.perf_counter() - start


def in_new_process(task: str, side: Side, *, rounds: int = 3) -> float:
    """The best of several answers of `python -m benchmarks.cold TASK SIDE`, in seconds.

    Bytecode is kept between them, as it is for an installed package.
    """
    command = [sys.executable, "-m", "benchmarks.cold", task, side]
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    runs = [subprocess.run(command, check=True, capture_output=True, text=True, env=kept) for _ in range(rounds)]
    return min(float(run.stdout) for run in runs)
