"""`python -m benchmarks.memory`: count, print the tables, write out/memory.json."""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import platform
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.memory import adam, calls, checkpoints, planning
from benchmarks.memory.count import Use, in_new_process, interposer, missing
from benchmarks.memory.programs import LARGE, Program
from benchmarks.memory.sides import CALLS
from benchmarks.memory.small import SMALL_PROGRAMS

OUT = Path("out/memory.json")
Uses = dict[str, dict[str, Use]]


def counted(programs: Sequence[Program], sides: Sequence[str], library: Path, *, timed: bool) -> Uses:
    """What each side uses for each program."""
    names = [p.name for p in programs]
    return {side: dict(in_new_process(side, names, library, timed=timed)) for side in sides if CALLS[side]}


def large_table(uses: Uses) -> Iterator[str]:
    """MB per call, MB beyond the inputs at the peak, and time."""
    yield row("", list(uses))
    yield row("---", ["---:"] * len(uses))
    for program in LARGE:
        yield row(program.name, [cell(uses[side].get(program.name)) for side in uses])


def cell(use: Use | None) -> str:
    """Megabytes per call / megabytes at the peak / milliseconds."""
    return f"{use.bytes / 1e6:.3g} / {use.peak / 1e6:.3g} / {use.seconds * 1e3:.3g} ms" if use else "–"


def small_table(uses: Uses) -> Iterator[str]:
    """Bytes per call, against the least there is: results that lie in no argument."""
    yield row("", ["pliant", "peak", "the same by NumPy", "least", "ratio"])
    yield row("---", ["---:"] * 5)
    for program in SMALL_PROGRAMS:
        ours, theirs = (uses[side].get(program.name, Use(math.nan, math.nan)) for side in ("pliant", "numpy"))
        used = [f"{n:,.0f}" for n in (ours.bytes, ours.peak, theirs.bytes, program.new)]
        yield row(program.name, [*used, ratio(ours.bytes, program.new)])


def ratio(used: float, least: int) -> str:
    """How many times the least that can be; a page around a block is no more than a block."""
    return f"{used / least:.2f}" if least else ("0 bytes" if used == 0 else "more")


def row(name: str, cells: Sequence[str]) -> str:
    """One line of a table."""
    return "| " + " | ".join([name, *cells]) + " |"


def versions() -> dict[str, str]:
    """Of the packages that take part and are there."""
    found = dict[str, str]()
    for name in ("pliant", "numpy", "jax", "torch", "numba", "llvmlite"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def main() -> None:
    """Count, print, write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.memory")
    parser.add_argument("part", nargs="*", help="large, small, checkpoints, adam, calls, planning (default: all)")
    parts = parser.parse_args().part or ["large", "small", "checkpoints", "adam", "calls", "planning"]
    why = missing()
    print(f"{platform.machine()}, Python {platform.python_version()}, {versions()}, one thread")
    kept: dict[str, object] = {"versions": versions()}
    counting = {"large", "small", "checkpoints"} & {*parts}
    if why and counting:
        print(why)
    elif counting:
        with interposer() as library:
            if "large" in parts:
                uses = counted(LARGE, [side for side in CALLS if side != "numpy"], library, timed=True)
                show("MB per call / MB at the peak beyond the inputs / processor time", large_table(uses))
                kept["large"] = as_json(uses)
            if "small" in parts:
                uses = counted(SMALL_PROGRAMS, ("pliant", "numpy"), library, timed=False)
                show("bytes per call, in blocks of 64 KB and more", small_table(uses))
                kept["small"] = as_json(uses)
            if "checkpoints" in parts:
                policies = checkpoints.measured(library)
                kept["checkpoints"] = {policy: dataclasses.asdict(use) for policy, use in policies.items()}
                text = "{0:,} steps of an integrator of {1:,} states, its value and gradient"
                show(text.format(checkpoints.STEPS, checkpoints.STATES), checkpoints.table(policies))
    if "adam" in parts:
        kept["adam"] = seconds = adam.measured()
        show("Adam over 10⁷ float32 parameters in four arrays", adam.table(seconds))
    if "calls" in parts:
        kept["calls"] = times = calls.measured()
        show("calls that write their arguments", calls.table(times))
    if "planning" in parts:
        kept["planning"] = rows = planning.measured()
        show("seconds for a program of n operations", planning.table(rows))
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps(kept, indent=1, ensure_ascii=False))


def show(title: str, lines: Iterable[str]) -> None:
    """Print a table."""
    print(f"\n{title}", *lines, sep="\n", flush=True)


def as_json(uses: Uses) -> dict[str, dict[str, dict[str, float]]]:
    """Plain numbers."""
    return {side: {name: dataclasses.asdict(use) for name, use in found.items()} for side, found in uses.items()}


if __name__ == "__main__":
    main()
