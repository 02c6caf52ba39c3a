"""Single bools between the brackets: a new axis, of which all or nothing is taken, as in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import pliant

T, F = True, np.False_
EVERY, DOTS = slice(None), Ellipsis
KEYS: list[Any] = [
    T, F, (T, 0), (0, T), (EVERY, T), (DOTS, T), (T, [0, 1]), ([0, 1], T), (F, [0]), (F, [0, 1]), (EVERY, T, [0, 2]),
    ([0, 1], EVERY, T), (None, T), (T, None), (T, F), (T, np.array([True, False])), (0, 0, 0, T), (T, slice(0, 1)),
]  # fmt: skip


def read(x: Any, key: Any) -> Any:
    return x[key]


def write(x: Any, key: Any) -> Any:
    x[key] = 7
    return x


def update(x: Any, key: Any) -> Any:
    x[key] += 1
    return x


@pytest.mark.parametrize("f", [read, write, update])
@pytest.mark.parametrize("key", KEYS, ids=str)
def test_a_key_with_bools_is_numpys(key: Any, f: Any) -> None:
    x = np.arange(24.0).reshape(2, 3, 4)
    try:
        wanted = f(x.copy(), key)
    except IndexError:
        with pytest.raises(IndexError):
            pliant.jit(lambda x: f(x, key))(x.copy())
    else:
        assert_array_equal(pliant.jit(lambda x: f(x, key))(x.copy()), wanted, strict=True)


def test_a_bool_of_python_bounds_a_slice_as_the_integer_that_it_is() -> None:
    x = np.arange(4.0)
    f = pliant.jit(lambda x, flag: x[flag:] * 2)
    for flag in (True, False):
        np.testing.assert_array_equal(f(x, flag), x[flag:] * 2)


def test_none_and_text_are_stored_as_numpy_makes_numbers_of_them() -> None:
    def f(x: Any) -> Any:
        x[0] = None
        x[1:] = "3.5"
        return x

    np.testing.assert_array_equal(pliant.jit(f)(np.arange(3.0)), f(np.arange(3.0)))
