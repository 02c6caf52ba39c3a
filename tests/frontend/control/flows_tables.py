"""Small programs of lists of arrays, and of tuples of them, that are written, sorted and read at traced places;
x: f64[9], n: int."""

from __future__ import annotations

from typing import Any

import numpy as np


def _height(p: Any) -> Any:
    return ((p - 0.3) ** 2).sum() + 0.5 * (p[0] * p[1]) ** 2


def worst_vertex_replaced(x: Any, n: int) -> Any:
    simplex = [x[i : i + 3] * 1.0 for i in range(4)]
    for _ in range(20):
        worst = np.argmax(np.array([_height(p) for p in simplex]))
        centre = sum(simplex) / 4
        simplex[worst] = 0.5 * (simplex[worst] + centre)
    return simplex


def vertices_in_order(x: Any, n: int) -> Any:
    simplex = [x[i : i + 3] * 1.0 for i in range(4)]
    values = [_height(p) for p in simplex]
    for _ in range(20):
        order = sorted(range(4), key=lambda i: values[i])
        simplex = [simplex[i] for i in order]
        values = [values[i] for i in order]
        centre = sum(simplex[:-1]) / 3
        moved = centre + 0.9 * (centre - simplex[-1])
        height = _height(moved)
        if height < values[-1]:
            simplex[-1], values[-1] = moved, height
        else:
            for i in range(1, 4):
                simplex[i] = simplex[0] + 0.5 * (simplex[i] - simplex[0])
                values[i] = _height(simplex[i])
    return simplex, values


def sorted_in_place(x: Any, n: int) -> Any:
    simplex = [x[i : i + 3] * 1.0 for i in range(4)]
    for _ in range(20):
        simplex.sort(key=_height)
        simplex[-1] = simplex[-1] * 0.8 + simplex[0] * 0.2
    return simplex


def tuples_in_order(x: Any, n: int) -> Any:
    simplex = [(_height(x[i : i + 3]), x[i : i + 3] * 1.0) for i in range(4)]
    for _ in range(20):
        simplex.sort(key=lambda pair: pair[0])
        p = simplex[-1][1] * 0.8 + simplex[0][1] * 0.2
        simplex[-1] = (_height(p), p)
    return [p for _, p in simplex], simplex[0][0]


def tuple_at_a_traced_place(x: Any, n: int) -> Any:
    pairs = [(x[i], x[i : i + 2] * 2) for i in range(5)]
    total = 0.0
    for i in range(12):
        k = np.argmin(np.array([p[0] for p in pairs]))
        total = total + pairs[k][0] + pairs[k][1][0]
        pairs[k] = (pairs[k][0] + 0.7, pairs[k][1] * 0.5 + i)
    return total, pairs[2][1]


def best_is_kept(x: Any, n: int) -> Any:
    points = [x[i : i + 3] * 1.0 for i in range(4)]
    best = points[0]
    for _ in range(10):
        k = np.argmin(np.array([_height(p) for p in points]))
        best = points[k]
        points[k] = best * 0.9 + 0.1
    return best, points


def last_ones_are_kept(x: Any, n: int) -> Any:
    steps, y = [x * 0.0, x * 0.0, x * 0.0], x * 1.0
    for _ in range(12):
        y = np.tanh(y) + 0.1 * steps[0] - 0.2 * steps[-1]
        steps.pop(0)
        steps.append(y)
    return steps, y


def written_in_one_branch(x: Any, n: int) -> Any:
    points = [x[i : i + 3] * 1.0 for i in range(4)]
    for i in range(9):
        k = np.argmax(np.array([_height(p) for p in points]))
        if x[i] > 0.2:
            points[k] = points[k] * 0.5
        else:
            points.reverse()
    return points


def one_array_under_two_names(x: Any, n: int) -> Any:
    """Each list element is the same array, which is written later."""
    last, y = [x * 0.0, x * 0.0], x * 1.0
    for _ in range(6):
        y *= 0.5
        last.pop(0)
        last.append(y)
    return last


def parameter_of_a_lambda(x: Any, n: int) -> Any:
    values, total = [x[0], x[1], x[2]], 0.0
    for v in x:
        chosen = min(range(3), key=lambda i: values[i])
        for i in range(3):
            total = total + values[i] * v
        values[chosen] = values[chosen] + 0.4
    return total, values


def ring_of_numbers(x: Any, n: int) -> Any:
    ring, head, total = [0.0] * 4, 0, 0.0
    for v in x:
        ring[head] = v
        head = (head + 1) % 4
        total = total + sum(ring) / 4
    return total, ring


def some_places_are_known(x: Any, n: int) -> Any:
    found, k = [x[0], x[1], x[2], x[3]], 1
    for v in x:
        found[0] = found[k] * 0.5 + v
        found[k] = found[0] - found[-1]
        found[-1] = v * found[k - 1]
        k = (k + 2) % 4
    return found


def by_a_traced_step(x: Any, n: int) -> Any:
    marks, total = [1.0] * 20, x[0]
    for i in range(2, 7):
        if marks[i] > 0:
            for j in range(i * i, 20, i):
                marks[j] = 0.0
        for j in range(8, -1, -i):
            total = total * 0.5 + x[j]
    return total, marks


def one_of_several_functions(x: Any, n: int) -> Any:
    functions, y = [np.sin, np.cos, lambda v: v * v * 0.1], x[0]
    for i in range(9):
        y = functions[i % 3](y) + x[i] * functions[-1](y)
    return y, functions[np.argmax(x) % 3](x)


TABLES = (
    worst_vertex_replaced, vertices_in_order, sorted_in_place, tuples_in_order, tuple_at_a_traced_place, best_is_kept,
    last_ones_are_kept, written_in_one_branch, one_array_under_two_names, parameter_of_a_lambda,
    ring_of_numbers, some_places_are_known, by_a_traced_step, one_of_several_functions,
)  # fmt: skip
UNROLLED = (one_array_under_two_names,)
