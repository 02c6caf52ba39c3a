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
