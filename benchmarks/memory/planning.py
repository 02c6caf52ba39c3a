"""How long planning memory takes, and verifying the plan, for programs of growing length: it is to be linear."""

from __future__ import annotations

from collections.abc import Iterator
from time import process_time
from typing import Any, Final

import numpy as np

import pliant
from pliant.backends.llvm.compiler import can, routine_of
from pliant.compiled import uncollected
from pliant.kernel.build import build
from pliant.kernel.check import check
from pliant.pipeline import optimise

LENGTHS: Final = (1_250, 2_500, 5_000, 10_000)


def long_program(length: int) -> Any:
    """A function of about as many operations, which writes in place: windows, sums and sorted parts."""

    def f(x: Any) -> Any:
        y = x.copy()
        for n in range(length // 5):
            y[1:] += y[:-1]
            y[n % 7 :: 9] = x[n % 7 :: 9] * n
            if n % 10 == 0:
                y = np.cumsum(y)
        return y

    return f


def measured() -> dict[int, dict[str, float]]:
    """Seconds for each length."""
    return {length: stages(length) for length in LENGTHS}


def stages(length: int) -> dict[str, float]:
    """Steps, and seconds of this process to build the program with and without sharing memory, and to verify it."""
    fn = optimise(pliant.trace(long_program(length), np.ones(50)))
    with uncollected():  # as when compiling
        began = process_time()
        build(fn, can, routine_of, sharing=False)
        plain = process_time()
        program = build(fn, can, routine_of)
        shared = process_time()
        check(program)
        verified = process_time()
    return {
        "steps": len(program.steps),
        "build": plain - began,
        "build and share": shared - plain,
        "verify": verified - shared,
    }


def table(rows: dict[int, dict[str, float]]) -> Iterator[str]:
    """One line for each length."""
    heads = list(next(iter(rows.values())))
    yield "| operations | " + " | ".join(heads) + " |"
    yield "| ---: |" + " ---: |" * len(heads)
    for length, row in rows.items():
        yield f"| {length} | {row['steps']:.0f} | " + " | ".join(f"{row[h]:.3f} s" for h in heads[1:]) + " |"
