"""bisect in lists, arrays and lists of unknown length: what Python finds, and what it raises."""

from __future__ import annotations

import bisect
import heapq
from bisect import bisect_right
from typing import Any

import numpy as np
import pytest

import pliant

X = np.array([1.0, -2.0, 3.0, 0.5, 2.0, 7.0, 0.5])
EDGES = [0.0, 1.0, 2.5]


def longest_rise(x: Any) -> Any:
    tails = []
    for v in x:
        k = bisect.bisect_left(tails, v)
        if k == len(tails):
            tails.append(v)
        else:
            tails[k] = v
    return len(tails), sum(tails)


def longest_rise_in_room(x: Any) -> Any:
    tails, n = [0.0] * len(x), 0
    for v in x:
        k = bisect.bisect_left(tails, v, 0, n)
        tails[k] = v
        if k == n:
            n += 1
    return n, tails[0] * tails[n - 1]


def in_parts(x: Any) -> Any:
    ordered, total = sorted(x), 0
    for i in range(len(x)):
        total += bisect_right(ordered, x[i]) + bisect.bisect(ordered, x[i], 0, i) * bisect.bisect_left(ordered, x[i], i)
    return total * x[0]


def among_what_is_known(x: Any) -> Any:
    total = 0.0
    for v in x:
        total += bisect.bisect(EDGES, v) * v
    return total, [bisect.bisect_left(EDGES, v) for v in x]


def in_an_array(x: Any) -> Any:
    sums, y = np.cumsum(abs(x)), np.zeros(4)
    for i in range(4):
        y[i] = x[bisect.bisect(sums, i * 2.0)]
    return y, bisect.bisect(sums[: bisect.bisect(sums, 4.0)], 3.0)


def while_the_list_grows(x: Any) -> Any:
    sums, total = [], 0
    for v in x:
        total += bisect.bisect_left(sums, abs(v)) * v
        sums.append((sums[-1] if sums else 0.0) + abs(v))
    return total, bisect.bisect(sums, 3.0)


def by_keys_and_tuples(x: Any) -> Any:
    points = [(v, i) for i, v in enumerate(sorted(x))]
    return bisect.bisect(points, (x[2], 0)), bisect.bisect_left(points, x[2], key=lambda p: p[0])


def beyond_all(x: Any) -> Any:
    ups = [v for v in sorted(x) if v > 0]
    ends = [bisect.bisect_left(ups, 100.0), bisect.bisect_left(ups, np.nan), bisect.bisect(ups, np.nan)]
    return ends, bisect.bisect([], x[0]), bisect.bisect(ups, x[3], 2, 2), bisect.bisect(ups, x[3], 3, 1)


PROGRAMS = (
    longest_rise, longest_rise_in_room, in_parts, among_what_is_known, in_an_array, while_the_list_grows,
    by_keys_and_tuples, beyond_all,
)  # fmt: skip


def flat(tree: Any) -> Any:
    if isinstance(tree, tuple | list):
        return np.concatenate([flat(part) for part in tree])
    return np.ravel(tree)


@pytest.mark.parametrize("f", PROGRAMS)
def test_what_is_found_is_what_python_finds(f: Any) -> None:
    for x in (X, -X, X * 3, np.sort(X)):
        for backend in ("reference", "llvm"):
            np.testing.assert_allclose(flat(pliant.jit(f, backend=backend)(x)), flat(f(x)), rtol=1e-12)
    xs = np.stack([X, -X, X * 3])
    batch = pliant.vmap(lambda x: np.stack([part * 1.0 for part in flat_parts(f(x))]))(xs)
    np.testing.assert_allclose(batch, [flat(f(x)) for x in xs], rtol=1e-12)


def flat_parts(tree: Any) -> list[Any]:
    if isinstance(tree, tuple | list):
        return [leaf for part in tree for leaf in flat_parts(part)]
    return [tree] if np.ndim(tree) == 0 else list(tree)


@pytest.mark.parametrize("f", [longest_rise, longest_rise_in_room, in_an_array, while_the_list_grows])
def test_slopes_are_those_of_differences(f: Any) -> None:
    def loss(x: Any) -> Any:
        return sum([part * (n + 1.0) for n, part in enumerate(flat_parts(f(x)))])

    x, way, step = X * 1.01 + np.arange(7.0) * 0.013, np.cos(np.arange(7.0)), 1e-6
    expected = (loss(x + step * way) - loss(x - step * way)) / (2 * step)
    assert pliant.grad(loss)(x) @ way == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("f", [longest_rise, longest_rise_in_room, while_the_list_grows])
def test_a_loop_around_it_is_a_loop_of_the_program(f: Any) -> None:
    assert "unrolled" not in str(pliant.explain(f, X))


def test_bounds_that_the_list_does_not_have_are_errors() -> None:
    def place(x: Any, lo: int, hi: int) -> Any:
        return bisect.bisect_left(sorted(x), x[0], lo, hi)

    compiled = pliant.jit(place)
    for bounds in ((0, 3), (2, 7), (0, 0), (0, -2), (3, 2), (0, 9)):
        assert compiled(X, *bounds) == place(X, *bounds)
    for bounds, kind in (((-1, 3), ValueError), ((0, 60), IndexError)):
        for f in (place, compiled):
            with pytest.raises(kind):
                f(X, *bounds)


def test_what_is_found_may_lie_behind_the_end_where_the_search_begins_there() -> None:
    def f(sorted: Any, x: Any) -> Any:
        total = 0.0
        for j in range(12):
            i = bisect.bisect_right(sorted, 0.3, j)
            total += x[:i].sum() + i
        return total

    x = np.arange(20.0)
    np.testing.assert_array_equal(pliant.jit(f)(np.linspace(0, 1, 8), x), f(np.linspace(0, 1, 8), x))


@pytest.mark.parametrize("f", [heapq.heappop, lambda heap: heapq.heapreplace(heap, 1.0)])
def test_an_empty_heap_has_no_least_element(f: Any) -> None:
    def least(x: Any) -> Any:
        heap = [v for v in x if v > 2]
        f(heap)
        return f(heap)

    compiled = pliant.jit(least)
    assert compiled(np.array([3.0, 4.0])) == least(np.array([3.0, 4.0]))
    with pytest.raises(IndexError, match="index out of range"):
        compiled(np.array([1.0, 2.0]))


def test_heaps_of_known_numbers_are_pythons() -> None:
    def least(x: Any) -> Any:
        heap = [3, 1, 2]
        heapq.heapify(heap)
        heapq.heappush(heap, 0)
        return x * heapq.heappop(heap) + heap[0]

    assert pliant.jit(least)(2.0) == least(2.0)
