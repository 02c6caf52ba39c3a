"""Functions of SciPy: derivatives at points where a formula has a case of its own, by their known values."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special as sc
import scipy.stats as st

import pliant

SLOPES: dict[str, tuple[Callable[[Any], Any], float, float]] = {
    "boxcox": (lambda t: sc.boxcox(2.0, t), 0.0, math.log(2) ** 2 / 2),
    "boxcox, near": (lambda t: sc.boxcox(2.0, t), 1e-9, math.log(2) ** 2 / 2),
    "boxcox, its number": (lambda t: sc.boxcox(t, 0.0), 2.0, 0.5),
    "inv_boxcox": (lambda t: sc.inv_boxcox(0.5, t), 0.0, -math.exp(0.5) / 8),
    "inv_boxcox, its number": (lambda t: sc.inv_boxcox(t, 0.0), 0.5, math.exp(0.5)),
    "rgamma 0": (sc.rgamma, 0.0, 1.0),
    "rgamma -1": (sc.rgamma, -1.0, -1.0),
    "rgamma -2": (sc.rgamma, -2.0, 2.0),
    "binom, n": (lambda t: sc.binom(t, 3.0), 2.0, 1 / 3),
    "binom, k": (lambda t: sc.binom(2.0, t), 3.0, -1 / 3),
    "binom, k 0": (lambda t: sc.binom(5.0, t), 0.0, 137 / 60),
    "binom, k 5": (lambda t: sc.binom(5.0, t), 5.0, -137 / 60),
    "binom, k 6": (lambda t: sc.binom(5.0, t), 6.0, -1 / 6),
    "binom, k -1": (lambda t: sc.binom(5.0, t), -1.0, 1 / 6),
    "pseudo_huber": (lambda t: sc.pseudo_huber(t, 1.0), 0.0, 1.0),
    "pseudo_huber, of none": (lambda t: sc.pseudo_huber(t, 0.0), 0.0, 0.0),
    "exprel": (sc.exprel, 0.0, 0.5),
    "laplace.cdf": (st.laplace.cdf, 0.0, 0.5),
    "laplace.sf": (st.laplace.sf, 0.0, -0.5),
    "gamma.pdf": (lambda t: st.gamma.pdf(t, 2.0), 0.0, 1.0),
    "gamma.pdf, of scale": (lambda t: st.gamma.pdf(t, 2.0, scale=2.0), 0.0, 0.25),
    "gamma.pdf, power": (lambda t: st.gamma.pdf(0.0, t), 2.0, 0.0),
    "chi2.pdf": (lambda t: st.chi2.pdf(t, 4.0), 0.0, 0.25),
    "weibull_min.pdf": (lambda t: st.weibull_min.pdf(t, 2.0), 0.0, 2.0),
    "rayleigh.pdf": (st.rayleigh.pdf, 0.0, 1.0),
    "beta.pdf, low": (lambda t: st.beta.pdf(t, 2.0, 3.0), 0.0, 12.0),
    "beta.pdf, high": (lambda t: st.beta.pdf(t, 3.0, 2.0), 1.0, -12.0),
}
BENDS: dict[str, tuple[Callable[[Any], Any], float, float]] = {
    "logistic.logpdf": (st.logistic.logpdf, 0.0, -0.5),
    "exprel": (sc.exprel, 0.0, 1 / 3),
    "boxcox": (lambda t: sc.boxcox(2.0, t), 0.0, math.log(2) ** 3 / 3),
    "betaln of alike": (lambda t: sc.betaln(t, 2.0), 2.0, sc.polygamma(1, 2.0) - sc.polygamma(1, 4.0)),
}


@pytest.mark.parametrize(("f", "x", "wanted"), SLOPES.values(), ids=SLOPES)
def test_slopes(f: Callable[[Any], Any], x: float, wanted: float) -> None:
    np.testing.assert_allclose(pliant.grad(f)(x), wanted, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(pliant.jvp(f, (x,), (1.0,))[1], wanted, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(pliant.jit(f)(x), f(x), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(("f", "x", "wanted"), BENDS.values(), ids=BENDS)
def test_slopes_of_slopes(f: Callable[[Any], Any], x: float, wanted: float) -> None:
    np.testing.assert_allclose(pliant.grad(pliant.grad(f))(x), wanted, rtol=1e-9)


def test_values_beside_and_far_away() -> None:
    n, k = (v.ravel() for v in np.meshgrid([-2.5, -0.5, 0.0, 2.0, 5.5, 180.0], [-3.0, -1.5, 0.0, 2.0, 7.25, 190.0]))
    np.testing.assert_allclose(pliant.jit(sc.binom)(n, k), sc.binom(n, k), rtol=1e-8, atol=1e-300)
    x, power = (v.ravel() for v in np.meshgrid([0.0, 1e-9, 0.7, 1.0, 9.0], [-2.0, -1e-3, 0.0, 1e-12, 0.1, 3.0]))
    np.testing.assert_allclose(pliant.jit(sc.boxcox)(x, power), sc.boxcox(x, power), rtol=1e-12)
    np.testing.assert_allclose(pliant.jit(sc.inv_boxcox)(x, power), sc.inv_boxcox(x, power), rtol=1e-10)
    x = np.array([-200.0, -170.5, -30.25, -3.0, -1e-12, 0.0, 0.4999, 0.5, 20, 200])
    np.testing.assert_allclose(pliant.jit(sc.rgamma)(x), sc.rgamma(x), rtol=1e-11)


def test_cauchy_far_away() -> None:
    q = np.array([1e-300, 1e-20, 0.25, 0.5, 0.75, 1 - 1e-10])
    np.testing.assert_allclose(pliant.jit(st.cauchy.ppf)(q)[:3], -1 / np.tan(np.pi * q[:3]), rtol=1e-14)
    np.testing.assert_allclose(pliant.jit(st.cauchy.isf)(q)[2:], [1.0, 0.0, -1.0, -3.183098597596e9], 1e-6, 1e-15)
    x = np.array([1e300, -1e-8, 3.0])
    wanted = [-math.log(math.pi) - 600 * math.log(10), *st.cauchy.logpdf(x[1:])]
    np.testing.assert_allclose(pliant.jit(st.cauchy.logpdf)(x), wanted, rtol=1e-14)


def test_log_ndtr_of_single_precision() -> None:
    x = np.linspace(-40, 5, 181, dtype=np.float32)
    np.testing.assert_allclose(pliant.jit(sc.log_ndtr)(x), sc.log_ndtr(x.astype(float)), rtol=3e-6)
    assert np.all(np.isfinite(pliant.vmap(pliant.grad(lambda t: sc.log_ndtr(t)))(x)))
