"""What programs cost before they are fused: enough to tell which of two is the cheaper one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant
from pliant.kernel.price import price, price_of_function
from tests.programs.programs import PROGRAMS

N = 300


def cost(f: Any, *args: Any) -> float:
    """The price of a traced function."""
    return price_of_function(pliant.trace(f, *args))


@pytest.mark.parametrize("name", PROGRAMS)
def test_everything_costs_something(name: str) -> None:
    assert min(map(price, PROGRAMS[name]().nodes)) > 0


A, V, X = np.ones((N, N)), np.ones(N), np.ones(10_000)
CHEAPER: list[tuple[Any, Any, tuple[Any, ...]]] = [
    (lambda a, v: a @ (a @ v), lambda a, v: (a @ a) @ v, (A, V)),
    (lambda a, v: np.linalg.solve(a, v), lambda a, v: np.linalg.inv(a) @ v, (A, V)),
    (lambda x: x * 0.1, lambda x: x / 10.0, (X,)),
    (lambda x: x + 1.0, np.exp, (X,)),
    (lambda x: np.sin(x[:10]), lambda x: np.sin(x), (X,)),
    (lambda x: x.sum() * 2.0, lambda x: (2.0 * x).sum(), (X,)),
    (lambda x: np.max(x), lambda x: np.sort(x)[-1], (X,)),
    (lambda x: np.where(x > 0, x, 0.0), lambda x: np.sin(x) + np.cos(x), (X,)),
]


@pytest.mark.parametrize("case", range(len(CHEAPER)))
def test_the_cheaper_one_is_known(case: int) -> None:
    first, second, args = CHEAPER[case]
    assert cost(first, *args) < cost(second, *args)


def test_a_loop_costs_its_steps_and_a_branch_its_dearer_arm() -> None:
    def steps(x: Any, n: int) -> Any:
        for _ in range(n):
            x = np.sin(x)
        return x

    one, ten = cost(pliant.jit(steps, static="n"), V, 50), cost(pliant.jit(steps, static="n"), V, 500)
    assert 8 < ten / one < 12

    def branch(x: Any) -> Any:
        return np.sin(x) if x[0] > 0 else x

    assert cost(np.sin, V) < cost(branch, V) < 1.5 * cost(np.sin, V)
