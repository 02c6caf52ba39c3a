"""Generator functions whose conditions and inner loops depend on data: values are Python's, gradients those of
differences, batches those of a loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.testing import check_gradient


def running_totals(x: Any) -> Any:
    """Branches between what is yielded, and an expression that is yielded under a condition."""

    def totals(v: Any) -> Iterator[Any]:
        total = 0.0
        for w in v:
            if w > 0:
                total += w
            else:
                total -= 0.5 * w
            yield total if total < 3 else 3.0

    return sum(totals(x)) * x[0]


def roots(x: Any) -> Any:
    """An inner loop that yields nothing."""

    def each(v: Any) -> Iterator[Any]:
        for a in v:
            r = 1.0 + abs(a)
            while abs(r * r - abs(a)) > 1e-10:
                r = 0.5 * (r + abs(a) / r)
            yield r

    total = 0.0
    for r in each(x):
        total += r
    return total


def left_early(x: Any) -> Any:
    """Generators that return, by conditions known while tracing."""

    def some(v: Any, n: int) -> Iterator[Any]:
        k = 0
        if n == 0:
            return
        while True:
            k += 1
            if k > 3:
                return
            w = v[0] if v[k - 1] > 0 and v[0] > 0 else v[k - 1]
            yield w * k

    return sum(some(x, 1)) + sum(some(x, 0))


def from_others(x: Any) -> Any:
    """`yield from`, and a `try`."""

    def pairs(v: Any) -> Iterator[Any]:
        for i in range(len(v)):
            try:
                yield from (w if w > v[i] else v[i] * w for w in v)
            finally:
                i = 0

    return sum(pairs(x))


PROGRAMS: tuple[Callable[..., Any], ...] = (running_totals, roots, left_early, from_others)
INPUTS = (np.array([1.5, -2.0, 3.0]), np.array([-1.0, 2.25, 0.5]), np.array([0.5, 1.0, -0.25]))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_values_are_pythons(program: Callable[..., Any]) -> None:
    for x in INPUTS:
        np.testing.assert_allclose(pliant.jit(program)(x), program(x), rtol=1e-12)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_gradients_are_those_of_differences(program: Callable[..., Any]) -> None:
    for x in INPUTS:
        check_gradient(program, x)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_batches_are_those_of_a_loop(program: Callable[..., Any]) -> None:
    expected = [program(x) for x in INPUTS]
    np.testing.assert_allclose(pliant.vmap(program)(np.stack(INPUTS)), expected, rtol=1e-12)
