"""Names bound inside of conditions, which may be skipped."""

from __future__ import annotations

from typing import Any

import numpy as np


def read_while_it_is_large(x: Any, n: int) -> Any:
    i, total = 0, 0.0
    while i < n and (v := x[i]) < 0.9:
        total += v * v
        i += 1
    return total, i


def left_by_the_test_or_a_break(x: Any, n: int) -> Any:
    last, total = 0, 0.0
    while (k := last + 1) < n:
        if x[k] > 1.2:
            break
        total += x[k] * k
        last = k
    return total + k


def three_in_a_chain(x: Any, n: int) -> Any:
    total = 0.0
    for v in x:
        if (a := v * 2) > 0.3 and (b := a * 2) > 0.9 and (c := b + a) > 1.2:
            total += a * b * c
        elif v > 0.2:
            total -= a
    return total


def one_of_two_values(x: Any, n: int) -> Any:
    total = 0.0
    for v in x:
        total += w if (u := v * 2) > 0.5 and (w := u - 0.1) > 0.6 else -u
    return total


def bound_before(x: Any, n: int) -> Any:
    total, w = 0.0, 7.0
    for v in x:
        if v > 0.25 and (w := v * v) < 0.8:
            total += w
    return total + w


def several_ways_on(x: Any, n: int) -> Any:
    i, total = 0, 0.0
    while i < n and (d := x[i]) > -5.0 and (e := d * d) < 4.0:
        if e > 0.2:
            total += e
            i += 2
            continue
        if total > 3.0:
            break
        total += d
        i += 1
    return total, i


def returned_at_once(x: Any, n: int) -> Any:
    if x[0] > -2.0 and (w := x[1] * 2) > -3.0 and x[2] > -4.0:
        return w * w + np.abs(x).sum()
    return 0.0


def all_of_a_list(x: Any, n: int) -> Any:
    last = first = 0.0
    found = any([(last := v) > 1.5 for v in x]), all((first := v) < 0.5 for v in x)
    return found, last * 2, first


def _hit(v: Any) -> Any:
    if v > 0 and (t := np.sqrt(v)) > 0.5:
        return True, t * v
    return False, None


def in_a_helper(x: Any, n: int) -> Any:
    made = x * 0.0
    for i in range(9):
        is_hit, t = _hit(x[i])
        made[i] = t if is_hit else -1.0
    return made


def nearest_of_helpers(x: Any, n: int) -> Any:
    nearest, found = np.inf, None
    for i in range(9):
        for j in range(3):
            is_hit, t = _hit(x[i] - 0.3 * j)
            if is_hit and (d := (t - 1.0) ** 2) < nearest:
                nearest, found = d, t
    return 0.0 if found is None else found


def _smoothed(x: Any, i: int) -> Any:
    total, count = 0.0, 0

    def add(v: Any) -> None:
        nonlocal total, count
        if v > 0:
            total, count = total + v * v, count + 1

    add(x[i])
    add(x[i - 1])
    return total if count > 1 else -total


def counted_by_a_function_inside(x: Any, n: int) -> Any:
    made = x * 0.0
    for i in range(9):
        made[i] = _smoothed(x, i)
    return made


HELPED = (in_a_helper, nearest_of_helpers, counted_by_a_function_inside)

WALRUSES = (
    read_while_it_is_large, left_by_the_test_or_a_break, three_in_a_chain, one_of_two_values, bound_before,
    several_ways_on, returned_at_once, all_of_a_list, *HELPED,
)  # fmt: skip
