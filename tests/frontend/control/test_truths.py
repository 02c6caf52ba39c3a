"""`any` and `all` are Python's `True` and `False`, whatever they are asked of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant

X = np.array([3.0, -1.0, 2.0])
ASKED: dict[str, Callable[[Any], Any]] = {
    "generators": lambda x: (any(v < 0 for v in x), all(v < 0 for v in x)),
    "long generators": lambda x: (any(x[i % 3] < -2 for i in range(30)), all(x[i % 3] < 4 for i in range(30))),
    "lists": lambda x: (any([v < 0 for v in x]), all([x[0] < 9, True])),
    "arrays": lambda x: (any(x > 5), all(x > 5), any(x), all(x)),
    "rows of one element": lambda x: (any(x.reshape(3, 1) > 2), all(v > 0 for v in x.reshape(3, 1))),
    "numbers among others": lambda x: (any([0, x[0]]), any([x[0] > 10, False, "a"]), all([])),
    "map": lambda x: (any(map(lambda v: v > 2, x)), all(map(lambda v: v > 2, x))),  # noqa: C417
    "in a condition": lambda x: any(v > 0 and w > 2 for v in x for w in x) + (not all(x > 0)),
}


@pytest.mark.parametrize("name", ASKED)
def test_what_is_asked_of_all_is_a_bool(name: str) -> None:
    f = ASKED[name]
    for x in (X, -X, X * 0):
        expected, got = f(x), pliant.jit(f)(x)
        assert (got, str(got)) == (expected, str(expected))


def test_a_list_by_answers_in_a_loop() -> None:
    def f(x: Any) -> Any:
        found = []
        for i in range(12):
            if any(v * i > 3 for v in x):
                found.append(i * x[0])  # noqa: PERF401
        return sum(found) * any(v > 2 for v in found)

    assert pliant.jit(f)(X) == f(X)
    np.testing.assert_allclose(pliant.grad(f)(X), [sum(range(2, 12)), 0, 0])


def refused(x: Any) -> Any:
    """What no trace gets through."""
    return np.nditer(x, flags=["external_loop"])


def by_a_number(x: Any, bound: Any) -> Any:
    found = np.flatnonzero(x > 0)
    if found.size and bound is not None:
        found = refused(found)
    return found


def by_an_element(x: Any, bound: Any) -> Any:
    return refused(x) if x[0] and (x[1] > 0 or x.size) and bound else x * 2


def by_one_of_two(x: Any, bound: Any) -> Any:
    if not (int(x[0]) or bound is None):
        return refused(x)
    return x * 3


def in_a_loop(x: Any, bound: Any) -> Any:
    for v in x:
        if len(x[x > v]) and bound is not None and bound > 1:
            x = refused(x)
        x = x + v
    return x


def while_it_holds(x: Any, bound: Any) -> Any:
    while x[0] and bound:
        x = refused(x)
    return x


@pytest.mark.parametrize("f", [by_a_number, by_an_element, by_one_of_two, in_a_loop, while_it_holds])
def test_what_a_known_part_of_a_condition_rules_out_is_not_traced(f: Callable[..., Any]) -> None:
    for x in (X, -X, X * 0):
        np.testing.assert_array_equal(pliant.jit(f)(x, None), f(x, None))
