"""Calls of `np.vectorize` objects in traced functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant

SCALE = 3.0
X = np.linspace(-1.0, 1.0, 6)


def larger(a: Any, b: Any) -> Any:
    if a > b:
        return a * a
    return b * SCALE


@np.vectorize
def decorated(a: Any) -> Any:
    return a * 2 if a > 0 else a * a


def parts(a: Any, b: Any) -> Any:
    return a + b, a * b


LARGER, PARTS = np.vectorize(larger), np.vectorize(parts)
AS_SINGLE = np.vectorize(larger, otypes=[np.float32])
DOT = np.vectorize(np.dot, signature="(n),(n)->()")
ROWS = np.vectorize(lambda row, k: np.cumsum(row) * k, signature="(n),()->(n)")
POLYNOMIAL = np.vectorize(lambda x, *, order: x**order, excluded=["order"])


def made_inside(x: Any) -> Any:
    return np.vectorize(lambda a, b: a - b if a < b else a * x[0])(x, x[::-1])


PROGRAMS: dict[str, Any] = {
    "two_arrays": lambda x: LARGER(x, x[::-1]),
    "broadcast": lambda x: LARGER(x.reshape(2, 3), x[:3] * 2),
    "a_number": lambda x: LARGER(x, 0.25),
    "keyword": lambda x: LARGER(x, b=x[::-1]),
    "few_elements": lambda x: LARGER(x[:2], x[2]),
    "one_element": lambda x: LARGER(x[0], x[1]),
    "decorated": decorated,
    "tuple": lambda x: np.stack(PARTS(x, 2.0)),
    "otypes": lambda x: AS_SINGLE(x, 0.25),
    "signature": lambda x: DOT(x.reshape(2, 3), x[:3]),
    "signature_of_rows": lambda x: ROWS(x.reshape(2, 1, 3), x[:4]),
    "excluded": lambda x: POLYNOMIAL(x, order=3),
    "inside": made_inside,
}


@pytest.mark.parametrize("backend", ["llvm", "reference"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_values_are_numpys(name: str, backend: str):
    f = PROGRAMS[name]
    for dtype in (np.float64, np.float32):
        x = X.astype(dtype)
        got, want = pliant.jit(f, backend=backend)(x), f(x)
        np.testing.assert_allclose(got, want, rtol=1e-6)
        assert (got.dtype, got.shape) == (want.dtype, want.shape)


@pytest.mark.parametrize("name", [n for n in PROGRAMS if n != "otypes"])
def test_derivatives_and_batches(name: str):
    f = PROGRAMS[name]

    def loss(x: Any) -> Any:
        return np.sum(f(x) ** 2)

    steps = 1e-6 * np.eye(6)
    wanted = [(loss(X + d) - loss(X - d)) / 2e-6 for d in steps]
    np.testing.assert_allclose(pliant.grad(loss)(X), wanted, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(pliant.vmap(f)(np.stack([X, -X])), np.stack([f(X), f(-X)]))


def test_integers_are_pythons():
    f = np.vectorize(lambda n: n // 2 if n % 2 == 0 else 3 * n + 1)
    n = np.arange(12, dtype=np.int32)
    np.testing.assert_array_equal(pliant.jit(lambda n: f(n))(n), f(n))


def test_what_the_function_reads_is_looked_at_again(monkeypatch: pytest.MonkeyPatch):
    f = pliant.jit(lambda x: LARGER(x, 0.25))
    f(X)
    monkeypatch.setitem(globals(), "SCALE", 5.0)
    np.testing.assert_allclose(f(X), LARGER(X, 0.25))


def test_no_elements_are_an_error_as_in_numpy():
    with pytest.raises(ValueError, match=r"np\.vectorize: there are no elements"):
        pliant.jit(lambda x: LARGER(x, 1.0))(X[:0])
