"""Calls in the steady state allocate nothing but results that lie in no argument: counted beneath malloc, never timed."""

from __future__ import annotations

import pytest

from benchmarks.memory.count import Use, in_new_process, interposer, missing
from benchmarks.memory.programs import LARGE, Program
from benchmarks.memory.small import SMALL_PROGRAMS

COUNTED = [*LARGE, *SMALL_PROGRAMS]
PAGE = 4096  # a block may be a little larger than what is asked for


@pytest.fixture(scope="module")
def uses() -> dict[str, Use]:
    why = missing()
    if why:
        pytest.skip(why)
    with interposer() as library:
        return dict(in_new_process("pliant", [p.name for p in COUNTED], library, timed=False))


@pytest.mark.parametrize("program", COUNTED, ids=[p.name for p in COUNTED])
def test_calls_allocate_new_results_only(program: Program, uses: dict[str, Use]) -> None:
    used = uses[program.name]
    assert program.new <= used.bytes <= program.new + PAGE
    assert used.peak <= program.new + PAGE
