"""`python -m benchmarks.loops`: every loop program at three sizes and five numbers of steps, by every side;
tables on standard output and in out/loops.md, all numbers in out/loops.json, progress on standard error."""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

from benchmarks.loops import sides
from benchmarks.loops.programs import PROGRAMS, LoopProgram
from benchmarks.loops.programs.base import Sizes
from benchmarks.loops.tables import Row, growth, in_the_middle, ratio, sized, summary
from benchmarks.measure import interleaved
from pliant.tools.bench.table import duration

OUT = Path("out")
NAMES = ("pliant", "jax", "numba", "numpy", "llvmlite")


def points(program: LoopProgram, *, is_short: bool) -> list[Sizes]:
    """The size in the middle, or all sizes and numbers of steps."""
    if is_short:
        return [program.sizes[1]]
    return [*program.sizes, *(size for size in program.trips if size not in program.sizes)]


def others(program: LoopProgram, size: Sizes) -> list[str]:
    """The sides beside Pliant and NumPy. JAX, which compiles for each size, is measured at all sizes, but only
    at the number of steps in the middle and at the largest."""
    trips = program.trips
    with_jax = size in program.sizes or size in (trips[len(trips) // 2], trips[-1])
    return ["numba", "C", *(["jax"] if with_jax else [])]


def measured(program: LoopProgram, size: Sizes, rounds: int) -> Iterator[Row]:
    """The rows of a program at a size: its value, and its value with gradients."""
    for kind, make in (("value", sides.values), ("value+grad", sides.gradients)):
        if kind == "value" or program.wrt:
            calls, first = make(program, size, others(program, size))
            yield Row(program.name, size, kind, interleaved(calls, rounds=rounds, seconds=0.01), first)


def said(row: Row, start: float) -> str:
    """A row as it is found."""
    found = {"numpy": "NumPy/pl.", "numba": "numba/pl.", "jax": "JAX/pl.", "C": "pl./C"}
    ratios = [f"{name} {ratio(row.times(side))}" for side, name in found.items() if side in row.seconds]
    times = ", ".join([duration(row.seconds["pliant"]), *ratios])
    return f"[{time.perf_counter() - start:5.0f} s] {row.program} {sized(row.size)} {row.kind}: {times}"


def texts(programs: Sequence[LoopProgram], rows: Sequence[Row], *, is_short: bool) -> Iterator[str]:
    """The tables."""
    yield in_the_middle(programs, rows)
    series: tuple[tuple[str, Callable[[LoopProgram], Sequence[Sizes]]], ...] = (
        ("At three sizes:", lambda program: program.sizes),
        ("At five numbers of steps, or extents where the loops run over one:", lambda program: program.trips),
    )
    for text, points in () if is_short else series:
        yield f"{text}\n\n{growth(programs, rows, points)}"
    yield "\n".join(f"- {line}" for line in summary(rows))


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.loops")
    parser.add_argument("only", nargs="*", help="measure only these programs")
    parser.add_argument("--short", action="store_true", help="one size each")
    parser.add_argument(
        "--rounds", type=int, default=20, help="turns of each side, of which the best counts (default 20)"
    )
    options = parser.parse_args()
    programs = [p for p in PROGRAMS if not options.only or p.name in options.only]
    versions = {name: version(name) for name in NAMES}
    sides.start()
    start, rows = time.perf_counter(), list[Row]()
    for program in programs:
        for size in points(program, is_short=options.short):
            for row in measured(program, size, options.rounds):
                rows.append(row)
                print(said(row, start), file=sys.stderr, flush=True)
    head = f"{platform.machine()}, Python {platform.python_version()}, {versions}, float64"
    text = "\n\n".join([head, *texts(programs, rows, is_short=options.short)])
    print(text)
    OUT.mkdir(exist_ok=True)
    (OUT / "loops.md").write_text(text + "\n")
    found = [asdict(row) for row in rows]
    (OUT / "loops.json").write_text(json.dumps({"versions": versions, "rows": found}, indent=1))


if __name__ == "__main__":
    main()
