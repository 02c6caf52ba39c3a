"""Small programs that order, count and choose: `sorted`, `max` by a key, `len` of what a condition leaves; x: f64[9]."""

from __future__ import annotations

from typing import Any

import numpy as np


def places_in_order(x: Any, n: int) -> Any:
    s = 0.0
    for k in sorted(range(9), key=lambda k: np.sin(5 * x[k]), reverse=True):
        s = s * 0.9 + x[k] * k
    return s


def pairs_in_order(x: Any, n: int) -> Any:
    pairs = [(np.floor(v), v * i) for i, v in enumerate(x)]
    down = sorted(pairs, key=lambda p: p[0], reverse=True)
    return sorted(pairs), sorted(pairs, reverse=True), sorted(pairs, key=lambda p: -p[0]), down


def lists_in_order(x: Any, n: int) -> Any:
    ys, zs, s = list(np.sin(7 * x)), [1.0, 0.5], 0.0
    ys.sort()
    zs.sort(key=lambda v: -v)
    for i, v in enumerate(sorted(v * v for v in x)):
        s += i * v
    return ys[4], sum(ys[:3]), zs[0], s, sorted([3, 1, 2]), sorted([abs(v) for v in x], reverse=True)[0]


def rows_in_order(x: Any, n: int) -> Any:
    return sorted([x * i * np.cos(i) for i in range(5)], key=lambda row: row[0])


def counted_by_a_condition(x: Any, n: int) -> Any:
    many = len([1 for a in x for b in x if a * b > 1])
    few = len([v for v in x[:3] if v > -1])
    return len([v for v in x if v > 0]) * x[0], len([i for i in range(5) if i % 2]), many, few


def chosen_by_a_condition(x: Any, n: int) -> Any:
    none = max((v for v in x if v > 5), default=-1.0)
    place = max((i for i in range(9) if x[i] < 1), key=lambda i: x[i] * x[i] + 0.1 * i, default=-1)
    pair = max((v * w for v in x for w in x if v > w), default=0.0)
    return none, min((v for v in x if v > 0), default=x[0]), place, pair, sum(v for v in x[:2] if v > -0.9)


def chosen_by_parts(x: Any, n: int) -> Any:
    three = max((x[0], 1), (x[1], 2), (x[0], 5))
    return three, max((np.floor(v), i) for i, v in enumerate(x)), min(zip(x * x, range(9), strict=True))


def over_what_was_appended(x: Any, n: int) -> Any:
    basis = []
    for i in range(6):
        w = x * 0.3
        w[i] += 1
        for q in basis:
            w = w - (q @ w) * q
        basis.append(w / np.sqrt(w @ w))
    sums = [x[0]]
    for v in x[1:]:
        sums.append(v * 0.5 + sum(h * h for h in sums) * 0.01 + max(sums))
    return np.array(basis), np.array(sums)


def means_of_selected_rows(x: Any, n: int) -> Any:
    rows = np.outer(np.sin(3 * x), np.cos(2 * x) + 1)
    mask = rows[:, 1] > 0
    cube, inner = rows.reshape(3, 3, 9), rows[:3, :3] > 0
    total = rows[mask].sum(axis=1).sum() + cube[inner].sum(1).sum() + cube[:, inner[0]].sum((0, 2)).sum()
    return rows[mask].sum(0), cube[inner].prod(axis=0), np.sum(cube[:, inner[0]], axis=1), total


def chosen_without_a_default(x: Any, n: int) -> Any:
    large = list(filter(lambda v: v > -0.5, x))
    most = max(large) + len(large) + max(v * v - w for v in x for w in x if v < w) + min(abs(v) for v in x[x > -9])
    return max(v * v for v in x if v > -9), min([(v, k) for k, v in enumerate(x) if v * v > 1e-9])[1], most


def sorted_at_once(x: Any, n: int) -> Any:
    least = sum(sorted(v for v in x if v > 0.1)[:2])
    return least, sum(sorted([v * k for k, v in enumerate(x) if v < 0.5], reverse=True)[1:3])


def sorted_of_what_conditions_leave(x: Any, n: int) -> Any:
    rows = [x * v for v in x if v > -10 * abs(x[0])]
    large = [v * 3 for v in x if v * v > 0.05 * x[8] * x[8]]
    total = 0.0
    for v in sorted([row.sum() for row in rows if row[0] > -0.4]):
        total = total * 0.8 + v
    down = sorted(large, reverse=True)
    large.sort()
    return total, large[0], down[0], down[-1], len(down), sum(sorted(v * 2 for v in large))


def ties_of_what_conditions_leave(x: Any, n: int) -> Any:
    pairs = [(np.floor(v * 2), v * v) for v in x if abs(v) > 0.03 * abs(x[8])]
    up, down = sorted(pairs, key=lambda p: p[0]), sorted(pairs, key=lambda p: p[0], reverse=True)
    total = 0.0
    for (a, b), (c, d) in zip(up, down, strict=False):
        total = total * 0.7 + a * 0.1 + b + 0.1 * c - d
    return total, max(up), sorted(pairs)[2], [up[k] for k in range(4)], [down[k] for k in range(4)]


ORDERS = (
    chosen_without_a_default, sorted_at_once, sorted_of_what_conditions_leave, ties_of_what_conditions_leave,
    places_in_order, pairs_in_order, lists_in_order, rows_in_order, counted_by_a_condition, chosen_by_a_condition,
    chosen_by_parts, over_what_was_appended, means_of_selected_rows,
)  # fmt: skip
