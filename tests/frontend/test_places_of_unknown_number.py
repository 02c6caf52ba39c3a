"""Indices of which it is known only at run time how many there are: read, written, updated as NumPy does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
import pliant.testing

RNG = np.random.default_rng(7)
STARTS = np.array([0, 3, 3, 4, 9, 12])
PLACES = np.array([2, 0, 2, 4, 1, 0, 3, 3, 1, 0, 0, 4])
X, D = RNG.uniform(0.5, 1.5, 5), RNG.uniform(0.5, 1.5, 12)


def read(x: Any, d: Any) -> Any:
    out = np.zeros(12)
    for i in range(5):
        p, q = STARTS[i], STARTS[i + 1]
        out[p:q] = np.log(d[p:q]) * x[PLACES[p:q]]  # the logarithm of what lies beyond is infinite
    return out * np.arange(12)


def written(x: Any, d: Any) -> Any:
    y = x * 1.0
    for i in range(5):
        p, q = STARTS[i], STARTS[i + 1]
        y[PLACES[p:q]] = d[p:q] * x[i]
    return y


def written_with_a_number(x: Any, d: Any) -> Any:
    y = d[:5] * x
    for i in range(5):
        y[PLACES[STARTS[i] : STARTS[i + 1]]] = x[i]
    return y


def updated_once_each(x: Any, d: Any) -> Any:
    y = x * 1.0
    for i in range(5):
        p, q = STARTS[i], STARTS[i + 1]
        y[PLACES[p:q]] += d[p:q] * x[i]
    return y


def updated_by(ufunc: Any) -> Callable[[Any, Any], Any]:
    def f(x: Any, d: Any) -> Any:
        y = x * 1.0
        for i in range(5):
            p, q = STARTS[i], STARTS[i + 1]
            ufunc.at(y, PLACES[p:q], d[p:q] * x[i])
        return y

    f.__name__ = ufunc.__name__
    return f


PROGRAMS = [
    read, written, written_with_a_number, updated_once_each,
    *map(updated_by, (np.add, np.subtract, np.multiply, np.divide, np.maximum, np.minimum, np.power, np.hypot)),
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_values_gradients_and_batches(f: Callable[[Any, Any], Any]) -> None:
    np.testing.assert_allclose(pliant.jit(f)(X, D), f(X, D), rtol=1e-12)
    pliant.testing.check_gradient(lambda x, d: (f(x, d) * np.cos(np.arange(len(f(x, d))))).sum(), X, D)
    xs, ds = np.stack([X, X[::-1]]), np.stack([D, D * 1.1])
    np.testing.assert_allclose(pliant.vmap(f)(xs, ds), [f(*row) for row in zip(xs, ds, strict=True)], rtol=1e-12)


@pytest.mark.parametrize("dtype", ["i8", "f4"])
@pytest.mark.parametrize("ufunc", [np.add, np.maximum, np.minimum, np.multiply, np.subtract])
def test_other_dtypes_of_an_update(ufunc: Any, dtype: str) -> None:
    x, d = np.arange(5, dtype=dtype), np.arange(1, 13, dtype=dtype)
    made, wanted = pliant.jit(updated_by(ufunc))(x, d), updated_by(ufunc)(x, d)
    assert made.dtype == wanted.dtype
    np.testing.assert_allclose(made, wanted)


@pytest.mark.parametrize("count", [0, 2, 4])
@pytest.mark.parametrize("ufunc", [np.floor_divide, np.divide, np.multiply, np.maximum, np.minimum, np.remainder])
@pytest.mark.parametrize(("of", "by"), ["dd", "dl", "ll", "DD"])
def test_an_update_leaves_all_other_elements_as_they_are(ufunc: Any, count: int, of: str, by: str) -> None:
    def f(x: Any, places: Any, d: Any, n: Any) -> Any:
        ufunc.at(x, places[:n], d[:n])
        return x

    ends = [-5, 2, 3, 7] if of == "l" else [-np.inf, -0.0, 2.5, np.inf]
    args = np.array(ends, of), np.array([1, 2, 2, 1]), np.array([2, 3, 5, 4], by), count
    try:
        wanted = f(args[0].copy(), *args[1:])
    except TypeError:
        with pytest.raises(TypeError):
            pliant.jit(f)(*args)
        return
    np.testing.assert_array_equal(pliant.jit(f)(*args), wanted, strict=True)
    np.testing.assert_array_equal(np.signbit(args[0].real), np.signbit(wanted.real))


def test_a_whole_number_has_no_negative_power_at_the_places_there_are() -> None:
    def f(x: Any, places: Any, d: Any, n: Any) -> None:
        np.power.at(x, places[:n], d[:n])

    args = np.array([3, 4]), np.array([0, 1, 1]), np.array([2, 2, -1])
    pliant.jit(f)(*args, 2)
    np.testing.assert_array_equal(args[0], [9, 16])
    with pytest.raises(ValueError, match="negative integer powers"):
        pliant.jit(f)(*args, 3)


def test_an_index_out_of_range_is_an_error_and_nothing_is_written() -> None:
    def f(y: Any, places: Any, n: Any) -> None:
        np.add.at(y, places[:n], 1.0)

    y, places = np.zeros(3), np.array([0, 1, 7])
    pliant.jit(f)(y, places, np.array(2))
    np.testing.assert_array_equal(y, [1, 1, 0])
    with pytest.raises(IndexError, match="index 7 is out of range for axis 0 of extent 3"):
        pliant.jit(f)(y, places, np.array(3))
    np.testing.assert_array_equal(y, [1, 1, 0])


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda y, places, n: np.add.at(y, places[:n], np.ones(4)), "along axis 0 do not fit together"),
        (lambda y, places, n: np.add.at(y, places[:n] > 1, 2.0), "np.add.at of bool"),
        (lambda y, places, n: y.__setitem__(places[:n] > 1, 0.0), "assignment to places by"),
    ],
)
def test_what_is_refused_is_so_with_a_reason(f: Callable[..., Any], message: str) -> None:
    with pytest.raises(pliant.errors.PliantError, match=message):
        pliant.jit(lambda y, places, n: f(y, places, n))(np.zeros(3), np.array([0, 1, 2]), np.array(2))
