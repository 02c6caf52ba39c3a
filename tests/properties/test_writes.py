"""Random programs that write in place: NumPy, the functional program, and native code with and without
shared memory agree to the last bit. `make fuzz` runs many more."""

from __future__ import annotations

import pytest

from tests.properties.fuzz import smallest
from tests.properties.plans import plans_agree, plans_of, wrong_ones
from tests.properties.programs import Program
from tests.properties.writes import writing_program

BATCH = 50  # programs in one function: compiling them together takes a fraction of the time
BATCHES = 40


def batch(first: int) -> list[Program]:
    return [writing_program(seed, f"{seed}_") for seed in range(first, first + BATCH)]


@pytest.mark.parametrize("number", range(BATCHES))
def test_all_plans_agree(number: int):
    found = wrong_ones(batch(number * BATCH), plans_of(number))
    for made, wrong in found[:1]:
        small, wrong = smallest(plans_agree, made, wrong)
        pytest.fail(f"seed {made.seed}\n{small.script()}\n{wrong}", pytrace=False)
