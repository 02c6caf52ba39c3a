"""Which nests run in parts, and that the verifier finds parts that are not apart."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.backends.llvm.compiler import can, routine_of
from pliant.errors import VerifyError
from pliant.kernel import split
from pliant.kernel.build import build
from pliant.kernel.check import check
from pliant.kernel.ir import Nest, Program, Rows
from pliant.pipeline import optimise

LARGE = np.zeros(1_000_000)
TABLE = np.zeros((2000, 500))


def program(f: Any, *args: Any) -> Program:
    return build(optimise(pliant.trace(f, *args)), can, routine_of)


def splits(f: Any, *args: Any) -> list[tuple[int, int] | None]:
    """(extent of the loop, number of parts) of each nest, or of each group of nests."""
    found = [step.split for step in program(f, *args).steps if isinstance(step, Nest | Rows)]
    return [s and (s.loop.extent, s.count) for s in found]


def test_small_nests_run_as_a_whole():
    assert splits(lambda x: np.exp(x), np.zeros(10_000)) == [None]


def test_parts_are_whole_lines_of_cache():
    (nest,) = program(lambda x: np.exp(x), LARGE).steps
    assert isinstance(nest, Nest)
    assert nest.split
    assert (nest.split.count, nest.split.size % 64) == (64, 0)


def test_parts_of_sums_are_whole_blocks():
    (nest,) = program(lambda x: np.sum(np.exp(x)), LARGE).steps
    assert isinstance(nest, Nest)
    assert nest.split
    assert nest.split.size % 1024 == 0


def test_sums_of_rows_are_divided_by_rows_and_sums_of_long_rows_by_columns():
    (rows,) = splits(lambda x: np.exp(x).sum(1), TABLE)
    (columns,) = splits(lambda x: np.exp(x).sum(0), LARGE.reshape(10, 100_000))
    assert (rows, columns) == ((2000, 63), (100_000, 13))


def test_each_part_has_its_own_sums_of_columns():
    (nest,) = program(lambda x: np.exp(x).sum(0), TABLE).steps
    assert isinstance(nest, Nest)
    assert nest.split
    assert (nest.split.loop.extent, [b.type.shape for b in nest.split.added]) == (2000, [(500,)])


def test_short_rows_are_not_read_in_strips(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(split, "ROOM", 0)
    assert splits(lambda x: np.exp(x).sum(0), TABLE) == [None]


def test_rows_have_memory_of_their_own_in_each_part():
    def softmax(x):
        e = np.exp(x - x.max(1, keepdims=True))
        return e / e.sum(1, keepdims=True)

    (step,) = program(softmax, TABLE).steps
    assert isinstance(step, Rows)
    assert step.split
    assert step.split.private


def test_what_is_written_where_it_is_read_elsewhere_runs_as_a_whole():
    def shifts(x):
        x[1:] = np.exp(x[:-1])
        return x

    program = build(optimise(pliant.trace(shifts, LARGE)), can, routine_of, owned=[(0, 0)], must=True)
    assert [step.split for step in program.steps if isinstance(step, Nest) and step.is_swept] == [None]


def in_parts_by(f: Any, loop: int, *args: Any) -> Program:
    """A program whose first nest is divided by the n-th of its loops, whether that is right or not."""
    made = program(f, *args)
    nest = next(step for step in made.steps if isinstance(step, Nest | Rows))
    assert nest.split
    loops = nest.vars if isinstance(nest, Nest) else nest.nests[0].vars
    nest.split = replace(nest.split, loop=loops[loop], size=8)
    return made


def test_the_verifier_passes_parts_that_are_apart():
    check(in_parts_by(lambda x: np.exp(x).sum(1), 0, TABLE))


def test_the_verifier_finds_parts_that_add_to_the_same_sums():
    with pytest.raises(VerifyError, match=r"is written by one part where .* is written by another"):
        check(in_parts_by(lambda x: np.exp(x).sum(1), 1, TABLE))


def test_the_verifier_finds_sums_that_are_not_put_together():
    made = program(lambda x: np.exp(x).sum(0), TABLE)
    (nest,) = made.steps
    assert isinstance(nest, Nest)
    assert nest.split
    nest.split = replace(nest.split, added=frozenset())
    with pytest.raises(VerifyError, match="by another"):
        check(made)


def test_the_verifier_finds_results_that_are_put_together_without_being_sums():
    made = program(lambda x: np.exp(x), LARGE)
    (nest,) = made.steps
    assert isinstance(nest, Nest)
    assert nest.split
    nest.split = replace(nest.split, added=frozenset(made.results))
    with pytest.raises(VerifyError, match="but is no fold"):
        check(made)


def test_the_verifier_finds_rows_that_share_memory():
    def softmax(x):
        e = np.exp(x - x.max(1, keepdims=True))
        return e / e.sum(1, keepdims=True)

    made = program(softmax, TABLE)
    (step,) = made.steps
    assert isinstance(step, Rows)
    assert step.split
    step.split = replace(step.split, private=frozenset())
    with pytest.raises(VerifyError, match="by another"):
        check(made)


def test_the_verifier_finds_private_memory_that_is_needed_later():
    made = program(lambda x: np.exp(x), LARGE)
    (nest,) = made.steps
    assert isinstance(nest, Nest)
    assert nest.split
    nest.split = replace(nest.split, private=frozenset(made.results))
    with pytest.raises(VerifyError, match="needed afterwards"):
        check(made)


def test_the_verifier_finds_ordered_loops_in_parts():
    made = program(lambda x: np.exp(x), LARGE)
    (nest,) = made.steps
    assert isinstance(nest, Nest)
    nest.is_swept = True
    with pytest.raises(VerifyError, match="have an order"):
        check(made)


@pytest.mark.parametrize("rows", [400, 1000, 1003, 2500])
def test_no_two_parts_read_the_same_lines_of_what_is_walked_across(rows):
    (nest,) = program(lambda x, y: x.T + y, np.zeros((2500, rows)), np.zeros((rows, 2500))).steps
    assert isinstance(nest, Nest)
    assert nest.split
    assert nest.split.loop is nest.vars[0]
    assert (nest.split.count > 8, nest.split.size % 16) == (True, 0)
