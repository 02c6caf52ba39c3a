"""Derivatives of Rosenbrock's function, n = 100: by the interface, and by hand with the library itself."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from statistics import median
from typing import Any, final

import numpy as np

import pliant.diff as diff
from benchmarks.diff import by_hand
from benchmarks.diff.by_hand import Setting
from benchmarks.measure import calls_in, repeated
from pliant.diff.layout import flatten
from pliant.errors import UnavailableError

Call = Callable[[], Any]


@final
@dataclass(frozen=True)
class Row:
    """Seconds per call, the best of many turns; `added` is the median over turns of prepared - direct."""

    name: str
    direct: float
    prepared: float
    added: float
    checked: float  # the operator with prep=

    @property
    def overhead(self) -> str:
        """What a prepared call adds, by the best turns and by the median of pairs of turns."""
        best, middle = self.prepared - self.direct, self.added
        return f"{1e6 * best:+.2f} µs, {100 * best / self.direct:+.1f} % (median {1e6 * middle:+.2f} µs)"


def rows(settings: Mapping[str, Callable[[], Setting]], rounds: int) -> list[Row]:
    """One per setting whose library is installed."""
    made: list[Row] = []
    for name, setting in settings.items():
        try:
            made.append(row(name, setting(), rounds))
        except (ImportError, UnavailableError):
            continue
    return made


def row(name: str, of: Setting, rounds: int) -> Row:
    """One system, beside the same by hand. The sides take turns, each time in the other order."""
    f, is_with_value = by_hand.terms if of.is_vector else by_hand.rosenbrock, of.operator.startswith("value_and")
    start = (of.x, of.seeds) if of.seeds else (of.x,)
    prepare = getattr(diff, f"prepare_{of.operator.removeprefix('value_and_')}")
    prep = prepare(f, of.system, *start, diff.Constant(of.c))
    sides: list[Call] = [
        partial(of.by, *start, of.c),
        partial(prep.value_and if is_with_value else prep, *start, of.c),
        partial(getattr(diff, of.operator), f, of.system, *start, diff.Constant(of.c), prep=prep),
    ]
    wait = by_hand.waiting(of.system)
    if wait is not None:
        sides = [lambda side=side, wait=wait: wait(side()) for side in sides]
    results = [[np.asarray(leaf, float) for leaf in flatten(side())[0]] for side in sides]
    for others in results[1:]:
        for x, y in zip(results[0], others, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-3)
    turns: list[list[float]] = [[] for _ in sides]
    count = max(calls_in(side, 0.004, time.thread_time) for side in sides)
    for turn in range(rounds):
        order = range(len(sides))
        for n in order if turn % 2 else reversed(order):
            turns[n].append(repeated(sides[n], count, time.thread_time))
    direct, prepared, checked = turns
    added = median([b - a for a, b in zip(direct, prepared, strict=True)])
    return Row(name, min(direct), min(prepared), added, min(checked))


def use_one_thread() -> None:
    """PyTorch's threads would be measured too."""
    with contextlib.suppress(ImportError):
        import_module("torch").set_num_threads(1)
