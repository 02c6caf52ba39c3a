"""Ufuncs of scipy.special that are formulas: values as SciPy's, gradients as differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special

import pliant
from pliant.errors import UnsupportedError
from pliant.testing import check_gradient

RNG = np.random.default_rng(0)
ANY, POSITIVE, UNIT = RNG.normal(size=15) * 3, RNG.uniform(0.1, 8, size=15), RNG.uniform(0.05, 0.95, size=15)
OTHER = RNG.uniform(0.1, 8, size=15)
ODD = np.array([0.0, -0.0, 1, 2, -1, -2, 0.5, -0.5, np.inf, -np.inf, np.nan])
BOTH = tuple(x.ravel() for x in np.meshgrid(np.array([0.0, 1, 2, -1, 0.5, np.nan]), np.array([0.0, 1, 3, -1, 0.5])))

WITHIN: dict[str, tuple[Any, ...]] = {
    "expit": (np.append(ANY, [-30, 20]),),
    "log_ndtr": (np.append(ANY, [-30, -19, 9.5]),),
    "ndtri": (np.append(UNIT, [0.03, 0.97]),),
    "erfinv": (2 * UNIT - 1,),
    "erfcinv": (2 * UNIT,),
    "gamma": (np.append(POSITIVE, [-0.4, -1.6]),),
    "loggamma": (POSITIVE,),
    "rgamma": (np.append(POSITIVE, [-0.4, -1.6]),),
    "beta": (POSITIVE, OTHER),
    "betaln": (np.append(POSITIVE, [30.0, 12.0]), np.append(OTHER, [11.0, 0.3])),
    "binom": (POSITIVE, OTHER),
    "rel_entr": (POSITIVE, OTHER),
    "kl_div": (POSITIVE, OTHER),
    "huber": (POSITIVE, ANY),
    "pseudo_huber": (POSITIVE, ANY),
    "boxcox": (POSITIVE, OTHER / 4),
    "inv_boxcox": (POSITIVE, OTHER),
    "exprel": (ANY,),
    "i0": (ANY,),
    "cbrt": (POSITIVE,),
    "exp2": (ANY,),
}
EXTREMES: dict[str, tuple[Any, ...]] = {
    "expit": (np.append(ODD, [-700, -100, -37, 800]),),
    "log_ndtr": (np.append(ODD, [-1e9, -1e200, -25, 40]),),
    "ndtri": (np.append(np.abs(ODD), [1e-300, 1e-12, 1 - 1e-12, 1.5]),),
    "erfinv": (np.append(ODD, [1e-20, -1e-9, 0.99999]),),
    "erfcinv": (np.append(ODD, [1e-200, 1.9999]),),
    "gamma": (np.append(ODD, [3, 10, 100, 170, 171, 172, -3.5]),),
    "loggamma": (np.append(ODD[:8], [np.inf, 1e10]),),
    "rgamma": (np.append(ODD[2:8], [0.0, 10, -5, -4.5]),),
    "beta": (np.array([-0.5, -1.5, 2.0, 20]), np.array([0.3, 0.2, -0.4, 500])),
    "betaln": (np.array([1, 1e10, 50, 1e6, -0.5, 1e15]), np.array([2, 3.0, 60, 1e6, 0.3, 1e-3])),
    "binom": (np.array([5.0, 5, 5, 10, 3, -1, -0.5, 2.5, 40]), np.array([2.0, 0, 5, 11, -1, 2, 2, 4, 20])),
    **dict.fromkeys(("rel_entr", "kl_div", "huber"), BOTH),
    "pseudo_huber": (np.array([-1.0, 0, 0, 2]), np.array([1.0, 1, 0, 0])),
    "boxcox": (np.array([1.0, 2, 0.5]), np.zeros(3)),
    "inv_boxcox": (np.array([1.0, 2, 0.5]), np.zeros(3)),
    "exprel": (np.array([0, 1e-9, -1e-12, 1e-5, 700]),),
}  # fmt: skip


@pytest.mark.parametrize("name", WITHIN)
def test_values_and_gradients(name: str) -> None:
    ufunc, xs = getattr(special, name), WITHIN[name]

    def total(*xs: Any) -> Any:
        return np.sum(np.arctan(ufunc(*xs)))

    np.testing.assert_allclose(pliant.jit(lambda *xs: ufunc(*xs))(*xs), ufunc(*xs), rtol=1e-12, atol=1e-13)
    for n in range(len(xs)):
        check_gradient(total, *xs, argnums=n, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("name", EXTREMES)
def test_values_at_the_ends(name: str) -> None:
    ufunc, xs = getattr(special, name), EXTREMES[name]
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(pliant.jit(lambda *xs: ufunc(*xs))(*xs), ufunc(*xs), rtol=2e-12)


@pytest.mark.parametrize("name", WITHIN)
@pytest.mark.parametrize("dtype", ["f4", "i4"])
def test_dtypes(name: str, dtype: str) -> None:
    ufunc, xs = getattr(special, name), [np.abs(x).astype(dtype) for x in WITHIN[name]]
    with np.errstate(all="ignore"):
        made, wanted = pliant.jit(lambda *xs: ufunc(*xs))(*xs), ufunc(*xs)
    assert made.dtype == wanted.dtype
    np.testing.assert_allclose(made, wanted, rtol=3e-5, atol=1e-5)


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "polygamma": lambda x: special.polygamma(2, x),
    "polygamma of order 0": lambda x: special.polygamma(0, x),
    "multigammaln": lambda x: special.multigammaln(x + 2, 3),
    "comb": lambda x: special.comb(x + 8, 3),
    "comb with repetition": lambda x: special.comb(x, 2.5, repetition=True),
    "perm": lambda x: special.perm(x + 9, 2) / 50,
    "factorial": lambda x: special.factorial(x / 2),
    "digamma": lambda x: special.digamma(x),
}


@pytest.mark.parametrize("f", FUNCTIONS.values(), ids=FUNCTIONS)
def test_functions(f: Callable[[Any], Any]) -> None:
    np.testing.assert_allclose(pliant.jit(f)(POSITIVE), f(POSITIVE), rtol=1e-11)
    check_gradient(lambda x: np.sum(np.arctan(f(x))), POSITIVE, rtol=1e-5)


@pytest.mark.parametrize("f", [special.comb, special.perm])
def test_counts_of_integers_are_whole(f: Callable[..., Any]) -> None:
    n, k = (x.ravel() for x in np.meshgrid(np.arange(-2, 22), np.arange(-2, 9)))
    np.testing.assert_array_equal(pliant.jit(lambda n, k: f(n, k))(n, k), f(n, k))
    assert pliant.jit(lambda x: x * f(7, 3))(1.0) == f(7, 3)


def test_factorials_of_integers_are_whole() -> None:
    n = np.arange(-2, 180)
    np.testing.assert_allclose(pliant.jit(lambda n: special.factorial(n))(n), special.factorial(n), rtol=1e-15)


def test_what_has_no_formula_is_refused() -> None:
    with pytest.raises(UnsupportedError, match=r"the ufunc j0 .* is not supported"):
        pliant.jit(lambda x: special.j0(x))(np.ones(3))
    with pytest.raises(UnsupportedError, match=r"scipy.special.comb: exact=True is not supported"):
        pliant.jit(lambda n: special.comb(n, 2, exact=True))(5)
    with pytest.raises(UnsupportedError, match=r"the order of scipy.special.polygamma must be known"):
        pliant.jit(lambda n, x: special.polygamma(n, x))(1.0, np.ones(3))


@pytest.mark.parametrize("y", [0.2, 1.0, 3.0])
def test_a_factor_of_a_logarithm_has_a_slope_where_it_is_zero(y: float) -> None:
    np.testing.assert_allclose(pliant.grad(lambda x: special.xlogy(x, y))(0.0), np.log(y))
    np.testing.assert_allclose(pliant.grad(lambda x: special.xlog1py(x, y))(0.0), np.log1p(y))
    assert pliant.grad(lambda x: special.xlogy(x, 0.0))(0.0) == 0
    given = np.array([0.0, 0.0, 0.0, 0.0, 2.0, np.nan]), np.array([0.0, -1.0, np.inf, np.nan, 0.0, 0.0])
    np.testing.assert_array_equal(pliant.jit(lambda x, y: special.xlogy(x, y))(*given), special.xlogy(*given))
