# ruff: noqa: PERF401 (that such loops are loops is what is tested)
"""Small programs of lists that conditions extend, so that their lengths are known only at run time; x: f64[9], n: int."""

from __future__ import annotations

from typing import Any

import numpy as np


def positive_ones(x: Any, n: int) -> Any:
    out = []
    for v in x:
        if v > 0:
            out.append(v * 2)
    total = 0.0
    for v in out:
        total += v * v
    return len(out), sum(out), np.array(out).sum(), out[-1], out[0], total, np.max(out), np.sin(out).sum()


def written_into_an_array(x: Any, n: int) -> Any:
    out = [v * v for v in x if v > 0]
    y, z = np.zeros(9), np.ones(9)
    y[: len(out)] = np.array(out)
    z[: len(out)] = out
    return y, z


def until_a_break(x: Any, n: int) -> Any:
    steps = [x[0]]
    for v in x[1:]:
        steps.append(steps[-1] * 0.5 + v)
        if steps[-1] > 1.0:
            break
    return steps[-1], len(steps), np.mean(steps)


def until_a_return(x: Any, n: int) -> Any:
    out = [1.0]
    for v in x:
        if v > 1.5 or v < -1.5:
            return sum(out)
        out.append(v)
    return -sum(out)


def as_many_as_are_counted(x: Any, n: int) -> Any:
    out = []
    for i in range(int(abs(x[0]) * 3) % 7):
        out.append(x[i] * 2)
    return sum(out), len(out)


def nearest_smaller(x: Any, n: int) -> Any:
    stack, total, found = [], 0.0, np.full(9, -1)
    for i in range(9):
        while stack and x[stack[-1]] > x[i]:
            found[stack.pop()] = i
        total += x[stack[-1]] * i if stack else -1.0
        stack.append(i)
    return total, found, len(stack)


def hull_from_below(x: Any, n: int) -> Any:
    hull = []
    for i in range(9):
        p = i * 1.0, np.cos(3.0 * i) * x[i]
        while len(hull) >= 2 and turn(hull[-2], hull[-1], p) <= 0:
            hull.pop()
        hull.append(p)
    return sum(a * b for a, b in hull), len(hull)


def turn(a: Any, b: Any, c: Any) -> Any:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def longest_increasing(x: Any, n: int) -> Any:
    tails = []
    for v in x:
        low, high = 0, len(tails)
        while low < high:
            middle = (low + high) // 2
            if tails[middle] < v:
                low = middle + 1
            else:
                high = middle
        if low == len(tails):
            tails.append(v)
        else:
            tails[low] = v
    return len(tails), sum(tails)


def depth_first(x: Any, n: int) -> Any:
    todo, total = [0], 0.0
    for _ in range(12):
        if not todo:
            break
        k = todo.pop()
        total += x[k] * len(todo)
        if 2 * k + 1 < 9 and x[k] > -2:
            todo.append(2 * k + 1)
        if 2 * k + 2 < 9 and x[k] < 1:
            todo.append(2 * k + 2)
    return total


def peaks_with_places(x: Any, n: int) -> Any:
    peaks = [(0, 0.5)]
    for i in range(1, 8):
        if abs(x[i - 1]) < abs(x[i]) or x[i] < 0:
            peaks.append((i, x[i]))
    return sum(i * v for i, v in peaks), peaks[-1][0], len(peaks)


def rows_by_condition(x: Any, n: int) -> Any:
    rows = []
    for i in range(7):
        if x[i] + x[i + 1] > 0.1:
            rows.append(x[i : i + 3] * 2)
    return np.array(rows).sum(axis=0), np.stack(rows).sum(), len(rows)


def read_by_a_list(x: Any, n: int) -> Any:
    places = [i for i in range(9) if x[i] * x[0] < 0]
    return x[places].sum(), (x[places] * 2).max(), sum(places)


def in_two_loops(x: Any, n: int) -> Any:
    out = []
    for i in range(5):
        row = []
        for j in range(i):
            if x[i] * x[j] > 0:
                row.append(x[i] - x[j])
                out.append(x[j])
        if row:
            out.append(max(row))
    return sum(out), len(out)


def several_under_conditions(x: Any, n: int) -> Any:
    ups, downs = [], []
    for v in x:
        if v > 0:
            ups.extend([v, 2 * v])
        elif v < -0.5:
            downs += [v]
        else:
            continue
        if len(ups) > 3:
            ups[0] = ups[-1] * 0.5
            ups[-2] += 1.0
        if len(downs) > 4:
            downs.clear()
    return sum(ups), sum(downs), len(ups), len(downs)


def all_elements_in_each_step(x: Any, n: int) -> Any:
    seen = [x[0]]
    for i in range(1, 9):
        seen.append(np.mean(seen) * 0.5 + x[i] * max(seen))
    return np.array(seen)


def chosen_by_key(x: Any, n: int) -> Any:
    out = [v for v in x if v < 0.9]
    pairs = sum(a * b for a, b in zip(out, x, strict=False))
    back = 0.0
    for v in reversed(out):
        back = back * 0.5 + v
    return max(out, key=lambda v: -v * v), min(out, default=0.0), pairs, back, any(v > 0.5 for v in out)


def copies_of_it(x: Any, n: int) -> Any:
    out = [v for v in x if v > -0.5]
    one, two = list(out), out.copy()
    one.append(1.0)
    two.extend([x[0], 3.0])
    squares = [v * v for v in out]
    return len(out), len(one), len(two), len(tuple(out)), sum(one), sum(two), sum(squares)


def looked_for(x: Any, n: int) -> Any:
    seen = []
    for v in x:
        k = int(v * 2)
        if k not in seen:
            seen.append(k)
    return len(seen), sum(seen)


def held_by_others(x: Any, n: int) -> Any:
    parts = {"up": [], "down": []}
    for v in x:
        if v > 0:
            parts["up"].append(v)
        else:
            parts["down"].append(v)
    return sum(parts["up"]) - sum(parts["down"])


def one_of_two_lists(x: Any, n: int) -> Any:
    ups, downs = [0.0], [0.0]
    for v in x:
        (ups if v > 0.4 else downs).append(v * v)
    return sum(ups) * 2 + np.max(downs), len(ups), len(downs)


def one_of_three_lists(x: Any, n: int) -> Any:
    low, middle, high = [], [], []
    for v in x:
        (low if v < 0 else middle if v < 0.6 else high).append(v * 2)
    return len(low), len(middle), len(high), sum(high) - sum(low)


class Sides:
    """Two lists of an object."""

    def __init__(self) -> None:
        self.up: list[Any] = []
        self.down: list[Any] = []


def one_of_an_objects(x: Any, n: int) -> Any:
    sides = Sides()
    for v in x:
        (sides.up if v > 0 else sides.down).extend([v, v * v])
    return sum(sides.up), sum(sides.down), len(sides.up)


def clipped_polygon(x: Any, n: int) -> Any:
    points = [(x[i] + np.cos(i * 0.9), x[i + 1] + np.sin(i * 0.9)) for i in range(7)]
    for a, b, c in ((1.0, 0.3, 0.4), (-0.4, 1.0, 0.7), (0.2, -1.0, 0.9)):
        out = []
        if not points:
            return 0.0, n
        px, py = points[-1]
        before = c - a * px - b * py
        for qx, qy in points:
            now = c - a * qx - b * qy
            if (now >= 0) != (before >= 0):
                t = before / (before - now)
                out.append((px + t * (qx - px), py + t * (qy - py)))
            if now >= 0:
                out.append((qx, qy))
            px, py, before = qx, qy, now
        points = out
    corners = np.array([px for px, _ in points]), np.array([py for _, py in points])
    return corners[0] @ np.roll(corners[1], -1) - corners[1] @ np.roll(corners[0], -1), len(points)


def left_early(x: Any, n: int) -> Any:
    points = [(v, v * 2) for v in x if v > -1]
    out = []
    if not points:
        return 0.0, 0
    for a, b in points:
        if a > 0:
            out.append(a + b)
    seen, points = points, out
    if len(points) < 3:
        return seen[0][1] * len(seen), len(out)
    return sum(points) + seen[-1][0], len(seen)


def chosen_or_bound_anew(x: Any, n: int) -> Any:
    ups, all_of_them = [v for v in x if v > 0], [x[0], x[1], x[2] * x[3]]
    chosen = ups if x[2] > 0 else all_of_them
    total = len(chosen) + sum(chosen) + chosen[0] + np.max(chosen)
    if x[3] > 0:
        chosen = [x[4]]
    ups = list(chosen)
    ups.append(x[5])
    return total, sum(chosen), ups[-2] * sum(ups)


def side_by_side(x: Any, n: int) -> Any:
    ups, squares, total = [], [], 0.0
    for v in x:
        if v > 0:
            ups.append(v)
            squares.append(v * v)
    for i, (a, b) in enumerate(zip(ups, squares, strict=True)):
        if b > 3.0:
            break
        total += a * b + i
    pairs = [a - b for a, b, _ in zip(ups, squares, x[: len(ups)], strict=True)]
    return total, sum(pairs), any(a > 1.0 for a, _ in zip(ups, squares, strict=True))


def array_of_tuples(x: Any, n: int) -> Any:
    triples, pairs = [], [(0, 1)]
    for i in range(8):
        if x[i] > 0:
            triples.append((x[i], i, 2.0))
            pairs.append((i, 2 * i))
        if x[i] > 1:
            break
    windows = [(x[i : i + 2], 2.0 * x[i : i + 2]) for i in range(8) if x[i] < 0.5]
    m = np.array(triples)
    return m.sum(axis=0), m[:, 0].max(), len(m), np.array(pairs).sum(), np.array(windows).sum(axis=0)


def every_third(x: Any, n: int) -> Any:
    out, more, flag = [], [], False
    for i in range(9):
        flag = not flag
        if i % 3 == 0:
            out.append(x[i])
        if flag:
            more.append(x[i])
    return np.array(out), more


FRONTS = [
    positive_ones, written_into_an_array, until_a_break, until_a_return, as_many_as_are_counted, nearest_smaller,
    hull_from_below, longest_increasing, depth_first, peaks_with_places, rows_by_condition, read_by_a_list, in_two_loops,
    several_under_conditions, all_elements_in_each_step, chosen_by_key, copies_of_it, looked_for, held_by_others,
    one_of_two_lists, one_of_three_lists, one_of_an_objects, side_by_side, chosen_or_bound_anew, left_early, clipped_polygon,
    array_of_tuples, every_third,
]  # fmt: skip
