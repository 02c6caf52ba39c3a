"""Time things fairly: the sides take turns, and each keeps its best round."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, Final

Clock = Callable[[], float]

SLOW: Final = 20  # turns that a single call takes as long as
FEWEST: Final = 2  # turns of a side that is slow
BETTER: Final = 0.98  # of the time before: a side that is so much faster is not settled
MOST: Final = 5  # times the rounds that are asked for
PARTS: Final = 3  # of a turn, each timed


def interleaved(
    sides: Mapping[str, Callable[[], Any]],
    *,
    rounds: int = 12,
    seconds: float = 0.02,
    clock: Clock = time.perf_counter,
) -> dict[str, float]:
    """Seconds per call of each side, the best of its turns of about `seconds` each.

    There are as many turns as it takes until no side has become faster for `rounds` of them, as others may use the
    machine's memory for a while; fewer of a side that is slow. A turn is timed in parts, as its first calls, ten or so
    of arrays of some MB, find in the caches what the side before has left there, which for some is their own arguments.
    """
    counts = {side: calls_in(fn, seconds, clock) for side, fn in sides.items()}
    best = dict.fromkeys(sides, float("inf"))
    settled = turn = 0
    while settled < rounds and turn < MOST * rounds:
        settled += 1
        for side, fn in sides.items():
            if turn < FEWEST or best[side] < SLOW * seconds:
                taken = min([repeated(fn, counts[side], clock) for _ in range(PARTS)])
                settled = 0 if turn and taken < BETTER * best[side] else settled
                best[side] = min(best[side], taken)
        turn += 1
    return best


def calls_in(fn: Callable[[], Any], seconds: float, clock: Clock = time.perf_counter) -> int:
    """How many calls take about that long, at least one."""
    fn()
    n = 1
    if repeated(fn, n, clock) > SLOW * seconds:
        return n
    # The first calls may still compile, so the best of three decides.
    while n < 1_000_000 and min(repeated(fn, n, clock) for _ in range(3)) * n < seconds / 4:
        n *= 4
    return n


def repeated(fn: Callable[[], Any], n: int, clock: Clock = time.perf_counter) -> float:
    """Seconds per call over `n` calls."""
    calls = range(n)
    start = clock()
    for _ in calls:
        fn()
    return (clock() - start) / n
