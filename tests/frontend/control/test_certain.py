"""Comparisons of integers that are known by the ranges in which these stay: only one side of a branch is traced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import UnsupportedError


def refused(x: Any) -> Any:
    """What cannot be traced."""
    raise UnsupportedError("traced")


def never_below_zero(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        total += refused(x) if i < 0 else x[i]
    return total


def always_inside(x: Any) -> Any:
    y = np.zeros_like(x)
    for i in range(len(x)):
        if i + 1 <= len(x):
            y[i] = x[i] * 2
        else:
            refused(x)
    return y


def at_most_so_many(x: Any) -> Any:
    found = np.flatnonzero(x > 0)
    if len(found) > len(x):
        refused(x)
    return len(found) <= len(x) and x[found].sum()


def first_of_two(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        total += x[i] if i >= 0 or refused(x) else 0.0
        total += 1.0 if i < 0 and refused(x) else 0.0
        total += refused(x) if not i >= 0 else 0.0
    return total


def may_be_either(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        if i >= 1:
            total += x[i] - x[i - 1]
        if i + 1 > len(x) - 2 or i - 3 < -1:
            total *= 0.5
    return total


def after_the_end(x: Any) -> Any:
    i = 0
    while i < len(x) and x[i] > 0:
        i += 1
    return -1.0 if i >= len(x) else x[i]


@pytest.mark.parametrize("backend", ["llvm", "reference"])
@pytest.mark.parametrize(
    "f", [never_below_zero, always_inside, at_most_so_many, first_of_two, may_be_either, after_the_end],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_values_are_pythons(f: Callable[..., Any], backend: str) -> None:
    compiled = pliant.jit(f, backend=backend)
    for x in (np.linspace(-1, 2, 9), np.linspace(1, 2, 9), np.linspace(2, -1, 9)):
        np.testing.assert_allclose(compiled(x), f(x))


def test_sums_that_may_be_too_large_are_not_certain() -> None:
    most = np.iinfo(np.int64).max

    def wraps(i: Any) -> Any:
        return np.where(i + 1 > i, 1, 0) if i + 1 > i else 2

    compiled = pliant.jit(wraps)
    with np.errstate(over="ignore"):
        assert [compiled(np.int64(i)) for i in (5, most)] == [wraps(np.int64(i)) for i in (5, most)] == [1, 2]
