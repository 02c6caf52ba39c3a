"""Small programs whose names are bound by some of the ways to leave a step, or read in scopes of their own; x: f64[9]."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np


def found_or_not(x: Any, n: int) -> Any:
    for i in range(9):
        if x[i] > 1:
            found, place = x[i] * i, i
            break
    else:
        found, place = -1.0, -1
    return found, place


def found_by_one_of_two_breaks(x: Any, n: int) -> Any:
    i = 0
    while i < 9:
        if x[i] > 1:
            y = x * i
            break
        if x[i] > 0.9:
            y = x + i
            i = 2
            break
        i += 1
    else:
        return x, i
    y[0] = 2.0
    return y, i


def found_in_a_nest(x: Any, n: int) -> Any:
    s = 0.0
    for i in range(9):
        for j in range(n + 4):
            if x[i] * x[j] > 1:
                k, v = j, x[j]
                break
        else:
            k, v = -1, 1.0
        s += v * k
    return s


def found_before_others_go_on(x: Any, n: int) -> Any:
    for v in x:
        if v < 0:
            continue
        y = v
        if v > 1:
            break
    else:
        y = 3.0
    return y


def bound_unless_the_step_breaks(x: Any, n: int) -> Any:
    s = 0.0
    for i in range(9):
        if x[i] > 0:
            if x[i] > 1.8:
                break
            y = x[i] * 2
        else:
            y = -x[i]
        s += y
    return s


def found_in_a_few_steps(x: Any, n: int) -> Any:
    for i in range(3):
        if x[i] > -0.5:
            y = x[i]
            break
    else:
        y = 10.0
    return y * x


def variables_of_comprehensions(x: Any, n: int) -> Any:
    values = [x[j] * 2 for j in range(9)]
    for i in range(7, -1, -1):
        for j in range(i + 1):
            values[j] = 0.5 * values[j + 1] + 0.4 * values[j]
    return values[0], sum(values[j] for j in range(9))


def index_after_a_triangle(x: Any, n: int) -> Any:
    for i in range(8, -1, -1):
        for j in range(i + 1):
            x[j] += i
    return x * (j + 1)


def places_found_once(x: Any, n: int) -> Any:
    calls = [0]
    counts = [0.0] * 4

    def place(v: Any) -> int:
        calls[0] += 1
        return int(abs(v))

    for v in x:
        counts[place(v)] += v
    return np.array(counts), calls[0]


def handlers_of_what_is_not_raised(x: Any, n: int) -> Any:
    total, count = 0.0, 0
    for i in range(8):
        try:
            total += x[i] * x[i + 1]
        except (ValueError, ZeroDivisionError):
            total = -1.0
        except Exception:
            count = -1
        else:
            count += 1
        finally:
            total *= 0.9
    return total, count


def handlers_of_what_is_raised_at_each_step(x: Any, n: int) -> Any:
    total = 0.0
    for v in x:
        try:
            if len(x) > 3:
                raise KeyError("n")
            total += 1.0
        except KeyError:
            total += v
        with suppress(ValueError), np.errstate(all="ignore"):
            total += np.log(abs(v))
    return total


EXITS = (
    handlers_of_what_is_not_raised, handlers_of_what_is_raised_at_each_step,
    found_or_not, found_by_one_of_two_breaks, found_in_a_nest, found_before_others_go_on, bound_unless_the_step_breaks,
    found_in_a_few_steps, variables_of_comprehensions, index_after_a_triangle, places_found_once,
)  # fmt: skip
