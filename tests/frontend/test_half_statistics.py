"""Statistics of more elements than float16 can count: as precise as those of float64, rounded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant

FUNCTIONS: tuple[Callable[..., Any], ...] = (np.mean, np.var, np.std, np.nanmean, np.nanvar, np.nanstd, np.median)


@pytest.mark.parametrize("chosen", [False, True], ids=["all", "chosen"])
@pytest.mark.parametrize("axis", [None, 0])
@pytest.mark.parametrize("fn", FUNCTIONS, ids=lambda f: f.__name__)
def test_of_many_elements(fn: Callable[..., Any], axis: int | None, chosen: bool):
    x = (0.01 * np.random.default_rng(0).standard_normal(150_000)).astype(np.float16)

    def f(x: Any) -> Any:
        return fn(x[x > -1] if chosen else x, axis=axis)

    made = pliant.jit(f)(x)
    assert made.dtype == np.float16
    np.testing.assert_allclose(made, f(x.astype(float)), rtol=2e-3, atol=1e-6)


@pytest.mark.parametrize("chosen", [False, True], ids=["all", "chosen"])
def test_of_many_elements_where_a_mask_says_so(chosen: bool):
    x = (0.01 * np.random.default_rng(0).standard_normal(150_000)).astype(np.float16)

    def f(x: Any) -> Any:
        y = x[x > -1] if chosen else x
        return np.var(y, where=y > 0), np.mean(y, where=y > 0), np.var(y, mean=np.mean(y, keepdims=True))

    for got, wanted in zip(pliant.jit(f)(x), f(x.astype(float)), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=2e-3)
