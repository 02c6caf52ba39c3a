"""Lists and tuples of arrays are compared as Python does: by identity, and else by the truth of `==`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant

X = np.array([1.0, 2.0, 3.0])


def names_of_one(x: Any) -> Any:
    a, b = [x, 1], [x, 1]
    return a == b, a != b, (x,) == (x,), [x] == [x, x]


def other_arrays(x: Any) -> Any:
    return [x] == [x + 1]


def other_arrays_last(x: Any) -> Any:
    return [1, x] != [1, x + 1]


def after_what_differs(x: Any) -> Any:
    return [1, x] == [2, x + 1], [1, x] < [2, x + 1], (x, 1) < (x, 2)


def in_order(x: Any) -> Any:
    return (x, 1) < (x + 1, 2)


def single_elements(x: Any) -> Any:
    return [x[:1]] == [x[1:2] - 1], [x[:1]] == [x[1:2]], [[x[:1]], 2] == [[x[:1] * 1], 2]


def numbers(x: Any) -> Any:
    return [x[0], x[1]] == [1.0, x[1]], (x[0],) == (x[1],), [x[0] * 0] == [False]


def among(x: Any) -> Any:
    return x in [1, x], x[0] in [x[2], x[0]], [x, 1] in [[x, 2], [x, 1]]


def not_among(x: Any) -> Any:
    return x in [x + 1, x]


@pytest.mark.parametrize(
    "f",
    [
        names_of_one, other_arrays, other_arrays_last, after_what_differs, in_order, single_elements, numbers, among,
        not_among,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_comparisons_of_lists_are_pythons(f: Callable[[Any], Any]) -> None:
    for x in (X, -X):
        try:
            expected = repr(f(x))
        except ValueError:
            with pytest.raises(ValueError, match="truth value of an array"):
                pliant.jit(f)(x)
        else:
            assert repr(pliant.jit(f)(x)) == expected
