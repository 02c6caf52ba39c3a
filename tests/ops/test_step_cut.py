"""What a step keeps, where a carry takes one array however it is read: enough of it, and never more than without."""

from __future__ import annotations

import random

import pytest

from pliant.core.build import trace
from pliant.core.ir import Function, Value, Values
from pliant.core.types import Type
from pliant.ops.region import cut
from pliant.ops.step_cut import step_cut
from pliant.ops.transcendental import arctan2, cos, exp, sin, tanh
from tests.ops.test_fewest import is_enough


def drawn(seed: int) -> tuple[Function, list[tuple[Value, Value]]]:
    """A step that takes three carries: some it leaves as another found them; and what is read of it."""
    draw = random.Random(seed)

    def f(*params: Value) -> Values:
        made = list(params)
        for _ in range(draw.randint(4, 9)):
            x, y = draw.choice(made), draw.choice(made)
            made.append(draw.choice([tanh(x), exp(x), x + y, x * y, x - y]))
        return (*draw.choices(made, k=len(params)), *made[len(params) :])

    fn = trace(f, *(Type("f64", (4,)),) * 3)
    pairs = zip(fn.params, fn.results, strict=False)
    return Function(fn.name, fn.params, fn.results[3:]), [(p, y) for p, y in pairs if p is not y]


def cost(kept: Values, free: set[Value], carries: list[tuple[Value, Value]]) -> int:
    """How many arrays are kept: of a carry found and left, and of two that are left alike, one."""
    after = {
        p: y for p, y in carries if y in kept or y in free or [q for q, z in carries if z is y and q in kept][:1] != [p]
    }
    return len({v for v in kept if v not in free and after.get(v) not in {*kept, *free}})


@pytest.mark.parametrize("seed", range(300))
def test_what_is_kept_is_enough_and_no_more_than_without_carries(seed: int) -> None:
    fn, carries = drawn(seed)
    free = {fn.results[seed % len(fn.results)]} if seed % 3 else set[Value]()
    kept = step_cut(fn.results, free, carries, 1)
    assert is_enough({*kept, *free}, fn.results, free)
    assert len(set(kept)) == len(kept)
    assert cost(kept, free, carries) <= len(cut(fn.results, free))


def test_what_a_step_finds_and_leaves_is_kept_once() -> None:
    def f(p: Value, q: Value) -> Values:
        y = tanh(p)
        return y, 1.0 - y * y, y - q

    fn = trace(f, *(Type("f64", (4,)),) * 2)
    (p, q), (y, *reads) = fn.params, fn.results
    assert len(cut(reads, ())) == 2
    assert set(step_cut(reads, (), [(p, y), (q, y)], 1)) == {q, y}
    assert set(step_cut(reads, {y}, [(p, y), (q, y)], 1)) == {q}
    assert step_cut(reads, {y}, [(p, y)], 1) == cut(reads, {y})


def test_functions_of_what_is_kept_are_made_again_where_memory_is_far() -> None:
    def f(x: Value) -> Values:
        return x, sin(x), cos(x), arctan2(x, x + 1.0)

    fn = trace(f, Type("f64", (1 << 10,)))
    assert set(cut(fn.results, (), 10)) == set(fn.results)
    assert set(cut(fn.results, (), 10_000)) == {fn.results[0], fn.results[3]}
    assert cut(fn.results[1:2], (), 10_000) == fn.results[1:2]  # not what it is made of, which takes as much
