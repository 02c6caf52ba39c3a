"""Objects, sets and functions that a function returns."""

from __future__ import annotations

import os
import threading
from collections import Counter
from functools import partial
from typing import Any, ClassVar

import numpy as np
import pytest

import pliant
from pliant.errors import UnsupportedError

X = np.arange(3.0)
KNOWN = {"seen"}


class Report:
    """What a run has found."""

    def __init__(self, names: set[str], history: list[int]) -> None:
        self.names = names
        self.history = history


def a_set(x: Any) -> Any:
    return {"mean", "sum"}, x + 1


def a_counter(x: Any) -> Any:
    return Counter("abca"), x + 1


def bytes_to_change(x: Any) -> Any:
    return bytearray(b"ab"), x + 1


def an_object(x: Any) -> Any:
    return Report({"a"}, [len(x)]), x + 1


def change(made: Any) -> None:
    """Change what a function has returned."""
    if isinstance(made, set):
        made.add("more")
    elif isinstance(made, Counter):
        made.clear()
    elif isinstance(made, bytearray):
        made[0] = 0
    else:
        made.names.clear()
        made.history.append(7)


def content(made: Any) -> Any:
    return vars(made) if isinstance(made, Report) else made


@pytest.mark.parametrize("f", [a_set, a_counter, bytes_to_change, an_object])
def test_each_call_returns_a_new_one(f: Any) -> None:
    compiled = pliant.jit(f)
    for _ in range(5):
        (got, array), (wanted, _) = compiled(X), f(X)
        assert type(got) is type(wanted)
        assert content(got) == content(wanted)
        np.testing.assert_array_equal(array, X + 1)
        change(got)


def test_one_that_is_returned_twice_is_one() -> None:
    def twice(x: Any) -> Any:
        found, report = {1}, Report({"a"}, [])
        return found, x + 1, found, report, report

    compiled = pliant.jit(twice)
    for _ in range(4):
        first, _, second, one, other = compiled(X)
        assert first is second
        assert one is other
        assert first == {1}
        first.add(2)


def test_what_is_outside_is_returned_as_it_is() -> None:
    report = Report({"a"}, [])

    def known(x: Any) -> Any:
        mine = Report(KNOWN, report.history)
        return KNOWN, report, mine, x + 1

    compiled = pliant.jit(known)
    for _ in range(4):
        names, given, mine, _ = compiled(X)
        assert names is KNOWN
        assert given is report
        assert mine.names is KNOWN
        assert mine.history is report.history


@pytest.mark.parametrize("is_partial", [False, True])
def test_a_function_that_holds_a_traced_array_is_refused(is_partial: bool) -> None:
    def factory(x: Any) -> Any:
        scale = x * 2

        def scaled(y: Any) -> Any:
            return scale * y

        return partial(np.add, scale) if is_partial else scaled

    with pytest.raises(UnsupportedError, match=r"returning a function that holds a traced array f64\[3\](?s:.*)x \* 2"):
        pliant.jit(factory)(X)


def test_a_function_of_known_things_is_returned() -> None:
    def factory(x: Any) -> Any:
        count = len(x)

        def plus(y: Any) -> Any:
            return y + count

        return plus, x + 1

    compiled = pliant.jit(factory)
    for _ in range(3):
        assert compiled(X)[0](1) == 4


class Settings:
    table: ClassVar[list[int]] = [1]
    found: ClassVar[dict[str, Any]] = {}


class Node:
    def __init__(self, near: Any) -> None:
        self.near = near


def test_what_it_holds_from_outside_stays_what_it_is() -> None:
    def made(x: Any) -> Any:
        a = Node(Settings.table)
        a.more, a.own, a.itself = os.environ, [1], a
        return a, x

    compiled = pliant.jit(made)
    seen = []
    for _ in range(4):
        a = compiled(1.0)[0]
        assert a.near is Settings.table
        assert a.more is os.environ
        assert a.itself is a
        assert all(a.own is not b for b in seen)
        seen.append(a.own)


def test_what_a_call_leaves_outside_is_what_it_returns() -> None:
    def registered(x: Any) -> Any:
        if "a" not in Settings.found:
            Settings.found["a"] = Node(None)
        return Settings.found["a"], x

    compiled = pliant.jit(registered)
    for _ in range(4):
        assert compiled(1.0)[0] is Settings.found["a"]


def test_copies_are_made_together() -> None:
    def linked(x: Any) -> Any:
        a, s = Node(None), {1}
        return a, Node(a), s, Node((s, a)), x

    compiled = pliant.jit(linked)
    for _ in range(4):
        a, b, s, c, _ = compiled(1.0)
        assert b.near is a
        assert c.near[0] is s
        assert c.near[1] is a


def test_long_chains_and_what_cannot_be_copied() -> None:
    lock = threading.Lock()

    def chain(x: Any) -> Any:
        last = Node(lock)
        for _ in range(300):
            last = Node(last)
        return last, x

    compiled = pliant.jit(chain)
    one, other = compiled(1.0)[0], compiled(1.0)[0]
    assert one is not other
    for _ in range(300):
        one, other = one.near, other.near
    assert one is not other
    assert one.near is other.near is lock


def test_functions_that_hold_functions_that_hold_traced_arrays() -> None:
    def by_default(x: Any) -> Any:
        y = x * 2

        def f(z: Any = y) -> Any:
            return z

        return f

    def by_another(x: Any) -> Any:
        y = x * 2

        def inner() -> Any:
            return y

        return lambda: inner()

    def by_its_object(x: Any) -> Any:
        return Node(x * 2).__repr__.__self__.__init__

    for f in (by_default, by_another, by_its_object):
        with pytest.raises(UnsupportedError, match="returning a function that holds a traced array"):
            pliant.jit(f)(X)


def returns_a_pullback(x: Any) -> Any:
    return {"y": x, "pull": [pliant.vjp(np.sin, x)[1]]}


def returns_a_pushforward(x: Any) -> Any:
    return pliant.linearize(np.sin, x)[1]


def returns_a_pullback_beside_a_value(x: Any) -> Any:
    return np.sum(x), pliant.vjp(np.sin, x)[1]


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (pliant.jit(returns_a_pullback), "pliant.vjp"),
        (pliant.jit(returns_a_pushforward), "pliant.linearize"),
        (pliant.grad(returns_a_pullback_beside_a_value, has_aux=True), "pliant.vjp"),
        (pliant.vmap(returns_a_pushforward), "pliant.linearize"),
    ],
)
def test_the_derivative_at_a_point_of_the_trace_is_refused(call: Any, line: str) -> None:
    what = r"returning the derivative at a point, which holds a traced array f64\["
    with pytest.raises(UnsupportedError, match=rf"{what}(?s:.*){line}\(np.sin, x\)(?s:.*)hint: call it inside"):
        call(X)


def test_a_compiled_function_that_holds_a_traced_array_is_refused() -> None:
    def factory(x: Any) -> Any:
        return pliant.grad(lambda y: np.sum(x * y))

    with pytest.raises(UnsupportedError, match=r"returning a function that holds a traced array f64\[3\]"):
        pliant.jit(factory)(X)


def test_derivatives_at_points_that_hold_no_traced_array_are_returned() -> None:
    outer = pliant.vjp(np.sin, X)[1]
    linear, same = pliant.jit(lambda x: (pliant.vjp(lambda y: 2 * y, x)[1], outer))(X)
    assert same is outer
    for ct in (X, X + 1):
        np.testing.assert_array_equal(linear(ct)[0], 2 * ct)
        np.testing.assert_allclose(same(ct)[0], np.cos(X) * ct)
