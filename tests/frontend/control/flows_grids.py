"""Small programs that keep numbers in lists of lists, at places known only at run time; x: f64[9], n: int."""

from __future__ import annotations

from typing import Any

import numpy as np


def knapsack(x: Any, n: int) -> Any:
    best = [[0.0] * 7 for _ in range(10)]
    for i in range(1, 10):
        size = int(abs(x[i - 1]) * 2) + 1
        for room in range(7):
            best[i][room] = best[i - 1][room]
            if size <= room:
                best[i][room] = max(best[i][room], best[i - 1][room - size] + x[i - 1] ** 2)
    return best[9][6], best[-1]


def distance(x: Any, n: int) -> Any:
    d = [[0.0] * 10 for _ in range(10)]
    for i in range(10):
        d[i][0] = i * 0.3
    for j in range(10):
        d[0][j] = j * 0.3
    for i in range(1, 10):
        for j in range(1, 10):
            cost = abs(x[i - 1] - x[9 - j])
            d[i][j] = min(d[i - 1][j] + 0.3, d[i][j - 1] + 0.3, d[i - 1][j - 1] + cost)
    return np.array(d)


def counted_pairs(x: Any, n: int) -> Any:
    counts = [[0.0] * 4 for _ in range(4)]
    for i in range(8):
        a, b = int(abs(x[i]) * 1.7), int(abs(x[i + 1]) * 1.7)
        counts[a][b] += x[i]
        if x[i] > 0:
            counts[b][a % 2] -= 1
    return counts


def rows_read_and_written(x: Any, n: int) -> Any:
    table = [[x[3 * i + j] for j in range(3)] for i in range(3)]
    k = int(abs(x[1]))
    row = table[k]
    row[k] = row[0] * 2
    return sum(row) + len(row), table[k][k], table


def product_of_lists(x: Any, n: int) -> Any:
    a = x[:9].reshape(3, 3)
    c = [[0.0] * 3 for _ in range(3)]
    for i in range(3):
        for j in range(3):
            for k in range(3):
                c[i][j] += a[i][k] * a[k][j]
    return np.array(c)


def turned_in_pairs(x: Any, n: int) -> Any:
    a = [[x[3 * i + j] for j in range(3)] for i in range(3)]
    for _ in range(6):
        for p in range(3):
            for q in range(3):
                if a[p][q] > 0:
                    for k in range(3):
                        u, v = a[k][p], a[k][q]
                        a[k][p], a[k][q] = 0.5 * u - 0.1 * v, 0.1 * u + 0.5 * v
    return a


def written_at_known_places_too(x: Any, n: int) -> Any:
    a = [[1.0, 2.0, x[0]], [x[1], 4.0, 2.0]]
    for i in range(9):
        k = int(abs(x[i])) % 2
        a[0][1] = a[0][1] * 0.5 + x[i]
        if x[i] > 0:
            a[k][1] = x[1]
        else:
            a[1][0] = a[k][1] * 0.5
            a[0][k] = x[2]
        a[1][2] += a[0][1]
    return a


def by_rows_and_by_elements(x: Any, n: int) -> Any:
    a = [[x[0], 2.0], [3.0, 4.0]]
    for i in range(9):
        k = int(abs(x[i])) % 2
        a[0][k] = a[0][1] + x[i]
        a[k][0] = a[0][1] * 0.3
        a[k][k] = a[0][1] - a[1][k]
        a[1][k] = a[0][0] * x[i]
    return a


GRIDS = (
    knapsack, distance, counted_pairs, rows_read_and_written, product_of_lists, turned_in_pairs,
    written_at_known_places_too, by_rows_and_by_elements,
)  # fmt: skip
