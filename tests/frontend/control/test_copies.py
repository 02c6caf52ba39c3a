"""A list that is one of two by a condition is a copy: its items are changed together with those of what it may be, other
changes are refused where the function could tell."""

from __future__ import annotations

import linecache
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pliant
from pliant.errors import UnsupportedError
from tests.frontend.control.flows_closures import CLOSURES
from tests.frontend.control.flows_inherited import INHERITED
from tests.frontend.control.laws import assert_derivatives_are_differences, assert_is_pythons, name_of

X = np.array([1.0, 2.0])


def chosen(x: Any, c: Any) -> Any:
    first = [x * 1, x * 2]
    second = first if c > 0 else [x * 3, x * 4]
    second[0] = x * 9
    return first[0]


def rebound(x: Any, c: Any) -> Any:
    first = [x * 1, x * 2]
    second = first
    if c > 0:
        first = [x * 5, x * 6]
    first[1] = x * 7
    return second[1]


def original(x: Any, c: Any) -> Any:
    first = [x * 1, x * 2]
    second = first if c > 0 else [x * 3, x * 4]
    first[0] = x * 9
    return second[0]


def both_new(x: Any, c: Any) -> Any:
    if c > 0:
        first = [x]
        second = first
    else:
        first = [x * 2]
        second = first
    first[0] = x * 3
    return second[0]


def appended(x: Any, c: Any) -> Any:
    first = [x]
    held = {"first": first}
    if c > 0:
        first = [x * 2]
    first.append(x * 3)
    return held["first"][-1]


def in_dicts(x: Any, c: Any) -> Any:
    first = {"a": x}
    second = first
    if c > 0:
        first = {"a": x * 2}
    first["a"] = x * 3
    return second["a"]


def of_the_caller(x: Any, c: Any) -> Any:
    def change(first: Any) -> None:
        if c > 0:
            first = [x * 2]
        first[0] = x * 3

    mine = [x]
    change(mine)
    return mine[0]


def sorted_in_place(x: Any, c: Any) -> Any:
    first = [x[1], x[0]]
    second = first if c > 0 else [x[0], x[0] * 2]
    first.sort()
    return second[0]


def with_a_new_key(x: Any, c: Any) -> Any:
    first = {"a": x}
    second = first if c > 0 else {"a": x * 2}
    first["b"] = x
    return second["a"]


def by_two_conditions(x: Any, c: Any) -> Any:
    first = [x]
    second = first if c > 0 else [x * 2]
    third = second if c > 0.5 else [x * 3]
    third[0] = x * 4
    return first[0]


def of_unknown_length(x: Any, c: Any) -> Any:
    first = [v for v in x if v > 1]
    second = first if c > 0 else [x[0]]
    second[0] = x[1] * 9
    return first[0]


def of_another_length(x: Any, c: Any) -> Any:
    first = [x[0], x[1]]
    second = first if c > 0 else [x[0]]
    first[0] = x[1] * 9
    return second[0]


def extended_by_a_loop(x: Any, c: Any) -> Any:
    first = [v for v in x if v > 1]
    second = [x[0]] if c > 0 else first
    for v in x:
        second.append(v)
    return first[-1]


@pytest.mark.usefixtures("for_all_data")
@pytest.mark.parametrize(
    ("f", "name"),
    [
        (of_unknown_length, "first"), (of_another_length, "second"), (extended_by_a_loop, "first"),
        (appended, "held"), (sorted_in_place, "second"), (with_a_new_key, "second"),
    ],
)  # fmt: skip
def test_a_list_is_not_changed_that_may_be_another_one(f: Any, name: str):
    match = rf"a (list|dict) is changed that may be the one that '{name}' holds, by a condition known only at run time"
    with pytest.raises(UnsupportedError, match=match):
        pliant.jit(f)(X, 1.0)


def item_of_a_branch(x: Any, c: Any) -> Any:
    first, second = {"a": [x[0]], "b": 1.0}, {"a": [x[0]], "b": 2.0}
    if c > 0:
        first["a"] = [x[1]]
        third = first
    else:
        third = second
    third["a"][0] = 5 * x[0]
    return first["a"][0] + 10 * second["a"][0] + third["b"]


def key_of_a_branch(x: Any, c: Any) -> Any:
    first, second = {}, {"a": [x[0]]}
    if c > 0:
        first["a"] = [x[1]]
        third = first
    else:
        third = second
    third["a"].append(x[1])
    return third["a"][0] + third["a"][1] + len(second["a"])


@pytest.mark.parametrize("c", [1.0, -1.0])
@pytest.mark.parametrize(
    "f",
    [
        of_unknown_length, of_another_length, appended, sorted_in_place, with_a_new_key, item_of_a_branch,
        key_of_a_branch,
    ],
)  # fmt: skip
def test_a_list_that_may_be_another_one_is_the_one_that_a_call_finds(f: Any, c: float):
    assert_allclose(pliant.jit(f)(X, c), f(X, c))
    assert_allclose(pliant.jvp(lambda x: f(x, c), (X,), (X,))[1], 4 * (f(X, c) - f(0.75 * X, c)), rtol=1e-12)


def alone(x: Any, c: Any) -> Any:
    first = [x * 1, x * 2]
    if c > 0:
        first = [x * 5, x * 6]
    first[1] = x * 7
    first.append(x)
    return first[0] + first[1] * first[2]


def copied(x: Any, c: Any) -> Any:
    first = [x * 1, x * 2]
    second = list(first) if c > 0 else [x * 3, x * 4]
    second[0] = x * 9
    return first[0] + second[0] * second[1]


def only_read(x: Any, c: Any) -> Any:
    first = [x * 1, x * 2]
    second = first if c > 0 else [x * 3, x * 4]
    return first[0] + second[0] * second[1]


def in_a_loop(x: Any, c: Any) -> Any:
    best = [x * 1, x * 2]
    for k in range(20):
        tried = [best[0] * 0.9, best[1] + k]
        if np.sum(tried[0]) > c:
            best = tried
        best[1] = best[1] * 0.5
    return best[0] + best[1]


def nested(x: Any, c: Any) -> Any:
    first = {"w": [x, x * 2], "b": x}
    second = first if c > 0 else {"w": [x * 3, x * 4], "b": x}
    second["w"][-1] = x * 9
    first["b"] = second["w"][1] * 2
    return first["w"][1] + second["b"] * first["w"][0]


def in_branches(x: Any, c: Any) -> Any:
    first = [x, x * 2]
    second = first if c > 0 else [x * 3, x * 4]
    if x[0] > c:
        second[0] = x * 5
    else:
        first[1] = x * 6
    second[1] += 1
    return first[0] * second[1] + first[1] * second[0]


TOGETHER = (chosen, rebound, original, both_new, in_dicts, of_the_caller, by_two_conditions, nested, in_branches)


@pytest.mark.parametrize("f", [*TOGETHER, alone, copied, only_read, in_a_loop])
@pytest.mark.parametrize("c", [1.0, -1.0])
def test_items_change_together(f: Any, c: float):
    assert_allclose(pliant.jit(f)(X, c), f(X, c), rtol=1e-14)
    assert_allclose(pliant.vmap(f)(np.stack([X, X]), np.array([c, -c]))[0], f(X, c), rtol=1e-14)


def history_of_one(x: Any) -> Any:
    state, history = {"p": x, "q": x}, list[Any]()
    for _ in range(20):
        state["p"] = state["p"] * 0.9
        history.append(state)
    return history[0]["p"] + history[-1]["q"]


def history_of_each(x: Any) -> Any:
    state, history = {"p": x, "q": x}, list[Any]()
    for k in range(20):
        state = {"p": state["p"] * 0.9, "q": state["q"] + k}
        history.append(state)
    state["p"] = x * 3
    history[0]["q"] = x * 5
    return history[0]["p"] * history[0]["q"] + history[-1]["p"] + state["q"]


def history_before(x: Any) -> Any:
    state, history = [x, x], list[Any]()
    for k in range(20):
        history.append(state)
        state = [state[0] * 0.9, state[1] + k]
    history[0][0] = x * 9
    state[1] = x
    return history[0][0] + history[-1][1] + state[0]


def the_same_later(x: Any) -> Any:
    held, history = [x], list[Any]()
    for k in range(20):
        history.append((held, k))
    held[0] = x * 3
    return history[0][0][0] + history[-1][0][0]


def two_names(x: Any) -> Any:
    state = [x, x]
    other = state
    for k in range(20):
        state = [state[0] * 0.9, other[1] + k]
        other = state
    state[0] = x * 4
    return other[0] + state[1]


@pytest.mark.parametrize("f", [history_of_one, history_of_each, history_before, the_same_later, two_names])
def test_what_loops_leave_is_one_list_where_it_was(f: Any):
    assert_allclose(pliant.jit(f)(X), f(X), rtol=1e-14)
    assert_allclose(pliant.vmap(f)(np.stack([X, X * 2]))[1], f(X * 2), rtol=1e-14)


@pytest.mark.parametrize("f", [history_of_each, history_before, two_names])
def test_these_are_loops(f: Any):
    assert "unrolled" not in str(pliant.explain(f, X))


def test_code_without_a_module(monkeypatch: pytest.MonkeyPatch):
    source = "def f(x, c):\n    a = [x, x * 2]\n    b = a if c > 0 else [x * 2, x]\n    b[0] = x * 3\n    return a[0] + b[1]\n"
    monkeypatch.setitem(linecache.cache, "<given>", (len(source), None, source.splitlines(keepends=True), "<given>"))
    names: dict[str, Any] = {"__name__": None}
    exec(compile(source, "<given>", "exec"), names)
    for c in (1.0, -1.0):
        assert_allclose(pliant.jit(names["f"])(X, c), names["f"](X, c))


@pytest.mark.parametrize("f", [*CLOSURES, *INHERITED], ids=name_of)
def test_what_functions_hold_and_objects_have_of_their_class_is_changed_of_the_one_that_is_chosen(f: Any):
    assert_is_pythons(f, "llvm")
    assert_derivatives_are_differences(f)


@pytest.mark.parametrize("f", [*CLOSURES, *INHERITED], ids=name_of)
@pytest.mark.usefixtures("for_all_data")
def test_it_is_changed_so_whatever_data_decide(f: Any):
    assert_is_pythons(f, "reference")
