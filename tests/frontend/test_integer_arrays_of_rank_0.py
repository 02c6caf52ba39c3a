"""`x[k]`, where k is an integer in an array of rank 0, is a copy; where k is a number it is a view."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import pliant

ONE = np.array(1)
VIEWS: dict[str, Callable[[Any, Any], Any]] = {
    "a row": lambda x, k: x[k],
    "a part of a row": lambda x, k: x[k, 1:],
    "a column": lambda x, k: x[:, k],
    "with an ellipsis": lambda x, k: x[k, ...],
    "with a new axis": lambda x, k: x[None, k],
    "beside a number": lambda x, k: x[1, k],
    "a row of a row": lambda x, k: x[k][0],
    "a row that is transposed": lambda x, k: x.T[k].reshape(-1),
    "an element": lambda x, k: x[k, k, k, ...],
    "a sum, which is a number": lambda x, k: x[k + 0],
    "its number": lambda x, k: x[k[()]],
    "captured": lambda x, k: x[ONE],
}


@pytest.mark.parametrize("number", [np.array(1), np.int64(1), 1], ids=["array", "scalar", "int"])
@pytest.mark.parametrize("name", VIEWS)
def test_what_an_integer_shows_is_shared_where_numpys_is(name: str, number: Any) -> None:
    if name == "its number" and not isinstance(number, np.ndarray):
        pytest.skip("a number has no element")

    def f(x: Any, k: Any) -> Any:
        y = VIEWS[name](x, k)
        y += 1
        x[k] *= 2
        x[k, 1] -= 5
        return y

    ours, theirs = np.arange(24.0).reshape(2, 3, 4), np.arange(24.0).reshape(2, 3, 4)
    made, wanted = pliant.jit(f)(ours, number), f(theirs, number)
    assert_array_equal(made, wanted)
    assert_array_equal(ours, theirs)
    assert np.shares_memory(made, ours) == np.shares_memory(wanted, theirs)


def test_numbers_that_loops_and_batches_take_from_arrays_show_views() -> None:
    def f(x: Any, i: Any) -> Any:
        y = x.copy()
        for k in i:
            r = y[k]
            r += 1
        row = y[np.argmax(i)]
        row *= 2
        return y

    def g(x: Any, k: Any) -> Any:
        y = x.copy()
        r = y[k]
        r += 1
        return y

    x, i = np.arange(6.0).reshape(3, 2), np.array([0, 2, 0])
    assert_array_equal(pliant.jit(f)(x, i), f(x, i))
    assert_array_equal(pliant.vmap(g, in_axes=(None, 0))(x, i), np.stack([g(x, k) for k in i]))
