"""Scenarios as a table of costs."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, final

from pliant import diff
from pliant.diff.testing.check import make
from pliant.diff.testing.scenarios import Scenario, first_order, skip_reason
from pliant.errors import UnavailableError


@final
@dataclass(frozen=True)
class Cost:
    """What one call costs once it has been made before.

    calls: how often it runs f's Python code; 0 if a compiled program does without. seconds: the best
    of several rounds. bytes: the most that it allocates at a time, as far as Python's allocator and
    NumPy see it.
    """

    backend: str
    operator: str
    scenario: str
    prepared: bool
    calls: int
    seconds: float
    bytes: int


@final
@dataclass(frozen=True)
class Costs:
    """A table of costs; as text it is Markdown. skipped: how many cases were not claimed, by reason."""

    rows: tuple[Cost, ...]
    skipped: dict[str, int]

    def __str__(self) -> str:
        """One line per case."""
        lines = [
            "| backend | operator | case | prepared | calls of f | time, µs | bytes |",
            "|---|---|---|---|--:|--:|--:|",
        ]
        for r in self.rows:
            prepared = "yes" if r.prepared else "no"
            costs = f"{r.calls} | {1e6 * r.seconds:.1f} | {r.bytes}"
            lines.append(f"| {r.backend} | {r.operator} | {r.scenario} | {prepared} | {costs} |")
        return "\n".join(lines)


def benchmark_differentiation(
    systems: Iterable[Any], of: Iterable[Scenario], *, rounds: int = 20, seconds: float = 0.002
) -> Costs:
    """Time the scenarios that the systems claim: the best of `rounds` of about so many seconds.

    >>> import pliant.diff as diff
    >>> of = [Scenario("gradient", "vector", "number", prepared=True)]
    >>> costs = benchmark_differentiation([diff.FiniteDifferences()], of, rounds=1)
    >>> costs.rows[0].calls  # at x, and at two points for each of three numbers
    7
    """
    rows: list[Cost] = []
    skipped: dict[str, int] = {}
    cases = list(of)
    for system in systems:
        for scenario in cases:
            reason = skip_reason(system, scenario) or _missing(system)
            if reason:
                skipped[f"{system.name}: {reason}"] = skipped.get(f"{system.name}: {reason}", 0) + 1
                continue
            rows.append(_cost(system, scenario, rounds, seconds))
    return Costs(tuple(rows), skipped)


def _missing(system: Any) -> str:
    try:
        first_order(system).require()
    except UnavailableError as error:
        return str(error)
    return ""


def _cost(system: Any, scenario: Scenario, rounds: int, seconds: float) -> Cost:
    case = make(system, scenario)
    operator = getattr(diff, scenario.operator)

    def call() -> Any:
        return operator(case.f, system, case.x, *case.t, *case.contexts, **case.options)

    call()
    call()
    before = case.calls[0]
    call()
    calls = case.calls[0] - before
    best = _best(call, rounds, seconds)
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return Cost(system.name, scenario.operator, scenario.id, scenario.prepared, calls, best, peak)


def _best(call: Callable[[], Any], rounds: int, seconds: float) -> float:
    """Seconds per call."""
    start = time.perf_counter()
    call()
    count = max(1, int(seconds / (time.perf_counter() - start)))
    times: list[float] = []
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(count):
            call()
        times.append((time.perf_counter() - start) / count)
    return min(times)
