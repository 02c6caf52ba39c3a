"""Functions of `scipy.special` that are written in Python, inside traced functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.integrate
import scipy.linalg
import scipy.special
import scipy.stats
from scipy.special import log_softmax, logsumexp, softmax

import pliant
from pliant.errors import TracedValueError
from pliant.testing import check_gradient

RNG = np.random.default_rng(0)
X, W = RNG.normal(size=(4, 5)), np.abs(RNG.normal(size=(4, 5)))
W[1, 2] = W[3, 0] = 0

FORMS: dict[str, Callable[[Any], Any]] = {
    "all": lambda x: logsumexp(x),
    "an axis": lambda x: scipy.special.logsumexp(x, axis=1),
    "axes kept": lambda x: logsumexp(x, axis=(0, 1), keepdims=True),
    "weights": lambda x: logsumexp(x, axis=0, b=W),
    "weights, all": lambda x: logsumexp(x, b=W),
    "weights kept": lambda x: logsumexp(x, b=W, axis=-1, keepdims=True),
    "a sign": lambda x: logsumexp(x, b=W - 0.5, axis=1, return_sign=True)[0],
    "the sign": lambda x: logsumexp(x, b=W - 0.5, axis=1, return_sign=True)[1] * np.sum(x),
    "a list": lambda x: logsumexp([x[0], x[1]]),
    "softmax": lambda x: softmax(x, axis=1),
    "softmax of all": lambda x: softmax(x),
    "log_softmax": lambda x: log_softmax(x, axis=0),
    "log_softmax of all": lambda x: log_softmax(x),
}


@pytest.mark.parametrize("f", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("scale", [1.0, 500.0])
def test_values_and_gradients(f: Callable[[Any], Any], scale: float) -> None:
    made, wanted = pliant.jit(f)(X * scale), f(X * scale)
    np.testing.assert_allclose(made, wanted, rtol=1e-12, atol=1e-300)
    assert (np.shape(made), np.result_type(made)) == (np.shape(wanted), np.result_type(wanted))
    check_gradient(lambda x: np.sum(np.cos(f(x))), X)


@pytest.mark.parametrize("f", [logsumexp, softmax, log_softmax])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("x", [[-np.inf, -np.inf], [np.inf, 1], [-np.inf, 2], [np.nan, 1], [3, 1], 2.0, [2, 3]])
def test_special_values_and_dtypes(f: Callable[[Any], Any], dtype: str, x: Any) -> None:
    given = np.asarray(x, None if x == [2, 3] else dtype)
    with np.errstate(all="ignore"):
        made, wanted = pliant.jit(f)(given), f(given)
    np.testing.assert_allclose(made, wanted, rtol=1e-6)
    assert np.result_type(made) == np.result_type(wanted)


LIBRARY: Any = scipy


def rooted(x: Any) -> Any:
    return LIBRARY.linalg.sqrtm(np.outer(x, x))


def density(x: Any) -> Any:
    y = x * 2
    return LIBRARY.stats.levy.cdf(y).sum()


def integral(x: Any) -> Any:
    def slope(t: Any) -> Any:
        return t * x[0]

    return LIBRARY.integrate.quad(slope, 0, 1)[0]


@pytest.mark.parametrize(("f", "line"), [
    (rooted, "return LIBRARY.linalg.sqrtm(np.outer(x, x))"), (density, "return LIBRARY.stats.levy.cdf(y).sum()"),
    (integral, "return LIBRARY.integrate.quad(slope, 0, 1)[0]"),
])  # fmt: skip
def test_another_function_is_refused_at_the_users_line(f: Callable[[Any], Any], line: str) -> None:
    with pytest.raises(TracedValueError, match="SciPy, whose functions are not traced, needs a ") as caught:
        pliant.jit(f)(np.arange(3.0))
    place, text, *_ = str(caught.value).partition("  --> ")[2].splitlines()
    assert place.endswith(f"in {f.__name__}: needed here")
    assert text.strip() == line
    assert "hint: say it with NumPy" in str(caught.value)
