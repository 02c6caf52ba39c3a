"""np.arange between bounds known only at run time: in loops, as places, in arithmetic."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pliant
from pliant.errors import PliantError
from pliant.testing import check_gradient

X = np.random.default_rng(0).uniform(0.5, 1.5, 9)


def pairs(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        for j in np.arange(i, len(x)):
            total += x[i] * x[j] * j
    return total


def rest_as_places(x: Any) -> Any:
    y = np.zeros(len(x))
    for i in range(len(x)):
        rest = np.arange(i, len(x))
        y[rest] += x[i] * rest
        y[np.arange(i)] *= 1.5
        y[i] += np.exp(-0.1 * rest) @ x[rest]
    return y


def every_other(x: Any) -> Any:
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = x[np.arange(i, -1, -2)].sum() + x[np.arange(0, i, 3)] @ x[np.arange(0, i, 3)[::-1]]
    return y


def counted(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        k = np.arange(2, i + 1, dtype=float)
        total += (k / 4).sum() * x[i] + np.arange(i).size + np.sum(np.arange(i, 2))
    return total


def downwards(x: Any) -> Any:
    total = 0.0
    for k in np.arange(int(x[0] * 10) % 7, 0, -1):
        total += x[k] * k / 2
    return total


def longest_rise(x: Any) -> Any:
    tails, n = np.zeros(len(x)), 0
    for v in x:
        k = np.searchsorted(tails[:n], v)
        tails[k] = v
        if k == n:
            n += 1
    return tails * n


def up_to_a_place(x: Any) -> Any:
    ordered, total = np.sort(x), 0.0
    for i in range(len(x)):
        for j in range(np.searchsorted(ordered[:i], x[i], side="right")):
            total += x[j] * ordered[i]
    return total


PROGRAMS = (pairs, rest_as_places, every_other, counted, downwards, longest_rise, up_to_a_place)


@pytest.mark.parametrize("f", PROGRAMS)
def test_programs_do_what_python_does_and_have_the_slopes_of_differences(f: Any) -> None:
    for backend in ("reference", "llvm"):
        assert_allclose(pliant.jit(f, backend=backend)(X), f(X), rtol=1e-12)
    check_gradient(lambda x: np.sum(np.sin(f(x) / 64)), X)
    xs = np.stack([X, X[::-1], X * 1.3])
    assert_allclose(pliant.vmap(f)(xs), [f(x) for x in xs], rtol=1e-12)


@pytest.mark.parametrize("f", PROGRAMS)
def test_their_loops_are_loops_of_the_program(f: Any) -> None:
    assert "unrolled" not in str(pliant.explain(f, X))


def test_their_numbers_are_those_of_numpy() -> None:
    def kinds(n: Any) -> Any:
        return [x * np.float32(1) for x in np.arange(n)], [k / 2 for k in np.arange(n, n + 2)]

    (first, second), expected = pliant.jit(kinds)(3), kinds(3)
    assert [x.dtype for x in first] == [x.dtype for x in expected[0]]
    assert second == expected[1]


@pytest.mark.usefixtures("for_all_data")
def test_an_array_of_a_length_that_nothing_bounds_is_refused() -> None:
    with pytest.raises(PliantError, match="nothing bounds it"):
        pliant.jit(lambda x: np.arange(int(x.sum())) ** 2)(X)


@pytest.mark.parametrize("endpoint", [True, False])
@pytest.mark.parametrize("ends", [(0.0, 1.0), (np.array([0.0, -1.5]), np.array([3.0, 1.0])), (0.0, np.ones((2, 3)))])
def test_linspace_of_a_number_known_at_run_time(ends: Any, endpoint: bool):
    def f(a: Any, b: Any, n: Any) -> Any:
        points = np.linspace(a, b, n, endpoint=endpoint)
        return points, points[:-1].sum(), np.linspace(a, b * 7, n, dtype=int)

    for n in (1, 2, 5):
        made, wanted = pliant.jit(f)(*ends, np.int64(n)), f(*ends, n)
        for one, other in zip(made, wanted, strict=True):
            assert_allclose(one, other, rtol=1e-14, atol=1e-14)


def test_linspace_with_steps_of_a_number_known_at_run_time():
    with pytest.raises(PliantError, match=r"np\.linspace with retstep= or axis="):
        pliant.jit(lambda n: np.linspace(0.0, 1.0, n, retstep=True)[0])(np.int64(3))


def test_a_range_by_a_float_without_a_fraction_has_a_bound() -> None:
    def down(x: Any) -> Any:
        total = 0.0
        for i in range(8, -1, -1):
            total += x[i] * (1.1 ** np.arange(i, -i - 1, -2.0)).sum() + np.arange(np.float32(0), i).sum()
        return total

    assert_allclose(pliant.jit(down)(X), down(X), rtol=1e-12)
    assert pliant.jit(lambda n: np.arange(0.0, min(n, 9), 3))(7).dtype == np.float64
    assert "unrolled" not in str(pliant.explain(pliant.jit(down), X))
