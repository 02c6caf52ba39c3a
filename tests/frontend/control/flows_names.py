"""Small programs that bind names inside of expressions and by `match`; x: f64[9], n: int."""

from __future__ import annotations

from typing import Any

import numpy as np


def bound_in_a_condition_of_a_comprehension(x: Any, n: int) -> Any:
    return sum([y for v in x if (y := v * v) > 0.5]), y


def running_total(x: Any, n: int) -> Any:
    total = 0.0
    parts = [total := total * 0.5 + v for v in x]
    return np.array(parts), total


def first_that_is_large(x: Any, n: int) -> Any:
    found = any((last := v) > 0.9 for v in x)
    return last * 2 + found, all((other := v) < 1.5 for v in x), other


def bound_in_a_conditional_expression(x: Any, n: int) -> Any:
    s = y = 0.0
    for i in range(9):
        s = s + (y if (y := x[i]) > 0.5 else 2 * y)
    return s, y


def bound_in_a_while(x: Any, n: int) -> Any:
    while (s := np.abs(x).sum()) > 1:
        x = x / 2
    return x, s


def pairs_matched(x: Any, n: int) -> Any:
    s = 0.0
    for i in range(8):
        match (x[i], x[i + 1]):
            case (a, b) if a * 2 < b:
                s = s + a
            case (a, _) if a > 0.7:
                s = s - a * a
            case _:
                s = s * 1.1
    return s


def alternatives_matched(x: Any, n: int) -> Any:
    s = 0.0
    for v in x:
        match [int(3 * v), 2]:
            case [0, _] | [_, 3]:
                s = s + v
            case [1 | -1 as k, m]:
                s = s * k + m
            case [k, _] if k > 1:
                s = s - k * v
            case _:
                pass
    return s


def structures_matched(x: Any, n: int) -> Any:
    made: list[Any] = []
    commands: Any = ("scale", 2.0), ("shift", (x[0], 1.0)), "none", ["scale", 3.0, 4.0]
    for command in commands:
        match command:
            case ("scale", factor):
                made.append(x * factor)
            case ("shift", (by, times)):
                made.append(x + by * times)
            case ("scale", *factors):
                made.append(x * sum(factors))
            case _:
                made.append(x)
    return np.stack(made)


def changed_or_bound_to_another(x: Any, n: int) -> Any:
    parts, others = [x * 1, x * 2], [x * 3, x * 4]
    if x[0] > 0:
        parts[0] = parts[1]
        parts.append(x)
        parts.pop(0)
    else:
        parts = parts[::-1]
    if x[1] > 0:
        parts, others[1] = others, x * 5
    else:
        parts[1] = x * 9
    return parts[0], parts[1], others


def table_changed_or_bound_to_another(x: Any, n: int) -> Any:
    table = {"a": x * 1, "b": [x * 2], "c": (x, [x[0]])}
    for i in range(3):
        if x[i] > 0:
            table["a"], table["b"][0] = x * 5, table["a"] * 0.5
            table["c"][1][0] = x[i] * 2
        else:
            table = {"a": table["a"] + 1, "b": [x * i], "c": (table["b"][0], [x[1]])}
    return table["a"], table["b"], table["c"]


def returned_changed_or_another(x: Any, n: int) -> Any:
    parts = [x * 1, x * 2]
    if x[0] > 0:
        parts[0] = x * 9
        return parts
    parts = [x * 3, x * 4]
    return parts


def row_written_a_step_later(x: Any, n: int) -> Any:
    table, total = np.outer(x, x + 1), 0.0
    row = table[0]
    for i in range(1, 9):
        row[1:] *= x[i]
        table[i - 1] += 0.5
        total = total + row.sum()
        row = table[i]
    row[0] = 5.0
    return table, total, row


def rows_exchanged(x: Any, n: int) -> Any:
    table = np.outer(x, x + 1)
    one, other, last, before = table[0], table[1], table[:, 0], table[:, 1]
    for i in range(2, n):
        one[1:] += other[:-1] * x[i]
        one, other = other, one
        last, before = before, table[:, i]
    last[0], before[1] = 3.0, 4.0
    return table, one, other


def part_bound_anew(x: Any, n: int) -> Any:
    table, i = np.outer(x, x), 0
    part = table[0, :4]
    while i < n:
        part *= 0.5
        part = table[i, i : i + 4]
        i += 1
    part[0] = 1.0
    return table, part


def functions_of_a_comprehension(x: Any, n: int) -> Any:
    made = [lambda v: v * i for i in range(6)]  # noqa: B023
    return made[0](x), [(lambda: v) for v in x][1]()  # noqa: B023


def functions_of_two_clauses(x: Any, n: int) -> Any:
    made = [(lambda v: v * i + j) for j in range(5, 0, -1) for i in range(j)]  # noqa: B023
    return sum([f(x) for f in made])


NAMES = (
    bound_in_a_condition_of_a_comprehension, running_total, first_that_is_large, bound_in_a_conditional_expression,
    bound_in_a_while, pairs_matched, alternatives_matched, structures_matched,
    changed_or_bound_to_another, table_changed_or_bound_to_another, returned_changed_or_another,
    row_written_a_step_later, rows_exchanged, part_bound_anew,
)  # fmt: skip

UNROLLED = (functions_of_a_comprehension, functions_of_two_clauses)
