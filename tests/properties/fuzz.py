"""`python -m tests.properties.fuzz --count N`: many random programs, with progress; failures shrunk and printed."""

from __future__ import annotations

import argparse
import collections
import os
import sys
import time
from functools import partial
from typing import Any

os.environ.setdefault("PLIANT_VERIFY", "1")

from tests.properties import checks
from tests.properties.generate import Options, program
from tests.properties.programs import Program, shrink

SMOOTH = Options(is_smooth=True, lines=5)
OVERLAPPING = Options(has_overlaps=True)
CHECKS = {
    "text": (checks.text_round_trips, None),
    "reference": (partial(checks.compiled_equals_numpy, backend="reference"), None),
    "llvm": (partial(checks.compiled_equals_numpy, backend="llvm"), None),
    "threads": (checks.threads_do_not_matter, None),
    "derivatives": (partial(checks.derivatives_agree, backend=""), SMOOTH),
    "nested": (partial(checks.transformations_nest, backend=""), SMOOTH),
    "captured": (partial(checks.captured_equals_numpy, backend="llvm"), None),
    "vmap": (partial(checks.batch_is_a_loop, backend=""), None),
    "overlaps": (partial(checks.compiled_equals_numpy, backend="llvm"), OVERLAPPING),
    "overlaps, captured": (partial(checks.captured_equals_numpy, backend="llvm"), OVERLAPPING),
}


def drawn(seed: int, options: Options | None) -> Program:
    """The program that a seed means for a check."""
    return program(seed, options)


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


def main() -> int:
    """Run; the exit status says whether a check failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--only", choices=sorted(CHECKS), nargs="*", default=sorted(CHECKS))
    parser.add_argument("--stop-after", type=int, default=20, help="failures")
    options = parser.parse_args()
    began, failures = time.time(), 0
    unsupported: collections.Counter[str] = collections.Counter()
    for done, seed in enumerate(range(options.start, options.start + options.count)):
        for name in options.only:
            check, kinds = CHECKS[name]
            made = drawn(seed, kinds)
            wrong = outcome(check, made)
            if wrong and wrong.startswith("unsupported"):
                unsupported[wrong] += 1
            elif wrong:
                failures += 1
                small, wrong = smallest(check, made, wrong)
                print(f"\n=== {name}, seed {seed}\n{small.script()}\n--- {wrong[:1500]}", flush=True)
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
