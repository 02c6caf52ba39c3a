"""Small programs that go over what has no end, or ends by a condition; x: f64[9], n: int."""

from __future__ import annotations

import itertools
from itertools import chain, compress, count, cycle, filterfalse, islice, repeat, takewhile
from typing import Any

import numpy as np


def until_it_is_small(x: Any, n: int) -> Any:
    y = x[0] * x[0] + 2.0
    for i in itertools.count():  # noqa: B007
        y = y * 0.5
        if y < 0.1:
            break
    return y, i


def returned_from_a_count(x: Any, n: int) -> Any:
    y = x[1]
    for i in count(n, 2):
        y += 0.3 * abs(x[2]) + 0.1
        if y > 3:
            return y * i
    return 0.0


def counts_inside_of_counts(x: Any, n: int) -> Any:
    total = 0.0
    for i in count():
        for j in count(i, 2):
            total += abs(x[j % 9])
            if j > 2 * i + x[0]:
                break
        if total > 7 or i > 30:
            break
    return total, i, j


def known_ends_of_counts(x: Any, n: int) -> Any:
    for i in count():
        if 2**i > 10 * n:
            break
    return np.zeros(i) + x[0]


def numbered_and_again(x: Any, n: int) -> Any:
    total = 0.0
    for i, v in zip(count(n), cycle(x)):
        total += i * abs(v)
        if total > 50:
            break
    for i, v in enumerate(cycle((1.0, -0.5))):
        total += v * abs(x[3]) + 0.2
        if total > 60 or i > 20:
            break
    return total, i


def repeated_elements(x: Any, n: int) -> Any:
    for _ in repeat(None, 7):
        x = x * 0.9
    for v in repeat(x[0]):
        x = x * 0.8 + 0.01 * v
        if abs(x).max() < 0.5:
            break
    return x, sum(a * b for a, b in zip(x, repeat(2.0)))


def taken_while_it_holds(x: Any, n: int) -> Any:
    total = 0.0
    for v in takewhile(lambda v: abs(v) > 0.2, x):
        total += v * n
        if total > 8:
            break
    for k in takewhile(lambda k: k * 0.3 < 2 + x[0], count()):
        total += k * x[1]
    return total + sum(takewhile(lambda v: v < 1.0, x)), len(list(takewhile(lambda v: v < 0.0, x)))


def returned_from_what_is_taken(x: Any, n: int) -> Any:
    for v in takewhile(lambda v: v < 1.5, x):
        if v > 0.3:
            return v * 2
    return x[-1]


def left_out(x: Any, n: int) -> Any:
    odd = sum(filterfalse(lambda v: v > 0, x)) + sum(compress(x, x > 0.5)) * 2
    return odd + sum(compress(x, [1, 0, 1])), list(islice(cycle(x), 11)), list(islice(count(2), 4))


def taken_and_others(x: Any, n: int) -> Any:
    total = 0.0
    for v in chain(takewhile(lambda k: k < 3, [1, 2, 3, 1]), x):
        total += v * v
    return total


def raised_in_a_count(x: Any, n: int) -> Any:
    y = abs(x[0]) + 1.0
    for _ in count():
        y = y * 1.5
        if y < 0:
            raise ValueError("never")
        if y > 20:
            return y
    return 0.0


ENDLESS = [
    until_it_is_small, returned_from_a_count, counts_inside_of_counts, known_ends_of_counts, numbered_and_again,
    repeated_elements, taken_while_it_holds, returned_from_what_is_taken, left_out, taken_and_others, raised_in_a_count,
]  # fmt: skip
