"""`python -m benchmarks.threads`: large kernels on one thread and on two, beside JAX, which uses all cores."""

from __future__ import annotations

import argparse
from time import perf_counter
from typing import Final

import pliant
from pliant.tools.bench import elementwise
from pliant.tools.bench.case import Case
from pliant.tools.bench.measure import interleaved
from pliant.tools.bench.sides import Call, by_jax, by_pliant
from pliant.tools.bench.table import duration, mean

SIZES: Final = (10**6, 10**7)
COUNTS: Final = (1, 2)
HEADS: Final = ("1 thread", "2 threads", "gain", "JAX", "JAX/pl.")


def with_threads(call: Call, count: int) -> Call:
    """A call on so many threads."""

    def run() -> object:
        pliant.threads(count)
        return call()

    return run


def line(case: Case, rounds: int) -> tuple[str, float, float]:
    """A row of the table, how much two threads gain, and how many times longer JAX takes than they do."""
    ours, theirs = by_pliant(case), by_jax(case)
    assert theirs
    first = ours()
    sides = {str(count): with_threads(ours, count) for count in COUNTS} | {"jax": theirs}
    assert sides["1"]().tobytes() == sides["2"]().tobytes() == first.tobytes()
    seconds = interleaved(sides, rounds=rounds, seconds=0.001, clock=perf_counter)
    gain, ratio = seconds["1"] / seconds["2"], seconds["jax"] / seconds["2"]
    cells = [
        *[duration(seconds[side]) for side in ("1", "2")],
        f"{gain:.2f}×",
        duration(seconds["jax"]),
        f"{ratio:.2f}×",
    ]
    return f"| {case.name:<14} | {case.dtype:<7} | {case.size:>9} |" + "".join(f" {c:>9} |" for c in cells), gain, ratio


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser("python -m benchmarks.threads")
    parser.add_argument("only", nargs="*", help="names of kernels, instead of all")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="numbers of elements")
    parser.add_argument("--rounds", type=int, default=20, help="turns of each side (default 20)")
    options = parser.parse_args()
    print(f"| {'':<14} | {'':<7} | {'size':>9} |" + "".join(f" {head:>9} |" for head in HEADS))
    print("|" + "-" * 16 + "|" + "-" * 9 + "|" + ("-" * 10 + ":|") * (1 + len(HEADS)))
    gains, ratios = list[float](), list[float]()
    for case in elementwise.cases(tuple(options.sizes)):
        if not options.only or case.name in options.only:
            text, gain, ratio = line(case, options.rounds)
            gains.append(gain)
            ratios.append(ratio)
            print(text, flush=True)
    print(
        f"\nGeometric means: two threads gain {mean(gains):.2f}×, and JAX takes {mean(ratios):.2f}× as long as they do."
    )


if __name__ == "__main__":
    main()
