"""`python -m tests.properties.fuzz --count N`: many random programs, with progress; failures shrunk and printed.

With `--forced`, arrays are larger, and a random choice of what is done to large programs alone is done to each.
"""

from __future__ import annotations

import argparse
import collections
import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

os.environ.setdefault("PLIANT_VERIFY", "1")

import pliant
from tests.properties import checks
from tests.properties.forced import forced, ways_of
from tests.properties.generate import Options, program
from tests.properties.hostile import any_call_is_numpys
from tests.properties.programs import Program, shrink

SMOOTH = Options(is_smooth=True, lines=5)
OVERLAPPING = Options(has_overlaps=True)
THREADS = 2  # that run what is forced
CHECKS = {
    "text": (checks.text_round_trips, None),
    "reference": (partial(checks.compiled_equals_numpy, backend="reference"), None),
    "llvm": (partial(checks.compiled_equals_numpy, backend="llvm"), None),
    "searched": (checks.searched_is_compiled, None),
    "equalities": (checks.equalities_hold, SMOOTH),
    "threads": (checks.threads_do_not_matter, None),
    "derivatives": (partial(checks.derivatives_agree, backend=""), SMOOTH),
    "nested": (partial(checks.transformations_nest, backend=""), SMOOTH),
    "captured": (partial(checks.captured_equals_numpy, backend="llvm"), None),
    "calls": (any_call_is_numpys, None),
    "vmap": (partial(checks.batch_is_a_loop, backend=""), None),
    "overlaps": (partial(checks.compiled_equals_numpy, backend="llvm"), OVERLAPPING),
    "overlaps, captured": (partial(checks.captured_equals_numpy, backend="llvm"), OVERLAPPING),
}


def drawn(seed: int, options: Options | None) -> Program:
    """The program that a seed means for a check."""
    return program(seed, options)


def drawn_forced(seed: int, options: Options | None) -> Program:
    """The same of larger arrays, two times of three."""
    return drawn(seed, replace(options or Options(), is_large=seed % 3 > 0))


def outcome(check: Any, made: Program) -> str | None:
    """What is wrong, "unsupported: …", or None."""
    try:
        return check(made)
    except checks.Unsupported as error:
        return f"unsupported: {str(error).splitlines()[0]}"


def kind(text: str) -> str:
    """A failure's kind, so that shrinking does not wander to another one."""
    return text.split(" raised ")[-1][:30] if " raised " in text else text.split(":")[0].split(" ")[0]


def smallest(check: Any, made: Program, wrong: str) -> tuple[Program, str]:
    """The program shrunk, and what is wrong with it."""

    def fails(smaller: Program) -> bool:
        try:
            found = outcome(check, smaller)
        except Exception:
            return False
        return found is not None and kind(found) == kind(wrong)

    small = shrink(made, fails)
    return small, outcome(check, small) or wrong


def fewest(fails: Callable[[tuple[str, ...]], bool], ways: tuple[str, ...]) -> tuple[str, ...]:
    """Those of what is forced without which nothing is wrong."""
    for way in ways:
        fewer = tuple([w for w in ways if w != way])
        if fails(fewer):
            ways = fewer
    return ways


def tried(name: str, seed: int, has_ways: bool) -> str | None:
    """What is wrong with the program of a seed by a check, with a script; "unsupported: …", or None."""
    check, kinds = CHECKS[name]
    made = drawn_forced(seed, kinds) if has_ways else drawn(seed, kinds)
    ways = ways_of(seed) if has_ways else ()

    def found(ways: tuple[str, ...]) -> str | None:
        with forced(ways, THREADS):
            return outcome(check, made)

    wrong = found(ways) if has_ways else outcome(check, made)
    if wrong is None or wrong.startswith("unsupported"):
        return wrong
    ways = fewest(lambda ways: (found(ways) or "unsupported")[:11] != "unsupported", ways)
    with forced(ways, THREADS if has_ways else pliant.threads()):
        small, wrong = smallest(check, made, wrong)
    return f"=== {name}, seed {seed}, forced {ways}\n{small.script()}\n--- {wrong[:1500]}"


def main() -> int:
    """Run; the exit status says whether a check failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--only", choices=sorted(CHECKS), nargs="*", default=sorted(CHECKS))
    parser.add_argument("--stop-after", type=int, default=20, help="failures")
    parser.add_argument("--forced", action="store_true", help="what is done to large programs, done to all")
    options = parser.parse_args()
    began, failures = time.time(), 0
    unsupported: collections.Counter[str] = collections.Counter()
    for done, seed in enumerate(range(options.start, options.start + options.count)):
        for name in options.only:
            wrong = tried(name, seed, options.forced)
            if wrong and wrong.startswith("unsupported"):
                unsupported[wrong] += 1
            elif wrong:
                failures += 1
                print(f"\n{wrong}", flush=True)
        if sys.stderr.isatty() or done % 50 == 49:
            print(
                f"\r{done + 1} programs, {failures} failures, {time.time() - began:.0f} s", file=sys.stderr, flush=True
            )
        if failures >= options.stop_after:
            break
    for text, count in unsupported.most_common():
        print(f"{count:5d} {text}")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
