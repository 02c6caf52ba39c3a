"""Small programs of heaps, and of tuples and lists that are put in order; x: f64[9], n: int."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np


def heap_sort(x: Any, n: int) -> Any:
    heap = list(x)
    heapq.heapify(heap)
    before = np.array(heap)
    return before, np.array([heapq.heappop(heap) for _ in range(len(heap))])


def shortest_ways(x: Any, n: int) -> Any:
    weights = np.abs(x[:, None] - 2.0 * x[None, :]) + 0.1
    found, is_done = np.full(9, np.inf), np.zeros(9, bool)
    found[0] = 0.0
    heap = [(0.0, 0)]
    while heap:
        d, u = heapq.heappop(heap)
        if is_done[u]:
            continue
        is_done[u] = True
        for v in range(9):
            if weights[u, v] < 1.0 and d + weights[u, v] < found[v]:
                found[v] = d + weights[u, v]
                heapq.heappush(heap, (found[v], v))
    return np.where(np.isfinite(found), found, -1.0), is_done.sum()


def three_largest(x: Any, n: int) -> Any:
    heap = []
    for v in x:
        if len(heap) < 3:
            heapq.heappush(heap, v)
        elif v > heap[0]:
            heapq.heapreplace(heap, v)
    return np.array(heap)


def of_a_window(x: Any, n: int) -> Any:
    heap = list(x[:4])
    heapq.heapify(heap)
    out = [heapq.heappushpop(heap, v) for v in x[4:]]
    return np.array(heap), np.array(out)


def two_servers(x: Any, n: int) -> Any:
    free, ends = [0.0, 0.0], []
    for start, time in zip(np.cumsum(np.abs(x)), 2.0 * np.abs(x[::-1]), strict=True):
        end = max(start, heapq.heappop(free)) + time
        ends.append(end)
        heapq.heappush(free, end)
    return np.array(ends)


def merged_pairs(x: Any, n: int) -> Any:
    heap = [(abs(v) + 0.01 * i * i, i) for i, v in enumerate(x)]
    heapq.heapify(heap)
    total, number = 0.0, 9
    while len(heap) > 1:
        a, i = heapq.heappop(heap)
        b, j = heapq.heappop(heap)
        total += (a + b) * (1 + (i + j) % 3)
        heapq.heappush(heap, (a + b, number))
        number += 1
    return total


def only_the_positive(x: Any, n: int) -> Any:
    heap = []
    for i, v in enumerate(x):
        if v > 0:
            heapq.heappush(heap, (v, i))
    total = 0.0
    while heap:
        v, i = heapq.heappop(heap)
        total = total * 0.5 + v * i
    return total


def pairs_in_order(x: Any, n: int) -> Any:
    pairs = [(np.floor(v), -v) for v in x]
    least, count = pairs[0], 0
    for pair in pairs[1:]:
        if pair < least:
            least = pair
        count += pair >= pairs[0]
    return least[0], least[1], count, (x[0], 1) < (x[0], 1, 2), [x[1]] > [x[2]], (1, x[0]) <= (1, x[1]) <= (2, x[0])


def appended_and_written(x: Any, n: int) -> Any:
    out, other = [], [0.0]
    for v in x:
        if v > 0:
            out.append(v)
            out[0] = v * 2
            out[-1] += 1.0
        else:
            other[0] += v
            other.append(v)
    return sum(out), len(out), sum(other), other[0]


def appended_or_written(x: Any, n: int) -> Any:
    out = [x[0], x[1]]
    if x[2] > 0:
        out.append(x[3])
    else:
        out[1] = x[4]
        out[0] *= 2.0
    return sum(out), out[1], out[0], len(out)


HEAPS = [
    heap_sort, shortest_ways, three_largest, of_a_window, two_servers, merged_pairs, only_the_positive, pairs_in_order,
    appended_and_written, appended_or_written,
]  # fmt: skip
