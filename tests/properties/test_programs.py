"""Random programs: compiled against NumPy, derivatives against differences, batches against loops, text against itself.

A failure prints a script to paste. `make fuzz` runs many more.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.properties.forced import forced, ways_of
from tests.properties.fuzz import CHECKS, THREADS, drawn, outcome, smallest

SEEDS = st.integers(min_value=0, max_value=2**32 - 1)


def holds(name: str, seed: int) -> None:
    """Fails with the smallest program found that breaks the law."""
    check, options = CHECKS[name]
    made = drawn(seed, options)
    wrong = outcome(check, made)
    if wrong is not None and not wrong.startswith("unsupported"):
        small, wrong = smallest(check, made, wrong)
        pytest.fail(f"seed {seed}\n{small.script()}\n{wrong}", pytrace=False)


@settings(max_examples=300)
@given(SEEDS)
def test_reference_programs_do_what_numpy_does(seed: int):
    holds("reference", seed)


@settings(max_examples=120)
@given(SEEDS)
def test_native_programs_do_what_numpy_does(seed: int):
    holds("llvm", seed)


@settings(max_examples=60)
@given(SEEDS)
def test_results_do_not_depend_on_the_number_of_threads(seed: int):
    holds("threads", seed)


@settings(max_examples=80)
@given(SEEDS)
def test_derivatives_agree_with_differences_and_each_other(seed: int):
    holds("derivatives", seed)


@settings(max_examples=20)
@given(SEEDS)
def test_transformations_nest(seed: int):
    holds("nested", seed)


@settings(max_examples=80)
@given(SEEDS)
def test_captured_arrays_are_arguments_too(seed: int):
    holds("captured", seed)


@settings(max_examples=80)
@given(SEEDS)
def test_a_batch_is_a_loop(seed: int):
    holds("vmap", seed)


@settings(max_examples=120)
@given(SEEDS)
def test_printed_programs_parse_to_themselves(seed: int):
    holds("text", seed)


@settings(max_examples=15)
@given(SEEDS)
def test_any_layout_of_arguments_will_do(seed: int):
    holds("calls", seed)


@settings(max_examples=40)
@given(SEEDS)
def test_small_programs_are_right_when_made_like_large_ones(seed: int):
    with forced(ways_of(seed), THREADS):
        holds("llvm", seed)


@settings(max_examples=120)
@given(SEEDS)
def test_arguments_may_overlap(seed: int):
    holds("overlaps", seed)
    holds("overlaps, captured", seed)
