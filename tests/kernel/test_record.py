"""Indices of which it is known that they lie in an array are not looked at when the program runs."""

from __future__ import annotations

import pytest

from pliant.core.build import trace
from pliant.core.ir import Value, Values
from pliant.core.types import Type
from pliant.kernel.build import build
from pliant.ops.index import gather
from pliant.ops.loop import Loop
from tests.programs.programs import f64

I64 = Type("i64")


def sites(rows: int, away: int) -> int:
    """How many reads may fail of those at 10·block + j + away, of an array of so many rows."""

    def step(j: Value, total: Value, start: Value, x: Value) -> Value:
        return total + gather(x, start + j + away)

    inner = Loop(10, ("carry", "const", "const"), ("last",), trace(step, I64, f64(), I64, f64(rows)))

    def block(number: Value, total: Value, x: Value) -> Values:
        return inner.apply(total, number * 10, x)

    outer = Loop(5, ("carry", "const"), ("last",), trace(block, I64, f64(), f64(rows)))

    def whole(x: Value) -> Values:
        return outer.apply(0.0, x)

    fn = trace(whole, f64(rows))
    return len(build(fn, lambda op, types: True).sites)


@pytest.mark.parametrize(("rows", "away", "count"), [(50, 0, 0), (51, 1, 0), (50, 1, 1), (49, 0, 1), (50, -1, 1)])
def test_sums_of_indices_of_loops_are_known_by_their_terms(rows: int, away: int, count: int) -> None:
    assert sites(rows, away) == count
