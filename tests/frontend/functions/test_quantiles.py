"""Several quantiles: of long rows they are selected one by one, and are NumPy's of all methods, dtypes and shapes."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest

import pliant

METHODS = (
    "linear", "lower", "higher", "midpoint", "nearest", "inverted_cdf", "averaged_inverted_cdf", "closest_observation",
    "interpolated_inverted_cdf", "hazen", "weibull", "median_unbiased", "normal_unbiased",
)  # fmt: skip
FEW = [0.95, 0.05, 0.5, 0.0, 1.0]
LONG = 6401


def numbers(dtype: str, *shape: int) -> Any:
    return (100 * np.random.default_rng(2).normal(size=shape)).astype(dtype)


def is_sorted_whole(f: Any, x: Any) -> bool:
    """Whether the program sorts all elements."""
    return "= sort(" in str(pliant.trace(f, x))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n", [LONG, LONG + 1])
def test_several_quantiles_are_numpys(method: Any, n: int) -> None:
    x = numbers("f8", n)
    got = pliant.jit(lambda x: np.quantile(x, FEW, method=method))(x)
    np.testing.assert_allclose(got, np.quantile(x, FEW, method=method), rtol=1e-14)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "i4", "i8", "u4"])
@pytest.mark.parametrize("q", [FEW, [[10 / 64, 11 / 64], [0.5, 0.5]], [0.5, 0.5 + 1 / (LONG - 1), 0.25], []])
def test_quantiles_of_other_dtypes_are_numpys(dtype: str, q: Any) -> None:
    x = numbers(dtype, LONG) if dtype[0] != "u" else np.abs(numbers("f8", LONG)).astype(dtype)
    for f in (lambda x: np.quantile(x, q), lambda x: np.percentile(x, 100 * np.array(q), method="lower")):
        got, expected = pliant.jit(f)(x), f(x)
        assert got.dtype == expected.dtype
        np.testing.assert_allclose(got, expected, rtol=1e-6 if dtype in ("f2", "f4") else 1e-14)


@pytest.mark.parametrize("axis", [0, 1, (0, 2), None])
def test_quantiles_along_axes_are_numpys(axis: Any) -> None:
    x = numbers("f8", 1100, 3, 2) if axis in (0, (0, 2), None) else numbers("f8", 2, 2500, 2)
    f = pliant.jit(lambda x: np.quantile(x, [0.1, 0.9], axis=axis, keepdims=True))
    np.testing.assert_allclose(f(x), np.quantile(x, [0.1, 0.9], axis=axis, keepdims=True), rtol=1e-14)


def test_nan_and_infinities_are_numpys() -> None:
    x = numbers("f8", 3, LONG)
    x[0, 7], x[1, ::3], x[2, :4] = np.nan, np.inf, -np.inf
    with np.errstate(invalid="ignore"):
        expected = np.quantile(x, FEW, axis=1)
    np.testing.assert_allclose(pliant.jit(lambda x: np.quantile(x, FEW, axis=1))(x), expected, rtol=1e-14)


@pytest.mark.parametrize("method", [m for m in METHODS if m != "averaged_inverted_cdf"])  # NaN there, NumPy's sometimes
@pytest.mark.parametrize("function", [np.quantile, np.nanquantile])
def test_quantiles_before_the_first_are_the_first(method: Any, function: Any) -> None:
    q = np.array([0.0, 0.01, 0.1, 0.4, 0.99, 1.0])
    for x in (np.array([np.inf, np.inf, 3.0, np.inf]), np.array([-np.inf, np.inf]), -np.array([np.inf, np.inf, 3.0])):
        with np.errstate(invalid="ignore"):
            expected = function(x, q, method=method)
        np.testing.assert_array_equal(pliant.jit(lambda x: function(x, q, method=method))(x), expected)
        np.testing.assert_array_equal(pliant.jit(lambda x, q: function(x, q, method=method))(x, q), expected)


def test_few_quantiles_of_long_rows_are_selected() -> None:
    x = np.ones(LONG)
    assert not is_sorted_whole(lambda x: np.quantile(x, FEW[:3]), x)
    assert is_sorted_whole(lambda x: np.quantile(x, FEW[:3]), x[:500])
    assert is_sorted_whole(lambda x: np.quantile(x, np.linspace(0, 1, 100)), x)


def test_derivatives_and_batches_of_several_quantiles() -> None:
    x, weights = numbers("f8", 2, LONG), np.array([1.0, 2.0, 4.0])
    order = np.argsort(x[0])
    expected = np.zeros(LONG)
    expected[order[[320, 3200, 6080]]] = weights
    gradient = pliant.grad(lambda x: np.sum(np.quantile(x, [0.05, 0.5, 0.95]) * weights))
    np.testing.assert_allclose(gradient(x[0]), expected, atol=1e-11)
    rows = pliant.vmap(lambda x: np.quantile(x, FEW))(x)
    np.testing.assert_allclose(rows, np.quantile(x, FEW, axis=1).T, rtol=1e-14)


def test_quantiles_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="must be in the range"):
        pliant.jit(lambda x: np.quantile(x, [0.5, np.nan]))(np.ones(9))


def with_nan(dtype: str) -> Any:
    """Rows with no NaN, one, some, many, all but two, all but one, and nothing else; with ties and infinities."""
    x = np.round(numbers("f8", 8, LONG), 2).astype(dtype)
    for row, count in enumerate((0, 1, 400, LONG // 2, LONG - 2, LONG - 1, LONG)):
        x[row, np.random.default_rng(row).permutation(LONG)[:count]] = np.nan
    x[2, x[2] > 2], x[3, x[3] < -1] = np.inf, -np.inf
    return x


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.filterwarnings("ignore:All-NaN slice", "ignore:invalid value")
def test_quantiles_of_all_but_nan_are_numpys(method: Any, dtype: str) -> None:
    x = with_nan(dtype)

    def f(x: Any) -> Any:
        return np.nanquantile(x, FEW, 1, method=method), np.nanpercentile(x.T, 37, (0,), method=method, keepdims=True)

    for found, wanted in zip(pliant.jit(f)(x), f(x), strict=True):
        assert found.dtype == wanted.dtype
        np.testing.assert_allclose(found, wanted, rtol=1e-6 if dtype == "f4" else 1e-14)


@pytest.mark.filterwarnings("ignore:All-NaN slice", "ignore:invalid value")
def test_medians_of_all_but_nan_are_numpys() -> None:
    x = with_nan("f8")
    for axis in (None, 0, 1, (0, 1)):
        np.testing.assert_array_equal(pliant.jit(lambda x, a=axis: np.nanmedian(x, a))(x), np.nanmedian(x, axis))
    assert not is_sorted_whole(lambda x: np.nanmedian(x, 1), x)
    assert is_sorted_whole(lambda x: np.nanquantile(x, x[0, :60] ** 2 / 100, 1), x)


@pytest.mark.parametrize("q", [0.5, [0.1, 0.75]])
def test_derivatives_and_batches_of_quantiles_of_all_but_nan(q: Any) -> None:
    x = with_nan("f8")[[0, 1, 4, 5]]
    wanted = pliant.grad(lambda x, q: np.sum(np.nanquantile(x, q, 1) ** 2))(x, np.array(q))  # which sorts
    np.testing.assert_allclose(pliant.grad(lambda x: np.sum(np.nanquantile(x, q, 1) ** 2))(x), wanted, rtol=1e-13)
    (_, rate) = pliant.jvp(lambda x: np.nanquantile(x, q, 1), (x,), (x[::-1],))
    rows = [pliant.jvp(lambda x: np.nanquantile(x, q), (x[j],), (x[3 - j],))[1] for j in range(4)]
    np.testing.assert_allclose(rate, np.stack(rows, -1))
    np.testing.assert_array_equal(pliant.vmap(lambda x: np.nanquantile(x, q))(x), np.nanquantile(x, q, 1).T)


@pytest.mark.parametrize("q", [0, 1, True, [0, 1], np.array([1, 0], "u1"), np.int64(1), 0.5, [0.0, 1.0], np.float32(1)])
@pytest.mark.parametrize("function", [np.quantile, np.nanquantile, np.percentile], ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", ["u1", "i8", "f4", "f8", "bool"])
def test_whole_quantiles_are_elements(dtype: str, function: Any, q: Any) -> None:
    x, options = np.array([[5, 1, 4], [2, 0, 3]]).astype(dtype), list[dict[str, Any]]()
    for given in ({}, {"axis": 0}, {"axis": 1, "method": "lower"}):
        with contextlib.suppress(TypeError):  # what lies between bools
            function(x, q, **given)
            options.append(given)

    def f(x: Any, q: Any) -> Any:
        return [function(x, q, **given) for given in options]

    for made in (pliant.jit(lambda x: f(x, q))(x), pliant.jit(f)(x, q)):
        for found, wanted in zip(made, f(x, q), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-6, strict=True)
