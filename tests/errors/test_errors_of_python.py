"""What Python and NumPy refuse of arrays and numbers, in a traced function: as they do, and with the line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import UnsupportedError


def _put(x: Any) -> Any:
    held = [1, 2, 3]
    held[x.sum()] = 4
    return held


def _set_dtype_of_a_number(x: Any) -> Any:
    n: Any = x.sum()
    n.dtype = "i8"
    return n


REFUSED: list[Callable[[Any], Any]] = [
    lambda x: [1, 2, 3][x.sum()],
    lambda x: [x, x][x[0].item()],
    lambda x: (1, 2, 3)[x[0]],
    _put,
    lambda x: x.reshape(x.sum(), 1),
    lambda x: np.reshape(x, (x[0], 1)),
    lambda x: np.broadcast_to(x, (x[0], 3)),
    lambda x: x.foo(),
    lambda x: x.append(1),
    lambda x: x[0].foo,
    lambda x: x[0].item().foo,
]


@pytest.mark.parametrize("f", REFUSED)
def test_what_python_refuses_is_refused_in_its_words_at_its_line(f: Callable[[Any], Any]) -> None:
    x = np.arange(3.0)
    with pytest.raises((TypeError, AttributeError)) as want:
        f(x)
    with pytest.raises(want.type) as got:
        pliant.jit(f)(x)
    assert str(want.value) in str(got.value)
    assert "test_errors_of_python.py" in str(got.value)


def test_attributes_may_be_asked_for() -> None:
    def asked(x: Any) -> Any:
        try:
            found = x.foo
        except AttributeError:
            found = 5
        return hasattr(x, "foo"), getattr(x[0], "foo", 3), found

    assert pliant.jit(asked)(np.arange(3.0)) == (False, 3, 5)


@pytest.mark.parametrize("dtype", ["i8", "f4", "c16"])
def test_the_dtype_of_an_array_may_be_set(dtype: str) -> None:
    def seen_as(x: Any) -> Any:
        y = x * 2
        z = y
        y.dtype = dtype
        return y, y.shape, z.dtype == np.dtype(dtype)

    x = np.arange(4.0)
    (want, *more), (got, *others) = seen_as(x), pliant.jit(seen_as)(x)
    assert others == more
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)


def test_the_dtype_of_an_array_of_the_callers_is_not_set() -> None:
    def changed(x: Any) -> Any:
        x.dtype = "i8"
        return x

    with pytest.raises(UnsupportedError, match=r"x.view\(...\)"):
        pliant.jit(changed)(np.arange(4.0))
    with pytest.raises(AttributeError, match="is not writable"):
        pliant.jit(_set_dtype_of_a_number)(np.arange(4.0))
