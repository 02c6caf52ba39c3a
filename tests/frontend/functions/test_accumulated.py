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


PAIRS = [
    "f8 f4",
    "f8 f2",
    "c16 c8",
    "f4 f8",
    "f4 i4",
    "f8 i2",
    "u8 f4",
    "i4 f4",
    "u8 i8",
    "i1 i1",
    "i2 u1",
    "? i1",
    "i1 ?",
]
INTO: dict[str, Callable[..., Any]] = {
    "cumsum": lambda x, y: x.cumsum(out=y),
    "cumprod": lambda x, y: np.cumprod(x, out=y),
    "cumulative_sum": lambda x, y: np.cumulative_sum(x[1:], out=y, include_initial=True),
    "add.accumulate": lambda x, y: np.add.accumulate(x, out=y),
    "subtract.accumulate": lambda x, y: np.subtract.accumulate(x, out=y),
    "maximum.accumulate": lambda x, y: np.maximum.accumulate(x, out=y),
    "sum": lambda x, y: np.sum(x, out=y[0, ...]),
    "prod": lambda x, y: np.prod(x, out=y[0, ...]),
    "add.reduce": lambda x, y: np.add.reduce(x, out=y[0, ...]),
    "add.reduceat": lambda x, y: np.add.reduceat(x, [0, 2], out=y[:2]),
}


@pytest.mark.parametrize("name", INTO)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_goes_into_out_is_made_in_the_dtype_that_the_operand_and_out_have_in_common(name: str) -> None:
    """A sum of f64 that goes into f32 is rounded once, at its end."""

    def f(*arrays: Any) -> None:
        for n in range(0, len(arrays), 2):
            INTO[name](*arrays[n : n + 2])

    def given() -> list[Any]:
        numbers = [16777216.0, 1.0, 1.0, 3.0, -2.0]
        dtypes = [pair.split() for pair in PAIRS]
        return [a for x, y in dtypes for a in (np.array(numbers).astype(x), np.zeros(5, y))]

    ours, theirs = given(), given()
    pliant.jit(f)(*ours)
    f(*theirs)
    for n in range(1, len(ours), 2):
        np.testing.assert_allclose(ours[n], theirs[n], rtol=0, err_msg=PAIRS[n // 2])


def test_what_overflows_in_out_alone_does_not_on_the_way_there() -> None:
    x, y = np.array([1e300, -1e300, 1.0]), np.zeros(3, np.float32)
    pliant.jit(lambda x, y: np.cumsum(x, out=y))(x, y)
    assert_array_equal(y, [np.inf, 0.0, 1.0])
    x, y = np.full(2, 3e38, np.float32), np.zeros(())
    pliant.jit(lambda x, y: np.mean(x, out=y))(x, y)
    assert y == np.mean(x.astype(float))
