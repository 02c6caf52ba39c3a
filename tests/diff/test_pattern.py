"""Patterns of loops: none misses an entry, and those that can be followed have no entry too many."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant import diff
from pliant.diff.pattern import most_steps

N = 12
SPARSE = diff.Sparse(diff.Pliant())


def in_place(x: Any) -> Any:
    y = np.empty(len(x) - 1)
    for i in range(len(x) - 1):
        y[i] = x[i + 1] - x[i] ** 2
    return y


def backwards(x: Any) -> Any:
    y = np.zeros(len(x))
    for i in range(len(x) - 3, -1, -1):
        y[i + 1] += x[i] * x[i + 2]
        y[i] -= np.sin(x[i])
    return y


def recurrence(x: Any) -> Any:
    y = np.empty(len(x))
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = x[i] * y[i // 2] + x[i - 1]
    return y


def every_second(x: Any) -> Any:
    y = np.zeros(len(x))
    for i in range(1, len(x) - 1):
        if i % 2 == 0:
            y[i] = x[i - 1] * x[i + 1]
        else:
            y[i] += np.cos(x[i])
    return y


def shared(x: Any) -> Any:
    y, place = np.zeros(4), np.array([0, 2, 2, 1, 0, 2, 1, 1, 0, 1, 2, 0])
    for i in range(len(x)):
        y[place[i]] += x[i] * x[(i + 1) % 12]
    return y


def totals(x: Any) -> Any:
    s, y = 0.0, []
    for i in range(len(x)):
        s = s + x[i] ** 2
        y.append(s * x[0])
    return np.stack(y)


def diffused(x: Any) -> Any:
    u = x
    for _ in range(2):
        u = np.concatenate([u[:1], u[1:-1] + u[1:-1] * (u[2:] - 2 * u[1:-1] + u[:-2]), u[-1:]])
    return u


def of_a_matrix(x: Any) -> Any:
    a, y = x.reshape(3, 4), np.zeros((3, 2))
    for i in range(3):
        for j in range(2):
            y[i, j] = a[i, j : j + 2] @ a[i, 1:3]
    return y.ravel()


FOLLOWED = [in_place, backwards, recurrence, shared, totals, diffused, of_a_matrix]
LOOPS = [*FOLLOWED, every_second]  # of a branch, both sides count


def seen(f: Callable[[Any], Any]) -> Any:
    """Where the Jacobian is not zero at some point."""
    points = np.random.default_rng(0).uniform(0.2, 1.0, (4, N))
    return sum([np.abs(pliant.jacobian(f)(x)) for x in points]) != 0


@pytest.mark.parametrize("f", FOLLOWED, ids=lambda f: f.__name__)
def test_patterns_of_loops_are_those_of_dense_jacobians(f: Any):
    pattern = diff.prepare_jacobian(f, SPARSE, np.ones(N)).sparsity.pattern.toarray()
    np.testing.assert_array_equal(pattern, seen(f))


@pytest.mark.parametrize("f", LOOPS, ids=lambda f: f.__name__)
def test_patterns_of_loops_miss_nothing(f: Any):
    prep = diff.prepare_jacobian(f, SPARSE, np.ones(N))
    x = np.linspace(0.2, 1.0, N)
    np.testing.assert_allclose(prep(x).toarray(), pliant.jacobian(f)(x), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("f", LOOPS, ids=lambda f: f.__name__)
def test_patterns_of_second_derivatives_of_loops_miss_nothing(f: Any):
    def total(x: Any) -> Any:
        return np.sum(f(x) ** 2)

    x = np.linspace(0.2, 1.0, N)
    found = diff.hessian(total, SPARSE, x).toarray()
    np.testing.assert_allclose(found, pliant.jacobian(pliant.grad(total))(x), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("f", LOOPS, ids=lambda f: f.__name__)
def test_loops_that_are_not_followed_miss_nothing(f: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("pliant.diff.pattern.STEPS", (0, 0, 0))
    pattern = diff.prepare_jacobian(f, SPARSE, np.ones(N)).sparsity.pattern.toarray()
    assert not np.any(seen(f) & ~pattern)


def test_a_loop_over_a_long_array_takes_as_few_derivatives_as_over_a_short_one():
    def rosenbrock(x: Any) -> Any:
        s = 0.0
        for i in range(len(x) - 1):
            s += 100 * (x[i + 1] - x[i] ** 2) ** 2 + (1 - x[i]) ** 2
        return s

    for n in (50, 3_000):
        assert diff.prepare_jacobian(in_place, SPARSE, np.ones(n)).sparsity.ncolors == 2
        assert diff.prepare_hessian(rosenbrock, SPARSE, np.ones(n)).sparsity.ncolors == 3


def test_more_steps_are_followed_if_a_matrix_has_more_columns():
    assert most_steps(1) < most_steps(1_000) < most_steps(10**6) == most_steps(10**9)
