"""Functions that return early, and bind names that only one way has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import UnsupportedError
from tests.frontend.control.flows_found import OR_ELSE
from tests.frontend.control.flows_left import LEFT_EARLY
from tests.frontend.control.laws import assert_derivatives_are_differences, assert_is_pythons, name_of


def bound_after(x: Any) -> Any:
    if x[0] > 10.0:
        return x * 3
    color = x * 2
    return color


def bound_in_both(x: Any) -> Any:
    if x[0] > 10.0:
        near = x * 3
        return near
    far = x * 2
    far[0] = 1.0
    return far


def rebound(x: Any) -> Any:
    made = x + 1
    if x[0] > 10.0:
        made = x * 3
        return made
    if x[0] > 5.0:
        made[0] = 4.0
        return made
    other = made * 2
    made[1] = 7.0
    return other + made


def two_names(x: Any) -> Any:
    if x[0] > 10.0:
        u = x * 2
        v = u
        v[0] = 5.0
        return u, v
    w = x * 3
    z = w
    return w, z


def views(x: Any) -> Any:
    if x[0] > 10.0:
        u = x * 2
        part = u[1:]
        part[0] = 5.0
        return part
    w = x * 3
    w[2] += 1.0
    rest = w[1:]
    return rest


def out_of_a_loop(x: Any) -> Any:
    for i in range(3):
        if x[i] > 6.0:
            out = x * 2
            view = out[1:]
            view[0] = x[i]
            return out
    other = x * 3
    return other


def out_of_a_long_loop(x: Any) -> Any:
    for i in range(100):
        state = x * i
        if state.sum() > 400.0:
            found = state + 1
            return found
    nothing = -x
    return nothing


def nested(x: Any) -> Any:
    if x[0] > 5.0:
        a = x * 2
        if x[0] > 10.0:
            return a
        b = a + 1
        return b
    c = x - 1
    if x[1] > 2.0:
        d = c * 2
        return d
    return c


def a_list_that_becomes_an_array(x: Any) -> Any:
    history = []
    while True:
        history.append(x)
        x = x * 0.5
        if x[0] < 1.0:
            history = np.array(history)
            return history.sum(axis=0) * history[0]


def a_list_in_place_of_another(x: Any) -> Any:
    seen, other = [x[0]], [x[1]]
    for k in range(8):
        x = x * 0.9
        if x[0] > 10.0:
            seen = [x[0], x[1], x[2]]
            return seen[1] * x
        seen.append(x[1] * k)
        if x[0] > 4.0:
            other = seen
            return x + other[-1]
        other.append(seen[-1])
    return x * seen[2] + other[3]


def a_dict_that_becomes_a_number(x: Any) -> Any:
    found = {"a": x[0], "b": x}
    for _ in range(6):
        if x[0] > 5.0:
            found = found["a"] * 2
            return found * x
        found["b"] = found["b"] * 0.5 + x
        x = x + 1
    return found["b"]


PROGRAMS: list[Callable[[Any], Any]] = [
    bound_after, bound_in_both, rebound, two_names, views, out_of_a_loop, out_of_a_long_loop, nested,
    a_list_that_becomes_an_array, a_list_in_place_of_another, a_dict_that_becomes_a_number,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("first", [0.5, 5.5, 11.5])
def test_early_returns(f: Callable[[Any], Any], first: float):
    x = first + np.arange(3.0)
    wanted = f(x)
    got = pliant.jit(f)(x)
    np.testing.assert_array_equal(got, wanted)
    assert not isinstance(wanted, tuple) or got[0] is got[1]

    def total(x: Any) -> Any:
        return np.sum(np.stack(f(x)) ** 2) if isinstance(wanted, tuple) else np.sum(f(x) ** 2)

    step = 1e-6 * np.eye(3)
    slopes = [(total(x + h) - total(x - h)) / 2e-6 for h in step]
    np.testing.assert_allclose(pliant.grad(total)(x), slopes, rtol=1e-6, atol=1e-4)
    rows = np.stack([x, x - 1.0, x + 2.0])
    np.testing.assert_allclose(pliant.vmap(total)(rows), [total(row) for row in rows], rtol=1e-12)


@pytest.mark.parametrize("f", OR_ELSE, ids=name_of)
def test_what_a_loop_or_its_else_returns_is_what_python_returns(f: Callable[..., Any]):
    assert_is_pythons(f, "llvm")
    assert_derivatives_are_differences(f)


@pytest.mark.parametrize("f", LEFT_EARLY, ids=name_of)
def test_the_end_of_a_block_changes_what_was_returned_from_inside(f: Callable[..., Any]):
    assert_is_pythons(f, "llvm")
    assert_derivatives_are_differences(f)


@pytest.mark.parametrize("f", LEFT_EARLY, ids=name_of)
@pytest.mark.usefixtures("for_all_data")
def test_it_does_so_whatever_data_decide(f: Callable[..., Any]):
    assert_is_pythons(f, "reference")


def longer(x: Any) -> Any:
    first, second = [x[0]], [x[1]]
    try:
        if x[0] > 0:
            return first
        if x[1] > 0:
            return second
    finally:
        first.append(x[2])
    return first


@pytest.mark.usefixtures("for_all_data")
def test_a_list_is_not_changed_that_may_be_the_returned_one():
    match = "a list is changed that may be the one that the returned value holds, by a condition"
    with pytest.raises(UnsupportedError, match=match):
        pliant.jit(longer)(np.ones(3))
