"""The error function and the gamma function equal SciPy's, and so do their derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special as special
from numpy.testing import assert_allclose

import pliant

X = np.array([0.3, 1.7, 5.5, 20.0])
NORMAL = np.exp(-X * X / 2) / np.sqrt(2 * np.pi)
GAUSS = 2 / np.sqrt(np.pi) * np.exp(-X * X)
DERIVATIVES = {
    "erf": (special.erf, GAUSS, -2 * X * GAUSS),
    "erfc": (special.erfc, -GAUSS, 2 * X * GAUSS),
    "ndtr": (special.ndtr, NORMAL, -X * NORMAL),
    "gammaln": (special.gammaln, special.psi(X), special.polygamma(1, X)),
    "psi": (special.psi, special.polygamma(1, X), special.polygamma(2, X)),
}


@pytest.mark.parametrize("name", DERIVATIVES)
def test_derivatives(name: str) -> None:
    f, first, second = DERIVATIVES[name]

    def total(x: Any) -> Any:
        return f(x).sum()

    value, gradient = pliant.value_and_grad(total)(X)
    assert_allclose(value, total(X), rtol=1e-14)
    assert_allclose(gradient, first, rtol=1e-13)
    assert_allclose(pliant.hvp(total)(X, np.ones(4)), second, rtol=1e-12)
    assert_allclose(pliant.vmap(pliant.grad(f))(X), first, rtol=1e-13)


@pytest.mark.parametrize("f", [special.erf, special.erfc, special.ndtr, special.gammaln, special.psi])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4"])
@pytest.mark.parametrize("backend", ["llvm", "reference"])
def test_values(f: Callable[[Any], Any], dtype: str, backend: str) -> None:
    with np.errstate(all="ignore"):
        x = np.array([-31, -2.5, -0.0, 0, 0.4, 1, 9, 200, np.inf, -np.inf, np.nan][: 8 if dtype == "i4" else 11])
        x = x.astype(dtype)
        made, wanted = pliant.jit(lambda x: f(x), backend=backend)(x), f(x)
    assert made.dtype == wanted.dtype
    assert_allclose(made, wanted, rtol=1e-12 if dtype != "f4" else 2e-6, atol=1e-300)
