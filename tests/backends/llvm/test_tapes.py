"""Memory of tapes: it begins on the stack, grows, and is used again, and no call sees what another one left."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.backends.llvm.tape import SECOND
from pliant.backends.llvm.tapes import FIRST, SLOTS


def decayed(x: Any, steps: Any) -> Any:
    """x after as many steps as `steps` says, none of which is linear."""
    n = 0
    while n < steps:
        x = x - 0.01 * x * x
        n = n + 1
    return np.sum(x)


def by_hand(x: Any, steps: int) -> Any:
    """The gradient of `decayed`."""
    tape = list[Any]()
    for _ in range(steps):
        tape.append(x)
        x = x - 0.01 * x * x
    slope = np.ones_like(x)
    for x in tape[::-1]:
        slope = slope * (1 - 0.02 * x)
    return slope


def nested(x: Any, steps: Any) -> Any:
    """A loop with a tape in each step of one with a tape."""
    n = 0
    while n < steps:
        m = 0
        while m < n * n:
            x = x - 0.001 * x * x
            m = m + 1
        x = np.sin(x)
        n = n + 1
    return np.sum(x)


SLOPE = pliant.grad(decayed)


@pytest.mark.parametrize("size", [1, 3, 8, 100, 600, 10_000])
def test_tapes_of_any_length_hold_what_was_saved(size: int) -> None:
    """One row less, as many and one row more than the stack holds, and the memory that comes then; then fewer again."""
    xs, row = np.linspace(0.1, 0.9, size), 8 * size
    edges = {n + d for n in (0, FIRST // row, SECOND // row, 2 * SECOND // row) for d in (-1, 0, 1)}
    counts = sorted([n for n in edges if 0 <= n <= 9000])
    for steps in (*counts, *counts[::-1]):
        np.testing.assert_allclose(SLOPE(xs, steps), by_hand(xs, steps), rtol=1e-12)


def test_tapes_inside_tapes_are_apart() -> None:
    xs = np.linspace(0.1, 0.9, 300)
    slope = pliant.grad(nested)
    wanted = (nested(xs + 1e-6, 7) - nested(xs - 1e-6, 7)) / 2e-6
    for _ in range(SLOTS + 2):
        np.testing.assert_allclose(slope(xs, 7).sum(), wanted, rtol=1e-7)


def test_threads_have_tapes_of_their_own() -> None:
    works = [(np.linspace(0.1, 0.9, size), steps) for size in (5, 700, 3000) for steps in (3, 40, 300)] * 3
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(SLOPE, *zip(*works, strict=True)))
    for work, slope in zip(works, found, strict=True):
        np.testing.assert_allclose(slope, by_hand(*work), rtol=1e-12)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="how Linux gives memory")
def test_the_next_call_takes_no_new_memory() -> None:
    import resource

    xs, steps = np.linspace(0.1, 0.9, 20_000), 200  # 32 MB
    SLOPE(xs, steps)
    SLOPE(xs, steps)
    taken: list[int] = []
    for _ in range(4):  # the process has other work, too
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        SLOPE(xs, steps)
        taken.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
    assert min(taken) * resource.getpagesize() < xs.nbytes * steps / 10
