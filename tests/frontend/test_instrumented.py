"""Functions with a cache of Python's, defined inside a compiled function and outside of it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import TracedValueError

RNG = np.random.default_rng(5)
Made = tuple[Callable[..., Any], Callable[[], tuple[Any, ...]]]


def longest_common(a: Any, b: Any) -> Any:
    @functools.lru_cache(maxsize=1000)
    def f(i: int, j: int) -> Any:
        if i == 0 or j == 0:
            return 0
        if a[i - 1] == b[j - 1]:
            return f(i - 1, j - 1) + 1
        return max(f(i - 1, j), f(i, j - 1))

    return f(len(a), len(b))


def distance(a: Any, b: Any, w: Any) -> Any:
    @functools.cache
    def d(i: int, *, j: int) -> Any:
        if i == 0 or j == 0:
            return (i + j) * w
        if a[i - 1] == b[j - 1]:
            return d(i - 1, j=j - 1)
        return w + min(d(i - 1, j=j), d(i, j=j - 1), d(i - 1, j=j - 1))

    return d(len(a), j=len(b))


def knapsack(weights: Any, values: Any, most: int) -> Any:
    @functools.cache
    def best(i: int, room: Any) -> Any:
        if i == len(weights):
            return 0.0
        found = best(i + 1, room)
        if weights[i] <= room:
            found = max(found, values[i] + best(i + 1, room - weights[i]))
        return found

    return best(0, most)


def under_a_condition(x: Any) -> Any:
    @functools.cache
    def f(n: int) -> Any:
        return x[n] if n < 2 else f(n - 1) * 0.5 + f(n - 2)

    y = f(4) if x[0] > x[1] else 2 * f(5)
    for i in range(4):
        y += f(i + 2) * x[i]
    return y + f(5)


CASES: list[Made] = [
    (longest_common, lambda: (RNG.integers(0, 3, 5), RNG.integers(0, 3, 6))),
    (distance, lambda: (RNG.integers(0, 3, 6), RNG.integers(0, 3, 5), RNG.random())),
    (knapsack, lambda: (RNG.integers(1, 4, 5), RNG.random(5), 7)),
    (under_a_condition, lambda: (RNG.normal(size=4),)),
]


@pytest.mark.parametrize(("f", "made"), CASES)
@pytest.mark.parametrize("backend", ["llvm", "reference"])
def test_an_inner_function_remembers(f: Callable[..., Any], made: Callable[[], tuple[Any, ...]], backend: str) -> None:
    compiled = pliant.jit(f, backend=backend)
    for _ in range(4):
        args = made()
        np.testing.assert_allclose(compiled(*args), f(*args), rtol=1e-12)


def test_the_derivative_of_what_is_remembered() -> None:
    a, b = np.array([0, 1, 2, 0, 1]), np.array([1, 2, 0, 0, 1, 2])
    np.testing.assert_allclose(pliant.grad(distance, argnums=2)(a, b, 0.7), distance(a, b, 1.0))


def test_many_calls_are_no_reason_to_trace_for_long() -> None:
    compiled = pliant.jit(longest_common)
    for _ in range(2):
        a, b = RNG.integers(0, 3, 12), RNG.integers(0, 3, 13)
        assert compiled(a, b) == longest_common(a, b)


def test_a_cache_that_is_cleared_is_empty() -> None:
    def f(x: Any) -> Any:
        held = [1.0]

        @functools.lru_cache
        def scaled(n: int) -> Any:
            return x[n] * held[0]

        total = scaled(0)
        for _ in range(100):
            held[0] *= 1.01
            scaled.cache_clear()
            total += scaled(0) + scaled(1)
        held[0] = 5.0
        scaled.cache_clear()
        return total + scaled(1)

    x = np.array([2.0, 3.0])
    np.testing.assert_allclose(pliant.jit(f)(x), f(x))


def test_where_no_data_decide_there_is_an_error() -> None:
    with pytest.raises(TracedValueError, match=r"f remembers what it has returned, (?s:.*)an array that loops fill"):
        pliant.trace(longest_common, np.arange(12), np.arange(12))


def test_the_cache_of_a_function_outside_keeps_nothing_traced() -> None:
    @functools.cache
    def fibonacci(n: Any) -> Any:
        return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)

    compiled = pliant.jit(lambda n, x: fibonacci(n[0]) * x)
    for n in (5, 6, 5, 4, 6):
        assert compiled(np.array([n]), 2.0) == [0, 1, 1, 2, 3, 5, 8][n] * 2.0
    assert fibonacci(6) == 8
