"""`python -m benchmarks`: measure everything, print one table, write out/benchmarks.json."""

from __future__ import annotations

import argparse
import json
import platform
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from benchmarks import long
from benchmarks.measure import Times, in_new_process, interleaved
from benchmarks.programs import programs
from benchmarks.sides import SIDES, disagreement
from pliant.tools.bench.table import duration

OUT = Path("out/benchmarks.json")


def measurements(only: str, rounds: int) -> Iterator[tuple[str, Times]]:
    """Every row whose name contains `only`, as soon as it is measured."""
    for program in programs():
        name = program.name + (": value+grad" if program.by_hand else "")
        if only in name:
            error = disagreement(program)
            assert error < 1e-9, f"{name}: the libraries disagree by {error}"
            yield name, interleaved({side: make(program) for side, make in SIDES.items()}, rounds=rounds)
    if only in "first call, new process: logistic regression":
        name = "first call, new process: logistic regression"
        yield name, {side: in_new_process("first-call", side) for side in ("pliant", "jax")}
    if only in "import, new process":
        yield "import, new process", {side: in_new_process("import", side) for side in SIDES}
    for length in long.LENGTHS:
        if only in f"{length} ops":
            rows = long.stages(length)
            yield from ((f"{length} ops: {stage}", times) for stage, times in rows.items())
            yield f"{length} ops: trace, per op", {side: t / length for side, t in rows["trace"].items()}


def line(name: str, times: Times) -> str:
    """One row of the table: times, then how many times longer the others take than Pliant."""
    cells = [duration(times[side]) if side in times else "" for side in SIDES]
    ratios = [f"{times[side] / times['pliant']:.2f}×" if side in times else "" for side in ("jax", "numpy")]
    return f"| {name:<46} |" + "".join(f" {cell:>9} |" for cell in cells + ratios)


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("only", nargs="?", default="", help="measure only rows with this text in their name")
    parser.add_argument("--rounds", type=int, default=12, help="turns of each side (default 12)")
    options = parser.parse_args()
    versions = {name: version(name) for name in ("pliant", "jax", "numpy", "llvmlite")}
    print(f"{platform.machine()}, Python {platform.python_version()}, {versions}, float64, NumPy arrays in and out")
    print(f"| {'':<46} |" + "".join(f" {h:>9} |" for h in ("pliant", "JAX", "NumPy", "JAX/pl.", "NumPy/pl.")))
    print("|" + "-" * 48 + "|" + ("-" * 10 + ":|") * 5)
    rows: dict[str, Times] = {}
    for name, times in measurements(options.only, options.rounds):
        rows[name] = times
        print(line(name, times), flush=True)
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps({"versions": versions, "seconds": rows}, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
