"""Python's numbers that are assigned to elements have to fit into them, as in NumPy; NumPy's numbers are cast."""

from __future__ import annotations

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
