"""Loops that raise in every step raise if there is a step."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import UnsupportedError
from tests.frontend.control import laws
from tests.frontend.control.flows_raising import RAISING, in_a_while


def outcome(f: Callable[..., Any], x: Any, n: int) -> Any:
    return laws.outcome(lambda x, _: f(x, n), x)


@pytest.mark.parametrize("backend", ["reference", "llvm"])
@pytest.mark.parametrize("f", RAISING, ids=laws.name_of)
def test_a_loop_that_always_raises_does_what_python_does(f: Callable[..., Any], backend: str) -> None:
    compiled = pliant.jit(f, backend=backend)
    for n in (0, 3, 1, 5):
        for x in (laws.X, -laws.X):
            got, expected = outcome(compiled, x, n), outcome(f, x, n)
            assert isinstance(expected, list) or got is expected
            for a, b in zip(got, expected, strict=True) if isinstance(expected, list) else ():
                np.testing.assert_allclose(a, b, rtol=1e-14)


@pytest.mark.parametrize("f", RAISING, ids=laws.name_of)
def test_derivatives_of_loops_that_always_raise_are_differences(f: Callable[..., Any]) -> None:
    laws.assert_derivatives_are_differences(f)
    laws.assert_derivatives_are_differences(lambda x, _: f(x, 0))


@pytest.mark.parametrize("f", [f for f in RAISING if f is not in_a_while], ids=laws.name_of)
@pytest.mark.parametrize("n", [0, 5])
def test_a_batch_of_loops_that_always_raise_is_a_loop(f: Callable[..., Any], n: int) -> None:
    rows = [x for x in laws.GIVEN.values() if isinstance(outcome(f, x, n), list)]
    made = [pliant.vmap(lambda x: f(x, n))(np.stack(rows))] if rows else [[]]
    np.testing.assert_allclose(made[0], [f(x.copy(), n) for x in rows], rtol=1e-14)


def test_a_batch_does_not_choose_a_handler_by_how_many_steps_data_count() -> None:
    with pytest.raises(UnsupportedError, match="put the try into the body of the loop"):
        pliant.vmap(lambda x: in_a_while(x, 5))(np.stack([laws.X, -laws.X]))


def root(x: Any) -> Any:
    t = 0.0
    while x[0] > 9:
        t = math.sqrt(-1)
    return t


def quotient(x: Any) -> Any:
    t = 0
    while x[0] > 9:
        t = 1 // 0
    return t


@pytest.mark.parametrize(("f", "error"), [(root, ValueError), (quotient, ZeroDivisionError)])
def test_what_python_raises_in_each_step_of_a_while_is_raised_if_there_is_one(
    f: Callable[..., Any], error: type[Exception]
):
    compiled = pliant.jit(f)
    for _ in range(2):
        assert compiled(np.ones(2)) == f(np.ones(2))
    with pytest.raises(error):
        compiled(np.full(2, 10.0))
    with pytest.raises(UnsupportedError, match=f"{error.__name__} is raised under a condition that is known only at"):
        pliant.vmap(f)(np.ones((2, 2)))


def test_a_step_that_leaves_a_selection_of_known_length_may_raise():
    def f(x: Any, m: Any, n: Any) -> Any:
        p = 0
        z = x[x > 0]
        while m[2] > p:
            z = z  # noqa: PLW0127  (it is bound in a step)
            if z.size:
                break
            p += int("a")
        return n

    x, m = np.array([0, 2, 2, 1]), np.array([0.5, 2.0, 1.25, 1.0])
    assert pliant.jit(f)(x, m, 4) == 4
    assert pliant.jit(f)(x, -m, 4) == 4
