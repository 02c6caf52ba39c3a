"""Branches are given what is made before them anyway: the same numbers, less to make and to keep."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.core.inner import functions_of
from pliant.core.ir import Function, nodes
from pliant.core.verify import verify
from pliant.ops.cond import Cond
from pliant.passes.made_before import made_before
from pliant.pipeline import BEFORE_DERIVATIVES, MADE_BEFORE, run_passes
from pliant.testing import check_gradient
from pliant.transforms.evaluate import evaluate

Program = Callable[..., Any]
BEFORE = BEFORE_DERIVATIVES[: BEFORE_DERIVATIVES.index(MADE_BEFORE)]
X = np.random.default_rng(0).normal(size=9)


def greatest(x: Any) -> Any:
    best = x[0] - 1.0
    for i in range(1, 9):
        if x[i] * 2 - 1.0 > best:
            best = x[i] * 2 - 1.0
    return best


def both_sides(x: Any) -> Any:
    total = 0.0
    for i in range(8):
        if x[i] + x[i + 1] > 0:
            total = total + (x[i] + x[i + 1])
        else:
            total = total - 2 * (x[i] + x[i + 1])
    return total


def nested(x: Any) -> Any:
    total = 0.0
    for i in range(8):
        if x[i] > -0.5:
            if x[i] * x[i + 1] > 0:
                total = total + 3 * (x[i] * x[i + 1])
            total = total + x[i]
    return total


def written(x: Any) -> Any:
    y = 1.0 * x
    for i in range(8):
        if y[i] + 0.1 > y[i + 1]:
            y[i + 1] = y[i] + 0.1
    return np.sum(y * y)


def costly(x: Any) -> Any:
    total = 0.0
    for i in range(9):
        if x[i] > 0:
            total = total + np.exp(x[i])
    return total


GIVEN: list[Program] = [greatest, both_sides, nested, written, costly]


def after_a_write(x: Any) -> Any:
    y = 1.0 * x
    total = 0.0
    for i in range(8):
        before = y[i] * 2
        y[i] = before + 1
        if before > 0:
            total = total + y[i] * 2
    return total


@pytest.mark.parametrize("f", [*GIVEN, after_a_write], ids=lambda f: f.__name__)
def test_results_are_those_of_the_branches_as_they_were(f: Program) -> None:
    fn = run_passes(BEFORE, pliant.trace(f, X))
    new = made_before(fn)
    verify(new, "made-before")
    assert (in_branches(new) < in_branches(fn)) == (f in GIVEN)
    np.testing.assert_array_equal(evaluate(new, (X,), np), evaluate(fn, (X,), np))
    np.testing.assert_allclose(pliant.jit(f)(X), f(X), rtol=1e-14)


@pytest.mark.parametrize("f", [*GIVEN, after_a_write], ids=lambda f: f.__name__)
def test_gradients_agree_with_differences(f: Program) -> None:
    check_gradient(f, X)
    stacked = np.stack([X, X[::-1]])
    np.testing.assert_allclose(pliant.vmap(pliant.grad(f))(stacked)[1], pliant.grad(f)(stacked[1]), rtol=1e-12)


def test_what_takes_long_stays_in_its_branch() -> None:
    made = str(made_before(run_passes(BEFORE, pliant.trace(costly, X))))
    assert "exp(" in made[made.index("cond(") :]


def in_branches(fn: Function, *, inside: bool = False) -> int:
    """How many values branches make."""
    own = sum([bool(node.args) for node in nodes(fn.results)]) if inside else 0
    for node in nodes(fn.results):
        held = functions_of(node.op).values()
        own += sum([in_branches(inner, inside=inside or isinstance(node.op, Cond)) for inner in held])
    return own
