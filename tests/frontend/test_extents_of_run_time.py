"""np.zeros, np.arange, np.linspace and their like of as many elements as is known only at run time, but bounded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import TracedValueError
from pliant.testing import check_gradient

X = np.array([1.3, -0.4, 0.8, 2.1, -0.9, 0.35, 1.7, 0.6])


def least_of_two(x: Any) -> Any:
    k = min(int(abs(x[0]) * 3), 10)
    return np.sum(np.arange(k) * x[0]) + np.sum(np.arange(2, k + 2) * x[1]) + np.sum(np.arange(0, k, 2) * x[2])


def written(x: Any) -> Any:
    k = min(int(abs(x[0]) * 3), 10)
    y, z = np.zeros(k), np.empty((k, 2))
    y[:] = x[1]
    z[:] = x[2:4]
    return np.sum(y * x[0]) + np.sum(np.ones(k) * x[0]) + np.sum(np.full(k, x[3])) + z.sum() + len(y)


def clipped(x: Any) -> Any:
    k = int(np.clip(x[0] * 3, 0, 6))
    return np.sum(np.arange(k) * x[0])


def clipped_by_an_if(x: Any) -> Any:
    k = int(abs(x[0]) * 3) + 1
    if k > 7:
        k = 7
    return np.sum(np.ones(k // 2) * x[0])


def counted(x: Any) -> Any:
    k, m = int(np.sum(x > 0)), len([v for v in x if v > 0.5])
    return np.sum(np.arange(k) * x[0]) + np.sum(np.ones(m) * x[1]) + np.sum(np.zeros(np.argmax(x)) + x[2])


def found(x: Any) -> Any:
    k = np.searchsorted(np.sort(x), 0.3)
    return np.sum(np.ones(k) * x[0])


def spaced(x: Any) -> Any:
    k = min(int(abs(x[0]) * 3) + 2, 10)
    return (
        np.sum(np.linspace(0, x[1], k) ** 2) + np.linspace(x[2], 1, k, endpoint=False).sum() + np.linspace(0, 1, k)[-1]
    )


def lengths_of_parts(x: Any) -> Any:
    total = 0.0
    for i in range(6):
        part = x[i : int(x[0] * 4)]
        half = len(part) // 2
        total += part[:half].sum() - part[half:].sum() + part.shape[0] * x[i] + part.size * x[1]
        for j in range(len(part)):
            total += part[j] * (j + 1)
        if len(part) > 1:
            total += part[-1]
    return total


def halves(x: Any) -> Any:
    low, high = 0, len(x)
    while high - low > 1:
        part = x[low:high]
        half = len(part) // 2
        if sum(part[:half]) > sum(part[half:]):
            high = low + half
        else:
            low = low + half
    return x[low]


PROGRAMS = [
    least_of_two, written, clipped, clipped_by_an_if, counted, found, spaced, lengths_of_parts, halves,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_a_program_does_what_numpy_does(f: Callable[..., Any]) -> None:
    xs = np.stack([X, X * 0.7, abs(X[::-1])])
    expected = [f(x) for x in xs]
    np.testing.assert_allclose([pliant.jit(f)(x) for x in xs], expected, rtol=1e-12)
    np.testing.assert_allclose(pliant.vmap(f)(xs), expected, rtol=1e-12)
    check_gradient(f, X)


@pytest.mark.usefixtures("for_all_data")
@pytest.mark.parametrize(
    "make", [np.zeros, np.ones, np.arange, lambda k: np.linspace(0, 1, k), lambda k: np.full(k, 2.0)]
)
def test_an_error_says_how_to_bound_what_is_not_bounded(make: Callable[[Any], Any]) -> None:
    with pytest.raises(TracedValueError, match="nothing bounds it") as info:
        pliant.jit(lambda x: np.sum(make(int(x[0])) * x[1]))(X)
    assert "min(k, 100)" in str(info.value)


def test_negative_extents_are_errors() -> None:
    f = pliant.jit(lambda x: np.sum(np.zeros(min(int(x[0]), 5)) + x[0]))
    assert f(X) == X[0]
    with pytest.raises(ValueError, match="negative dimensions"):
        f(X - 5)
