"""Short steps of loops that wait for each other: several at a time, for any number of steps, and none after a failure."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.backends.llvm.compiler import compiled
from pliant.backends.llvm.jit import optimised
from pliant.pipeline import optimise

RNG = np.random.default_rng(0)


def shortest(d: Any) -> Any:
    """Writes under a condition, to an array that the next step reads."""
    d = d.copy()
    n = d.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if d[i, k] + d[k, j] < d[i, j]:
                    d[i, j] = d[i, k] + d[k, j]
    return d


def counted(x: Any, h: Any) -> Any:
    """Writes to places that only running tells."""
    h = h.copy()
    for i in range(x.shape[0]):
        h[x[i]] += 1
    return h


def walked(x: Any) -> Any:
    """One number that all steps change."""
    p, far = 0, 0
    for i in range(x.shape[0]):
        p = max(p + x[i], 0)
        if p > far:
            far = p
    return p, far


@pytest.mark.parametrize("n", range(1, 15))
def test_loops_of_any_number_of_steps_agree_with_numpy(n: int) -> None:
    d = RNG.uniform(1.0, 10.0, (n, n))
    np.testing.assert_array_equal(pliant.jit(shortest)(d), shortest(d))
    x = RNG.integers(-5, 5, size=n)
    np.testing.assert_array_equal(pliant.jit(counted)(x, np.zeros(5, np.int64)), counted(x, np.zeros(5, np.int64)))
    assert tuple(map(int, pliant.jit(walked)(x))) == tuple(map(int, walked(x)))


@pytest.mark.parametrize("n", range(8, 14))
def test_the_first_index_out_of_range_is_reported(n: int) -> None:
    for bad in range(n):
        x = np.array([0] * bad + [5 + k for k in range(n - bad)])
        with pytest.raises(IndexError, match="index 5 is out of"):
            pliant.jit(counted)(x, np.zeros(5, np.int64))


def test_gradients_through_steps_under_a_condition() -> None:
    d = RNG.uniform(1.0, 10.0, (9, 9))
    found = pliant.grad(lambda d: np.sum(shortest(d)))(d)
    e = RNG.normal(size=d.shape)
    h = 1e-6
    change = (np.sum(shortest(d + h * e)) - np.sum(shortest(d - h * e))) / (2 * h)
    np.testing.assert_allclose(np.sum(found * e), change, rtol=1e-6)


def test_several_steps_are_one() -> None:
    x, h = np.zeros(1000, np.int64), np.zeros(5, np.int64)
    _, text = compiled(optimise(pliant.trace(counted, x, h)), {}, (), sharing=True)
    assert len(re.findall(r"icmp ugt i64 %\S+, 4$", optimised(text), re.MULTILINE)) == 4


def test_steps_that_hold_a_loop_stay_as_they_are() -> None:
    def f(x: Any) -> Any:
        s = x[0]
        for i in range(x.shape[0]):
            for k in range(40):
                s = s * (k + 1.5) - x[i] if s > k else s + x[i] * k
        return s

    _, text = compiled(optimise(pliant.trace(f, np.linspace(0.0, 1.0, 50))), {}, (), sharing=True)
    assert text.count("llvm.loop.unroll.count") == 1  # of the inner one
