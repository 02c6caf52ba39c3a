"""Loops that may end early, as loops of all steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant
from pliant.core.ir import Function
from pliant.ops.loop import Loop
from pliant.passes.ends_early import with_all_steps
from pliant.transforms.evaluate import evaluate

X = np.linspace(0.1, 0.5, 40)


def to_a_limit(x: Any, limit: float, most: int = 40) -> Any:
    total = 0.0
    for i in range(1, most, 2):
        total += x[i] ** 2
        if total > limit:
            break
    return total, i


def program(f: Any, *args: Any) -> Function:
    return pliant.jit(f).program(*args).fn


@pytest.mark.parametrize("limit", [0.01, 0.3, 9.0])
def test_steps_after_the_end_do_nothing(limit: float):
    fn = program(to_a_limit, X, limit)
    made = with_all_steps(fn)
    assert "while_loop" in str(fn)
    assert "while_loop" not in str(made)
    assert [node.op.length for node in made.nodes if isinstance(node.op, Loop)] == [20]
    for got, want in zip(evaluate(made, (X, limit), np), evaluate(fn, (X, limit), np), strict=True):
        assert got == want


def test_loops_of_unknown_length_stay():
    def unbounded(x: Any) -> Any:
        while np.sum(x) < 50:
            x = x * 1.5
        return x

    fn = program(unbounded, X)
    assert with_all_steps(fn) is fn


def test_loops_of_many_steps_stay():
    fn = program(lambda x: to_a_limit(x, 0.3, 5000), np.ones(5000))
    assert "while_loop" in str(with_all_steps(fn))
