"""Time things fairly: the sides take turns, and each keeps its best round."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

Side = str  # "pliant", "jax" or "numpy"
Times = dict[Side, float]


def once(fn: Callable[[], Any]) -> float:
    """Seconds that one call takes."""
    start = time.perf_counter()
    fn()
    return time.perf_counter() - start


def interleaved(sides: Mapping[Side, Callable[[], Any]], *, rounds: int = 12, seconds: float = 0.02) -> Times:
    """Seconds per call of each side, the best of `rounds` turns of about `seconds` each."""
    counts = {side: calls_in(fn, seconds) for side, fn in sides.items()}
    best = dict.fromkeys(sides, float("inf"))
    for _ in range(rounds):
        for side, fn in sides.items():
            best[side] = min(best[side], repeated(fn, counts[side]))
    return best


def calls_in(fn: Callable[[], Any], seconds: float) -> int:
    """How many calls take about that long, at least one."""
    fn()
    n = 1
    # The first calls may still compile, so the best of three decides.
    while n < 1_000_000 and min(repeated(fn, n) for _ in range(3)) * n < seconds / 4:
        n *= 4
    return n


def repeated(fn: Callable[[], Any], n: int) -> float:
    """Seconds per call over `n` calls."""
    calls = range(n)
    start = time.perf_counter()
    for _ in calls:
        fn()
    return (time.perf_counter() - start) / n


def in_new_process(task: str, side: Side, *, rounds: int = 3) -> float:
    """The best of several answers of `python -m benchmarks.cold TASK SIDE`, in seconds.

    Bytecode is kept between them, as it is for an installed package.
    """
    command = [sys.executable, "-m", "benchmarks.cold", task, side]
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    runs = [subprocess.run(command, check=True, capture_output=True, text=True, env=kept) for _ in range(rounds)]
    return min(float(run.stdout) for run in runs)
