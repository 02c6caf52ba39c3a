"""Lists and dicts among the arguments that a function changes: as Python changes them, at the first call and at later
ones, which native code answers."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import pliant


def swapped(state: Any, y: Any) -> Any:
    state["rows"][0], state["rows"][1] = state["rows"][1], state["rows"][0]
    return state["rows"][0].sum() * y


def counted(state: Any, y: Any) -> Any:
    state["steps"] = state["steps"] + 1
    state["rows"][1] = state["rows"][1] * y
    state["rows"][0][0] += y
    return [state["rows"][1], state["steps"]]


def grown(state: Any, y: Any) -> None:
    state["rows"].append(state["rows"][-1][::-1])
    state["last"] = state["rows"][0] + y


def shown(state: Any, y: Any) -> Any:
    state["rows"][2:] = [state["rows"][0][1:], state["rows"][0]]
    made = state["rows"][1] * y
    state["rows"][1] = made
    return made, state["name"], {"a": y}


def emptied(state: Any, y: Any) -> Any:
    x = state["rows"].pop()
    del state["name"]
    return x.sum() + y


FUNCTIONS = (swapped, counted, grown, shown, emptied)


def new() -> Any:
    rows = [np.arange(4.0) + n for n in range(4)]
    return {"rows": [*rows[:3], rows[0]], "steps": 3, "name": "state"}, rows


def same(state: Any, arrays: list[Any]) -> Any:
    """Which array is which of those from before, by number, and what shares memory with which."""
    held = [x for x in (*state["rows"], *state.values()) if isinstance(x, np.ndarray)]
    return [[(x is a, np.shares_memory(x, a)) for a in arrays] for x in held]


@pytest.mark.parametrize("by_name", [False, True])
@pytest.mark.parametrize("f", FUNCTIONS)
def test_they_are_changed_as_python_changes_them(f: Callable[..., Any], by_name: bool) -> None:
    compiled = pliant.jit(f)
    for k in range(6):
        made = []
        for g in (compiled, f):
            state, arrays = new()
            rows = state["rows"]
            y = g(y=k + 0.5, state=state) if by_name else g(state, k + 0.5)
            assert state["rows"] is rows
            made.append((y, state, same(state, arrays)))
        (y, state, identities), (wanted, theirs, expected) = made
        assert identities == expected
        assert list(state) == list(theirs)
        for got, want in ((y, wanted), *[(state[key], theirs[key]) for key in theirs]):
            got_leaves, want_leaves = (pliant_leaves(x) for x in (got, want))
            assert len(got_leaves) == len(want_leaves)
            for a, b in zip(got_leaves, want_leaves, strict=True):
                np.testing.assert_array_equal(a, b)


def pliant_leaves(x: Any) -> list[Any]:
    if isinstance(x, list | tuple):
        return [leaf for part in x for leaf in pliant_leaves(part)]
    return pliant_leaves(list(x.values())) if isinstance(x, dict) else [x]


def test_a_container_that_is_passed_again_and_again_is_changed_each_time_and_nothing_is_kept() -> None:
    compiled = pliant.jit(swapped)
    state, (a, b, *_) = new()
    counts: list[tuple[int, int]] = []
    for k in range(40):
        compiled(state, 2.0)
        assert state["rows"][k % 2] is b
        assert state["rows"][1 - k % 2] is a
        counts.append((sys.getrefcount(a), sys.getrefcount(b)))
    assert counts[10] == counts[-1]


def test_nothing_is_changed_by_a_call_that_raises() -> None:
    @pliant.jit
    def f(rows: Any, y: Any) -> Any:
        rows[0], rows[1] = rows[1], rows[0]
        if y > 2:
            raise ValueError("large")
        return rows[0] * y

    a, b = np.ones(3), np.zeros(3)
    rows = [a, b]
    for _ in range(6):
        f(rows, 1.0)
    with pytest.raises(ValueError, match="large"):
        f(rows, 3.0)
    assert rows[0] is a


def test_arguments_that_are_static_are_no_leaves() -> None:
    def f(options: Any, rows: Any, y: Any) -> Any:
        rows[0], rows[1] = rows[1], rows[0] * options[0]
        return rows[0] * y

    compiled = pliant.jit(f, static=("options",))
    for _ in range(5):
        (a, b), y = (np.ones(3), np.zeros(3)), np.array(2.0)
        rows = [a, b]
        compiled((3, 4), rows, y)
        assert rows[0] is b
        np.testing.assert_array_equal(rows[1], a * 3)


@pytest.mark.parametrize("first", [1.5, np.arange(3.0)], ids=["number", "array"])
def test_calls_are_known_by_what_came_not_by_what_was_left(first: Any) -> None:
    """The call that shows native code what calls are like has changed its container by then."""

    def f(state: Any, x: Any) -> Any:
        state["a"] = x.sum() if isinstance(first, np.ndarray) else state["a"] * x
        return x * 2

    compiled = pliant.jit(f)
    for n in range(4):
        x = np.arange(3.0) + n
        got, want = {"a": first}, {"a": first}
        assert_array_equal(compiled(got, x), f(want, x))
        assert_array_equal(got["a"], want["a"])
        assert type(got["a"]) is type(want["a"])
        assert_array_equal(compiled(got, x), f(want, x))  # given what was left
        assert_array_equal(got["a"], want["a"])
