"""`python -m tests.properties.fuzz_writes --count N`: many random programs that write in place, by four plans each."""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor

from tests.properties.fuzz import smallest
from tests.properties.plans import plans_agree, wrong_ones
from tests.properties.writes import together, writing_program

BATCH = 50


def failures_from(first: int) -> list[str]:
    """What is wrong with the programs of BATCH seeds, each shrunk."""
    warnings.simplefilter("error")  # a plan that the verifier refuses is a failure too
    found = list[str]()
    for made, wrong in wrong_ones([writing_program(s, f"{s}_") for s in range(first, first + BATCH)], together):
        small, wrong = smallest(plans_agree, made, wrong)
        found.append(f"=== seed {made.seed}\n{small.script()}\n--- {wrong[:1500]}")
    return found


def main() -> int:
    """Run; the exit status says whether a program failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--stop-after", type=int, default=20, help="failures")
    options = parser.parse_args()
    began, failures, done = time.time(), 0, 0
    with ProcessPoolExecutor(options.workers, max_tasks_per_child=50) as pool:
        for found in pool.map(failures_from, range(options.start, options.start + options.count, BATCH)):
            done, failures = done + BATCH, failures + len(found)
            for text in found:
                print(f"\n{text}", flush=True)
            if sys.stderr.isatty() or done % 1000 == 0:
                seconds = time.time() - began
                print(f"\r{done} programs, {failures} failures, {seconds:.0f} s", file=sys.stderr, flush=True)
            if failures >= options.stop_after:
                pool.shutdown(cancel_futures=True)
                break
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
