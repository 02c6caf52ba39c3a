"""What is returned lies in memory as what NumPy returns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant

X = np.arange(24.0).reshape(4, 6)
Y = np.arange(60.0).reshape(3, 4, 5)

PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "an operation on a transposed matrix": (lambda x: x.T * 2, (X,)),
    "on a matrix in columns": (lambda x: np.exp(x) + 1, (np.asfortranarray(X),)),
    "on two of them": (lambda x, y: x * y - x, (np.asfortranarray(X), np.asfortranarray(X + 1))),
    "on one and its means": (lambda x: x - x.mean(axis=1, keepdims=True), (np.asfortranarray(X),)),
    "on one in columns and one in rows": (lambda x: x + 1 * np.asfortranarray(x), (X,)),
    "on turned axes": (lambda y: y.transpose(0, 2, 1) * 2, (Y,)),
    "on all axes turned": (lambda y: y.transpose(2, 0, 1) / 3, (Y,)),
    "the other way round": (lambda y: (y.transpose(2, 0, 1) / 3).transpose(1, 2, 0), (Y,)),
    "a view of what was made": (lambda x: (x * 2).T, (X,)),
    "a copy in rows": (lambda x: np.ascontiguousarray(x.T * 2), (X,)),
    "a copy": (lambda x: (x.T * 2).copy(), (X,)),
    "a write": (lambda x: written(x.T * 2), (X,)),
    "a row and a column": (lambda x: x[:1].T * 2, (X,)),
    "repeated": (lambda x: np.broadcast_to(x[:, :1], (4, 6)) * 2, (X,)),
    "a product": (lambda x: (x @ x.T) * 2, (X,)),
    "nothing": (lambda x: x[:0].T * 2, (X,)),
}


def written(x: Any) -> Any:
    x[1] = 0
    return x


@pytest.mark.parametrize("name", PROGRAMS)
def test_results_have_the_strides_that_numpy_gives_them(name: str):
    f, args = PROGRAMS[name]
    wanted, compiled = f(*args), pliant.jit(f)
    for _ in range(3):
        made = compiled(*args)
        np.testing.assert_allclose(made, wanted, rtol=1e-15)
        if made.size:
            assert [s for s, n in zip(made.strides, made.shape, strict=True) if n > 1] == [
                s for s, n in zip(wanted.strides, wanted.shape, strict=True) if n > 1
            ]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_results_come_into_arrays_of_any_order(name: str, order: Any):
    f, args = PROGRAMS[name]
    wanted, compiled = f(*args), pliant.jit(f)
    compiled(*args)
    out = np.empty(wanted.shape, wanted.dtype, order)
    for _ in range(3):
        out[...] = -1
        assert compiled(*args, out=out) is out
        np.testing.assert_allclose(out, wanted, rtol=1e-15)


def test_two_results_in_one_memory_stay_in_it():
    def f(x: Any) -> Any:
        y = x.T * 2
        return y, y[1:], y.T

    y, part, turned = pliant.jit(f)(X)
    y[2] = 7
    assert (part[1] == 7).all()
    assert (turned[:, 2] == 7).all()
    assert y.strides == f(X)[0].strides


def test_results_in_one_order_and_written_arguments():
    def f(x: Any, y: Any) -> Any:
        y += 1
        return x.T * 2, x.T + y.T

    given = np.asfortranarray(X + 1)
    expected = given.copy(order="K")
    wanted, made = f(X, expected), pliant.jit(f)(X, given)
    for a, b in zip((*made, given), (*wanted, expected), strict=True):
        np.testing.assert_array_equal(a, b)
        assert a.strides == b.strides
