"""`python -m benchmarks.loops`: every loop program at several sizes and numbers of steps, by every side;
one table, and out/loops.json."""

from __future__ import annotations

import argparse
import json
import math
import platform
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.loops import sides
from benchmarks.loops.programs import PROGRAMS, LoopProgram
from benchmarks.loops.programs.base import Sizes
from benchmarks.measure import interleaved
from pliant.tools.bench.table import duration

OUT = Path("out/loops.json")
HEAD = ("size", "", "pliant", "NumPy/pl.", "JAX/pl.", "pl./C", "compile", "JAX/pl.")

GROWTH_HEAD = "| program | grows | value and gradient at each number of steps | exponent | C |"

Row = dict[str, Any]


def sizes_of(program: LoopProgram, *, is_short: bool) -> list[Sizes]:
    """The size in the middle, or all sizes and numbers of steps."""
    if is_short:
        return [program.sizes[1]]
    return [*program.sizes, *(size for size in program.trips if size not in program.sizes)]


def measured(program: LoopProgram, size: Sizes, rounds: int, *, with_jax: bool) -> Iterator[Row]:
    """The rows of a program at a size: its value, and its value with gradients."""
    for kind, make in (("value", sides.values), ("value+grad", sides.gradients)):
        if kind == "value" or program.wrt:
            calls, first = make(program, size, with_jax=with_jax)
            seconds = interleaved(calls, rounds=rounds, seconds=0.001)
            yield {"program": program.name, "size": size, "kind": kind, "seconds": seconds, "first": first}


def line(row: Row) -> str:
    """One row of the table."""
    seconds, first = row["seconds"], row["first"]
    size = " ".join(f"{key}={n}" for key, n in row["size"].items())

    def ratio(above: float | None, below: float | None) -> str:
        return f"{above / below:.2f}×" if above and below else ""

    cells = (
        duration(seconds["pliant"]),
        ratio(seconds.get("numpy"), seconds["pliant"]),
        ratio(seconds.get("jax"), seconds["pliant"]),
        ratio(seconds["pliant"], seconds.get("C")),
        duration(first["pliant"]),
        ratio(first.get("jax"), first["pliant"]),
    )
    return f"| {row['program']:<20} | {size:<18} | {row['kind']:<10} |" + "".join(f" {cell:>9} |" for cell in cells)


def growth(program: LoopProgram, rows: list[Row]) -> str:
    """One row of the second table: value and gradient at each number of steps, and the exponent by which the
    time grows from the one in the middle to the largest, by Pliant and by the hand-written code."""
    trips = [*program.trips] or [*program.sizes]
    kind = "value+grad" if program.wrt else "value"
    found = [r for size in trips for r in rows if r["size"] == size and r["kind"] == kind]
    if len(found) < len(trips):
        return ""
    last, before = found[-1], found[len(found) // 2]
    key = next((k for k in last["size"] if last["size"][k] != before["size"][k]), "")
    grown = math.log(last["size"][key] / before["size"][key])

    def exponent(side: str) -> str:
        if side not in last["seconds"]:
            return ""
        return f"{math.log(last['seconds'][side] / before['seconds'][side]) / grown:.2f}"

    times = ", ".join(f"{r['size'][key]}: {duration(r['seconds']['pliant'])}" for r in found)
    return f"| {program.name:<20} | {key:<5} | {times} | {exponent('pliant')} | {exponent('C')} |"


def summary(rows: list[Row]) -> str:
    """Geometric means of the ratios, of values with gradients."""
    parts = list[str]()
    for name, above, below in (("JAX/pliant", "jax", "pliant"), ("pliant/C", "pliant", "C")):
        found = [r["seconds"] for r in rows if r["kind"] == "value+grad" and {above, below} <= r["seconds"].keys()]
        if found:
            mean = math.exp(sum(math.log(s[above] / s[below]) for s in found) / len(found))
            parts.append(f"{name} {mean:.2f}× over {len(found)} rows")
    return "value+grad, geometric means: " + ", ".join(parts)


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.loops")
    parser.add_argument("only", nargs="*", help="measure only these programs")
    parser.add_argument("--short", action="store_true", help="one size each")
    parser.add_argument("--jax-once", action="store_true", help="JAX, which takes longest to compile, at one size")
    parser.add_argument(
        "--rounds", type=int, default=20, help="turns of each side, of which the best counts (default 20)"
    )
    options = parser.parse_args()
    versions = {name: version(name) for name in ("pliant", "jax", "numpy", "llvmlite")}
    print(f"{platform.machine()}, Python {platform.python_version()}, {versions}, float64")
    print(f"| {'program':<20} | {HEAD[0]:<18} | {HEAD[1]:<10} |" + "".join(f" {h:>9} |" for h in HEAD[2:]))
    print("|" + "-" * 22 + "|" + "-" * 20 + "|" + "-" * 12 + "|" + ("-" * 10 + ":|") * (len(HEAD) - 2))
    rows = list[Row]()
    for program in PROGRAMS:
        if options.only and program.name not in options.only:
            continue
        for size in sizes_of(program, is_short=options.short):
            with_jax = not options.jax_once or size == program.sizes[1]
            for row in measured(program, size, options.rounds, with_jax=with_jax):
                rows.append(row)
                print(line(row), flush=True)
    grown = [text for p in PROGRAMS if (text := growth(p, [r for r in rows if r["program"] == p.name]))]
    if grown:
        print("\n".join(["", GROWTH_HEAD, "|---|---|---|--:|--:|", *grown, ""]))
    print(summary(rows))
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps({"versions": versions, "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
