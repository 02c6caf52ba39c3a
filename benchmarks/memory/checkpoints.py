"""What the policies of a long loop keep: the gradient of 10⁵ steps of an integrator of 10³ states.

Each policy has two new processes: the first one compiles, and the second, which finds the code on disk, counts the
bytes of all its calls, the first one included, which takes the memory that later calls use again.
"""

from __future__ import annotations

import ctypes
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from time import process_time
from typing import Any, Final

import numpy as np

import pliant
from benchmarks.memory.count import ONE_THREAD, Use

STEPS, STATES = 100_000, 1000
CALLS: Final = 3
H: Final = 0.01
Rows = dict[str, Use]


def accelerated(x: Any) -> Any:
    """Pendulums in a ring, each pulled by its neighbours."""
    return np.roll(x, 1) - 2.0 * x + np.roll(x, -1) - np.sin(x)


def undone(i: Any, state: Any) -> Any:
    """A step back."""
    x, v = state
    x = x - H * v
    return x, v - H * accelerated(x)


POLICIES: Final[dict[str, Any]] = {
    "store": "store",
    "carry": "carry",
    "sqrt": "sqrt",
    "treeverse(300)": pliant.treeverse(300),
    "treeverse(30)": pliant.treeverse(30),
    "treeverse(8)": pliant.treeverse(8),
    "reversible": pliant.reversible(undone),
}


def gradient(policy: str) -> Callable[[], Any]:
    """A call of the gradient with respect to the first state."""

    def final(x: Any, v: Any) -> Any:
        def step(i: Any, state: Any) -> Any:
            x, v = state
            v = v + H * accelerated(x)
            return x + H * v, v

        x, v = pliant.fori_loop(0, STEPS, step, (x, v), save=POLICIES[policy])
        return np.sum(x * x) / STATES

    slope = pliant.value_and_grad(final, argnums=(0, 1))
    x = np.sin(np.arange(STATES // 2) * 2 * math.pi / (STATES // 2))
    v = np.zeros(STATES // 2)
    return lambda: slope(x, v)


def used(policy: str, calls: int) -> Use:
    """What some calls use, in this process: only where the library is loaded."""
    call, counter, best = gradient(policy), ctypes.CDLL(None), math.inf
    out = (ctypes.c_long * 2)()
    counter.memory_reset()
    for _ in range(calls):
        began = process_time()
        call()
        best = min(best, process_time() - began)
    counter.memory_read(out)
    return Use(out[0] / calls, out[1], best)


def measured(library: Path) -> Rows:
    """What each policy uses."""
    found = Rows()
    for policy in POLICIES:
        with tempfile.TemporaryDirectory() as cache:
            given = os.environ | ONE_THREAD | {"LD_PRELOAD": os.fspath(library), "PLIANT_CACHE": cache}
            for calls in (1, CALLS):
                words = [sys.executable, "-m", "benchmarks.memory.checkpoints", policy, str(calls)]
                text = subprocess.run(words, env=given, capture_output=True, text=True, check=True).stdout
            found[policy] = Use(**json.loads(text))
    return found


def table(rows: Rows) -> Iterator[str]:
    """MB at the peak, and seconds, beside those of the first policy."""
    yield "| save | MB at the peak | seconds | times as long as the first |"
    yield "| --- | ---: | ---: | ---: |"
    first = next(iter(rows.values())).seconds
    for policy, use in rows.items():
        yield f"| {policy} | {use.peak / 1e6:.3g} | {use.seconds:.3g} | {use.seconds / first:.2f} |"


if __name__ == "__main__":
    print(json.dumps(vars(used(sys.argv[1], int(sys.argv[2])))))
