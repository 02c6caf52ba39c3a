"""Value and gradient of Rosenbrock's function, n = 100: by the interface, and by hand with the library itself."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from statistics import median
from typing import Any, final

import numpy as np

import pliant.diff as diff
from benchmarks.diff import by_hand
from benchmarks.diff.by_hand import rosenbrock
from benchmarks.measure import calls_in, repeated
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


def rows(rounds: int) -> list[Row]:
    """One per system that is installed, and per kind of arrays."""
    made: list[Row] = []
    for name, setting in by_hand.SETTINGS.items():
        try:
            made.append(row(name, *setting(), rounds))
        except (ImportError, UnavailableError):
            continue
    return made


def row(name: str, system: Any, x: Any, c: Any, by: Callable[[Any, Any], Any], rounds: int) -> Row:
    """One system: `by` is the same by hand. The sides take turns, each time in the other order."""
    prep, constant = diff.prepare_gradient(rosenbrock, system, x, diff.Constant(c)), diff.Constant(c)
    wait, has_value = by_hand.waiting(system), isinstance(by(x, c), tuple | list)
    call, checked_call = (prep.value_and, diff.value_and_gradient) if has_value else (prep, diff.gradient)
    sides: list[Call] = [
        lambda: by(x, c),
        lambda: call(x, c),
        lambda: checked_call(rosenbrock, system, x, constant, prep=prep),
    ]
    sides = sides if wait is None else [lambda side=side: wait(side()) for side in sides]
    gradients = [np.asarray(side()[1] if has_value else side(), float) for side in sides]
    for gradient in gradients[1:]:
        np.testing.assert_allclose(gradient, gradients[0], rtol=1e-4, atol=1e-3)
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
