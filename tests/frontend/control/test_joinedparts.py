"""A name that is one of two parts of an array, which have other extents, is a part of that array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant


def every_other_or_rest(x: Any) -> Any:
    y = x[::2] if x[0] > 0 else x[1:]
    y *= 2
    y[-1] = 7
    return y.sum() * x[1], len(y), x.copy()


def turned_or_rest(x: Any) -> Any:
    y = x[1:] if x[0] > 0 else x[::-1]
    z = np.cumsum(y) + y
    y[:2] = z[:2]
    return np.max(z), z.sum(), x[1] + x[-1]


def rows_and_columns(x: Any) -> Any:
    a = x.reshape(2, 3)
    y = a[:1, 1:] if x[0] > 0 else a[:, ::2]
    y += x[1]
    return y.sum(), y.sum(axis=1).max(), x * x


def cut_again_and_again(x: Any) -> Any:
    y = x
    if x[0] > 0:
        y = y[1:]
    if x[1] > 0:
        y = y[:-1]
    if x[2] > 0:
        y = y[::-1]
    y[0] = 3 * x[3]
    return (y * y).sum(), y[-1], x * x


def trimmed_at_the_end(x: Any) -> Any:
    errors = np.zeros(6)
    for n in range(6):
        errors[n] = x[n] ** 2
        if errors[n] > 12:
            errors = errors[: n + 1]
            break
        x[n] += 1
    return errors[-1], errors.mean(), len(errors), x * x


PROGRAMS = [every_other_or_rest, turned_or_rest, rows_and_columns, cut_again_and_again, trimmed_at_the_end]
X = np.array([1.0, -2.0, 3.0, -4.0, 5.0, 1.5])
CASES = [X, -X, np.abs(X), np.array([-1.0, 2.0, -0.5, 0.25, 1.0, 3.0])]


@pytest.mark.parametrize("f", PROGRAMS)
def test_values_and_writes_are_pythons(f: Callable[[Any], Any]) -> None:
    compiled = pliant.jit(f)
    for x in (*CASES, X.astype(np.float32)):
        given, expected = x.copy(), x.copy()
        for a, b in zip(compiled(given), f(expected), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6)
        np.testing.assert_array_equal(given, expected)


@pytest.mark.parametrize("f", PROGRAMS)
def test_derivatives_are_those_of_differences(f: Callable[[Any], Any]) -> None:
    def loss(x: Any) -> Any:
        parts = f(x)
        return parts[0] + np.sum(parts[-1])

    for x in CASES[:2]:
        d = np.array([0.3, -0.2, 0.5, 0.7, -0.4, 0.1])
        expected = (loss(x + 1e-6 * d) - loss(x - 1e-6 * d)) / 2e-6
        np.testing.assert_allclose(pliant.grad(loss)(x) @ d, expected, rtol=1e-6)


@pytest.mark.parametrize("f", [every_other_or_rest, cut_again_and_again])
def test_a_batch_is_each_of_its_problems(f: Callable[[Any], Any]) -> None:
    rows = np.stack(CASES)
    wanted = [f(row) for row in rows.copy()]
    for a, *bs in zip(pliant.vmap(f)(rows), *wanted, strict=True):
        np.testing.assert_allclose(a, np.stack(bs))
