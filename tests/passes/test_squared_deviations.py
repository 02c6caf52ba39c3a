"""Variances of long arrays are made block by block, in one pass over memory, as accurate as in two."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.passes.squared_deviations import FAR

LENGTH = FAR // 8 + 4321  # of float64, with a block that is not whole


def both(x: Any) -> Any:
    return np.mean(x), np.std(x, ddof=1), np.var(x)


def by_hand(x: Any) -> Any:
    away = x - x.mean()
    return (away * away).sum() / (x.size - 1), x.sum()


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize(
    "shape", [(2 * LENGTH,), (2 * LENGTH // 4096 * 4096,), (700, 900), (2 * LENGTH // 7, 7), (50, 90, 150)]
)
@pytest.mark.parametrize("f", [both, by_hand])
def test_they_are_what_numpy_makes_and_more_accurate(
    f: Callable[[Any], Any], shape: tuple[int, ...], dtype: str
) -> None:
    x = (np.random.default_rng(0).normal(size=shape) + 3).astype(dtype)
    exact = f(x.astype(np.longdouble))
    for got, wanted in zip(pliant.jit(f)(x), exact, strict=True):
        np.testing.assert_allclose(got, np.float64(wanted), rtol=1e-5 if dtype == "f4" else 1e-13)


def test_they_take_one_pass() -> None:
    text = str(pliant.explain(both, np.zeros(2 * LENGTH)))
    assert text.count("nest over 65 × 8192") == 1  # the sum and that of squares
    assert "8192" not in str(pliant.explain(both, np.zeros(FAR // 16)))


def outliers(x: Any) -> Any:
    x[::8192] = 1e6  # what deviations are taken from at first
    return x


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize(
    "change",
    [
        lambda x: x + 1e4,
        lambda x: x + np.linspace(0, 1e5, x.size),
        lambda x: x * 1e-3 + np.sign(np.sin(np.arange(x.size) / 7e4)) * 1e3,
        outliers,
        lambda x: 0 * x + 0.1,
    ],
)
def test_numbers_far_from_nought_or_from_each_other(change: Callable[[Any], Any], dtype: str) -> None:
    x = change(np.random.default_rng(3).normal(size=4 * LENGTH)).astype(dtype)
    exact, got = np.var(x.astype(np.longdouble)), pliant.jit(np.var)(x)
    assert got >= 0
    np.testing.assert_allclose(got, np.float64(exact), rtol=2e-5 if dtype == "f4" else 1e-12, atol=1e-12 * x.max() ** 2)


@pytest.mark.parametrize("special", [np.nan, np.inf, 1e200])
def test_what_is_not_finite_or_overflows_is_as_in_numpy(special: float) -> None:
    x = np.ones(2 * LENGTH)
    x[12345] = special
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(pliant.jit(np.var)(x), np.var(x))


def test_strided_arrays_and_their_gradient() -> None:
    x = np.random.default_rng(1).normal(size=(2 * LENGTH, 2))[::-1, 1]
    np.testing.assert_allclose(pliant.jit(both)(x), both(x), rtol=1e-12)
    value, slope = pliant.value_and_grad(lambda x: np.var(x))(x)
    np.testing.assert_allclose(value, np.var(x), rtol=1e-12)
    np.testing.assert_allclose(slope, 2 * (x - x.mean()) / x.size, rtol=1e-9, atol=1e-18)


def test_results_do_not_depend_on_the_number_of_threads() -> None:
    x, f, made = np.random.default_rng(2).normal(size=10 * LENGTH), pliant.jit(both), []
    before = pliant.threads()
    try:
        for n in (1, 2):
            pliant.threads(n)
            made.append(f(x))
    finally:
        pliant.threads(before)
    np.testing.assert_array_equal(*made)
