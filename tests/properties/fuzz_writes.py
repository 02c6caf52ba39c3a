"""`python -m tests.properties.fuzz_writes --count N`: many random programs that write in place, by four plans each.

It ends with how many there were, how many Pliant refused and why, and how many differed from NumPy or between plans.
With `--faults`, each plan is made by a planner with a planted fault: wherever that does harm, the verifier has to find it.
With `--forced`, a random choice of what is done to large programs alone is done to each batch.
"""

from __future__ import annotations

import argparse
import collections
import os
import sys
import time
import warnings
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

import pytest

from pliant.errors import PlanWarning
from tests.kernel.faults import FAULTS
from tests.properties.forced import forced, ways_of
from tests.properties.fuzz import THREADS, smallest
from tests.properties.plans import POISONED, REFUSED, plans_agree, plans_of, wrong_ones
from tests.properties.workers import done_by
from tests.properties.writes import writing_program

BATCH = 50


def failures_from(first: int, has_ways: bool = False) -> list[str]:
    """What is wrong with the programs of BATCH seeds, each shrunk, and why some were refused."""
    ways = ways_of(first) if has_ways else ()
    with forced(ways, THREADS if has_ways else 1):
        return [text.replace("=== seed", f"=== forced {ways}, seed") for text in _failures_from(first)]


def _failures_from(first: int) -> list[str]:
    warnings.simplefilter("error")  # a plan that the verifier refuses is a failure too
    found = list[str]()
    programs = [writing_program(s, f"{s}_") for s in range(first, first + BATCH)]
    for made, wrong in wrong_ones(programs, plans_of(first // BATCH)):
        if wrong.startswith(REFUSED):
            found.append(wrong)
            continue
        small, wrong = smallest(plans_agree, made, wrong)
        found.append(f"=== seed {made.seed}\n{small.script()}\n--- {wrong[:1500]}")
    return found


def undetected_from(first: int) -> list[str]:
    """Programs of BATCH seeds that a planted fault makes wrong, though the verifier found nothing."""
    fault = [*FAULTS][first // BATCH % len(FAULTS)]
    programs = [writing_program(s, f"{s}_") for s in range(first, first + BATCH)]
    with pytest.MonkeyPatch.context() as monkeypatch, warnings.catch_warnings():
        warnings.simplefilter("ignore", PlanWarning)
        FAULTS[fault].plant(monkeypatch)
        found = wrong_ones(programs, (POISONED,), at_once=False)
    return [f"=== seed {made.seed}, {fault}\n{made.script()}\n--- {wrong[:1500]}" for made, wrong in found]


@dataclass
class Tally:
    """How many programs there were, how many were wrong, and why others were refused."""

    done: int = 0
    wrong: int = 0
    refused: collections.Counter[str] = field(default_factory=collections.Counter[str])
    began: float = field(default_factory=time.time)

    def add(self, found: list[str]) -> list[str]:
        """Count what was found in BATCH programs; what is wrong."""
        wrong = [text for text in found if not text.startswith(REFUSED)]
        self.refused.update([text for text in found if text.startswith(REFUSED)])
        self.done, self.wrong = self.done + BATCH, self.wrong + len(wrong)
        return wrong

    def __str__(self) -> str:
        seconds = time.time() - self.began
        return f"{self.done} programs, {self.refused.total()} refused, {self.wrong} wrong, {seconds:.0f} s"


def main() -> int:
    """Run; the exit status says whether a program failed. Interrupted, it says how far it came."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--stop-after", type=int, default=20, help="failures")
    parser.add_argument("--faults", action="store_true", help="plant faults in the planner")
    parser.add_argument("--forced", action="store_true", help="what is done to large programs, done to all")
    options = parser.parse_args()
    check = undetected_from if options.faults else partial(failures_from, has_ways=options.forced)
    tally = Tally()
    with suppress(KeyboardInterrupt):
        for found in done_by(options.workers, check, range(options.start, options.start + options.count, BATCH), 50):
            for text in tally.add(found):
                print(f"\n{text}", flush=True)
            if sys.stderr.isatty() or tally.done % 1000 == 0:
                print(f"\r{tally}", file=sys.stderr, flush=True)
            if tally.wrong >= options.stop_after:
                break
    print(f"\n{tally}")
    for text, count in tally.refused.most_common():
        print(f"{count:6d} {text}")
    return tally.wrong > 0


if __name__ == "__main__":
    sys.exit(main())
