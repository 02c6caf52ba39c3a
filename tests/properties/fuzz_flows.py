"""`python -m tests.properties.fuzz_flows --count N`: many random programs of loops and branches; failures shrunk and printed.

With `--forced`, a random choice of what is done to large programs alone is done to each.
"""

from __future__ import annotations

import argparse
import collections
import os
import re
import sys
import time
from functools import partial
from typing import Any

os.environ.setdefault("PLIANT_VERIFY", "1")

from tests.properties import flow_checks as checks
from tests.properties.checks import Unsupported
from tests.properties.flow_grammar import flow
from tests.properties.flows import Flow, shrunk
from tests.properties.forced import forced, ways_of
from tests.properties.fuzz import THREADS, fewest, kind
from tests.properties.mixed_grammar import mixed
from tests.properties.nest_grammar import nest
from tests.properties.programs import quiet
from tests.properties.workers import done_by

CHECKS = {
    "reference": partial(checks.does_what_python_does, backend="reference"),
    "llvm": partial(checks.does_what_python_does, backend="llvm"),
    "derivatives": checks.derivatives_agree,
    "derivatives, reference": partial(checks.derivatives_agree, backend="reference"),
    "second": checks.second_derivatives_agree,
    "vmap": checks.batch_is_a_loop,
}


DRAWN = {"flows": flow, "nests": nest, "mixed": mixed}


def outcome(check: Any, made: Flow) -> str | None:
    """What is wrong, "skipped: …", "unsupported: …", or None."""
    try:
        with quiet():
            return check(made)
    except checks.Skipped as error:
        return f"skipped: {error}"
    except Unsupported as error:
        return f"unsupported: {error}"


def is_failure(found: str | None) -> bool:
    """Whether an outcome is one."""
    return found is not None and not found.startswith(("skipped", "unsupported"))


def smallest(check: Any, made: Flow, wrong: str) -> tuple[Flow, str]:
    """The program shrunk, and what is wrong with it."""

    def fails(smaller: Flow) -> bool:
        try:
            found = outcome(check, smaller)
        except Exception:
            return False
        return found is not None and is_failure(found) and kind(found) == kind(wrong)

    small = shrunk(made, fails)
    return small, outcome(check, small) or wrong


def tried(seed: int, only: list[str], has_ways: bool = False, of: str = "flows") -> list[tuple[str, str]]:
    """(check, outcome) of the program of a seed, with a script where it fails."""
    found = list[tuple[str, str]]()
    for name in only:
        made, ways = DRAWN[of](seed), ways_of(seed) if has_ways else ()

        def by(ways: tuple[str, ...], check: Any = CHECKS[name], made: Flow = made) -> str | None:
            with forced(ways, THREADS if has_ways else 1):
                return outcome(check, made)

        wrong = by(ways)
        if wrong is not None and is_failure(wrong):
            ways = fewest(lambda ways, by=by: is_failure(by(ways)), ways)
            with forced(ways, THREADS if has_ways else 1):
                small, wrong = smallest(CHECKS[name], made, wrong)
            wrong = f"=== {name}, seed {seed}, forced {ways}\n{small.script()}\n--- {wrong[:1500]}"
        found.append((name, wrong or ""))
        if wrong and wrong.startswith("skipped"):
            break
    return found


def main() -> int:
    """Run; the exit status says whether a check failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--only", choices=sorted(CHECKS), nargs="*", default=sorted(CHECKS))
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--stop-after", type=int, default=20, help="failures")
    parser.add_argument("--of", choices=sorted(DRAWN), default="flows")
    parser.add_argument("--forced", action="store_true", help="what is done to large programs, done to all")
    options = parser.parse_args()
    began, failures = time.time(), 0
    others: collections.Counter[str] = collections.Counter()
    seeds = range(options.start, options.start + options.count)
    check = partial(tried, only=options.only, has_ways=options.forced, of=options.of)
    for done, found in enumerate(done_by(options.workers, check, seeds, 100)):
        for name, wrong in found:
            if wrong.startswith("==="):
                failures += 1
                print(f"\n{wrong}", flush=True)
            elif wrong:
                others[f"{name}: {re.sub(r'[0-9]+', '0', wrong.splitlines()[0])}"] += 1
            else:
                others[f"{name}: right"] += 1
        if done % 50 == 49:
            print(f"{done + 1} programs, {failures} failures, {time.time() - began:.0f} s", file=sys.stderr, flush=True)
        if failures >= options.stop_after:
            break
    for text, count in others.most_common():
        print(f"{count:5d} {text}")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
