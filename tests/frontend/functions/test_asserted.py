"""np.testing in traced functions: asked at run time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant

X = np.array([1.0, 2.0, np.nan])
CASES: tuple[Callable[[Any], Any], ...] = (
    lambda x: np.testing.assert_allclose(x[:2].sum(), 3),
    lambda x: np.testing.assert_allclose(x, x * (1 + 1e-9), err_msg="far"),
    lambda x: np.testing.assert_allclose(x, x * 1.1, atol=0.5),
    lambda x: np.testing.assert_allclose(x, x, equal_nan=False),
    lambda x: np.testing.assert_allclose(x, x * 1.1),
    lambda x: np.testing.assert_allclose(x, x[:2]),
    lambda x: np.testing.assert_array_equal(x, x.copy()),
    lambda x: np.testing.assert_array_equal(x, x.astype("f4"), strict=True),
    lambda x: np.testing.assert_array_equal(x[:2], [1, 2]),
    lambda x: np.testing.assert_array_equal(x[:2], 1),
    lambda x: np.testing.assert_equal(x[0], 1.0),
    lambda x: np.testing.assert_equal(x[0], 2.0),
    lambda x: np.testing.assert_array_almost_equal(x, x + 1e-7),
    lambda x: np.testing.assert_array_almost_equal(x, x + 1e-5),
    lambda x: np.testing.assert_almost_equal(x[0], x[0] + 1e-8),
    lambda x: np.testing.assert_almost_equal(x[0], x[0] + 1e-6),
    lambda x: np.testing.assert_array_less(x[:2], 3),
    lambda x: np.testing.assert_array_less(x[:2], 2),
    lambda x: np.testing.assert_(x[0] > 0),  # noqa: PT009
    lambda x: np.testing.assert_(x[0] > 1),  # noqa: PT009
)


def outcome(f: Callable[[Any], Any]) -> str:
    try:
        f(X)
    except AssertionError:
        return "raised"
    return "passed"


@pytest.mark.parametrize("f", CASES)
def test_assertions_are_numpys(f: Callable[[Any], Any]) -> None:
    def after(x: Any) -> Any:
        f(x)
        return x * 2

    assert outcome(pliant.jit(after)) == outcome(after)


def test_assertions_in_gradients_and_loops() -> None:
    def loss(x: Any) -> Any:
        p = np.exp(x) / np.sum(np.exp(x))
        np.testing.assert_allclose(p.sum(), 1)
        for v in x:
            np.testing.assert_array_less(v, 2)
        return p[0]

    assert np.isfinite(pliant.grad(loss)(np.array([0.0, 1.0]))).all()
    with pytest.raises(AssertionError, match="strictly ordered"):
        pliant.grad(loss)(np.array([0.0, 3.0]))
