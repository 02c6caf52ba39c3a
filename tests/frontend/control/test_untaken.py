"""Branches that are not taken have no derivative, also where what only they read has an infinite one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.testing import check_gradient

Program = Callable[[Any], Any]


def normalised(x: Any) -> Any:
    n = np.sqrt(np.sum(x * x))
    if n > 0:
        x = x / n
    return x[0] + 2 * x[1]


def chosen(x: Any) -> Any:
    n = np.sqrt(np.sum(x * x))
    return (x / n if n > 0 else x)[1]


def only_reader(x: Any) -> Any:
    n, y = np.sqrt(x[0]), x[1]
    if n > 0:
        y = y + n
    return y


def otherwise(x: Any) -> Any:
    n, y = np.log(x[0]), x[1]
    if x[0] <= 0:
        y = y * 3
    else:
        y = y * n
    return y


def in_two_conditions(x: Any) -> Any:
    n, y = np.sqrt(x[0]), x[1]
    if x[1] > -1:
        if n > 0:
            y = y + n
        y = y * 2
    return y


def in_one_after_the_other(x: Any) -> Any:
    n, y = np.sqrt(x[0]), x[1]
    t = n
    if x[1] > -1:
        t = n * 2
    if n > 0:
        y = y + t
    return y


def of_rows(x: Any) -> Any:
    n, y = np.sqrt(x), x * 2
    if x[0] > 0:
        y = y + n
    elif x[1] > 0:
        y = y + np.where(x > 0, n, 0)
    return y[0] + 3 * y[1]


def times_nan(x: Any) -> Any:
    y = x[1] * 1.0
    if x[0] > 100:
        y = x[1] * np.nan
    return y + x[0]


def times_infinity_where(x: Any) -> Any:
    return np.sum(np.where(x > 100, x * np.inf, x))


def in_a_loop(x: Any) -> Any:
    n, y = np.sqrt(x[0]), x[1]
    for i in range(100):
        if n > i:
            y = y + n
    return y


def in_nested_loops(x: Any) -> Any:
    n, y = np.sqrt(x[0]), x[1]
    for i in range(40):
        for j in range(50):
            if n > i * j:
                y = y + 0.1 * n
    return y


def in_steps_that_are_written_out(x: Any) -> Any:
    n, y = np.sqrt(x[0]), x[1]
    for i in range(3):
        for j in range(4):
            if n > i * j:
                y = y + 0.1 * n
    return y


def of_elements_in_a_loop(x: Any) -> Any:
    n, y = np.sqrt(np.concatenate((x, np.zeros(50)))), x[1]
    for i in range(52):
        if n[i] > 0:
            y = y + n[i] * n[i]
    return y


def of_one_element_in_a_loop(x: Any) -> Any:
    n, y = np.log(x), x[1]
    for i in range(60):
        if x[0] > i:
            y = y + n[0]
    return y + x[0]


def products_in_a_loop(x: Any) -> Any:
    n, y = np.sqrt(x[0]), x[1]
    for i in range(60):
        if n > i:
            y = y * (1 + 0.1 * n)
    return y


def greatest_in_a_loop(x: Any) -> Any:
    n, y = np.sqrt(x[0]), x[1]
    for _ in range(60):
        y = y + max(x[1] + 1, n)
    return y


def where_in_a_loop(x: Any) -> Any:
    n, y = np.sqrt(x), x * 1.0
    for i in range(60):
        y = y + np.where(n > i, n, 0)
    return y[0] + 3 * y[1]


def while_it_lasts(x: Any) -> Any:
    n, y, t = np.sqrt(x[0]), x[1], x[1]
    while t < 5:
        if n > t:
            y = y + n
        t = t + 1
    return y


def in_no_step(x: Any) -> Any:
    n, y, t = np.sqrt(x[0]), x[1], x[1]
    while t > 100:
        y, t = y * n, t / 2
    return y


def in_a_number_of_steps_that_is_zero(x: Any) -> Any:
    n, y = np.sqrt(x[0]), x[1]
    for _ in range(int(x[0])):
        y = y + n
    return y


def until_broken_off(x: Any) -> Any:
    n, y = np.sqrt(x[0]), x[1]
    for i in range(60):
        if y + i > 40:
            break
        if n > i:
            y = y + n
    return y


def whiles_in_a_loop(x: Any) -> Any:
    n, y = np.sqrt(x[0]), x[1]
    for i in range(30):
        t = x[1]
        while t < 4:
            if n > i:
                y = y + n
            t = t + 1
    return y


def whiles_in_a_while(x: Any) -> Any:
    y, s = x[1], x[1]
    while s < 3:
        n, t = np.sqrt(x[0] * s), x[1]
        while t < 4:
            if n > t:
                y = y + n
            t = t + 1
        s = s + 1
    return y


def while_in_a_branch(x: Any) -> Any:
    n, y, t = np.sqrt(x[0]), x[1], x[1]
    if x[1] < 100:
        while t < 3:
            if n > t:
                y = y * (1 + n)
            t = t + 1
    return y


def carried_while_it_lasts(x: Any) -> Any:
    n, y, t = np.sqrt(x[0]), x[1], x[1]
    while t < 50:
        if n > t:
            y = y * (1 + n)
        n, t = n * 0.5, t + 1
    return y


def from_what_a_step_makes(x: Any) -> Any:
    y = x[1] * 1.0
    for i in range(40):
        n = np.sqrt(x[0] * i)
        t = n
        while t > 1:
            y, t = y + n, t * 0.5
    return y


PROGRAMS: list[tuple[Program, list[float]]] = [
    (normalised, [1, 2]), (chosen, [0, 1]), (only_reader, [0, 1]), (otherwise, [0, 3]), (in_two_conditions, [0, 2]),
    (in_one_after_the_other, [0, 1]), (of_rows, [2, 6]), (times_nan, [1, 1]), (times_infinity_where, [1, 1]),
    (in_a_loop, [0, 1]), (in_nested_loops, [0, 1]), (in_steps_that_are_written_out, [0, 1]), (of_elements_in_a_loop, [0, 1]),
    (of_one_element_in_a_loop, [1, 1]), (products_in_a_loop, [0, 1]), (greatest_in_a_loop, [0, 61]),
    (where_in_a_loop, [1, 3]), (while_it_lasts, [0, 1]), (in_no_step, [0, 1]), (in_a_number_of_steps_that_is_zero, [0, 1]),
    (until_broken_off, [0, 1]), (whiles_in_a_loop, [0, 1]), (whiles_in_a_while, [0, 1]), (while_in_a_branch, [0, 1]),
    (carried_while_it_lasts, [0, 1]), (from_what_a_step_makes, [0, 1]),
]  # fmt: skip
ZEROS = np.zeros(2)


@pytest.mark.parametrize(("f", "wanted"), PROGRAMS, ids=lambda x: getattr(x, "__name__", ""))
def test_gradients_are_those_of_what_is_run(f: Program, wanted: list[float]) -> None:
    def of_batch(xs: Any) -> Any:
        return np.sum(pliant.vmap(f)(xs))

    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(pliant.grad(f)(ZEROS), wanted)
        np.testing.assert_array_equal(pliant.vmap(pliant.grad(f))(np.stack([ZEROS] * 3)), [wanted] * 3)
        np.testing.assert_array_equal(pliant.grad(of_batch)(np.stack([ZEROS] * 3)), [wanted] * 3)


@pytest.mark.parametrize("f", [f for f, _ in PROGRAMS], ids=lambda f: f.__name__)
def test_gradients_of_branches_that_are_taken_are_differences(f: Program) -> None:
    for x in ([1.3, 0.7], [0.2, -1.7]):
        check_gradient(lambda x: f(np.abs(x) + 0.1), np.array(x))


def test_a_branch_that_turns_what_it_makes_and_one_that_does_not() -> None:
    """Neither is turned for the other's sake: once the rules went round in circles here."""

    def machine(x: Any) -> Any:
        ops, stack, top = np.array([0, 0, 1, 0, 1] * 3), np.zeros(8), 0
        for op in ops:
            if op == 0:
                stack[top] = x[top]
                top += 1
            else:
                stack[top - 2] += stack[top - 1]
                top -= 1
        return stack[0] ** 2

    xs = np.random.default_rng(0).random((3, 4))
    made = pliant.grad(lambda xs: np.sum(pliant.vmap(machine)(xs)))(xs)
    np.testing.assert_allclose(made, [pliant.grad(machine)(x) for x in xs], rtol=1e-12)
    check_gradient(machine, xs[0])


def test_what_all_steps_add_to_is_not_looked_at() -> None:
    def f(x: Any) -> Any:
        n, y = np.sqrt(x), np.zeros(2)
        for i in range(60):
            y = y * 0.5 + n * i
        return np.sum(y)

    assert "not_equal" not in str(pliant.trace(pliant.grad(f), ZEROS))
