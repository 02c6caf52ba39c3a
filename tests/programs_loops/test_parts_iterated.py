"""Loops over parts of arrays whose bounds are known only at run time, and conditions of which one side is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
import pliant.testing


def up_to_each(x: Any) -> Any:
    s = 0.0
    for i in range(len(x)):
        for b in x[:i]:
            s += b * x[i]
    return s


def from_each(x: Any) -> Any:
    s = 0.0
    for i in range(len(x)):
        for k, b in enumerate(x[i:]):
            s += b**2 * k
    return s


def orthogonal(x: Any) -> Any:
    """Gram and Schmidt's, which leaves out rows that depend on others."""
    a = x[:25].reshape(5, 5)
    basis = np.zeros_like(a)
    k = 0
    for v in a:
        w = v.copy()
        for b in basis[:k]:
            w -= (b @ v) * b
        length = np.sqrt(w @ w)
        if length > 1e-8:
            basis[k] = w / length
            k += 1
    return np.sum(basis**3)


def sparse_rows(x: Any) -> Any:
    starts, columns = np.array([0, 2, 2, 5]), np.array([0, 1, 2, 0, 1])
    y = np.zeros(3)
    for i in range(3):
        for j, v in zip(columns[starts[i] : starts[i + 1]], x[starts[i] : starts[i + 1]], strict=True):
            y[i] += v * x[j + 5]
    return y @ y


PROGRAMS: list[Callable[[Any], Any]] = [up_to_each, from_each, orthogonal, sparse_rows]


@pytest.mark.parametrize("backend", ["llvm", "reference"])
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_elements_of_a_part_are_taken_one_by_one(f: Callable[[Any], Any], backend: str) -> None:
    x = np.random.default_rng(0).normal(size=57)
    np.testing.assert_allclose(pliant.jit(f, backend=backend)(x), f(x), rtol=1e-12)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_and_so_are_their_gradients(f: Callable[[Any], Any]) -> None:
    pliant.testing.check_gradient(f, np.random.default_rng(0).normal(size=57))


def integral(x: Any, a: float, b: float, depth: int = 0) -> Any:
    if abs(x * (b - a)) < 1e-2 or depth > 5:
        return (b - a) * x
    m = (a + b) / 2
    return integral(x, a, m, depth + 1) + integral(x * 0.9, m, b, depth + 1)


def test_a_condition_of_which_one_side_settles_it_is_known() -> None:
    f = pliant.jit(lambda x: integral(x, 0.0, 1.0))
    np.testing.assert_allclose(f(1.3), integral(1.3, 0.0, 1.0), rtol=1e-12)

    def g(x: Any) -> Any:
        if x > 0 and False:  # noqa: SIM223
            raise ValueError
        return (x > 0 or True) and x > 1

    assert [bool(pliant.jit(g)(x)) for x in (-1.0, 0.5, 2.0)] == [False, False, True]


@pytest.mark.usefixtures("for_all_data")
def test_two_lists_of_unknown_length_whose_elements_are_not_alike_are_told_by_what_they_are() -> None:
    def kept(x: Any) -> Any:
        points: list[Any] = [v for v in x if v > 0]
        if x[0] > 0:
            points = [(v, v) for v in x if v > 1]
        return len(points)

    with pytest.raises(
        pliant.errors.UnboundError, match="a list whose length is known only at run time after"
    ) as caught:
        pliant.jit(kept)(np.array([0.1, 0.5, 0.8, 2.0]))
    assert "keep one list" in str(caught.value)
