"""Small programs in which a name is bound to another array by a condition known only at run time; x: f64[9], n: int."""

from __future__ import annotations

from typing import Any

import numpy as np


def energy(x: Any) -> Any:
    return np.sum((x[1:] - x[:-1] ** 2) ** 2 + 0.1 * x[:-1] ** 2)


def accepted_or_not(x: Any, n: int) -> Any:
    y, f = x, energy(x)
    for i in range(9):
        z = y + 0.1 * np.sin(np.arange(9.0) * (i + 1))
        g = energy(z)
        if g < f:
            y, f = z, g
    return y, f


def written_and_accepted(x: Any, n: int) -> Any:
    y = x.copy()
    for i in range(9):
        z = y + 0.3 * np.cos(np.arange(9.0) * (i + 1))
        if energy(z) < energy(y):
            y = z
        y[i] *= 0.9
    return y


def written_where_it_lies_until_it_moves(x: Any, n: int) -> Any:
    y = x
    for i in range(9):
        if y[i] > 0.5:
            y = y * 0.5
        y[0] += 1.0
    return x, y


def a_row_until_it_moves(x: Any, n: int) -> Any:
    rows = x.reshape(3, 3) * 2.0
    row = rows[1]
    for i in range(9):
        row[i % 3] += x[i]
        if row[1] > 1.5:
            row = row * 0.5
    return rows, row


def best_of_a_walk(x: Any, n: int) -> Any:
    y = x.copy()
    best, least = y, energy(y)
    for i in range(9):
        y = y + 0.2 * np.sin(np.arange(9.0) * (i + 2))
        f = energy(y)
        if f < least:
            best, least = y, f
    best[0] += 1.0
    return y, best, least


def best_of_an_accepted_walk(x: Any, n: int) -> Any:
    y = x.copy()
    f = energy(y)
    best, least = y, f
    for i in range(9):
        z = y + 0.2 * np.sin(np.arange(9.0) * (i + 2))
        g = energy(z)
        if g < f + 0.5:
            y, f = z, g
            if f < least:
                best, least = y, f
    y[1] -= 2.0
    return y, best


def a_state_in_a_tuple(x: Any, n: int) -> Any:
    state = (x * 1.0, x * 1.0, energy(x))
    for i in range(9):
        y, best, least = state
        y = y + 0.2 * np.sin(np.arange(9.0) * (i + 2))
        if energy(y) < least:
            best, least = y, energy(y)
        state = (y, best, least)
    state[1][0] = 7.0
    return state


def until_it_is_small(x: Any, n: int) -> Any:
    y = x.copy()
    k = 0
    while np.abs(y).sum() > 0.5 and k < 40:
        if y[k % 9] > 0.1:
            y = y * 0.7
        y[k % 9] *= 0.5
        k += 1
    return y, k


def rebound_in_each_step_of_a_while(x: Any, n: int) -> Any:
    y = x
    while np.abs(y).sum() > 0.5:
        y[0] = 0.25 * y[1]
        y = y * 0.7
    return x, y


def counted_at_run_time(x: Any, n: int) -> Any:
    y = x
    for i in range(n):
        y[i] += 0.5
        if y[i] > 0.8:
            y = y * x[2] if i < 0 else y * 0.5
    return y


def coordinate_search(x: Any, n: int) -> Any:
    y, f, h = x.copy(), energy(x), 0.5
    for _ in range(6):
        improved = False
        for i in range(9):
            for s in (1, -1):
                z = y.copy()
                z[i] += s * h
                g = energy(z)
                if g < f:
                    y, f, improved = z, g, True
                    break
        if not improved:
            h *= 0.5
    return y, f


CHOICES = [
    accepted_or_not, written_and_accepted, written_where_it_lies_until_it_moves, a_row_until_it_moves, best_of_a_walk,
    best_of_an_accepted_walk, a_state_in_a_tuple, until_it_is_small, rebound_in_each_step_of_a_while, counted_at_run_time,
    coordinate_search,
]  # fmt: skip
