"""Python's numbers that are assigned to elements have to fit into them, as in NumPy; NumPy's numbers are cast."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import NumberRangeError

FORMS: dict[str, Callable[[Any, Any], Any]] = {
    "an element": lambda x, v: x.__setitem__(0, v),
    "a slice": lambda x, v: x.__setitem__(slice(1, 3), v),
    "a list": lambda x, v: x.__setitem__(slice(0, 2), [v, 1]),
    "places": lambda x, v: x.__setitem__([0, 2], v),
    "a mask": lambda x, v: x.__setitem__(x > 1, v),
    "fill": lambda x, v: x.fill(v),
    "put": lambda x, v: np.put(x, [0], [v]),
    "putmask": lambda x, v: np.putmask(x, x > 1, v),
    "place": lambda x, v: np.place(x, x > 1, [v]),
    "copyto": lambda x, v: np.copyto(x, v, casting="unsafe" if isinstance(v, float) else "same_kind"),
    "flat": lambda x, v: x.flat.__setitem__(slice(None), v),
    "fill_diagonal": lambda x, v: np.fill_diagonal(x.reshape(2, 2), v),
    "insert": lambda x, v: np.insert(x, 1, v),
    "put_along_axis": lambda x, v: np.put_along_axis(x, np.array([0]), v, 0),
}
FITTING = {"u1": (255, 2.75, True, np.int64(300)), "i4": (-7, -2.75, np.int64(7)), "bool": (3, 0.5, 0)}
BEYOND = {"u1": (300, -1), "i4": (2**40,), "u8": (-1,)}


def outcome(call: Callable[..., Any], x: Any) -> Any:
    """The array afterwards and the result, or the kind of error."""
    try:
        made = call(x)
    except (OverflowError, TypeError) as error:
        return OverflowError if isinstance(error, OverflowError) else TypeError
    return x.tolist(), None if made is None else made.tolist()


@pytest.mark.parametrize("form", FORMS.values(), ids=[*FORMS])
@pytest.mark.parametrize("dtype", FITTING)
def test_numbers_that_fit_are_stored_as_numpy_stores_them(dtype: str, form: Callable[[Any, Any], Any]) -> None:
    for v in FITTING[dtype]:
        ours, theirs = (np.arange(4).astype(dtype) for _ in range(2))
        assert outcome(pliant.jit(lambda x, v=v: form(x, v)), ours) == outcome(lambda x, v=v: form(x, v), theirs)


@pytest.mark.parametrize("form", FORMS.values(), ids=[*FORMS])
@pytest.mark.parametrize("dtype", BEYOND)
def test_numbers_beyond_the_dtype_are_refused(dtype: str, form: Callable[[Any, Any], Any]) -> None:
    for v in BEYOND[dtype]:
        x = np.arange(4).astype(dtype)
        with pytest.raises(NumberRangeError):
            pliant.jit(lambda x, v=v: form(x, v))(x)
        assert x.tolist() == [0, 1, 2, 3]


def test_a_number_given_to_the_call_is_checked_at_each_call() -> None:
    def f(x: Any, n: Any) -> None:
        x[1:] = n

    compiled, x = pliant.jit(f), np.zeros(3, np.uint8)
    for n in (7, 255, 0):
        compiled(x, n)
        assert x.tolist() == [0, n, n]
    with pytest.raises(NumberRangeError, match="300 is out of bounds for uint8"):
        compiled(x, 300)
    assert x.tolist() == [0, 0, 0]


def test_what_is_no_integer_is_refused() -> None:
    for v, kind in ((np.nan, ValueError), (np.inf, OverflowError), (1j, TypeError)):
        with pytest.raises(kind):
            pliant.jit(lambda x, v=v: x.__setitem__(0, v))(np.zeros(3, int))


MADE: dict[str, Callable[[Any, Any], Any]] = {
    "a number": lambda k, x: np.array(k, dtype=x.dtype),
    "np.uint8": lambda k, x: np.uint8(k),
    "np.int16": lambda k, x: np.int16(k) + 1,
    "np.uint8 of a list": lambda k, x: np.uint8([k, 1]),
    "a list": lambda k, x: np.array([k, 1], dtype=x.dtype),
    "beside elements": lambda k, x: np.asarray([x[0], k, 7], dtype=x.dtype),
    "nested lists": lambda k, x: np.array([[k, 1], (2, k)], dtype=x.dtype),
    "numbers of a loop": lambda k, x: np.array([k + i for i in range(12)], dtype=x.dtype),
    "NumPy's numbers": lambda k, x: np.array([x[0] + np.int64(k), 1], dtype=x.dtype),
    "arrays": lambda k, x: np.array([x, x + np.int64(1)], dtype=x.dtype),
    "stored": lambda k, x: x.__setitem__(slice(0, 2), [x[0], k]) or x,
    "a lower bound": lambda k, x: np.clip(x, k, 5),
    "an upper bound": lambda k, x: x.clip(2, k),
    "a bound beside an array": lambda k, x: np.clip(x, k, np.arange(4)),
    "both bounds": lambda k, x: np.clip(x, k, k),
}


def made(f: Callable[[Any, Any], Any], k: Any, dtype: str) -> Any:
    """What a call returns, or the kind of error."""
    try:
        y = np.asarray(f(k, np.array([200, 3, 90, 7]).astype(dtype)))
    except (OverflowError, ValueError) as error:
        return OverflowError if isinstance(error, OverflowError) else ValueError
    return y.dtype, str(y.tolist())


@pytest.mark.parametrize("dtype", ["u1", "i1", "i4", "u8", "i8"])
@pytest.mark.parametrize("f", MADE.values(), ids=MADE.keys())
def test_what_is_made_of_pythons_numbers_holds_them_or_is_refused(f: Callable[[Any, Any], Any], dtype: str) -> None:
    compiled = pliant.jit(f)
    for k in (3, -1, 300, 2**40, 7, -(2**40), 2.5, -0.5, 1e10, math.nan, True):
        assert made(compiled, k, dtype) == made(f, k, dtype)


def test_each_number_of_a_batch_has_to_fit() -> None:
    def f(x: Any) -> Any:
        return np.array([int(x), 1], dtype=np.uint8)

    np.testing.assert_array_equal(pliant.vmap(f)(np.array([3.5, 255.0])), [[3, 1], [255, 1]])
    with pytest.raises(OverflowError, match="300 out of bounds for uint8"):
        pliant.vmap(f)(np.array([3.5, 300.0]))


FILLS: dict[str, Callable[[Any, Any], Any]] = {
    "full_like": lambda x, v: np.full_like(x, v),
    "full": lambda x, v: np.full(3, v, x.dtype),
    "copyto": lambda x, v: np.copyto(x, v, casting="unsafe"),
    "real": lambda x, v: setattr(x, "real", v),
}


@pytest.mark.parametrize("dtype", ["u1", "i4", "i8", "f4"])
@pytest.mark.parametrize("fill", FILLS.values(), ids=FILLS.keys())
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_floats_that_fill_an_array_are_cast(fill: Callable[[Any, Any], Any], dtype: str) -> None:
    compiled = pliant.jit(fill)
    for v in (math.nan, math.inf, -2.75, 300.5, 300, -1, True, np.float64(-2.5)):
        for f, known in ((compiled, fill), (pliant.jit(lambda x, v=v: fill(x, v)), lambda x, v=v: fill(x, v))):
            ours, theirs = (np.arange(4).astype(dtype) for _ in range(2))
            args = (v,) if f is compiled else ()
            assert str(outcome(lambda x, f=f, a=args: f(x, *a), ours)) == str(
                outcome(lambda x, f=known, a=args: f(x, *a), theirs)
            )
