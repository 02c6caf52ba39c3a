"""Attributes and names from outside that each call sets to a new list or dict, and lists that callers make anew."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import pliant

X = np.array([1.0, -2.0, 0.5])
ROWS: Any = [0.0]


class Layer:
    """Keeps what it was given until its gradient is taken."""

    def __init__(self) -> None:
        self.X: Any = []
        self.W: Any = np.ones(3)
        self.derived: dict[str, Any] = {"a": [1.0], "b": [2.0, 3.0]}

    def forward(self, x: Any) -> Any:
        self.X.append(x)
        return x * self.W

    def backward(self, g: Any) -> Any:
        x = self.X[0]
        self.X = []
        self.W = self.W - 0.1 * g * x
        return g * self.W


def emptied(m: Any, x: Any) -> Any:
    m.X = []
    return x * 2


def filled_and_emptied(m: Any, x: Any) -> Any:
    m.X = [x]
    y = m.X[0] * 2
    m.X = []
    return y


def dict_filled_and_emptied(m: Any, x: Any) -> Any:
    m.X = {}
    m.X["a"] = x
    y = m.X["a"]
    m.X = {}
    return y


def lists_of_a_dict(m: Any, x: Any) -> Any:
    for k in m.derived:
        m.derived[k] = []
    return x + len(m.derived["b"])


def by_name(m: Any, x: Any) -> Any:
    setattr(m, "X", [])  # noqa: B010
    return x + 1


def a_nested_one(m: Any, x: Any) -> Any:
    m.X = {"rows": [], "last": None, "pair": ([], {})}
    return x + 1


def an_object(m: Any, x: Any) -> Any:
    m.X = SimpleNamespace(rows=[])
    return x + 1


def both_ways(m: Any, x: Any) -> Any:
    return m.backward(m.forward(x))


def swapped(m: Any, x: Any) -> Any:
    before = m.X
    m.X = [x]
    m.derived["a"] = before
    return x


FLUSHED = [
    emptied, filled_and_emptied, dict_filled_and_emptied, lists_of_a_dict, by_name, a_nested_one, an_object, both_ways,
    swapped,
]  # fmt: skip


def content(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        return x.tolist()
    if isinstance(x, dict):
        return {k: content(v) for k, v in x.items()}
    if isinstance(x, list | tuple):
        return type(x)(map(content, x))
    return content(vars(x)) if isinstance(x, Layer | SimpleNamespace) else x


def traces_of(compiled: Any) -> int:
    return sum(map(len, compiled.entries.values()))


@pytest.mark.parametrize("f", FLUSHED, ids=lambda f: f.__name__)
@pytest.mark.parametrize("as_what", ["argument", "outside"])
def test_new_lists_are_set_without_a_new_program(f: Callable[..., Any], as_what: str) -> None:
    ours, theirs = Layer(), Layer()
    compiled: Any = pliant.jit(f if as_what == "argument" else lambda x: f(ours, x))
    args = (ours,) if as_what == "argument" else ()
    counts = list[int]()
    for k in range(8):
        rows, others = ours.X, theirs.X
        np.testing.assert_allclose(compiled(*args, X * k), f(theirs, X * k))
        assert content(ours) == content(theirs)
        assert content(rows) == content(others)
        assert (ours.X is rows) == (theirs.X is others)
        counts.append(traces_of(compiled))
    assert counts[3:] == counts[3:4] * len(counts[3:])


@pytest.mark.parametrize("f", FLUSHED, ids=lambda f: f.__name__)
def test_gradients_take_back_what_is_set(f: Callable[..., Any]) -> None:
    layer = Layer()
    compiled = pliant.value_and_grad(lambda x: np.sum(f(layer, x) ** 2))
    counts = list[int]()
    for k in range(8):
        value, _ = compiled(X * k)
        np.testing.assert_allclose(value, np.sum(f(Layer(), X * k) ** 2))
        assert content(layer) == content(Layer())
        counts.append(traces_of(compiled))
    assert counts[3:] == counts[3:4] * len(counts[3:])


def test_a_name_is_bound_to_a_new_list() -> None:
    def f(x: Any) -> Any:
        global ROWS  # noqa: PLW0603
        ROWS = []
        return x * 2

    compiled = pliant.jit(f)
    for k in range(6):
        rows = ROWS
        np.testing.assert_allclose(compiled(X * k), X * k * 2)
        assert ROWS == []
        assert ROWS is not rows
    assert traces_of(compiled) <= 3


def test_methods_of_one_object_hand_on_a_list() -> None:
    ours, theirs = Layer(), Layer()
    forward, backward = pliant.jit(ours.forward), pliant.jit(ours.backward)
    for k in range(8):
        np.testing.assert_allclose(forward(X * k), theirs.forward(X * k))
        assert content(ours) == content(theirs)
        np.testing.assert_allclose(backward(X), theirs.backward(X))
        assert content(ours) == content(theirs)
    assert traces_of(forward) <= 3
    assert traces_of(backward) <= 3


@pytest.mark.parametrize("is_global", [False, True])
def test_lists_that_the_caller_makes_anew(is_global: bool) -> None:
    global ROWS
    layer = Layer()

    def f(x: Any) -> Any:
        (ROWS if is_global else layer.X).append(x * 2)
        return x + 1

    compiled = pliant.jit(f)
    for k in range(8):
        layer.X, ROWS = [], []
        np.testing.assert_allclose(compiled(X * k), X * k + 1)
        assert content(ROWS if is_global else layer.X) == [(X * k * 2).tolist()]
    assert traces_of(compiled) <= 3


def test_what_is_no_argument_stays_outside() -> None:
    table: dict[str, Any] = {"n": 0}

    def f(x: Any) -> Any:
        table["n"], table["seen"] = table["n"] + 1, set()
        return x * table["n"]

    compiled = pliant.jit(f)
    for k in range(1, 6):
        np.testing.assert_allclose(compiled(X), X * k)
        assert table == {"n": k, "seen": set()}
