"""Containers that are given twice to derivatives, batches, branches and loops: what Python makes of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pliant
from pliant.errors import UnsupportedError


class P:
    """An object with a number."""

    def __init__(self, x: Any) -> None:
        self.x = x


def each(d: Any, ps: Any) -> Any:
    for p in ps:
        p.x = p.x + d
    return sum(p.x for p in ps)


def by_place(d: Any, ps: Any) -> Any:
    ps[1].x = ps[1].x * d
    return ps[3].x + ps[1].x


def under_a_condition(d: Any, ps: Any) -> Any:
    if d > 1.5:
        ps[1].x = d * 5
    return ps[3].x * d


def pairs(d: Any, ps: Any) -> Any:
    s = 0.0
    for p in ps:
        for q in ps:
            if p is not q:
                s = s + d * p.x * q.x
    return s


def rows(d: Any, m: Any) -> Any:
    m[0][1] = m[0][1] + d
    return m[2][1] * m[1][1]


def items(d: Any, t: Any) -> Any:
    t["a"]["x"] = t["a"]["x"] * d
    return np.sum(t["b"]["x"])


def objects() -> Any:
    a = P(1.0)
    return [P(0.5), a, P(2.0), a]


def tables() -> Any:
    inside = {"x": np.arange(3.0)}
    return {"a": inside, "b": inside}


def matrix() -> Any:
    return [[1.0, 2.0]] * 3


CASES = [(f, objects) for f in (each, by_place, under_a_condition, pairs)] + [(rows, matrix), (items, tables)]
Case = Callable[..., Any]


@pytest.mark.parametrize(("f", "make"), CASES)
def test_derivatives_with_regard_to_others_see_one(f: Case, make: Case) -> None:
    h = 1e-6
    value, slope = f(2.0, make()), (f(2.0 + h, make()) - f(2.0 - h, make())) / (2 * h)
    assert_allclose(pliant.value_and_grad(f)(2.0, make()), (value, slope), rtol=1e-6)
    assert_allclose(pliant.jacobian(f)(2.0, make()), slope, rtol=1e-6)
    assert_allclose(pliant.jvp(lambda d: f(d, make()), (2.0,), (1.0,)), (value, slope), rtol=1e-6)
    inside = pliant.jit(lambda d, t: pliant.value_and_grad(f)(d, t))
    assert_allclose(inside(2.0, make()), (value, slope), rtol=1e-6)
    assert_allclose(pliant.grad(pliant.checkpoint(f))(2.0, make()), slope, rtol=1e-6)
    second = (f(2.1, make()) - 2 * value + f(1.9, make())) / 0.01
    assert_allclose(pliant.hessian(f)(2.0, make()), second, atol=1e-6)


@pytest.mark.parametrize(("f", "make"), CASES)
def test_batches_and_branches_see_one(f: Case, make: Case) -> None:
    ds = np.array([1.0, 2.0, 3.0])
    expected = [f(float(d), make()) for d in ds]
    assert_allclose(pliant.vmap(f, in_axes=(0, None))(ds, make()), expected)
    assert_allclose(pliant.cond(True, f, f, 2.0, make()), expected[1])
    assert_allclose(pliant.jit(lambda d, t: pliant.cond(d > 0, f, f, d, t))(2.0, make()), expected[1])


def test_mapped_containers_are_one_where_their_axes_are() -> None:
    def put(a: Any, b: Any) -> Any:
        a[0] = a[0] * 2
        return b[0]

    row = [np.arange(3.0)]
    assert_allclose(pliant.vmap(put)(row, row), [0.0, 2.0, 4.0])
    with pytest.raises(UnsupportedError, match=r"given more than once(?s:.*)a.0. = a.0. . 2"):
        pliant.vmap(put, in_axes=(0, None))(row, row)


def test_places_that_are_differentiated_have_derivatives_of_their_own() -> None:
    row = [3.0]
    found = pliant.grad(lambda d, a, b: d * a[0] + 2 * d * b[0], argnums=(1, 2))(2.0, row, row)
    assert found == ([2.0], [4.0])
    found = pliant.grad(lambda m: m[0][0] + 2 * m[1][0] + m[2][1])(matrix())
    assert found == [[1.0, 0.0], [2.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize(("f", "make"), [(rows, matrix), (items, tables)])
def test_changes_of_what_is_differentiated_at_two_places_are_refused(f: Case, make: Case) -> None:
    match = "given more than once(?s:.*)changed here"
    for call in (
        lambda: pliant.grad(f, argnums=(0, 1))(2.0, make()),
        lambda: pliant.vjp(f, 2.0, make()),
        lambda: pliant.jvp(f, (2.0, make()), (1.0, make())),
        lambda: pliant.grad(lambda t: pliant.grad(f)(2.0, t))(make()),
        lambda: pliant.grad(lambda t: pliant.checkpoint(f)(2.0, t))(make()),
    ):
        with pytest.raises(UnsupportedError, match=match):
            call()


def test_twins_that_are_only_compared_are_one() -> None:
    def asks(m: Any) -> Any:
        return m[0][0] * (3.0 if m[0] is m[2] else 5.0)

    assert pliant.grad(asks)(matrix()) == [[3.0, 0.0], [0.0, 0.0], [0.0, 0.0]]


def put(i: Any, state: Any) -> Any:
    s, a, b = state
    a[0] = a[0] * 2.0 + i
    return s + b[0], a, b


def test_states_of_loops_keep_what_is_one() -> None:
    def plain() -> float:
        row = [3.0]
        state = 0.0, row, row
        for i in range(4):
            state = put(i, state)
        return state[0]

    def of(row: Any) -> Any:
        return pliant.fori_loop(0, 4, put, (0.0, row, row))[0]

    def scanned(row: Any) -> Any:
        return pliant.scan(lambda s, i: (put(i, s), i), (0.0, row, row), np.arange(4.0))[0][0]

    for f in (of, scanned):
        assert_allclose([f([3.0]), pliant.jit(f)([3.0])], plain())


def test_states_that_become_two_are_not_changed() -> None:
    def loop(step: Any, row: Any) -> Any:
        return pliant.jit(lambda row: pliant.fori_loop(0, 3, step, (0.0, row, row))[0])(row)

    assert loop(lambda i, s: (s[0] + s[1][0], [s[1][0] + 1], [s[2][0]]), [3.0]) == 12.0
    with pytest.raises(UnsupportedError, match="given more than once"):
        loop(lambda i, s: (put(i, s)[0], [s[1][0]], [s[2][0]]), [3.0])
