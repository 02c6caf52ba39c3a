"""What is copied, and what needs memory beside arguments and results: for programs that write in place, next to nothing."""

from __future__ import annotations

import re

import pytest

import pliant
from benchmarks.memory.programs import LARGE, Program
from benchmarks.memory.small import SMALL_PROGRAMS

PROGRAMS = [*LARGE, *SMALL_PROGRAMS]
BESIDE = {  # bytes of the workspace, and why
    "scatter": 800_000,  # indices are checked before anything is written
    "np.add.at": 800_000,
    "views of a flat vector": 80_000,  # one view is read before the other is written
}
LITTLE = 10_000  # a few rows, or results that wait


@pytest.mark.parametrize("program", PROGRAMS, ids=[p.name for p in PROGRAMS])
def test_nothing_is_copied(program: Program) -> None:
    lines = pliant.explain(program.fn, *program.make()).memory.splitlines()
    assert [line for line in lines if " copies " in line] == []
    used = re.search(r"([\d,]+) of them in use", lines[0])
    assert used
    assert int(used[1].replace(",", "")) <= BESIDE.get(program.name, LITTLE)
