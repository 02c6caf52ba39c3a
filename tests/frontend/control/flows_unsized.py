"""Small programs whose state is an array that gets shorter; x: f64[9], n: int."""

from __future__ import annotations

from typing import Any

import numpy as np


def without_outliers(x: Any, n: int) -> Any:
    y = x
    for _ in range(6):
        y = y[np.abs(y - y.mean()) <= 1.4 * y.std()]
    return y.mean(), y.size


def until_none_is_left_out(x: Any, n: int) -> Any:
    y = x
    while True:
        keep = np.abs(y - y.mean()) <= 1.4 * y.std()
        if keep.all():
            break
        y = y[keep]
    return y.sum(), y.size


def one_less_in_each_step(x: Any, n: int) -> Any:
    y, s = x, 0.0
    while y.size > 2:
        s = s * 0.5 + y.max()
        y = y[y < y.max()]
    return s, y.prod()


def places_that_are_active(x: Any, n: int) -> Any:
    y, at = x.copy() + 3.0, np.arange(9)
    for _ in range(8):
        y[at] = 0.5 * (y[at] + 2.0 / y[at])
        at = at[np.abs(y[at] ** 2 - 2.0) > 1e-3]
    return y, at.size


def several_cut_alike(x: Any, n: int) -> Any:
    y, z, at = x, x * 0.5, np.arange(9)
    count = np.zeros(9)
    for k in range(7):
        y = y * y + z
        keep = np.abs(y) < 2.0
        y, z, at = y[keep], z[keep], at[keep]
        count[at] = k + 1 + y
    return count


def quick_select(x: Any, n: int) -> Any:
    a, k = x, n
    while a.size > 1:
        p = a[0]
        low, high = a[a < p], a[a > p]
        if k < low.size:
            a = low
        elif k == low.size:
            return p
        else:
            k -= low.size + 1
            a = high
    return a[0]


def cut_by_a_condition(x: Any, n: int) -> Any:
    y = np.sort(x)
    for _ in range(7):
        if y[-1] > 1.0:
            y = y[:-1].copy()
        y = y * 1.05
    return y.sum(), y.size


def suppressed(x: Any, n: int) -> Any:
    order = np.argsort(-x)
    keep = np.zeros(9)
    while order.size > 0:
        i = order[0]
        keep[i] = x[i]
        rest = order[1:]
        order = rest[np.abs(x[rest] - x[i]) > 0.5]
    return keep


def one_of_two_lengths(x: Any, n: int) -> Any:
    y = x[x > 0.1] if x[0] > 0 else x[x < 0.5]
    return y.sum(), y.size


UNSIZED = [
    without_outliers, until_none_is_left_out, one_less_in_each_step, places_that_are_active, several_cut_alike,
    quick_select, cut_by_a_condition, suppressed, one_of_two_lengths,
]  # fmt: skip
