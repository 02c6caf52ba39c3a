# ruff: noqa: PERF401 (that a loop makes the list is what is tested)
"""`list += y` is what Python makes of it: the operator of y is asked first, and NumPy's makes a new array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant

X = np.array([1.0, 2.0, 3.0])


class Answering:
    """An object that answers to `list += object`, or does not."""

    def __init__(self, x: Any) -> None:
        self.x = x

    def __radd__(self, other: Any) -> Any:
        return NotImplemented if self.x is None else self.x + sum(other)

    def __iter__(self) -> Any:
        return iter([7.0])


class Holder:
    """An object with a list."""

    def __init__(self) -> None:
        self.items = [1, 2, 3]


def to_a_list(x: Any, n: int) -> Any:
    kept = y = [1.0, 2.0, 3.0]
    y += x
    return y, kept


def to_elements(x: Any, n: int) -> Any:
    y = [x[0], x[1], x[2]]
    y += x
    return y


def to_an_array_in_a_list(x: Any, n: int) -> Any:
    y = [x]
    y += x
    return y


def to_items(x: Any, n: int) -> Any:
    p = {"a": [1.0, 2.0, 3.0], "b": x.copy(), "c": [1]}
    q = {"a": x, "b": [1, 2, 3], "c": [2]}
    for k in p:
        p[k] += q[k]
    return p


def to_an_attribute(x: Any, n: int) -> Any:
    o = Holder()
    kept = o.items
    o.items += x
    return o.items, kept


def rows(x: Any, n: int) -> Any:
    total = [0, 0, 0]
    for row in np.stack([x, x * 2, x * 3]):
        total += row
    return total


def a_scalar(x: Any, n: int) -> Any:
    y = z = [1, 2]
    y += x[0]
    z -= x.sum()
    return y, z


def to_an_empty_list(x: Any, n: int) -> Any:
    y = []
    y += x[:1]
    return y


def three_to_an_empty_list(x: Any, n: int) -> Any:
    y = []
    y += x
    return y


def a_selection(x: Any, n: int) -> Any:
    y = [1.0]
    y += x[x > 1]
    return y


def a_python_number(x: Any, n: int) -> Any:
    y = [1, 2]
    y += n
    return y


def under_a_condition(x: Any, n: int) -> Any:
    y = [1.0, 2.0, 3.0]
    if x[0] > 0:
        y += x
    else:
        y = x * 2
    return y


def to_a_list_from_a_loop(x: Any, n: int) -> Any:
    y = []
    for i in range(3):
        y.append(x[i] * i)
    y += x
    return y


def an_object(x: Any, n: int) -> Any:
    y = z = [1.0]
    y += Answering(x)
    kept = z
    z += Answering(None)
    return y, z, kept


def what_is_iterated(x: Any, n: int) -> Any:
    y = kept = [1.0]
    y += (v for v in x)
    y += (2, 3)
    y += x.flat
    return y, kept


def times(x: Any, n: int) -> Any:
    y = kept = [1, 2]
    y *= n
    z = w = [1, 2, 3]
    z *= x
    return y, kept, z, w


def to_a_tuple(x: Any, n: int) -> Any:
    y = z = (1, 2, 3)
    y += x
    z *= x
    return y, z


PROGRAMS = (
    to_a_list, to_elements, to_an_array_in_a_list, to_items, to_an_attribute, rows, a_scalar, to_an_empty_list,
    three_to_an_empty_list, a_selection, a_python_number, under_a_condition, to_a_list_from_a_loop, an_object,
    what_is_iterated, times, to_a_tuple,
)  # fmt: skip


def outcome(f: Callable[..., Any], x: Any) -> str:
    """What a call returns, with its types, or Python's class of what it raises."""
    try:
        return repr(f(x.copy(), 3))
    except Exception as error:
        return next(c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins")


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_what_is_added_to_a_list_in_place_is_as_in_python(f: Callable[..., Any]) -> None:
    assert outcome(pliant.jit(f), X) == outcome(f, X)


@pytest.mark.parametrize("f", [to_elements, rows, under_a_condition], ids=lambda f: f.__name__)
def test_its_derivative_is_that_of_a_sum(f: Callable[..., Any]) -> None:
    way, step = np.array([0.3, -1.0, 0.7]), 1e-6
    wanted = (np.asarray(f(X + step * way, 3)) - np.asarray(f(X - step * way, 3))) / (2 * step)
    np.testing.assert_allclose(pliant.jvp(lambda x: f(x, 3), (X,), (way,))[1], wanted, rtol=1e-7)
    np.testing.assert_array_equal(pliant.vmap(lambda x: f(x, 3))(np.stack([X, -X])), [f(X, 3), f(-X, 3)])


class Counting:
    """An object that says how often its parts were read."""

    def __init__(self) -> None:
        self.read: list[Any] = []
        self.held = [np.ones(3), np.zeros(3)]

    @property
    def first(self) -> Any:
        self.read.append("first")
        return self.held[0]

    def __getitem__(self, key: int) -> Any:
        self.read.append(key)
        return self.held[key]

    def __getattr__(self, name: str) -> Any:
        if name != "other":
            raise AttributeError(name)
        self.read.append(name)
        return self.held[1]


def through_a_property(x: Any, n: int) -> Any:
    o = Counting()
    o.first[0] *= 3
    o.first[1:] += x[1:]
    return o.read, o.held


def through_items_and_attributes(x: Any, n: int) -> Any:
    o = Counting()
    o[1][0] += x[0]
    o.other[o[0].size - 1] -= x[1]
    return o.read, o.held


def as_a_key(x: Any, n: int) -> Any:
    o, y = Counting(), x.copy()
    y[o.first > 0] += 1
    return o.read, y


def in_a_loop(x: Any, n: int) -> Any:
    o = Counting()
    for i in range(6):
        o.first[i % 3] += x[i % 3]
    return o.read, o.held


@pytest.mark.parametrize(
    "f", [through_a_property, through_items_and_attributes, as_a_key, in_a_loop], ids=lambda f: f.__name__
)
def test_where_it_is_put_is_looked_up_once(f: Callable[..., Any]) -> None:
    assert outcome(pliant.jit(f), X) == outcome(f, X)
