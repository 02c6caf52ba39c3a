"""Random programs of loops and branches: compiled, differentiated and batched they do what Python does.

A failure prints a script to paste. `make fuzz` runs many more.
"""

from __future__ import annotations

import pytest
from hypothesis import given

from tests.properties.forced import forced, ways_of
from tests.properties.fuzz_flows import CHECKS, DRAWN, is_failure, outcome, smallest
from tests.properties.seeds import SEEDS, examples


def holds(name: str, seed: int, of: str = "flows") -> None:
    """Fails with the smallest program found that breaks the law."""
    made = DRAWN[of](seed)
    wrong = outcome(CHECKS[name], made)
    if wrong is not None and is_failure(wrong):
        small, wrong = smallest(CHECKS[name], made, wrong)
        pytest.fail(f"seed {seed}\n{small.script()}\n{wrong}", pytrace=False)


@examples(40)
@given(SEEDS)
def test_a_program_does_what_python_does(seed: int) -> None:
    holds("reference", seed)


@examples(12)
@given(SEEDS)
def test_native_code_does_what_python_does(seed: int) -> None:
    holds("llvm", seed)


@examples(10)
@given(SEEDS)
def test_derivatives_agree_with_differences_and_each_other(seed: int) -> None:
    holds("derivatives", seed)


@examples(10)
@given(SEEDS)
def test_a_batch_is_a_loop(seed: int) -> None:
    holds("vmap", seed)


@examples(25)
@given(SEEDS)
def test_nested_loops_over_parts_of_arrays_do_what_python_does(seed: int) -> None:
    with forced(ways_of(seed)):
        holds("llvm", seed, "nests")


@examples(25)
@given(SEEDS)
def test_derivatives_of_nested_loops_agree(seed: int) -> None:
    with forced(ways_of(seed)):
        holds("derivatives, reference", seed, "nests")


@examples(12)
@given(SEEDS)
def test_everything_at_once_does_what_python_does(seed: int) -> None:
    with forced(ways_of(seed)):
        holds("llvm", seed, "mixed")


@examples(6)
@given(SEEDS)
def test_a_batch_of_everything_at_once_is_a_loop(seed: int) -> None:
    holds("vmap", seed, "mixed")


@examples(4)
@given(SEEDS)
def test_second_derivatives_agree(seed: int) -> None:
    holds("second", seed, "mixed")
