"""Polynomials by their coefficients: what NumPy makes of them, compiled, and the derivatives of fits and roots."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import UnsupportedError
from pliant.testing import check_gradient
from tests.frontend.functions.numpys import assert_as_numpy
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


SEVERAL: tuple[Callable[..., Any], ...] = (
    lambda p: np.polymul(p, [1.5, 2.0]),
    lambda p: np.polymul([0.0, 0.0, 3.0], p),
    lambda p: np.polymul(np.append(np.zeros(2), p), p),
    lambda p: np.polymul(0 * p, p),
    lambda p: np.polydiv(p, [1.0, 2.0]),
    lambda p: np.polydiv(p, p[:3]),
    lambda p: np.polydiv(p[:2], p),
    lambda p: np.polydiv(p * 0, p),
    lambda p: np.polydiv(np.convolve(p, [1.0, 2.0]), p),
)
ROOTS: tuple[Callable[..., Any], ...] = (
    lambda p: np.roots(p),
    lambda p: np.roots(np.append(np.append(np.zeros(2), p), [0, 0, 0])),
    lambda p: np.roots(np.poly(p.real)),
    lambda p: np.roots(p[:1]),
    lambda p: np.roots(p * 0),
    lambda p: np.roots(p[:0]),
    lambda p: np.roots(np.append(p[:1], [0, 0])),
)


@pytest.mark.parametrize("dtype", ["f8", "f4", "c16"])
@pytest.mark.parametrize("number", range(len(SEVERAL)))
def test_products_and_quotients_without_leading_zeros(number: int, dtype: str):
    assert_as_numpy(SEVERAL[number], (Y * 2).astype(dtype))


@pytest.mark.parametrize("dtype", ["f8", "c16", "i8"])
@pytest.mark.parametrize("number", range(len(ROOTS)))
def test_roots(number: int, dtype: str):
    assert_as_numpy(ROOTS[number], (Y * 20).astype(dtype))


OF_OBJECTS: tuple[Callable[..., Any], ...] = (
    lambda c, x: np.poly1d(np.polyfit(x, x**3 + c[0], 2))(x),
    lambda c, x: np.poly1d(c)(x),
    lambda c, x: (np.poly1d(c) + np.poly1d([1, 2.0]) * np.poly1d(c) - 3)(x),
    lambda c, x: (-(np.poly1d(c) ** 2) / 2.0)(x),
    lambda c, x: np.poly1d(c).deriv(2)(x) + np.poly1d(c).integ(m=2, k=[1, 2])(x),
    lambda c, x: np.poly1d(c).c * np.poly1d(c)[1] + np.poly1d(c).order,
    lambda c, x: np.poly1d(c, True)(x) * len(np.poly1d(c)),
    lambda c, x: np.polyval(np.polymul(np.polyder(np.poly1d(c)), np.poly1d([1.0, 2])), x),
    lambda c, x: np.poly1d([1.0, 2, 3])(np.poly1d(c))(x),
)


@pytest.mark.parametrize("number", range(len(OF_OBJECTS)))
def test_objects_of_traced_coefficients(number: int):
    f = OF_OBJECTS[number]
    np.testing.assert_allclose(pliant.jit(f)(Y, X), f(Y, X), rtol=1e-8)
    check_gradient(lambda c, x: np.sum(f(c, x)), Y, X)


def test_objects_are_arguments_and_results():
    p = np.poly1d([1.0, 2, 3], variable="t")
    made = pliant.jit(lambda p, c: (p * np.poly1d(c), p(c), p))(p, X)
    assert made[0] == p * np.poly1d(X) and (made[2], made[2].variable) == (p, "t")
    np.testing.assert_allclose(made[1], p(X))
    assert pliant.grad(lambda p, x: p(x))(p, 2.0) == np.poly1d([4.0, 2.0, 1.0])


def test_roots_are_differentiable_in_the_coefficients():
    check_gradient(lambda r: np.sum(np.sin(np.sort(np.roots(np.poly(r))))), X[:4])
    check_gradient(lambda p: np.sum(np.abs(np.roots(p)) ** 3), Y)


@pytest.mark.parametrize("f", [np.roots, lambda p: np.polymul(p, p), lambda p: np.polydiv(p, p)])
def test_coefficients_have_one_axis(f: Callable[..., Any]):
    with pytest.raises(ValueError, match=r"1d|rank-1|vectors"):
        pliant.jit(f)(TWO)


def test_leading_zeros_that_data_cannot_decide():
    with pytest.raises(pliant.PliantError, match="its extents are known only at run time"):
        pliant.vmap(lambda p: np.polymul(p, [1.0, 2.0]))(TWO.T)


def test_leading_zeros_differ_in_a_batch():
    def f(p: Any) -> Any:
        return np.sum(np.polymul(p[:3], p[2:]) ** 2)

    ps = np.array([[1.0, 2, 3, 4, 5], [0, 2, 3, 4, 5], [0, 0, 0, 0, 2], [0, 0, 0, 0, 0], [1, 0, 0, 3, 0]])
    np.testing.assert_allclose(pliant.vmap(f)(ps), [f(p) for p in ps])
    np.testing.assert_allclose(pliant.vmap(pliant.grad(f))(ps), [pliant.grad(f)(p) for p in ps])
