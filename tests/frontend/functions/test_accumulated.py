"""`out=` of running sums: what NumPy's loop writes to an array of another shape, and where it refuses to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import pliant


def column(n: int = 7) -> Any:
    return np.arange(1.0, n + 1)[:, None]


def table(rows: int = 4, columns: int = 3) -> Any:
    return np.arange(1.0, rows * columns + 1).reshape(rows, columns)


CASES: dict[str, tuple[Callable[..., Any], Callable[[], list[Any]]]] = {
    "a column into itself": (lambda x: np.cumsum(x, out=x), lambda: [column()]),
    "by the method": (lambda x: x.cumprod(out=x), lambda: [column()]),
    "its transpose": (lambda x: np.cumsum(x.T, out=x), lambda: [column()]),
    "more axes of one element": (lambda x: np.cumprod(x, out=x), lambda: [column()[..., None]]),
    "another column": (lambda x, y: np.cumsum(x, out=y), lambda: [column(), column()]),
    "another column of another dtype": (lambda x, y: np.cumsum(x, out=y), lambda: [column(), column().astype("f4")]),
    "of integers that are widened": (lambda x, y: np.cumsum(x, out=y), lambda: [column().astype("i4"), table(7, 2)]),
    "a row into itself": (lambda x: np.cumsum(x, out=x), lambda: [column().T]),
    "a column of a table into the table": (lambda x: np.cumsum(x[:, 0], out=x), lambda: [table()]),
    "behind the table": (lambda x: np.cumsum(x[:, 1], out=x[1:]), lambda: [table()]),
    "into a part of the table": (lambda x: np.cumsum(x[1:, 1], out=x[1:]), lambda: [table()]),
    "one element into many": (lambda x: np.cumsum(x[:1], out=x), lambda: [np.arange(1.0, 6)]),
    "one row into many": (lambda x: np.cumsum(x[:1], axis=1, out=x), lambda: [table()]),
    "one row into many, along it": (lambda x, y: np.cumsum(x, axis=0, out=y), lambda: [table(1), np.zeros((4, 3))]),
    "one column into many": (lambda x, y: np.cumsum(x, axis=1, out=y), lambda: [table(3, 1), np.zeros((3, 5))]),
    "a table into more axes": (lambda x, y: np.cumsum(x, axis=1, out=y), lambda: [table(), np.zeros((4, 3, 5))]),
    "a table into a wider one": (lambda x, y: np.cumsum(x, axis=1, out=y), lambda: [table(), np.zeros((4, 5))]),
    "a table into a column": (lambda x, y: np.cumsum(x, axis=1, out=y), lambda: [table(), np.zeros((4, 1))]),
    "a table into a row": (lambda x, y: np.cumsum(x, axis=1, out=y), lambda: [table(4, 1), np.zeros(4)]),
    "the next elements": (lambda x: np.cumsum(x[:3], out=x[3:6].reshape(3, 1)), lambda: [np.ones(8)]),
    "elements between": (lambda x: np.cumsum(x[:6:2], out=x[1:6:2][:, None]), lambda: [np.ones(8)]),
    "a table as one column": (lambda x: np.cumsum(x, out=x.reshape(12, 1)), lambda: [table()]),
    "a transposed table as one column": (lambda x: np.cumsum(x.T, out=x.reshape(12, 1)), lambda: [table()]),
    "without NaN": (lambda x: np.nancumsum(x, out=x), lambda: [column()]),
    "integers without NaN": (lambda x: np.nancumsum(x, out=x), lambda: [column().astype(int)]),
    "of another ufunc": (lambda x: np.subtract.accumulate(x[:, 0], out=x), lambda: [table()]),
    "of an extremum": (lambda x: np.maximum.accumulate(x[::-1, 0], out=x), lambda: [table()]),
    "of nothing": (lambda x, y: np.cumsum(x, out=y), lambda: [np.ones(0), table()]),
    "of nothing, cast": (lambda x, y: np.cumsum(x, out=y), lambda: [np.ones(0), table().astype("f4")]),
    "of a number": (lambda x, y: np.cumsum(x, out=y), lambda: [np.array(3.0), np.zeros(1)]),
}


@pytest.mark.parametrize("name", CASES)
def test_out_of_a_running_sum_is_what_numpy_writes(name: str) -> None:
    f, given = CASES[name]
    ours, theirs = given(), given()
    try:
        wanted = f(*theirs)
    except ValueError:
        with pytest.raises(ValueError, match="does not have the shape of out="):
            pliant.jit(f)(*ours)
    else:
        made = pliant.jit(f)(*ours)
        assert (made.shape, made.dtype) == (wanted.shape, wanted.dtype)
        assert_array_equal(made, wanted)
    for x, y in zip(ours, theirs, strict=True):
        assert_array_equal(x, y)


def test_out_of_a_running_sum_with_no_place_for_it_is_refused() -> None:
    with pytest.raises(ValueError, match="does not have the shape of out="):
        pliant.jit(lambda x, y: np.cumsum(x, axis=1, out=y))(table(), np.zeros((4, 3, 0)))
