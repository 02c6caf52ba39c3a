"""Small programs whose conditions are arrays of one element; x: f64[9], n: int."""

from __future__ import annotations

from typing import Any

import numpy as np


def while_of_one_element(x: Any, n: int) -> Any:
    y, k = x[:1] + 6.0, 0
    while y > 1.0:
        y = y * 0.7
        k += 1
    return y, k


def while_of_one_element_and_a_number(x: Any, n: int) -> Any:
    y, k = x[:1].reshape(1, 1) + 6.0, 0
    while y > 1.0 and k < 6:
        y = y * 0.9
        k += 1
    return y, k


def while_of_an_array_itself(x: Any, n: int) -> Any:
    y, k = np.abs(x[2:3]) + 5.3, 0
    while y:
        y = np.maximum(y - 0.75, 0.0)
        k += n
    return y + k * x[0]


def not_of_alternatives(x: Any, n: int) -> Any:
    y, z, k = x[:1] + 5.0, x[1:2, None] * 0.5, 0
    while not (y < 0 or (z > 3 and k < 20)):
        y -= 1
        z = z + 1
        k += 1
    return y, z, k


def rows_of_one_element(x: Any, n: int) -> Any:
    total = np.zeros(1)
    for row in x.reshape(9, 1):
        if row > 0.5 and total < 100:
            total = total + row * n
        elif not row * row > 0.2:
            total = total - 1
    return total


def whiles_in_a_loop(x: Any, n: int) -> Any:
    rows, total = x.reshape(9, 1), np.zeros(1)
    for i in range(9):
        while rows[i] > 0.3 and i < 7:
            rows[i] *= 0.6
            total += rows[i]
    return total, x


def bits_of_one_element(x: Any, n: int) -> Any:
    y, k = x[4:5] + 4.0, 0
    while (y > 0) & (k < 3):
        y = y - x[0]
        k += 1
    return 1.0 if y > 3 and x[0] < 3 else y[0]


def conditions_of_a_comprehension(x: Any, n: int) -> Any:
    return sum([v for v in x if x[:1] < 0 and v > 0.5]) + sum(v * n for v in x if x[1:2] > 0 or v < 0)


SINGLES = [
    while_of_one_element, while_of_one_element_and_a_number, while_of_an_array_itself, not_of_alternatives,
    rows_of_one_element, whiles_in_a_loop, bits_of_one_element, conditions_of_a_comprehension,
]  # fmt: skip
