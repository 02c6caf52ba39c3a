"""Copies of arrays that a loop carries are not stacked where the final array will do; gradients stay the same."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest

from pliant.core.build import trace
from pliant.core.ir import Value
from pliant.core.types import Type
from pliant.ops.compare import equal, less
from pliant.ops.cond import Cond
from pliant.ops.index import gather, scatter_set
from pliant.ops.loop import Loop
from pliant.ops.reduce import reduce_sum
from pliant.ops.transcendental import sin
from tests.passes.test_elide import I64, PLACES, N, gradients, number, stacks
from tests.programs.programs import f64

CONDITIONS: dict[str, Callable[[Value], Value]] = {
    "i == 0": lambda i: equal(i, number(0)),
    "i < 3": lambda i: less(i, number(3)),
    "3 < i": lambda i: less(number(3), i),
}


def branching(to: str, of: str, where: str, length: int = N, *, reverse: bool = False) -> Loop:
    """x[0] = 2·x[0] in some steps, x[to] = x[of]² in the others."""

    def first(x: Value, i: Value) -> tuple[Value, ...]:
        return (scatter_set(x, (number(0),), gather(x, number(0)) * 2.0),)

    def other(x: Value, i: Value) -> tuple[Value, ...]:
        read = gather(x, PLACES[of](i))
        return (scatter_set(x, (PLACES[to](i),), read * read),)

    def step(i: Value, x: Value) -> tuple[Value, ...]:
        sides = (trace(side, f64(N + 1), I64) for side in (first, other))
        return Cond(*sides).apply(CONDITIONS[where](i), x, i)

    return Loop(length, ("carry",), ("last",), trace(step, I64, f64(N + 1)), reverse)


@pytest.mark.parametrize("where", CONDITIONS)
@pytest.mark.parametrize(("to", "of"), list(product(("i", "i+1", "0"), ("i", "i+1", "last-i", "2"))))
def test_gradients_of_branches_stay_the_same(to: str, of: str, where: str) -> None:
    for reverse in (False, True):
        op = branching(to, of, where, reverse=reverse)
        gradients(trace(lambda x, op=op: reduce_sum(op(x)), f64(N + 1)))


def test_what_a_branch_reads_and_no_later_step_writes_is_not_copied() -> None:
    op = branching("i+1", "i", "i == 0")
    fast = gradients(trace(lambda x: reduce_sum(op(x)), f64(N + 1)))
    assert stacks(fast) == 0


def test_what_a_later_step_writes_is_kept() -> None:
    op = branching("i+1", "i", "3 < i")  # x[0] is written again after it was read in step 0
    assert stacks(gradients(trace(lambda x: reduce_sum(op(x)), f64(N + 1)))) > 0


def nested(of: str) -> Loop:
    """x[i + 1] = Σ sin(x[of]) x[of] over steps of a loop inside."""

    def step(i: Value, x: Value) -> tuple[Value, ...]:
        def term(j: Value, total: Value, x: Value, i: Value) -> tuple[Value, ...]:
            read = gather(x, PLACES[of](i))
            return (total + sin(read) * read,)

        inner = Loop(3, ("carry", "const", "const"), ("last",), trace(term, I64, Type("f64"), f64(N + 1), I64))
        return (scatter_set(x, (i + 1,), inner(gather(x, i), x, i)),)

    return Loop(N, ("carry",), ("last",), trace(step, I64, f64(N + 1)))


@pytest.mark.parametrize("of", PLACES)
def test_gradients_of_reads_in_inner_loops_stay_the_same(of: str) -> None:
    op = nested(of)
    gradients(trace(lambda x: reduce_sum(op(x)), f64(N + 1)))
