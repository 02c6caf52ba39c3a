# ruff: noqa: PERF401 (that such loops are loops is what is tested)
"""Small programs of lists and comprehensions in loops, and of forms of Python beside them; x: f64[9], n: int."""

from __future__ import annotations

import math
from collections import defaultdict, deque
from dataclasses import dataclass
from functools import partial
from heapq import heappop, heappush
from typing import Any

import numpy as np


def appended_and_read(x: Any, n: int) -> Any:
    ys = [x[0]]
    for i in range(8):
        ys.append(ys[-1] * 0.5 + x[i] * len(ys))
    return np.array(ys) + ys[-1] + ys[3] + sum(ys)


def two_before(x: Any, n: int) -> Any:
    ys = [1.0, 1.0]
    for i in range(2, 9):
        ys.append(ys[i - 1] * x[i] + ys[i - 2])
    return np.array(ys)


def appended_states(x: Any, n: int) -> Any:
    before, after = [], [x]
    for _ in range(7):
        before.append(x)
        x = np.tanh(x) * 1.1
        after.append(x)
    x[0] = 5.0
    return np.stack(before), np.array(after), x


def appended_in_place(x: Any, n: int) -> Any:
    ys = []
    for _ in range(7):
        x *= 0.9
        ys.append(x)
        ys.append(x.copy())
    return np.stack(ys)


def written_after_it_was_appended(x: Any, n: int) -> Any:
    ys = []
    y = x * 2
    for i in range(7):
        y[i] = i
        y = y + 1
        ys.append(y)
    return np.stack(ys)


def elements_written_later(x: Any, n: int) -> Any:
    rows = []
    for i in range(6):
        rows.append(x * i)
    rows[2][0] = 7.0
    rows[3] += rows[2]
    return np.stack(rows), rows[2]


def two_at_a_step(x: Any, n: int) -> Any:
    ys = []
    for i in range(7):
        ys.extend([x[i], x[i + 1] ** 2])
        ys += [x[i] - 1]
    return np.array(ys)


def arrays_added(x: Any, n: int) -> Any:
    ys, both, table = [], [x * 3], {"a": []}
    for i in range(7):
        ys += [x * i]
        both += (y := x + i, y[2:5].sum() * x, ys[-1])
        table["a"] += [x[i : i + 2] * both[-1][1:3]]
    ys[2][1] = 5.0
    return np.array(ys), np.stack(both), np.array(table["a"])


def states_added(x: Any, n: int) -> Any:
    before, after, ends = [], [x], []
    for _ in range(7):
        before += [x]
        x = np.tanh(x) * 1.1
        after += [x]
        ends += [x[2:]]
    x[0] = 5.0
    return np.stack(before), np.array(after), np.stack(ends), x


def added_in_place(x: Any, n: int) -> Any:
    ys, z = [], x
    for i in range(7):
        z = x * i
        z *= 0.9
        ys += [z, z.copy(), z * x[0]]
        zs = ys
    ys[0][1] += 5.0
    zs[-1][2] += z[0]
    return np.stack(ys), np.array(zs), z


def pairs_appended(x: Any, n: int) -> Any:
    pairs = []
    for i in range(8):
        pairs.append((x[i], {"b": x[i + 1] ** 2}))
    return np.array([a * c["b"] for a, c in pairs])


def one_in_either_branch(x: Any, n: int) -> Any:
    ys = []
    for v in x:
        if v > 0:
            ys.append(v * 2)
        else:
            ys.append(-v)
    return np.array(ys)


def rows_of_a_table(x: Any, n: int) -> Any:
    table = []
    for i in range(6):
        row = []
        for j in range(7):
            row.append(x[i] * x[j])
        table.append(row)
    return np.array(table), table[3][4]


def numbers_stay_known(x: Any, n: int) -> Any:
    places = []
    for i in range(6):
        places.append(2 * i + 1)
    return np.zeros(places[-1]).sum() + x[places[1]], len(places)


def loop_over_a_list(x: Any, n: int) -> Any:
    ys, s = [], 0.0
    for v in x:
        ys.append(v * v)
    for a, y in zip(x, ys, strict=True):
        s += a * y
    return s


def list_of_an_object(x: Any, n: int) -> Any:
    log = History()
    for v in x:
        log.push(v * 2)
    return np.array(log.values) + log.total


class History:
    def __init__(self) -> None:
        self.values: list[Any] = []
        self.total: Any = 0.0

    def push(self, v: Any) -> None:
        self.values.append(v)
        self.total += v


def comprehensions(x: Any, n: int) -> Any:
    a = [v * v for v in x]
    table = [[x[i] * y for y in a] for i in range(9)]
    return np.array(table), np.array([v + w for v in a for w in a[:6]])


def folds_of_generators(x: Any, n: int) -> Any:
    total = sum(v * w for v, w in zip(x, x[::-1], strict=True) if v > 0 if w < 2)
    return total, max(v * v for v in x), min([abs(v) for v in x]), any(v > 2 for v in x), all(v > -2 for v in x)


def folds_of_arrays(x: Any, n: int) -> Any:
    return sum(x), max(x), min(x), sum(x[i] * i for i in range(n))


def inner_function_that_binds(x: Any, n: int) -> Any:
    total, count = 0.0, 0

    def add(v: Any) -> None:
        nonlocal total, count
        total += v * v
        count += 1

    for v in x:
        if v > 0:
            add(v)
    return total, count


def left_from_inside_a_with(x: Any, n: int) -> Any:
    s = 0.0
    with np.errstate(all="ignore"):
        for i in range(8):
            with np.errstate(divide="ignore"):
                s += 1 / (abs(x[i]) + 0.5)
                if s > 3:
                    break
            s *= 1.5
        if x[0] > 2:
            return s
        y = s + x[1]
    return y * 2


def tried(x: Any, n: int) -> Any:
    s = 0.0
    for i in range(8):
        try:
            s += 1 / x[i]
            if s > 3:
                continue
        except ZeroDivisionError:
            s = 0.0
        finally:
            s *= 0.5
        s += 1.0
    return s


def matched(x: Any, n: int) -> Any:
    s = 0.0
    for i in range(8):
        match i % 4:
            case 0 | 3:
                s += x[i]
            case k if k > 1:
                s -= k * x[i]
            case _:
                s *= 0.5
    return s


def members(x: Any, n: int) -> Any:
    s = 0.0
    for i in range(8):
        if i in (2, 5) or i not in range(1, 8, 2):
            s += x[i]
        if x[i] in x[3:6]:
            s += 10.0
    return s


def pythons_numbers(x: Any, n: int) -> Any:
    s = 0.0
    for v in x:
        s += math.sin(v) + math.sqrt(abs(float(v))) + int(3 * v) + round(v) + bool(v > 0) + math.floor(v)
    return s, x[int(n - 2)]


def iterators(x: Any, n: int) -> Any:
    s = 0.0
    for k, v in enumerate(x, start=2):
        s += v * k
    for (a, b), c in zip(zip(x, x[::-1], strict=True), x, strict=False):
        s += a * b - c
    for a, b in zip(*[x, x[::-1]], strict=True):
        s = s * 0.5 + a - b
    return s


def accepted_or_not(x: Any, n: int) -> Any:
    y, h, k = x, 0.5, 0
    while h > 0.01 and k < 40:
        new = y + h * np.sin(y)
        if np.max(np.abs(new - y)) < 0.2:
            y = new
        else:
            h = h * 0.7
        k += 1
    y[0] = 9.0
    return y, h, k


def rebound_until_close(x: Any, n: int) -> Any:
    r = x * 1.0
    while True:
        new = 0.5 * r + np.roll(r, 1) * 0.25
        if np.abs(new - r).max() < 0.1:
            return new
        r = new


def bound_to_one_of_two(x: Any, n: int) -> Any:
    y = x * 1.0
    z = y
    for i in range(6):
        new = x * 2 + i
        if x[i] > 0:
            y = new
            z = new
    y[0] = 9.0
    return y, z


def written_by_a_number(x: Any, n: int) -> Any:
    h, counts = [0.0] * 5, [0, 0, 0, 0]
    for i in range(9):
        h[i % 5 - 2] += x[i]
        h[0] = h[0] * 0.5
        k = int(abs(x[i]) * 1.5)
        counts[k] = counts[k] + 1
    return np.array(h), h[1] + h[-1], counts[1] * x[0], sum(counts)


def written_in_branches(x: Any, n: int) -> Any:
    h = [1.0] * 9
    for i in range(1, 9):
        for j in range(i):
            if x[j] < x[i] and h[j] * 2 > h[i]:
                h[i] = h[j] * 2 + x[i]
    return max(h), np.array(h)


def text_of_the_index(x: Any, n: int) -> Any:
    names = []
    for i in range(9):
        names.append(f"w{i}")
    return dict(zip(names, x, strict=True))["w3"] * 2


def row_after_row(x: Any, n: int) -> Any:
    before = list(range(7))
    for i in range(1, 7):
        now = [i] + [0] * 6
        for j in range(1, 7):
            now[j] = min(before[j] + 1, now[j - 1] + 1, before[j - 1] + abs(x[i - 1] - x[j]))
        before = now
    return before[6], np.array(before)


def queue_of_numbers(x: Any, n: int) -> Any:
    last, s = [0.0] * 3, 0.0
    for i in range(9):
        last = [x[i], *last[:-1]]
        older = last.copy()
        older[i % 3] = 1.0
        s = s * 0.5 + last[2] + sum(older)
    return s, last[0]


@dataclass(frozen=True)
class Pair:
    value: Any
    number: int


def objects_of_a_step(x: Any, n: int) -> Any:
    fs = [lambda v, k=k: v * k for k in range(6)]
    gs = [partial(np.multiply, k) for k in range(6)]
    pairs = []
    for i in range(6):
        pairs.append(Pair(x[i], i))
    return fs[3](x[0]) + gs[4](x[1]) + pairs[2].value * pairs[5].number


def queue(x: Any, n: int) -> Any:
    q, last, s = deque([x[0], x[1], x[2]]), deque(maxlen=3), 0.0
    for i in range(9):
        s = s * 0.9 + q.popleft()
        q.append(s * x[i])
        last.append(x[i])
        s += sum(last)
    if x[0] > 0:
        q.append(s)
        q.popleft()
    return s, q[0], q[-1]


def heap_and_iterator(x: Any, n: int) -> Any:
    heap, it, s = [], iter(x), 0.0
    for i in range(8):
        heappush(heap, -i)
        s += next(it) * i
    return s * x[-heappop(heap)], next(it, 0.0)


def table_with_a_default(x: Any, n: int) -> Any:
    sums = defaultdict(float)
    sums["a"] = x[1]
    if x[0] > 0:
        sums["a"] += x[2]
    else:
        sums["a"] = x[3] * 2
    return sums["a"] + sums["b"]


def neighbours_swapped_and_written(x: Any, n: int) -> Any:
    rows = [x[k : k + 2].copy() for k in range(7)]
    for i in range(len(rows) - 1):
        rows[i], rows[i + 1] = rows[i + 1], rows[i]
        rows[i][0] += x[i]
    return np.array(rows)


LISTS = (
    appended_and_read, two_before, appended_states, appended_in_place, written_after_it_was_appended,
    elements_written_later, two_at_a_step, arrays_added, states_added, added_in_place, pairs_appended,
    one_in_either_branch, rows_of_a_table, numbers_stay_known,
    loop_over_a_list, list_of_an_object, comprehensions, folds_of_generators, folds_of_arrays,
    inner_function_that_binds, left_from_inside_a_with, tried, matched, members, pythons_numbers, iterators,
    accepted_or_not, rebound_until_close, bound_to_one_of_two,
    written_by_a_number, written_in_branches, text_of_the_index, row_after_row, queue_of_numbers,
    objects_of_a_step, queue, heap_and_iterator, table_with_a_default, neighbours_swapped_and_written,
)  # fmt: skip
UNROLLED = (
    written_after_it_was_appended, added_in_place, text_of_the_index, objects_of_a_step, queue, heap_and_iterator,
    neighbours_swapped_and_written,
)  # fmt: skip
"""Of these, the ones whose loops have no form that a step keeps."""
