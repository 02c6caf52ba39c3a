"""Small programs whose names get the arrays that other ones had, in loops counted at run time; x: f64[9], n: int."""

from __future__ import annotations

from typing import Any

import numpy as np


def written_after(x: Any, n: int) -> Any:
    y = x * 0.5
    for _ in range(n):
        x, y = x * 2, x
    y[0] += 1
    return y


def bound_to_it_before(x: Any, n: int) -> Any:
    y = x
    for _ in range(n):
        x, y = x * 2, x
    y[0] += 1
    return x, y


def swapped_with_a_new_one(x: Any, n: int) -> Any:
    y = x * 0.5
    for _ in range(n):
        y = x * 2
        x, y = y, x
    y[0] += 1
    return y, x


def in_a_while(x: Any, n: int) -> Any:
    y, k = x * 0.5, 0.0
    while k < n:
        k = k + 1
        x, y = x * 2, x
    y[0] += 1
    return x


def two_before(x: Any, n: int) -> Any:
    y, z = x * 0.5, x + 1
    for _ in range(n):
        x, y, z = x * 2, x, y
    z[0] += 5
    return y + z


def two_before_in_a_while(x: Any, n: int) -> Any:
    y, z, k = x * 0.5, x + 1, 0.0
    while k < n:
        x, y, z, k = x * 2, x, y, k + 1
    z[0] += 5
    return y + z


def of_a_view(x: Any, n: int) -> Any:
    y = x * 0.5
    for _ in range(n):
        x, y = x * 2, x[::-1]
    y[0] += 5
    return y


def by_a_condition(x: Any, n: int) -> Any:
    y = x * 0.5
    for i in range(n):
        y = x
        if x[i] < 0.4:
            x = x * 2
    y[0] += 1
    return x.sum()


def written_in_the_next_step(x: Any, n: int) -> Any:
    y = x * 0.5
    for _ in range(n):
        y[0] += 1
        x, y = x * 2, x
    return x, y


def written_in_two_steps(x: Any, n: int) -> Any:
    y = x * 0.5
    for _ in range(n):
        y[0] += 1
        y = x * 2
        x, y = y, x
        y[0] *= 3
    return x, y


def written_two_steps_later(x: Any, n: int) -> Any:
    w = x + 1
    y, z = w * 0.5, x * 3
    a, b = w, y
    for _ in range(n):
        z[1] += 2
        w, y, z = w * 2, w, y
    return a, b, w + y + z


def written_in_a_later_step_of_a_while(x: Any, n: int) -> Any:
    y, k = x * 0.5, 0.0
    while k < n:
        y[2] = k
        x, y, k = x * 2, x, k + 1
    return x - y


def a_part_that_is_written(x: Any, n: int) -> Any:
    y = x[:4] * 0.5
    for _ in range(n):
        y[0] += 1
        x, y = x * 2, x[1:5]
    return x[:4] - y


def in_two_loops(x: Any, n: int) -> Any:
    y = x * 0.5
    for _ in range(n - 2):
        for _ in range(n - 1):
            y = x * 2
            x, y = y, x
        y[0] += 1
    return x, y


def of_the_last_step(x: Any, n: int) -> Any:
    for i in range(n):
        y = x
        x = x * 2 + i
    x[3] = 0
    return y - x if n > 0 else x


def left_by_break(x: Any, n: int) -> Any:
    y = np.ones(9)
    for i in range(n):
        y, x = x, x * 1.5
        if x[8] > 4 + i:
            break
    y[1] = 7
    return y.sum() + x[0]


def in_a_loop_inside(x: Any, n: int) -> Any:
    y = x
    for _ in range(n):
        z, k = y, 0.0
        z[1] = 0.3
        while k < n:
            z, k = z * 0.8, k + 1
        y = 0.5 * (y + z)
    return y


HANDED = [
    written_after, bound_to_it_before, swapped_with_a_new_one, in_a_while, two_before, two_before_in_a_while, of_a_view,
    by_a_condition, written_in_the_next_step, written_in_two_steps, written_two_steps_later,
    written_in_a_later_step_of_a_while, a_part_that_is_written, in_two_loops, of_the_last_step, left_by_break,
    in_a_loop_inside,
]  # fmt: skip
