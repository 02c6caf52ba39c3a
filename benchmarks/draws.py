"""`python -m benchmarks.draws`: programs that draw random numbers, beside NumPy and numba, which draw the same."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from time import perf_counter
from typing import Any, Final

import numpy as np

import pliant
from pliant.tools.bench.measure import interleaved
from pliant.tools.bench.table import duration

Program = Callable[[Any, int], Any]

STEPS: Final = 20_000
HEADS: Final = ("a step", "numpy", "numba")


def walk(rng: Any, n: int) -> Any:
    """A random walk."""
    x = 0.0
    for _ in range(n):
        x += rng.normal(0.1, 2.0)
    return x


def circle(rng: Any, n: int) -> Any:
    """The area of a circle."""
    inside = 0
    for _ in range(n):
        x, y = rng.random(), rng.random()
        if x * x + y * y < 1:
            inside += 1
    return 4 * inside / n


def metropolis(rng: Any, n: int) -> Any:
    """A Markov chain of a normal distribution."""
    x, path = 0.0, np.zeros(n)
    for k in range(n):
        other = x + rng.normal(0, 0.5)
        if rng.random() < np.exp((x**2 - other**2) / 2):
            x = other
        path[k] = x
    return path.mean()


def magnet(rng: Any, n: int) -> Any:
    """Spins that turn by their neighbours."""
    size = 32
    spins = np.ones((size, size), np.int64)
    for _ in range(n):
        i, j = rng.integers(0, size), rng.integers(0, size)
        change = (
            2 * spins[i, j] * (spins[(i + 1) % size, j] + spins[i - 1, j] + spins[i, (j + 1) % size] + spins[i, j - 1])
        )
        if change <= 0 or rng.random() < np.exp(-0.4 * change):
            spins[i, j] = -spins[i, j]
    return spins.sum()


def queue(rng: Any, n: int) -> Any:
    """How long n customers wait for one who serves them."""
    wait = total = 0.0
    for _ in range(n):
        wait = max(0.0, wait + rng.exponential(0.9) - rng.exponential(1.0))
        total += wait
    return total / n


def many_uniform(rng: Any, n: int) -> Any:
    """An array of uniform numbers."""
    return rng.random(n).sum()


def many_normal(rng: Any, n: int) -> Any:
    """An array of normal numbers."""
    return rng.standard_normal(n).sum()


def shuffled(rng: Any, n: int) -> Any:
    """A permutation."""
    return rng.permutation(n)[0]


PROGRAMS: Final[tuple[Program, ...]] = (walk, circle, metropolis, magnet, queue, many_uniform, many_normal, shuffled)
"""Of a generator and a number of steps."""


def sides_of(f: Program, n: int) -> dict[str, Callable[[], Any]]:
    """The calls of a program: each has a generator of its own, of one state, and has to find the same at first."""
    made: dict[str, Program] = {"pliant": pliant.jit(f), "numpy": f}
    if find_spec("numba") and f is not shuffled:
        made["numba"] = import_module("numba").njit(f)
    rngs = {side: np.random.default_rng(0) for side in made}
    found = [run(rngs[side], n) for side, run in made.items()]
    if not np.allclose(found, found[0]):
        raise AssertionError(f"{f.__name__}: the sides differ: {found}")
    return {side: lambda run=run, rng=rngs[side]: run(rng, n) for side, run in made.items()}


def rows(only: list[str], rounds: int, n: int) -> Iterator[str]:
    """The rows of the table."""
    for f in PROGRAMS:
        if not only or f.__name__ in only:
            seconds = interleaved(sides_of(f, n), rounds=rounds, seconds=0.005, clock=perf_counter)
            others = [f"{seconds[side] / seconds['pliant']:.2f}×" if side in seconds else "" for side in HEADS[1:]]
            cells = [duration(seconds["pliant"] / n), *others]
            yield f"| {f.__name__:<13} |" + "".join(f" {c:>9} |" for c in cells)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser("python -m benchmarks.draws")
    parser.add_argument("only", nargs="*", help="names of programs, instead of all")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each side (default 5)")
    parser.add_argument("--steps", type=int, default=STEPS, help=f"steps of each program (default {STEPS})")
    options = parser.parse_args()
    print(f"| {'':<13} |" + "".join(f" {head:>9} |" for head in HEADS))
    print("|" + "-" * 15 + "|" + ("-" * 10 + ":|") * len(HEADS))
    for line in rows(options.only, options.rounds, options.steps):
        print(line, flush=True)


if __name__ == "__main__":
    main()
