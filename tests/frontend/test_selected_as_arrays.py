"""What a mask selects, as helpers take it that begin with `x = np.asarray(x)`: still of a length known at run time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant

ROWS = np.random.default_rng(0).normal(size=(5, 9))
ROWS[4] = -1  # of which nothing is selected


def written(x: Any) -> Any:
    y = x[x > 0]
    z = np.asarray(y)
    z *= 2  # y too
    return y.sum() + z.sum()


def not_written(x: Any) -> Any:
    y = x[x > 0]
    z = np.array(y)
    z *= 2
    return y.sum() + 3 * z.sum()


def in_a_row_of_another(x: Any) -> Any:
    y = x[x > 0]
    table = np.zeros((2, *y.shape))
    table[1] = y * 2
    return table.sum(axis=0)


MAKERS: dict[str, Callable[[Any], Any]] = {
    "asarray": lambda x: np.asarray(x[x > 0]),
    "asanyarray": lambda x: np.asanyarray(x[x > 0], dtype=float),
    "asarray_dtype": lambda x: np.asarray(x[x > 0], dtype=np.float32),
    "array": lambda x: np.array(x[x > 0]),
    "array_ndmin": lambda x: np.array(x[x > 0], ndmin=3) * 2,
    "array_no_copy": lambda x: np.array(x[x > 0], copy=None, ndmin=1) + 1,
    "array_dtype": lambda x: np.array(x[x > 0], dtype=complex, copy=None),
    "ascontiguousarray": lambda x: np.ascontiguousarray(x[x > 0]),
    "listed": lambda x: np.asarray(x[x > 0][1:]),
    "rows": lambda x: np.asarray(np.stack([x, x], 1)[x > 0]),
    "atleast_1d": lambda x: np.atleast_1d(x[x > 0]),
    "atleast_2d": lambda x: np.atleast_2d(x[x > 0]) * 2,
    "atleast_3d": lambda x: np.atleast_3d(x[x > 0]),
    "atleast_3d_of_rows": lambda x: np.atleast_3d(np.stack([x, x], 1)[x > 0]),
    "atleast_2d_of_several": lambda x: np.atleast_2d(x, x[x > 0])[1],
    "polyvander": lambda x: np.polynomial.polynomial.polyvander(x[x > 0], 3),
    "lagvander": lambda x: np.polynomial.laguerre.lagvander(x[x > 0], 2),
    "written": written,
    "not_written": not_written,
    "in_a_row_of_another": in_a_row_of_another,
}


@pytest.mark.parametrize("name", MAKERS)
def test_arrays_of_what_a_mask_selects_are_compiled_once(name: str) -> None:
    f = MAKERS[name]
    compiled = pliant.jit(f)
    for x in ROWS:
        got, wanted = compiled(x.copy()), f(x.copy())
        np.testing.assert_allclose(got, wanted, rtol=1e-6)
        assert got.dtype == wanted.dtype
        assert got.shape == wanted.shape
    assert sum([len(programs) for programs in compiled.entries.values()]) == 1


@pytest.mark.parametrize("name", MAKERS)
def test_they_have_gradients_and_batches(name: str) -> None:
    def f(x: Any) -> Any:
        return np.sum(np.real(MAKERS[name](x)) ** 2)

    step, rtol = 1e-5, 1e-2 if name == "asarray_dtype" else 1e-6
    np.testing.assert_allclose(pliant.vmap(f)(ROWS), [f(x.copy()) for x in ROWS], rtol=1e-6)
    if name == "asarray_dtype":
        return  # differences have no digits left
    for x in ROWS:
        ends = [(f(x + step * d) - f(x - step * d)) / (2 * step) for d in np.eye(9)]
        np.testing.assert_allclose(pliant.grad(f)(x), ends, rtol=rtol, atol=1e-6)


def test_a_copy_that_was_forbidden() -> None:
    with pytest.raises(ValueError, match="Unable to avoid copy"):
        pliant.jit(lambda x: np.asarray(x[x > 0], dtype=np.float32, copy=False))(ROWS[0])


def test_the_order_of_columns_is_decided_by_data() -> None:
    def f(x: Any) -> Any:
        return np.array(np.stack([x, x], 1)[x > 0], order="F")

    for x in ROWS[:2]:
        np.testing.assert_array_equal(pliant.jit(f)(x), f(x))


def test_least_squares_with_a_tolerance_of_the_number_of_points() -> None:
    def f(x: Any) -> Any:
        return np.polynomial.polynomial.polyfit(x[x > 0], 2 * x[x > 0] + 1, 1)

    for x in (np.arange(-3.0, 6.0), np.arange(-6.0, 3.0)):
        np.testing.assert_allclose(pliant.jit(f)(x), [1, 2])
