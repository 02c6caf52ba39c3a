"""The table of costs: one line per claimed case, with the calls of f that theory gives."""

from __future__ import annotations

import pytest

import pliant.diff as diff
from pliant.diff.testing import Scenario, benchmark_differentiation
from tests.diff.systems import needs_autograd

CASES = [Scenario("gradient", "vector", "number", prepared=p) for p in (False, True)]


def test_compiled_programs_do_not_run_the_function():
    costs = benchmark_differentiation([diff.Pliant()], CASES, rounds=1)
    assert [(r.backend, r.operator, r.prepared, r.calls) for r in costs.rows] == [
        ("Pliant", "gradient", False, 0),
        ("Pliant", "gradient", True, 0),
    ]
    assert all(r.seconds > 0 and r.bytes > 0 for r in costs.rows)


@pytest.mark.parametrize(("system", "calls"), [(diff.FiniteDifferences(), 7), (diff.ComplexStep(), 4)])
def test_calls_of_the_function_are_counted(system: object, calls: int):
    costs = benchmark_differentiation([system], CASES, rounds=1)
    assert [r.calls for r in costs.rows] == [calls, calls]


@needs_autograd
def test_cases_that_are_not_claimed_are_counted():
    costs = benchmark_differentiation([diff.Autograd()], [Scenario("gradient", "vector", "number", "Cache")])
    assert costs.rows == ()
    assert costs.skipped == {"Autograd: no writes to memory": 1}


def test_the_table_is_markdown():
    text = str(benchmark_differentiation([diff.ComplexStep()], CASES[:1], rounds=1))
    assert text.splitlines()[0] == "| backend | operator | case | prepared | calls of f | time, µs | bytes |"
    assert text.splitlines()[2].startswith("| ComplexStep | gradient | gradient-vector>number-none | no | 4 | ")
