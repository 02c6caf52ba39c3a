"""`python -m pliant.tools.bench`: what `python -m pliant bench` runs, in a process with one thread on one core."""

from __future__ import annotations

import argparse
import itertools
import json
import os
import platform
import sys
from collections.abc import Iterator
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from time import process_time
from typing import Final

from pliant.backends.llvm.clock import about_machine
from pliant.tools.bench import adbench, elementwise, models, networks
from pliant.tools.bench.case import Case, copy_of, moved
from pliant.tools.bench.growth import by_length, draw
from pliant.tools.bench.measure import interleaved
from pliant.tools.bench.sides import SIDES, calls, installed
from pliant.tools.bench.table import Row, heading, line, summary

PACKAGES: Final = {"keops": "pykeops"}


def cases(*, is_quick: bool) -> Iterator[Case]:
    """The whole suite; small sizes only, if quick."""
    sizes = elementwise.SIZES[:1] if is_quick else elementwise.SIZES
    more = (module.cases(is_short=is_quick) for module in (networks, models, adbench))
    return itertools.chain(elementwise.cases(sizes), *more)


def measured(case: Case, sides: list[str], rounds: int) -> Row:
    """The row of one case."""
    made = calls(case, sides)
    copy = copy_of(moved(case, made["pliant"]()))
    seconds = interleaved({**made, "copy": copy}, rounds=rounds, seconds=0.01, clock=process_time)
    share = seconds.pop("copy") / seconds["pliant"]
    return Row(case.group, case.name, case.kind, case.dtype, case.size, seconds, share)


def parser() -> argparse.ArgumentParser:
    """The options of the suite."""
    options = argparse.ArgumentParser("python -m pliant bench", description="Measure Pliant beside other libraries.")
    options.add_argument("only", nargs="*", help="groups or names of cases to measure, instead of all")
    options.add_argument("--quick", action="store_true", help="small sizes and few rounds: does it run at all?")
    options.add_argument("--sides", nargs="+", choices=SIDES, help="libraries, instead of all that are installed")
    options.add_argument("--rounds", type=int, default=7, help="turns of each side (default 7)")
    options.add_argument("--json", type=Path, help="a file to write the seconds to")
    options.add_argument("--plot", type=Path, help="a picture to draw: how times grow with sizes and lengths")
    return options


def main() -> None:
    """Measure, print, write."""
    options = parser().parse_args()
    suite = [*cases(is_quick=options.quick)]
    known = dict.fromkeys([name for case in suite for name in (case.group, case.name)])
    if unknown := [name for name in options.only if name not in known]:
        parser().error(f"no group or case is called {', '.join(unknown)}; there are {', '.join(known)}")
    sides = [side for side in installed() if not options.sides or side in options.sides or side == "pliant"]
    rounds = 1 if options.quick else options.rounds
    versions = ", ".join(f"{side} {version(PACKAGES.get(side, side))}" for side in sides)
    print(f"{platform.machine()}, Python {platform.python_version()}, {versions}")
    print(f"processor time on one core; {about_machine()}")
    print(heading(sides))
    rows = list[Row]()
    for case in suite:
        if not options.only or {case.group, case.name} & set(options.only):
            rows.append(measured(case, sides, rounds))
            print(line(rows[-1], sides), flush=True)
    print("\n".join(summary(rows)))
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=1, ensure_ascii=False))
    if options.plot:
        draw(rows, by_length(), options.plot)


if __name__ == "__main__":
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    sys.exit(main())
