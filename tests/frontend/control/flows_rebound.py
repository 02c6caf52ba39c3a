"""Small programs that bind names again, or delete them, after loops that leave them; x: f64[9], n: int.

In each a loop binds a name to an array whose extent depends on the step, which no program can leave.
"""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np


def bound_again(x: Any, n: int) -> Any:
    for k in range(8):
        part = x[k:]
        part *= 0.9
    part = np.zeros(9)
    for k in range(9):
        part[k] = x[k] * k
    return part


def bound_by_a_loop_and_after_it(x: Any, n: int) -> Any:
    s = 0.0
    for k in range(8):
        part = x[k:]
        s = s + part.sum()
    for k in range(7):
        part = x[: k + 1]
        s = s * 0.5 + part[0]
    part = s
    return part


def bound_in_both_arms(x: Any, n: int) -> Any:
    s = 0.0
    for k in range(8):
        part = x[k:]
        s = s + part.sum()
    if s > 0:
        part = x * 2
    else:
        part = x[::-1]
    return part * s


def deleted(x: Any, n: int) -> Any:
    s = 0.0
    for k in range(8):
        part = x[k:]
        s = s + part.sum()
    del part, k
    return s


def deleted_and_bound(x: Any, n: int) -> Any:
    s = 0.0
    for k in range(8):
        part = x[k:]
        s = s + part.sum()
    del part
    part = [s, x[0]]
    del part[0]
    return part


def bound_again_in_each_step(x: Any, n: int) -> Any:
    total = 0.0
    part = x
    for j in range(6):
        total = total + part.sum() * j
        for k in range(8):
            part = x[k:]
            total = total + part[0] * 0.1
        part = x * j
    return total, part


def bound_again_before_a_break(x: Any, n: int) -> Any:
    total = 0.0
    part = x
    for j in range(6):
        total = total + part.sum() * j
        for k in range(8):
            part = x[k:]
            total = total + part[0] * 0.1
        part = x * j
        if total > 3.0:
            break
    return total


def bound_again_where_the_step_goes_on(x: Any, n: int) -> Any:
    total = 0.0
    for j in range(6):
        for k in range(8):
            part = x[k:]
            total = total + part[0] * 0.1
        if total > 3.0:
            continue
        part = x * j
        total = total + part[2]
    return total


def bound_again_unless_it_returns(x: Any, n: int) -> Any:
    total = 0.0
    for j in range(6):
        for k in range(8):
            part = x[k:]
            total = total + part[0] * 0.1
        if total > 3.0:
            return total * x[0]
        part = x * j
        total = total + part[2]
    part = total
    return part


def bound_again_in_a_with(x: Any, n: int) -> Any:
    s = 0.0
    with np.errstate(all="ignore"):
        for k in range(8):
            part = x[k:]
            s = s + part.sum()
        part = np.zeros(3)
        part[1] = s
    part = part * 2
    return part


def bound_by_a_with(x: Any, n: int) -> Any:
    s = 0.0
    for k in range(8):
        part = x[k:]
        s = s + part.sum()
    with np.errstate(all="ignore") as part:
        s = s * 2
    return s


def bound_by_the_condition_of_a_while(x: Any, n: int) -> Any:
    s = 0.0
    for k in range(8):
        part = x[k:]
        s = s + part.sum()
    while (part := s * s) > 1.0:
        s = s * 0.5
    return s, part


def bound_in_a_while_around(x: Any, n: int) -> Any:
    s = 1.0
    while s > 0.01:
        for k in range(8):
            part = x[k:]
            s = s * 0.9 + part[0] * 0.0001
        part = s * 0.5
        s = part
    return s


def bound_by_what_reads_another_of_that_name(x: Any, n: int) -> Any:
    s = 0.0
    for k in range(8):
        part = x[k:]
        s = s + part.sum()
    return s + sum([part * 2 for part in x]) + (lambda part: part * 3)(s)


def solved_by_reflections(x: Any, n: int) -> Any:
    rest, q = np.outer(np.cos(x[:6]), x[2:8]) + 3 * np.eye(6), np.eye(6)
    for k in range(6):
        x = rest[k:, k]
        v = x.copy()
        v[0] += np.copysign(np.linalg.norm(x), x[0])
        v /= np.sqrt(v @ v)
        rest[k:, k:] -= 2 * np.outer(v, v @ rest[k:, k:])
        q[:, k:] -= 2 * np.outer(q[:, k:] @ v, v)
    c = q.T @ np.arange(6.0)
    x = np.zeros(6)
    for i in reversed(range(6)):
        x[i] = (c[i] - np.dot(rest[i, i + 1 :], x[i + 1 :])) / rest[i, i]
    return x


REBOUND = [
    solved_by_reflections, bound_again, bound_by_a_loop_and_after_it, bound_in_both_arms, deleted, deleted_and_bound,
    bound_again_in_each_step,
    bound_again_before_a_break, bound_again_where_the_step_goes_on, bound_again_unless_it_returns,
    bound_again_in_a_with, bound_by_a_with, bound_by_the_condition_of_a_while, bound_in_a_while_around,
    bound_by_what_reads_another_of_that_name,
]  # fmt: skip


# --- the name is read: these loops are copies of their bodies, and right


def bound_in_one_arm(x: Any, n: int) -> Any:
    for k in range(5):
        part = x[k:]
        x = x * 0.9
    if x[0] > 0:
        part = x[4:] * 2
    return part[0]


def read_by_a_function_that_was_made_before(x: Any, n: int) -> Any:
    def last() -> Any:
        return part[0]

    for k in range(5):
        part = x[k:]
        x = x * 0.9
    s = last()
    part = x
    return s + part[1]


def read_by_a_generator_that_was_made_before(x: Any, n: int) -> Any:
    part = x
    doubled = (part[0] * 2 for _ in range(1))
    for k in range(5):
        part = x[k:]
        x = x * 0.9
    (s,) = list(doubled)
    part = x
    return s + part[1]


def read_by_a_handler(x: Any, n: int) -> Any:
    table = {"a": 1.0}
    try:
        for k in range(5):
            part = x[k:]
            x = x * 0.9
        x = x * table["b"]
        part = x
    except KeyError:
        x = x + part[0]
    part = x
    return part


def read_after_a_with_that_takes_exceptions(x: Any, n: int) -> Any:
    table = {"a": 1.0}
    with contextlib.suppress(KeyError):
        for k in range(5):
            part = x[k:]
            x = x * 0.9
        x = x * table["b"]
        part = x
    return part


def read_by_the_next_step(x: Any, n: int) -> Any:
    part = x
    for _ in range(2):
        x = x * part[0]
        for k in range(5):
            part = x[k:]
            x = x * 0.9
    part = x
    return part


def read_after_an_empty_loop(x: Any, n: int) -> Any:
    for k in range(5):
        part = x[k:]
        x = x * 0.9
    for k in range(n - 5):
        part = x[k:] * 2
    return part[0]


def changed_later(x: Any, n: int) -> Any:
    for k in range(5):
        part = x[k:]
        x = x * 0.9
    part += 1.0
    part = part.sum()
    return part


def bound_after_a_walrus_that_may_not_run(x: Any, n: int) -> Any:
    for k in range(5):
        part = x[k:]
        x = x * 0.9
    found = n > 10 and (part := x).sum() > 0
    return part[0] + found


READ = [
    bound_in_one_arm, read_by_a_function_that_was_made_before, read_by_a_generator_that_was_made_before,
    read_by_a_handler, read_after_a_with_that_takes_exceptions, read_by_the_next_step, read_after_an_empty_loop,
    changed_later, bound_after_a_walrus_that_may_not_run,
]  # fmt: skip
