"""What is kept to make values again: enough of it, and no more than any other choice, found by trying all."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.core.build import trace
from pliant.core.ir import Const, Function, Value, nodes
from pliant.core.types import Type
from pliant.ops.fewest import LARGEST, fewest
from pliant.ops.loop import Loop
from pliant.ops.reduce import reduce_sum
from pliant.ops.region import LONGEST, is_simple
from pliant.ops.shape import broadcast
from pliant.ops.transcendental import exp, tanh


def drawn(seed: int) -> Function:
    """A few operations on three arrays: some simple, some not, some that make smaller values."""
    draw = random.Random(seed)

    def f(*params: Value) -> tuple[Value, ...]:
        made = list(params)
        for _ in range(draw.randint(4, 9)):
            x, y, row = draw.choice(made), draw.choice(made), draw.choice([v for v in made if v.shape])
            able = [tanh(x), exp(x), x + y, x * y, x - y, broadcast(reduce_sum(row), (4,), ())]
            made.append(draw.choice(able))
        return tuple(made[len(params) :])

    return trace(f, *(Type("f64", (4,)),) * 3, names=["a", "b", "c"])


def is_enough(kept: Collection[Value], wanted: Collection[Value], free: Collection[Value]) -> bool:
    todo = list(wanted)
    while todo:
        v = todo.pop()
        if v in kept or v in free or isinstance(v.op, Const):
            continue
        if not is_simple(v.op):
            return False
        todo.extend(v.args)
    return True


def size(values: Collection[Value]) -> int:
    return sum(v.type.bytes for v in values)


def choices(wanted: tuple[Value, ...], free: Collection[Value]) -> Iterator[tuple[Value, ...]]:
    found = [v for n in nodes(wanted) for v in n.values if not isinstance(v.op, Const) and v not in free]
    return (some for count in range(len(wanted) + 1) for some in combinations(found, count))


@pytest.mark.parametrize("seed", range(60))
def test_no_choice_is_smaller(seed: int) -> None:
    fn, draw = drawn(seed), random.Random(seed)
    free = set(draw.sample(list(fn.params), draw.randint(0, 2)))
    able = [v for v in dict.fromkeys(fn.results) if v not in free]
    wanted = tuple(draw.sample(able, min(len(able), 3)))
    kept = fewest(wanted, free, lambda v: is_simple(v.op), LONGEST)
    assert is_enough(kept, wanted, free)
    assert size(kept) == min(size(some) for some in choices(wanted, free) if is_enough(some, wanted, free))


def test_what_would_take_long_to_choose_from_is_kept_as_it_is() -> None:
    def f(x: Value) -> tuple[Value, ...]:
        y = tanh(x)
        return tuple([y * float(k) for k in range(LARGEST)])

    wanted = trace(f, Type("f64", (4,))).results
    assert fewest(wanted, (), lambda v: is_simple(v.op), LONGEST) == wanted


def test_a_loop_keeps_one_array_for_its_error_and_its_derivative() -> None:
    x, table = np.random.default_rng(0).normal(size=40), np.random.default_rng(1).normal(size=(40, 3))

    def loss(x: Any) -> Any:
        c, total = np.zeros(3), 0.0
        for i in range(40):
            c = np.tanh(c * 0.9 + x[i])
            total = total + ((c - table[i]) ** 2).sum()
        return total

    program = pliant.explain(pliant.grad(loss), x).optimised
    loops = [n for n in nodes(program.results) if isinstance(n.op, Loop)]
    assert [v.shape for n in loops for v in n.values if v.type.rank > 1] == [(40, 3)]
    way, h = np.cos(np.arange(40.0)), 1e-6
    slope = (loss(x + h * way) - loss(x - h * way)) / (2 * h)
    assert pliant.grad(loss)(x) @ way == pytest.approx(slope, rel=1e-6)
