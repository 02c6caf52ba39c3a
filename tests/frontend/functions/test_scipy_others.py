"""Distances, convolutions, filters, transforms, integrals and Rosenbrock's function of SciPy inside traced functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.fft
import scipy.optimize
import scipy.signal as sg
from scipy import integrate
from scipy.optimize import rosen, rosen_der, rosen_hess
from scipy.spatial import distance
from scipy.spatial.distance import cdist, pdist, squareform

import pliant
from pliant.errors import DomainError, ShapeError, UnsupportedError
from pliant.testing import check_gradient

RNG = np.random.default_rng(0)
X, Y, W, V = RNG.normal(size=(5, 3)), RNG.normal(size=(4, 3)), np.array([0.5, 2.0, 1.5]), RNG.normal(size=4)
METRICS = ("euclidean", "sqeuclidean", "cityblock", "chebyshev", "cosine", "correlation", "minkowski")

FORMS: dict[str, Callable[[Any], Any]] = {
    **{f"cdist {m}": lambda x, m=m: cdist(x, Y, m) for m in METRICS},
    **{f"pdist {m}": lambda x, m=m: pdist(x, metric=m) for m in METRICS},
    **{m: lambda x, m=m: getattr(distance, m)(x[0], x[1]) for m in METRICS},
    **{f"{m}, weighed": lambda x, m=m: getattr(distance, m)(x[0], Y[1], w=W) for m in METRICS},
    "minkowski 3": lambda x: cdist(x, Y, "minkowski", p=3),
    "weighed pairs": lambda x: pdist(x, "cityblock", w=W),
    "squareform": lambda x: squareform(pdist(x)),
    "squareform back": lambda x: squareform(np.exp(x @ x.T) * (1 - np.eye(5)), checks=False),
    "rosen": lambda x: rosen(x[:, 0]),
    "rosen of columns": lambda x: scipy.optimize.rosen(x),
    "rosen_der": lambda x: rosen_der(x[:, 0]),
    "rosen_hess": lambda x: rosen_hess(x[:, 1]),
    "convolve": lambda x: sg.convolve(x[:, 0], V),
    "convolve, same": lambda x: sg.convolve(x[:, 0], V, mode="same"),
    "convolve, same as the shorter": lambda x: sg.convolve(V, x[:, 0], mode="same"),
    "convolve, valid": lambda x: sg.fftconvolve(x[:, 0], V, "valid"),
    "convolve planes": lambda x: sg.convolve(x, Y[:2, :2], mode="same"),
    "fftconvolve planes": lambda x: sg.fftconvolve(x, Y[:2, :2], mode="valid"),
    "correlate": lambda x: sg.correlate(x[:, 0], V, "same"),
    "correlate planes": lambda x: sg.correlate(x, Y),
    "fft": lambda x: np.abs(scipy.fft.fft(x, axis=0)),
    "rfft and back": lambda x: scipy.fft.irfft(scipy.fft.rfft(x, 8, overwrite_x=True) * 2, norm="ortho"),
    "fft2": lambda x: scipy.fft.fft2(x).real,
    "fftn": lambda x: np.abs(scipy.fft.fftshift(scipy.fft.fftn(x), axes=0)),
    "fftn of one axis": lambda x: np.abs(scipy.fft.fftn(x, axes=0)),
    "fftn of one extent": lambda x: np.abs(scipy.fft.fftn(x, 4, axes=0)),
    "trapezoid": lambda x: integrate.trapezoid(x, dx=0.5),
    "trapezoid of places": lambda x: integrate.trapezoid(x[:, 0], np.cumsum(np.exp(x[:, 1]))),
    "cumulative_trapezoid": lambda x: integrate.cumulative_trapezoid(x, axis=0),
    "cumulative_trapezoid of places": lambda x: integrate.cumulative_trapezoid(x, np.exp(x[0]), initial=0),
    "lfilter, finite": lambda x: sg.lfilter(V, 2.0, x, axis=0),
    "lfilter": lambda x: sg.lfilter([1.0, 0.5], [2.0, -0.6, 0.1], x, axis=0),
    "lfilter of its coefficients": lambda x: sg.lfilter(x[:2, 0], np.append(2.0, x[:2, 1]), np.tile(V, 3)),
}  # fmt: skip


@pytest.mark.parametrize("f", FORMS.values(), ids=FORMS)
def test_values_gradients_and_batches(f: Callable[[Any], Any]) -> None:
    made, wanted = pliant.jit(f)(X), f(X)
    np.testing.assert_allclose(made, wanted, rtol=1e-10, atol=1e-13)
    assert (np.shape(made), np.result_type(made)) == (np.shape(wanted), np.result_type(wanted))
    check_gradient(lambda x: np.sum(np.arctan(f(x))), X, rtol=1e-5)
    many = np.stack([X, X + 0.1])
    np.testing.assert_allclose(pliant.vmap(f)(many), np.stack([f(x) for x in many]), rtol=1e-10, atol=1e-13)


def test_equal_points_have_derivative_0() -> None:
    np.testing.assert_array_equal(pliant.grad(lambda x: np.sum(cdist(x, X)))(X[:1] * 1.0).shape, (1, 3))
    assert np.all(np.isfinite(pliant.grad(lambda x: np.sum(cdist(x, x)))(X)))


def test_convolutions_of_integers_are_such() -> None:
    a, b = np.arange(12).reshape(3, 4), np.arange(4).reshape(2, 2)
    made = pliant.jit(lambda a, b: sg.convolve(a, b))(a, b)
    np.testing.assert_array_equal(made, sg.convolve(a, b))
    assert made.dtype == sg.convolve(a, b).dtype


@pytest.mark.parametrize(
    "f",
    [
        lambda x: sg.fftconvolve(x, x),
        lambda x: sg.fftconvolve(x[:, 0], x[:, 0]),
        lambda x: sg.correlate(x[:, 0] > 60, x[:, 1] > 60),
        lambda x: rosen_der(x[:, 0]),
        lambda x: rosen_hess(x[:, 0]),
    ],
)
def test_what_becomes_of_integers(f: Callable[[Any], Any]) -> None:
    x = (np.arange(12).reshape(4, 3) * 10).astype(np.int8)
    made, wanted = pliant.jit(f)(x), f(x)
    assert made.dtype == wanted.dtype
    if wanted.dtype.kind == "b":
        np.testing.assert_array_equal(made, wanted)
    else:
        np.testing.assert_allclose(made, f(x.astype(float)), rtol=1e-10, atol=1e-10)


REFUSED: dict[str, tuple[Callable[[Any], Any], type[Exception], str]] = {
    "a metric": (lambda x: cdist(x, Y, "jaccard"), DomainError, "metric must be one of 'euclidean', "),
    "rows": (lambda x: cdist(x, Y[:, :2]), ShapeError, "cdist: .* are no rows of one length"),
    "distances": (lambda x: squareform(x[:, 0]), ShapeError, "are no distances of all pairs"),
    "start of a filter": (lambda x: sg.lfilter([1.0], [1.0, 2.0], x[0], zi=[0.0]), UnsupportedError, "lfilter: zi=…"),
    "axes": (lambda x: sg.fftconvolve(x, Y, axes=0), UnsupportedError, "scipy.signal.fftconvolve: axes=0 is not"),
    "ranks": (lambda x: sg.convolve(x, V), ShapeError, "do not have the same axes"),
}  # fmt: skip


@pytest.mark.parametrize(("f", "kind", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused_is_told_at_the_users_line(f: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message) as caught:
        pliant.jit(f)(X)
    assert "test_scipy_others.py" in str(caught.value)
