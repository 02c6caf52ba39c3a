"""What a loop leaves is the list, dict or object that it is in Python: what is changed after it, or in it, is seen by
all names of it; or the change is refused."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pliant
from pliant.errors import UnsupportedError

X = np.array([1.1, 2.0, 3.0])
COUNTS = (0, 1, 2, 6, 7)


class Held:
    """An object with two attributes."""

    def __init__(self, v: Any, w: Any = 0.0) -> None:
        self.v, self.w = v, w


def bound_to_another(x: Any, n: int) -> Any:
    q, p = [x[0]], [x[1]]
    for _ in range(n):
        p = q
    p[0] = x[0] * x[1]
    p.append(x[2])
    return q[0], len(q), p is q


def swapped(x: Any, n: int) -> Any:
    o, p = [x[0]], [x[1]]
    alias = o
    for _ in range(n):
        o, p = p, o
        o[0] += 1
    alias[0] += 100
    return o[0], p[0]


def swapped_objects(x: Any, n: int) -> Any:
    o, p = Held(x[0]), Held(x[1])
    alias = o
    for _ in range(n):
        o, p = p, o
        o.v += 1
    alias.v += 100
    return o.v, p.v


def swapped_attributes(x: Any, n: int) -> Any:
    o = Held([x[0]], [x[1]])
    alias = o.v
    for _ in range(n):
        o.v, o.w = o.w, o.v
        o.v[0] += 1
    alias[0] += 100
    return o.v[0], o.w[0]


def item_of_a_dict(x: Any, n: int) -> Any:
    d = {"a": [x[0]]}
    p = d["a"]
    for _ in range(n):
        p = d["a"]
        p[0] += 1
    p[0] += 100
    return d["a"][0], p is d["a"]


def only_in_the_loop(x: Any, n: int) -> Any:
    s = Held([x[0]])
    for _ in range(n + 1):
        now = s.v
        now[0] += 1
    now[0] += 100
    return s.v[0], now is s.v


def items_of_lists(x: Any, n: int) -> Any:
    rows = [[x[0]], [x[1]]]
    for _ in range(n):
        rows[0] = rows[1]
    rows[0][0] = x[2] * 7
    return rows[1][0]


def updated(x: Any, n: int) -> Any:
    d, e = {"b": [x[0]]}, {"b": [x[1]]}
    for _ in range(n):
        e.update(d)
    e["b"][0] = x[2] * 5
    return d["b"][0]


def items_of_dicts(x: Any, n: int) -> Any:
    d, e = {"b": [x[0]]}, {"b": [x[1]]}
    for _ in range(n):
        e["b"] = d["b"]
    e["b"][0] = x[2] * 5
    return d["b"][0]


def of_an_attribute(x: Any, n: int) -> Any:
    s, e = SimpleNamespace(d={"k": x[1]}), {"k": x[0]}
    for _ in range(n):
        s.d = e
    s.d.update(k=x[2] * 5)
    return e["k"]


def part_of_a_state(x: Any, n: int) -> Any:
    w = [x[0]]
    state = {"w": w, "k": x[1]}
    for _ in range(n):
        state = {"w": state["w"], "k": state["k"] + x[0]}
    state["w"][0] = x[2] * 5
    return w[0], state["k"]


def changed_in_a_state(x: Any, n: int) -> Any:
    w = [x[0]]
    state = {"w": w, "k": x[1]}
    for _ in range(n):
        state = {"w": state["w"], "k": state["k"] + x[0]}
        state["w"][0] += 5.0
    return w[0], state["k"]


def changed_before(x: Any, n: int) -> Any:
    q, p = [x[0]], [x[1]]
    for _ in range(n):
        p[0] += 1
        p = q
    return q[0], p[0]


def changed_by_a_condition(x: Any, n: int) -> Any:
    a, b = [x[0]], [x[1]]
    for i in range(n):
        if x[i % 3] > 0:
            a = b
        a[0] += 1
    return a[0], b[0]


PROGRAMS = (
    bound_to_another, swapped, swapped_objects, swapped_attributes, item_of_a_dict, only_in_the_loop, items_of_lists,
    updated, items_of_dicts, of_an_attribute, part_of_a_state, changed_in_a_state, changed_before,
    changed_by_a_condition,
)  # fmt: skip


@pytest.mark.parametrize("x", [X, np.array([-1.0, -2.0, 3.0])], ids=["positive", "mixed"])
@pytest.mark.parametrize("n", COUNTS)
@pytest.mark.parametrize("f", PROGRAMS)
def test_all_names_see_what_is_changed(f: Any, n: int, x: Any):
    assert_allclose(pliant.jit(lambda x: f(x, n))(x), f(x, n), rtol=1e-14)


def test_derivative_after_a_loop():
    assert_allclose(pliant.grad(lambda x: bound_to_another(x, 6)[0])(X), [2.0, 1.1, 0.0])


def by_a_while(x: Any) -> Any:
    q, p, n = [0.0], [1.0], 0
    while n < x[0]:
        p = q
        n += 1
    p[0] = x[1]
    return q[0]


@pytest.mark.parametrize("first", [-1.0, 0.5, 2.0])
def test_names_after_a_while(first: float):
    x = np.array([first, 3.0])
    assert_allclose(pliant.jit(by_a_while)(x), by_a_while(x))


def best_of_new_ones(x: Any) -> Any:
    best = a = [x[0]]
    for _ in range(6):
        a = [a[0] + 1]
        if a[0] > 2.5:
            best = a
    a[0] = x[1] * 99.0
    return best[0]


def at_a_place(x: Any) -> Any:
    rows = [[x[0]], [x[1]]]
    for i in range(7):
        p = rows[i % 2]
    p[0] = x[1] * 50.0
    return rows[0][0]


def at_a_key(x: Any) -> Any:
    d = {0: [x[0]], 1: [x[1]]}
    for i in range(7):
        p = d[i % 2]
    p[0] = x[1] * 50.0
    return d[0][0]


def of_a_step_before(x: Any) -> Any:
    state, history = {"k": x[0]}, list[Any]()
    before = state
    for _ in range(6):
        before = state
        state = {"k": state["k"] + x[0]}
        history.append(state)
    before["k"] = x[1]
    return history[-2]["k"]


@pytest.mark.parametrize("f", [best_of_new_ones, at_a_key, of_a_step_before])
def test_a_change_is_refused_of_what_may_be_another_one(f: Any):
    with pytest.raises(UnsupportedError, match=r"a (list|dict) is changed that may be the one that '.*' holds"):
        pliant.jit(f)(X)


def test_a_change_is_seen_by_what_an_unrolled_loop_knows():
    assert_allclose(pliant.jit(at_a_place)(X), at_a_place(X), rtol=1e-14)


def best_read(x: Any) -> Any:
    best = now = {"k": x[0], "v": x[1]}
    for i in range(8):
        now = {**now, "k": now["k"] * x[1] - i}
        if now["k"] > best["k"]:
            best = now
    return best["k"] + best["v"] + now["k"]


@pytest.mark.parametrize("f", [best_read, lambda x: part_of_a_state(x, 6)[1]])
def test_these_are_loops(f: Any):
    assert_allclose(pliant.jit(f)(X), f(X))
    assert "loop(" in str(pliant.explain(f, X))
