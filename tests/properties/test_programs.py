"""Random programs: compiled against NumPy, derivatives against differences, batches against loops, text against itself.

A failure prints a script to paste. `make fuzz` runs many more.
"""

from __future__ import annotations

import pytest
from hypothesis import given

from tests.properties.forced import forced, ways_of
from tests.properties.fuzz import CHECKS, THREADS, drawn, outcome, smallest
from tests.properties.seeds import SEEDS, examples


def holds(name: str, seed: int) -> None:
    """Fails with the smallest program found that breaks the law."""
    check, options = CHECKS[name]
    made = drawn(seed, options)
    wrong = outcome(check, made)
    if wrong is not None and not wrong.startswith("unsupported"):
        small, wrong = smallest(check, made, wrong)
        pytest.fail(f"seed {seed}\n{small.script()}\n{wrong}", pytrace=False)


@examples(300)
@given(SEEDS)
def test_reference_programs_do_what_numpy_does(seed: int):
    holds("reference", seed)


@examples(120)
@given(SEEDS)
def test_native_programs_do_what_numpy_does(seed: int):
    holds("llvm", seed)


@examples(60)
@given(SEEDS)
def test_what_a_search_by_safe_rules_finds_is_what_is_compiled(seed: int):
    holds("searched", seed)


@examples(40)
@given(SEEDS)
def test_what_a_search_by_all_rules_finds_does_what_numpy_does(seed: int):
    holds("equalities", seed)


@examples(60)
@given(SEEDS)
def test_results_do_not_depend_on_the_number_of_threads(seed: int):
    holds("threads", seed)


@examples(80)
@given(SEEDS)
def test_derivatives_agree_with_differences_and_each_other(seed: int):
    holds("derivatives", seed)


@examples(20)
@given(SEEDS)
def test_transformations_nest(seed: int):
    holds("nested", seed)


@examples(80)
@given(SEEDS)
def test_captured_arrays_are_arguments_too(seed: int):
    holds("captured", seed)


@examples(80)
@given(SEEDS)
def test_a_batch_is_a_loop(seed: int):
    holds("vmap", seed)


@examples(120)
@given(SEEDS)
def test_printed_programs_parse_to_themselves(seed: int):
    holds("text", seed)


@examples(15)
@given(SEEDS)
def test_any_layout_of_arguments_will_do(seed: int):
    holds("calls", seed)


@examples(40)
@given(SEEDS)
def test_small_programs_are_right_when_made_like_large_ones(seed: int):
    with forced(ways_of(seed), THREADS):
        holds("llvm", seed)


@examples(120)
@given(SEEDS)
def test_arguments_may_overlap(seed: int):
    holds("overlaps", seed)
    holds("overlaps, captured", seed)
