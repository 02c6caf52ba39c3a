# ruff: noqa: RUF005, RUF007 (that lists are added, and that they are zipped, is what is tested)
"""Small programs of parts of lists whose lengths are known only at run time, of such lists put together, and of elements
put into them and taken out; x: f64[9], n: int."""

from __future__ import annotations

import bisect
import heapq
import itertools
from typing import Any


def weighted(elements: Any) -> Any:
    return sum(v * (k + 1) for k, v in enumerate(elements))


def parts(x: Any, n: int) -> Any:
    out = [v for v in x if v > 0.3]
    half = len(out) // 2
    return (
        weighted(out[1:]), weighted(out[:-1]), weighted(out[::-1]), weighted(out[-3:]), weighted(out[::2]),
        weighted(out[half:]) - sum(out[:half]), len(out[2:]), max(out[1:], default=n), weighted(out[1:][::-1]),
    )  # fmt: skip


def neighbours(x: Any, n: int) -> Any:
    out = [v for v in x if v > -0.5]
    total = 0.0
    for k, (u, v) in enumerate(zip(out, out[1:], strict=False), 1):
        total += k * (u - v) ** 2
    for u, v in itertools.pairwise(out):
        total += u * v
    for i, u in enumerate(out):
        for v in out[i + 1 :]:
            total += abs(u - v)
    for i in range(0, len(out), 2):
        total += sum(out[i : i + 2]) ** 2
    return total


def put_together(x: Any, n: int) -> Any:
    ups, downs = [v for v in x if v > 0], [v * 2 for v in x if v < 0.5]
    both = ups + downs
    copy = both.copy()
    copy.extend(ups)
    copy += [x[0], x[1]]
    copy += downs
    return (
        weighted(both),
        weighted([x[3], *ups, 1.0, *downs]),
        weighted(ups * 2),
        weighted(copy),
        weighted([x[2]] + ups),
    )


def of_pairs(x: Any, n: int) -> Any:
    out = [(k, v) for k, v in enumerate(x) if v > 0.3]
    first, *rest = [(0, 1.0), *out, (n, x[0])]
    return first[1] + sum(k * v for k, v in rest) + sum(v for _, v in reversed(out[1:]))


def taken_out(x: Any, n: int) -> Any:
    out = [1.0, 2.0, *[v for v in x if v > 0]]
    first, second, last = out.pop(0), out.pop(1) if len(out) > 2 else 0.0, out.pop(-1)
    total = 0.0
    while out:
        total = total * 0.5 + out.pop(0)
    return first, second, last, total


def put_in(x: Any, n: int) -> Any:
    out = [v for v in x if v > 0]
    out.insert(0, x[1])
    out.insert(2, x[2] * 2)
    out.insert(len(out) // 2, x[3])
    out.insert(-1, x[4])
    out.insert(100, x[5])
    out.reverse()
    return weighted(out)


def looked_for(x: Any, n: int) -> Any:
    out = [x[4], *[v for v in x if v > 0], x[6]]
    k = out.index(x[6])
    out.remove(x[4])
    return k, out.count(x[6]), weighted(out), [x[0], x[1], x[2]].index(min([x[0], x[1], x[2]]))


def deleted(x: Any, n: int) -> Any:
    out = [x[0], x[1], *[v for v in x if v > 0]]
    del out[0]
    del out[-1]
    some = list(x)
    if x[0] > 0:
        del some[0]
    for i in range(3):
        if x[i] > 0.1:
            del some[i], some[-1]
    out[1:2] = [x[3], x[4]]
    out[:1] = some
    return weighted(out), weighted(some)


def kept_short(x: Any, n: int) -> Any:
    window, total = [], 0.0
    for v in x:
        window.append(v)
        if len(window) > 3:
            window.pop(0)
        total += max(window) * len(window)
    return total


def bound_to_its_last_ones(x: Any, n: int) -> Any:
    tail, total = [], 0.0
    for v in x:
        tail.append(v)
        tail = tail[-3:]
        total += weighted(tail)
    return total


def ordered_as_they_come(x: Any, n: int) -> Any:
    ups, every, downs = [], [], []
    for v in x:
        bisect.insort(every, v)
        bisect.insort_left(downs, v, key=lambda u: -u)
        if v > 0.3:
            bisect.insort(ups, v)
    return weighted(ups), weighted(every), weighted(downs)


def sorted_by_insertion(x: Any, n: int) -> Any:
    out = []
    for v in x:
        i = len(out)
        while i > 0 and out[i - 1] > v:
            i -= 1
        out.insert(i, v)
    return weighted(out)


def median_that_moves(x: Any, n: int) -> Any:
    window, total = sorted(x[:3]), 0.0
    for i in range(3, 9):
        window.remove(x[i - 3])
        bisect.insort(window, x[i])
        total += window[1] * i
    return total


def one_is_left(x: Any, n: int) -> Any:
    circle, i, total = list(range(9)), 0, 0.0
    while len(circle) > 1:
        i = (i + n) % len(circle)
        total += x[circle.pop(i)] * len(circle)
    return total + x[circle[0]]


def added_up_in_pairs(x: Any, n: int) -> Any:
    out = [1.0, *[v for v in x if v > 0]]
    while len(out) > 1:
        out.append(out.pop(0) * 0.9 + out.pop(0))
    return out[0]


def accumulated(x: Any, n: int) -> Any:
    out = [v for v in x if v > 0]
    sums = list(itertools.accumulate(out))
    return weighted(sums), weighted(itertools.accumulate(out, max)), weighted(itertools.accumulate(out, initial=x[0]))


def quick(elements: Any, depth: int) -> Any:
    if depth == 0 or len(elements) <= 1:
        return sorted(elements)
    first, rest = elements[0], elements[1:]
    return [
        *quick([v for v in rest if v < first], depth - 1),
        first,
        *quick([v for v in rest if v >= first], depth - 1),
    ]


def sorted_by_parts(x: Any, n: int) -> Any:
    return weighted(quick([v for v in x], 2))


def compared(x: Any, n: int) -> Any:
    ups, others = [v for v in x if v > 0], [v for v in x if v >= 0]
    same = ups == others
    some = x[0] if ups == [] else x[1]
    more = x[2] if ups != others + [1.0] else x[3]
    return same, some, more, [x[0], x[1]] == [x[0], x[1]], (x[0], n) == (x[0], 4)


def largest_and_smallest(x: Any, n: int) -> Any:
    ups = [v for v in x if v > 0]
    first, last = heapq.nlargest(3, x), heapq.nsmallest(2, list(x))
    return weighted(first), weighted(last), weighted(heapq.nlargest(2, ups)), sum(heapq.nsmallest(20, ups, key=abs))


SECTIONS = (
    parts, neighbours, put_together, of_pairs, taken_out, put_in, looked_for, deleted, kept_short, ordered_as_they_come,
    sorted_by_insertion, median_that_moves, one_is_left, added_up_in_pairs, accumulated, compared,
    sorted_by_parts, largest_and_smallest,
)  # fmt: skip
UNROLLED = (bound_to_its_last_ones,)
