"""`python -m benchmarks.memory.worker SIDE timed|counted PROGRAM…`: a line of JSON for each."""

from __future__ import annotations

import dataclasses
import json
import sys

from benchmarks.memory.count import used_by
from benchmarks.memory.sides import CALLS


def main(words: list[str]) -> None:
    """Prepare each program for the side, and count."""
    side, kind, *names = words
    for name in names:
        make = CALLS[side].get(name)
        if make:
            use = used_by(make(), timed=kind == "timed")
            print(json.dumps({"name": name, **dataclasses.asdict(use)}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
