"""Polynomials by their coefficients: what NumPy makes of them, compiled, and the derivatives of fits and roots."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import UnsupportedError
from pliant.testing import check_gradient
from tests.frontend.numpy_harness import compare

RANDOM = np.random.default_rng(3)
X = np.array([-1.5, -0.4, 0.1, 0.7, 1.1, 2.0])
Y = RANDOM.normal(size=6)
TWO = RANDOM.normal(size=(6, 2))
WHOLE = np.array([3, 0, 2, 5, -1, 4])
DTYPES = ("f8", "f4", "i8", "c16")

OF_ONE: tuple[Callable[..., Any], ...] = (
    lambda p: np.polyadd(p, [1.5, 2.0]),
    lambda p: np.polyadd(2, p[:2]),
    lambda p: np.polysub(p[:2], p),
    lambda p: np.polysub([1, 2, 3, 4, 5, 6, 7], p),
    lambda p: np.polyder(p),
    lambda p: np.polyder(p, 0),
    lambda p: np.polyder(p, m=3),
    lambda p: np.polyder(p, 9),
    lambda p: np.polyder(p, -1),
    lambda p: np.polyint(p),
    lambda p: np.polyint(p, 0),
    lambda p: np.polyint(p, 2),
    lambda p: np.polyint(p, 2, k=[3, 0.5]),
    lambda p: np.polyint(p, 3, k=1.5),
    lambda p: np.polyint(p, 2, k=p),
    lambda p: np.polyint(p, 3, k=[1, 2]),
    lambda p: np.poly(p.real),
    lambda p: np.poly(p.real[:1]),
)
FITS: tuple[Callable[..., Any], ...] = (
    lambda x, y: np.polyfit(x, y, 0),
    lambda x, y: np.polyfit(x, y, 2),
    lambda x, y: np.polyfit(x, y, 1, w=np.arange(1, 7)),
    lambda x, y: np.polyfit(x, y, 2, cov=True),
    lambda x, y: np.polyfit(x, y, 1, cov="unscaled", w=np.abs(x) + 1),
    lambda x, y: np.polyfit(x, y, 2, full=True),
    lambda x, y: np.polyfit(x, y, 5, cov=True),
    lambda x, y: np.polyfit(x, y, -1),
    lambda x, y: np.polyfit(x, y[:3], 1),
    lambda x, y: np.polyfit(x[None], y, 1),
    lambda x, y: np.polyfit(x, y, 1, w=[1, 2]),
)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("number", range(len(OF_ONE)))
def test_of_one_polynomial(number: int, dtype: str):
    compare(OF_ONE[number], (Y * 2).astype(dtype), ulps=64)


@pytest.mark.parametrize("y", [Y, TWO, WHOLE, Y.astype("f4")], ids=["vector", "matrix", "integers", "single"])
@pytest.mark.parametrize("number", range(len(FITS)))
def test_fits(number: int, y: Any):
    x = X.astype(y.dtype) if y.dtype == np.float32 else X
    compare(FITS[number], x, y, ulps=400)


def test_a_fit_is_differentiable_in_everything():
    def fitted(x: Any, y: Any, w: Any) -> Any:
        return np.sum(np.polyval(np.polyfit(x, y, 2, w=w), np.array([0.3, 1.9])) ** 2)

    check_gradient(fitted, X, Y, np.abs(Y) + 1)


def test_coefficients_are_differentiable_in_the_roots():
    check_gradient(lambda r: np.sum(np.sin(np.poly(r))), X[:4])
    check_gradient(lambda p: np.sum(np.sin(np.polyder(np.polyint(p, 2, k=p[:2]) * 2))), X[:4])


@pytest.mark.parametrize("call", [lambda p: np.poly(p + 1j), lambda p: np.poly(p.reshape(2, 3)[:, :2])])
def test_roots_that_may_be_complex_are_refused(call: Callable[..., Any]):
    with pytest.raises(UnsupportedError, match=r"(?s)np.poly of .*hint: "):
        pliant.jit(call)(Y)


SERIES = ("polynomial.polyval", "chebyshev.chebval", "legendre.legval", "hermite.hermval", "hermite_e.hermeval",
          "laguerre.lagval")  # fmt: skip
COLUMNS = RANDOM.normal(size=(3, 2))


@pytest.mark.parametrize("name", SERIES)
def test_sums_of_series(name: str) -> None:
    """NumPy's own code is followed, which makes arrays and asks what is one."""
    module, function = name.split(".")
    of = getattr(getattr(np.polynomial, module), function)
    for f, xs in (
        (lambda x: of(x, [1, 2, 3]), (X,)),
        (lambda x, c: of(x, c), (X, TWO)),
        (lambda x, c: of(x, c, tensor=False), (X[:2], COLUMNS)),
        (lambda c: of(0.5, c), (Y,)),
        (lambda x: of(x[0], COLUMNS), (X,)),
        (lambda x: of(x, COLUMNS.tolist()), (X,)),
    ):
        np.testing.assert_allclose(pliant.jit(f)(*xs), f(*xs), rtol=1e-12)
    check_gradient(lambda x, c: np.sum(of(x, c)), X / 4, Y[:4])


def test_functions_of_series() -> None:
    series = np.polynomial
    shifted = series.Chebyshev([1.0, 2.0, 3.0], domain=[0, 2])
    for f in (
        lambda x: series.polynomial.polyvander(x, 3),
        lambda x: series.legendre.legvander(x, 2),
        lambda x: series.polynomial.polyder(x, 2),
        lambda x: series.polynomial.polyint(x),
        lambda x: series.chebyshev.chebder(x),
        lambda x: series.polynomial.polyvalfromroots(x, [1, 2]),
        lambda x: series.Polynomial([1, 2, 3])(x),
        lambda x: shifted(x),
        lambda x: x * series.legendre.leggauss(6)[0],
    ):
        np.testing.assert_allclose(pliant.jit(f)(X), f(X), rtol=1e-12)
