"""What loops of a known number of steps count is bounded, and so is what has as many elements."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant


def zeros(x: Any) -> Any:
    k = 0
    for v in x:
        if v > 0:
            k += 1
    return np.ones(k).sum(), x[:k].sum(), np.zeros(k + 1).sum()


def kept(x: Any) -> Any:
    k, out = 0, np.zeros(len(x))
    for v in x:
        if v > 0:
            out[k] = v
            k += 1
    return np.mean(out[:k]), np.arange(k).sum(), np.full(k, 2.0).prod()


def both_ways(x: Any) -> Any:
    k = 3
    for i in range(len(x)):
        if x[i] > 0.5:
            k += 2
        elif x[i] > 0:
            k = k - 1 + (x[i] > 0.2)
        else:
            k += 1
    return np.arange(k).sum()


def nested(x: Any) -> Any:
    k = 0
    for v in x:
        for w in x:
            if v > w:
                k += 1
    return np.arange(k).sum()


def truths(x: Any) -> Any:
    k = 0
    for v in x:
        k += v > 0
    return np.ones(k).sum()


@pytest.mark.parametrize("f", [zeros, kept, both_ways, nested, truths])
@pytest.mark.parametrize("seed", range(4))
def test_arrays_of_as_many_elements_as_were_counted(f: Any, seed: int) -> None:
    x = np.random.default_rng(seed).normal(size=6)
    x[seed] = 1.0
    for made, wanted in zip(np.atleast_1d(pliant.jit(f)(x)), np.atleast_1d(f(x)), strict=True):
        np.testing.assert_allclose(made, wanted, rtol=1e-14)


def found(x: Any) -> Any:
    for k in range(6):
        if x[k] > 1:
            break
    m = k + 1
    y = np.zeros(m)
    for i in range(m):
        y[i] = x[i] * 2
    return y.sum(), x[:k].sum()


def last_of_some(x: Any) -> Any:
    n = 0
    for k in range(2, len(x)):
        if x[k] > 1:
            n = k
        elif x[k] > 0:
            n = k - 2
    return np.arange(n + 1).sum() * x[0], np.ones(n).sum()


def first_of_some(x: Any) -> Any:
    k = 0
    for k in range(4):
        if x[k] > 0:
            if x[k + 1] > 0:
                break
            continue
    return np.linspace(0.0, x[0], k + 1).sum(), np.zeros(4 - k).size


@pytest.mark.parametrize("f", [found, last_of_some, first_of_some])
@pytest.mark.parametrize("rows", [np.eye(6) * 2 + 1, np.random.default_rng(0).normal(size=(9, 6))])
def test_numbers_that_steps_bind_a_name_to_bound_arrays(f: Any, rows: Any) -> None:
    compiled = pliant.jit(f)
    wanted = [f(x) for x in rows]
    for x, values in zip(rows, wanted, strict=True):
        np.testing.assert_allclose(compiled(x), values)
    assert sum([len(programs) for programs in compiled.entries.values()]) == 1
    for made, values in zip(pliant.vmap(f)(rows), zip(*wanted, strict=True), strict=True):
        np.testing.assert_allclose(made, values)


@pytest.mark.parametrize("columns", [3, 6, 9])
def test_steps_that_a_problem_of_a_batch_does_not_take_cannot_fail(columns: int) -> None:
    def f(x: Any) -> Any:
        m, q = (x > 1).sum(), (x > 0).sum()
        y, total = np.zeros(q), 0.0
        for i in range(m):
            y[i] = x[i] * 2
            total += 1 / (y[i] + 1e-3)
        return y.sum() + total

    rows = np.random.default_rng(0).normal(size=(6, columns)) * 2
    np.testing.assert_allclose(pliant.vmap(f)(rows), [f(x) for x in rows])
