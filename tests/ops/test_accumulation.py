"""What branches in branches add to zeros is added to the array itself: no step of a gradient goes through all of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant
from pliant.core.build import trace
from pliant.core.inner import functions_of
from pliant.core.ir import Function, Value, const, nodes
from pliant.core.types import Type
from pliant.ops import accumulation
from pliant.ops.compare import less
from pliant.ops.cond import Cond
from pliant.ops.index import scatter_add
from pliant.ops.shape import broadcast
from pliant.pipeline import optimise
from pliant.testing import check_gradient, check_rule

RNG = np.random.default_rng(0)
N = 30


def zeros() -> Value:
    """A matrix of zeros."""
    return broadcast(const(0.0, "f64"), (6, 6), ())


def test_sums_with_branches_that_were_added_to_become_additions_to_sums() -> None:
    def step(u: Value) -> Value:
        return scatter_add(zeros(), [const(2, "i64")], broadcast(u, (6,), ()))

    branches = Cond(trace(step, Type("f64")), trace(lambda u: zeros(), Type("f64")))

    def program(acc: Value, u: Value) -> Value:
        (y,) = branches.apply(less(u, const(1.0, "f64")), u)
        return acc + scatter_add(y, [const(3, "i64"), const(1, "i64")], u)

    for low in (0.5, 1.5):
        check_rule(
            accumulation.add_of_addition, Type("f64", (6, 6)), Type("f64"), program=program, low=low, high=low + 0.5
        )


def pairs(k: Any, t: Any) -> Any:
    """Reads of a matrix before a branch, in it, and in a branch inside of that."""
    a, b = np.zeros(k.shape[0]), 0.0
    for i in range(k.shape[0]):
        e = a @ k[i] + b
        if e < t:
            j = (7 * i + 1) % k.shape[0]
            d = k[i, j] - k[i, i] - k[j, j]
            if d < 0.0:
                step = (a @ k[j] - e) / d
                a[i] = a[i] + step * k[j, i]
                b = b - 0.5 * step
    return np.sum(a * a) + b


def dense_in_loops(fn: Function, *, is_inside: bool = False) -> int:
    """How many arrays of N by N the steps of loops fill or add as a whole."""
    count = 0
    for node in nodes(fn.results):
        is_whole = any([v.shape == (N, N) for v in node.values]) and node.op.name in ("broadcast", "add")
        count += is_inside and is_whole
        count += sum([dense_in_loops(part, is_inside=True) for part in functions_of(node.op).values()])
    return count


@pytest.mark.parametrize("t", [-0.2, 0.5, 10.0])
def test_gradients_of_branches_in_branches_agree_with_differences(t: float) -> None:
    check_gradient(lambda k: pairs(k, t), RNG.uniform(0.1, 1.0, (9, 9)) + np.eye(9))


def test_no_step_of_a_gradient_goes_through_a_matrix_that_branches_read_parts_of() -> None:
    fn = optimise(pliant.trace(pliant.grad(lambda k: pairs(k, 0.5)), RNG.normal(size=(N, N))))
    assert dense_in_loops(fn) == 0
