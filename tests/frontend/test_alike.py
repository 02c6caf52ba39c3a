"""Numbers that are one expression of different elements, as the elements of one array: a call is asked for all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant

X = 3.0 + np.sin(np.arange(40.0) ** 2)


def signs(x: Any) -> list[Any]:
    e = np.exp(0.1 * x) - 1.35
    return [i for i in range(1, len(x)) if e[i] <= 0]


def turns(x: Any) -> list[Any]:
    e = x * x[0]
    return [i for i in range(1, 39) if (e[i] - e[i - 1]) * (e[i + 1] - e[i]) <= 0]


def backwards(x: Any) -> list[Any]:
    return [i for i in range(20) if x[39 - i] > x[i]]


def far_apart(x: Any) -> list[Any]:
    return [i for i in (*range(0, 34, 2), *range(35, 40)) if x[i] * 2.0 > 6.0]


def doubled(x: Any) -> list[Any]:
    return [i for i in range(20) if x[2 * i] ** 2 > x[i]]


def rows(x: Any) -> list[Any]:
    y = (x * 2.0).reshape(2, 20)
    return [j + 20 * i for i in range(2) for j in range(20) if y[i, j] > y[1 - i, 3] + 0.1]


def diagonal(x: Any) -> list[Any]:
    y = np.outer(x, x[::-1])
    return [i for i in range(40) if y[i, i] > 9.0]


def digits(x: Any) -> list[Any]:
    counts = {}
    for i in range(40):
        key = int(x[i] * 2.0)
        counts[key] = counts.get(key, 0) + 1
    return [counts[key] for key in sorted(counts)]


ALIKE: dict[str, tuple[Callable[[Any], list[Any]], int]] = {
    "signs": (signs, 1), "turns": (turns, 1), "backwards": (backwards, 1), "far_apart": (far_apart, 6),
    "doubled": (doubled, 2), "rows": (rows, 2), "diagonal": (diagonal, 40), "digits": (digits, 1),
}  # fmt: skip


def found_by(chosen: Callable[[Any], list[Any]]) -> Callable[[Any], Any]:
    """A function that has to know what is chosen."""
    return lambda x: (x[: len(made := chosen(x))].sum() * x[0], {n: x[n] for n in made})


@pytest.mark.parametrize("name", ALIKE)
def test_they_are_few_arrays(name: str) -> None:
    chosen, count = ALIKE[name]
    found = pliant.explain(found_by(chosen), X).decided
    assert found is not None
    assert len(found.fn.results) == count
    assert "test_alike.py:" in str(found)


@pytest.mark.parametrize("name", ALIKE)
def test_a_call_with_another_number_is_another_program(name: str) -> None:
    f = found_by(ALIKE[name][0])
    compiled = pliant.jit(f)
    rng = np.random.default_rng(3)
    others = [X, X, X, X + 0.5, *[np.where(np.arange(40) == n, X[::-1], X) for n in (0, 1, 7, 19, 38, 39)]]
    for x in [*others, *[rng.uniform(2.0, 4.0, 40) for _ in range(3)], X, X]:
        (total, held), (wanted, chosen) = compiled(x), f(x)
        assert total == pytest.approx(wanted)
        assert held == chosen
