"""`x is y` of arrays and lists that conditions bind: Python's answer, or an error where nobody can say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import UnsupportedError

X = np.array([1.1, 2.0, 3.0])
GIVEN = (X, -X, X[::-1].copy(), X + 2)


def bound(x: Any) -> Any:
    u, v = x[:2], x[1:]
    if x[0] > 0:
        v = u
    return u is v


def by_an_expression(x: Any) -> Any:
    u, v = x[:2], x[1:]
    w = u if x[0] > 0 else v
    return w is u, w is v, v is not w


def exchanged(x: Any) -> Any:
    u, v = x[:2], x[1:]
    w = u
    if x[0] > 0:
        u, v = v, u
    return u is w, v is w, u is v


def items(x: Any) -> Any:
    u, v = x[:2], x[1:]
    some, table = [v, v], {"k": v}
    if x[0] > 0:
        some[1] = table["k"] = u
    return some[1] is u, table["k"] is u, some[0] is some[1], some[1] is table["k"]


def views_of_one_part(x: Any) -> Any:
    u, v = x[:2], x[:2]
    if x[0] > 0:
        v = u
    return u is v, x[:2] is x[:2]


def made_in_branches(x: Any) -> Any:
    if x[0] > 0:
        u = v = x + 1
    else:
        u, v = x + 2, x + 3
    return u is v


def in_branches_of_branches(x: Any) -> Any:
    u, v = x[:2], x[1:]
    w = v
    if x[0] > 0:
        if x[1] > 3:
            w = u
        elif x[2] > 3:
            w = x[:2]
    elif x[2] > -2:
        w = u
    return w is u, w is v


def one_after_the_other(x: Any) -> Any:
    u, v = x[:2], x[1:]
    w = u if x[0] > 0 else v
    t = v if x[1] > 2 else w
    t += 1
    return t is w, t is u, t is v


def of_unknown_lengths(x: Any) -> Any:
    u, v = x[x > 0], x[x < 5]
    w = u if x[0] > 0 else v
    return w is u, w is v


def in_steps(x: Any) -> Any:
    u, v, count = np.zeros(2), np.ones(2), 0.0
    for i in range(6):
        w = u if x[0] > i else v
        count += 1.0 if w is u else 0.0
    return count


def kept_by_steps(x: Any) -> Any:
    u, v, count = x[:2], x[1:], 0
    w = v
    for i in range(6):
        if x[0] > i and x[1] > i:
            w = u
        count += 1 if w is u else 0
    return count, w is u


class Leaf:
    def __init__(self, value: Any) -> None:
        self.value = value


def at_a_place(x: Any) -> Any:
    r = [[x[0]], [x[1]]]
    i = 0 if x[0] > 0 else 1
    p = r[i]
    p[0] += 1
    r[0][0] += 1
    return p is r[0], p is r[1], r[i] is p


def put_at_another(x: Any) -> Any:
    r = [[x[0]], [x[1]]]
    r[0] = r[0 if x[0] > 0 else 1]
    return r[0] is r[1], r[1] is r[0]


def at_two_places(x: Any) -> Any:
    r = [[x[0]], [x[1]], [x[2]]]
    i, j = int(x[0]) % 3, int(x[1]) % 3
    p = r[i] if x[2] > 2 else r[0]
    return r[i] is r[j], r[j] is r[-1], r[i - 1] is r[i], p is r[j], p is r[0]


def at_places_of_steps(x: Any) -> Any:
    r = [[x[0]], [x[1]]]
    return sum([1 if r[int(x[k % 3]) % 2] is r[0] else 0 for k in range(6)])


def objects_at_places(x: Any) -> Any:
    r = [Leaf(x[0]), Leaf(x[1]), Leaf(x[2])]
    i, j = int(x[0]) % 3, int(x[1]) % 3
    return r[i] is r[j], r[i] is r[0], r[j] is r[-1]


def dicts_in_order(x: Any) -> Any:
    a, b, c = {"v": x[0]}, {"v": x[1]}, {"v": x[2]}
    some = [a, b, c]
    some.sort(key=lambda d: d["v"])
    return some[0] is a, some[1] is a, some[2] is some[0], some[2] is c


def by_several_conditions(x: Any) -> Any:
    a, b, c = [x[0]], [x[1]], [x[2]]
    p = a if x[0] > 0 else b
    q = p if x[1] > 0 else c
    s = b if x[2] > 0 else q
    return p is q, q is s, p is s, s is a, s is b, q is a, q is c


PROGRAMS = [
    at_a_place, put_at_another, at_two_places, at_places_of_steps, objects_at_places, dicts_in_order,
    by_several_conditions,
    bound, by_an_expression, exchanged, items, views_of_one_part, made_in_branches, in_branches_of_branches,
    one_after_the_other, of_unknown_lengths, in_steps, kept_by_steps,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_is_is_pythons(f: Any) -> None:
    compiled = pliant.jit(f)
    for x in GIVEN:
        assert compiled(x.copy()) == f(x.copy())


def test_is_of_arrays_of_the_caller() -> None:
    def f(x: Any, some: Any, table: Any) -> Any:
        if x[0] > 0:
            some[0] = table["a"]
        return table["a"] is some[0]

    a, b = np.ones(2), np.ones(2)
    for x in GIVEN:
        assert pliant.jit(f)(x, [a], {"a": b}) == (x[0] > 0)
        assert pliant.jit(f)(x, [a], {"a": a})


def test_is_of_an_array_that_was_read_at_a_traced_place_is_an_error() -> None:
    def f(x: Any) -> Any:
        u, v = x * 2, x * 3
        return [u, v][int(x[1]) % 2] is u

    with pytest.raises(UnsupportedError, match=r"whether this array is another one .*\n(.*\n)*hint: compare"):
        pliant.jit(f)(X)


def test_a_list_is_changed_by_a_name_after_another_has_let_go_of_it() -> None:
    def f(x: Any, n: int) -> Any:
        d = {"b": [x[0], 1.0]}
        g = d["b"]
        for _ in range(n):
            d["b"] = [x[1], d["b"][0] * 0.5]
            g[0] += 1.0
        return d["b"][0] + d["b"][1] * 10, g[0], g[1]

    for n in (0, 1, 2, 6):
        for x in GIVEN:
            np.testing.assert_allclose(pliant.jit(f, static="n")(x.copy(), n), f(x.copy(), n))
