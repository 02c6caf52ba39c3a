"""A matrix without factors or an inverse fails no batch if its problem does not ask for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant

GOOD, BETTER = 2 * np.eye(2) + 0.3, np.array([[1.5, 0.2], [0.1, 1.0]])
BAD = {"zeros": np.zeros((2, 2)), "negative": -np.eye(2), "nan": np.full((2, 2), np.nan)}
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "solve": lambda a: np.linalg.solve(a, np.ones(2)),
    "inv": np.linalg.inv,
    "cholesky": np.linalg.cholesky,
    "svd": lambda a: np.linalg.svd(a)[1],
    "lstsq": lambda a: np.linalg.lstsq(a, np.ones(2))[0],
    "pinv": np.linalg.pinv,
    "eigvals": lambda a: abs(np.linalg.eigvals(a)),
    "eigh": lambda a: np.linalg.eigh(a)[0],
}


def _by_if(f: Any, a: Any) -> Any:
    if a[0, 0] > 0:
        return f(a)
    return np.ones_like(f(np.eye(2)))


def _by_nested_ifs(f: Any, a: Any) -> Any:
    made = np.ones_like(f(np.eye(2)))
    if a[0, 0] > 0:
        made = 2.0 * made
        if a[1, 1] < 50:
            made = made + f(a)
    return made


def _by_while(f: Any, a: Any) -> Any:
    total, i = 0 * f(np.eye(2)), 0
    while i < 3 and a[0, 0] > 0.5:
        total = total + f(a)
        a = a - 0.6 * np.eye(2)
        i += 1
    return total


def _by_break(f: Any, a: Any) -> Any:
    total = 0 * f(np.eye(2))
    for _ in range(4):
        if not a[0, 0] > 0.5:
            break
        total = total + f(a)
        a = a - 0.6 * np.eye(2)
    return total


@pytest.mark.parametrize("flow", [_by_if, _by_nested_ifs, _by_while, _by_break])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_only_problems_that_ask_for_them_may_fail(name: str, flow: Any) -> None:
    f = FUNCTIONS[name]

    def value(a: Any) -> Any:
        return flow(f, a)

    def loss(a: Any) -> Any:
        return (flow(f, a) ** 2).sum()

    values, slope, slopes = pliant.vmap(value), pliant.grad(loss), pliant.vmap(pliant.grad(loss))
    for bad in BAD.values():
        batch = np.stack([GOOD, bad, BETTER])
        np.testing.assert_allclose(values(batch), [value(a) for a in batch], rtol=1e-12)
        np.testing.assert_allclose(slopes(batch), [slope(a) for a in batch], rtol=1e-9, atol=1e-12)


def test_a_problem_that_asks_still_fails() -> None:
    f = pliant.vmap(lambda a: _by_if(np.linalg.inv, a))
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        f(np.stack([GOOD, np.ones((2, 2))]))
