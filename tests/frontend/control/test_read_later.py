"""Names that nothing reads after a loop need not be left, so that another name may be bound to what they hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pliant

X = np.array([2.5, 1.5])


def best_array(x: Any) -> Any:
    state, best, lowest = x * 1, x, 1e9
    for k in range(30):
        state = state * 0.9 + np.sin(k)
        if state.sum() < lowest:
            best, lowest = state, state.sum()
    return best


def best_list(x: Any) -> Any:
    state = [x, x * 2]
    best, lowest = state, 1e9
    for k in range(30):
        state = [state[0] * 0.9 + np.cos(k), state[1] + state[0]]
        if state[0].sum() < lowest:
            best, lowest = state, state[0].sum()
    return best[0] + best[1]


def best_dict_of_a_while(x: Any) -> Any:
    state, k = {"p": x, "q": x}, 0
    best, lowest = state, 1e9
    while k < 30:
        state = {"p": state["p"] * 0.9 + np.cos(k), "q": state["q"] + k}
        if state["p"].sum() < lowest:
            best, lowest = state, state["p"].sum()
        k += 1
    return best["p"] + best["q"]


LOOPS = (best_array, best_list, best_dict_of_a_while)


def read_by_a_function(x: Any) -> Any:
    state = x * 1

    def get() -> Any:
        return state * 2

    for _ in range(9):
        state = state * 0.9
    return get()


def read_by_the_loop_around(x: Any) -> Any:
    state, total = x * 1, x * 0
    for _ in range(6):
        total = total + state
        for _ in range(7):
            state = state * 0.9
    return total


def read_in_a_while_around(x: Any) -> Any:
    state, k = x * 1, 0
    while k < 6 and state[0] > 0.01:
        for _ in range(7):
            state = state * 0.9
        k += 1
    return x * k


def read_by_else(x: Any) -> Any:
    state = x * 1
    for k in range(9):
        state = state * 0.9
        if state[0] < -k:
            break
    else:
        x = state + x
    return x


def read_by_finally(x: Any) -> Any:
    state = x * 1
    try:
        for _ in range(9):
            state = state * 0.9
    finally:
        x = x + state
    return x


def read_on_the_same_line(x: Any) -> Any:
    state = x * 1
    for _ in range(9): state = state * 0.9  # fmt: skip  # noqa: E701
    return [state + part for part in (x, state)][1]


def read_by_a_later_lambda(x: Any) -> Any:
    state = x * 1
    for _ in range(9):
        state = state * 0.9
    return (lambda y: y + state)(x)


def updated_later(x: Any) -> Any:
    state = x * 1
    for _ in range(9):
        state = state * 0.9
    state += x
    state[0] *= 2
    return state


def index_later(x: Any) -> Any:
    k = -1
    for k in range(9):  # noqa: B007
        x = x * 0.9
    del x
    return np.ones(2) * k


READ = (
    read_by_a_function, read_by_the_loop_around, read_in_a_while_around, read_by_else, read_by_finally,
    read_on_the_same_line, read_by_a_later_lambda, updated_later, index_later,
)  # fmt: skip


@pytest.mark.parametrize("f", [*LOOPS, *READ])
def test_values_and_gradients(f: Any):
    assert_allclose(pliant.jit(f)(X), f(X), rtol=1e-13)

    def total(x: Any) -> Any:
        return np.sum(f(x))

    change = 1e-6 * np.eye(2)
    differences = [(total(X + d) - total(X - d)) / 2e-6 for d in change]
    assert_allclose(pliant.grad(total)(X), differences, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("f", LOOPS)
def test_these_are_loops(f: Any):
    assert "unrolled" not in str(pliant.explain(f, X))


def greatest_of_a_dict(x: Any) -> Any:
    a, b = np.zeros(4), 0.0
    for i in range(6):
        a[i % 4] += x[i]
        if a[0] > b:
            rest = {k: abs(a[k] - b) for k in range(4)}
            b = b + max(rest, key=lambda k: rest[k])
        a = a * 0.5 + b
    return a, b


def first_of_an_order(x: Any) -> Any:
    a, b = np.zeros(4), 0.0
    for i in range(6):
        a[i % 4] += x[i]
        if a[0] > b:
            rest = [abs(a[k] - b) for k in range(4)]
            order = sorted(range(4), key=lambda k: rest[k])
            b = b + a[order[0]]
        a = a * 0.5 + b
    return a, b


@pytest.mark.parametrize("f", [greatest_of_a_dict, first_of_an_order])
def test_names_that_only_a_key_reads_need_not_be_left(f: Any) -> None:
    compiled, x = pliant.jit(f), np.random.default_rng(0).normal(size=6)
    for y in (x, -x):
        for made, wanted in zip(compiled(y), f(y), strict=True):
            assert_allclose(made, wanted, rtol=1e-12)
    assert "unrolled" not in str(pliant.explain(f, x))


def kept_by_another_max(x: Any) -> Any:
    keys: list[Any] = []

    def max(elements: Any, key: Any) -> Any:
        keys.append(key)
        return key(elements[0])

    a, b = np.zeros(4), 0.0
    for i in range(6):
        a[i % 4] += x[i]
        rest = a * 2.0
        b = b + max([1], key=lambda k: rest[k])
        a = a * 0.5 + b
    return a, b, keys[0](1)


def kept_by_a_key(x: Any) -> Any:
    kept: list[Any] = []
    a, b = np.zeros(4), 0.0
    for i in range(6):
        a[i % 4] += x[i]
        rest = a * 2.0
        b = b + max([1], key=lambda k: kept.append(lambda: rest[k]) or rest[k])  # noqa: B023
        a = a * 0.5 + b
    return a, b, kept[0]()


@pytest.mark.parametrize("f", [kept_by_another_max, kept_by_a_key])
def test_what_a_function_reads_that_is_called_later_is_left(f: Any) -> None:
    x = np.random.default_rng(0).normal(size=6)
    for made, wanted in zip(pliant.jit(f)(x), f(x), strict=True):
        assert_allclose(made, wanted, rtol=1e-12)
