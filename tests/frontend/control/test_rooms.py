# ruff: noqa: PERF401 (that such loops are loops is what is tested)
"""Lists to which as many elements are added as nothing bounds: stacks, queues, and what data count."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.backends.llvm.kept import all_nodes
from pliant.compiled import Compiled
from pliant.errors import UnsupportedError

FIRST = 1 << 10  # elements for which there is room at first


def flooded(height: Any) -> Any:
    n, m = height.shape
    seen = np.zeros((n, m), dtype=bool)
    stack = [(0, 0)]
    total, most = 0.0, 0
    while stack:
        i, j = stack.pop()
        if seen[i, j]:
            continue
        seen[i, j] = True
        total += height[i, j]
        for di, dj in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            a, b = i + di, j + dj
            if 0 <= a < n and 0 <= b < m and not seen[a, b] and height[a, b] < 0.7:
                stack.append((a, b))
        most = max(most, len(stack))
    return total, most, seen


def halves(x: Any) -> Any:
    queue: list[Any] = [x[0]]
    total, head = 0.0, 0
    while head < len(queue):
        v = queue[head]
        head += 1
        total += v * v
        if v > x[1]:
            queue.append(v * 0.5)
            queue.append(v * 0.3)
    return total, len(queue)


def quadrature(w: Any) -> Any:
    def f(x: Any) -> Any:
        return np.sin(w[0] * x) / (1 + x * x)

    stack: list[Any] = [(0.0, 3.0, w[1] * 1e-4)]
    total = 0.0
    while stack:
        a, b, tolerance = stack.pop()
        m = 0.5 * (a + b)
        one, two = (b - a) * f(m), 0.5 * (b - a) * (f(0.5 * (a + m)) + f(0.5 * (m + b)))
        if abs(one - two) < tolerance:
            total += two
        else:
            stack.append((a, m, tolerance / 2))
            stack.append((m, b, tolerance / 2))
    return total


def counted_by_data(x: Any) -> Any:
    out: list[Any] = []
    for i in range(int(x[0])):
        out.append(x[i % len(x)] * i)
    return sum(out), len(out)


def grown_in_loops_in_loops(x: Any) -> Any:
    stack, total = [x[0]], 0.0
    while stack:
        v = stack.pop()
        while v > x[1]:
            v = v * 0.5
            stack.append(v * 0.4)
        for k in range(2):
            if v > 0.1 * k:
                total += v
                if len(stack) < 3:
                    stack.append(v * 0.01)
    return total


def filled_under_a_condition(x: Any) -> Any:
    found, v = [0.0], x[0]
    if x[1] > 0:
        while v > 0.1:
            v *= 0.7
            found.append(v)
    return np.array(found).sum(), len(found)


def labelled(x: Any) -> Any:
    mask, (h, w), count = x > 0.5, x.shape, 0
    labels = np.zeros((h, w), int)
    for i in range(h):
        for j in range(w):
            if mask[i, j] and labels[i, j] == 0:
                count += 1
                labels[i, j] = count
                stack = [(i, j)]
                while stack:
                    y, k = stack.pop()
                    for dy, dk in ((0, 1), (1, 0), (0, -1), (-1, 0)):
                        a, b = y + dy, k + dk
                        if 0 <= a < h and 0 <= b < w and mask[a, b] and labels[a, b] == 0:
                            labels[a, b] = count
                            stack.append((a, b))
    return labels, count


def written_anew(x: Any) -> Any:
    x[0] += 1
    queue, total = [x[0]], 0.0
    while queue:
        v = queue.pop(0)
        x[1] += 1
        total += v
        if v > 1e-3 * x[2]:
            queue.extend([v * 0.5, v * 0.5])
    return total


FEW, MANY = np.array([3.0, 1.0, 0.1]), np.array([3000.0, 1.0, 0.001])
PROGRAMS: dict[str, tuple[Callable[[Any], Any], Any, Any]] = {
    "flooded": (flooded, np.random.default_rng(1).uniform(size=(12, 11)), np.zeros((50, 40))),
    "labelled": (labelled, np.random.default_rng(2).uniform(size=(12, 11)), np.zeros((12, 11))),
    "halves": (halves, FEW, MANY),
    "quadrature": (quadrature, np.array([1.5, 1.0]), np.array([9.0, 1e-5])),
    "counted_by_data": (counted_by_data, np.array([40.7, 2.0]), np.array([5000.2, 2.0])),
    "grown_in_loops_in_loops": (grown_in_loops_in_loops, FEW, np.array([3e6, 0.02, 1.0])),
    "filled_under_a_condition": (filled_under_a_condition, FEW, -FEW),
    "written_anew": (written_anew, np.array([0.5, 0.0, 9.0]), np.array([7.0, 0.0, 1.0])),
}


def parts(x: Any) -> list[Any]:
    return [*x] if type(x) is tuple else [x]


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_values_are_those_of_python(name: str) -> None:
    f, few, many = PROGRAMS[name]
    compiled = pliant.jit(f)
    for x in (few, few, few, many, few, many, many):  # native code answers some of these calls
        given, expected = x.copy(), x.copy()
        for a, b in zip(*map(parts, (compiled(given), f(expected))), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-11)
        np.testing.assert_array_equal(given, expected)


def test_a_longer_list_is_made_again_with_more_room() -> None:
    f = Compiled(counted_by_data)
    for n in (FIRST - 1, FIRST, FIRST + 1, 40 * FIRST):
        assert f(np.array([n, 0.5])) == counted_by_data(np.array([n, 0.5]))
    assert sum(map(len, f.entries.values())) == 1


def first_of(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: f(x)[0]


@pytest.mark.parametrize("f", [first_of(halves), quadrature, first_of(filled_under_a_condition)])
def test_derivatives_are_those_of_differences(f: Callable[[Any], Any]) -> None:
    x, d, h = np.array([3.0, 0.7]), np.array([0.3, 0.0]), 1e-6
    expected = (f(x + h * d) - f(x - h * d)) / (2 * h)
    np.testing.assert_allclose(pliant.grad(f)(x) @ d, expected, rtol=1e-6)
    np.testing.assert_allclose(pliant.jvp(f, (x,), (d,))[1], expected, rtol=1e-6)


def test_a_derivative_is_made_again_with_more_room() -> None:
    g = pliant.grad(first_of(counted_by_data))
    for n in (10.1, 1000.1, 3000.1):
        np.testing.assert_allclose(g(np.array([n, 2.0])), [sum(range(0, int(n), 2)), sum(range(1, int(n), 2))])


@pytest.mark.parametrize("f", [halves, counted_by_data])
def test_a_batch_is_each_of_its_problems(f: Callable[[Any], Any]) -> None:
    xs = np.array([[3.0, 0.7], [1500.0, 0.4], [0.5, 1.0]])
    found = pliant.vmap(f)(xs)
    np.testing.assert_allclose(np.stack(found, 1), [f(x) for x in xs], rtol=1e-12)


@pytest.mark.usefixtures("for_all_data")
def test_memory_that_is_donated_would_be_lost() -> None:
    with pytest.raises(UnsupportedError, match="as many as nothing bounds"):
        pliant.jit(halves, donate="x")(np.array([3.0, 0.7]))


def spread(x: Any) -> Any:
    """Places reached from those above a level, through a stack that starts from one known element at each."""
    seen = np.zeros(len(x), dtype=np.uint8)
    stack: list[Any] = []
    for i in range(len(x)):
        if x[i] >= 0.8 and seen[i] == 0:
            seen[i] = 1
            stack.append((i, 0))
            while stack:
                a, steps = stack.pop()
                for step in (-1, 0, 1):
                    b = a + step
                    if 0 <= b < len(x) and seen[b] == 0 and x[b] > 0.3 and steps < 3:
                        seen[b] = 2
                        stack.append((b, steps + 1))
    return seen


def test_a_stack_with_a_known_element_is_asked_whether_it_is_empty():
    x = np.array([0.4, 0.1, 0.9, 0.5, 0.4, 0.6, 0.7, 0.2, 0.85])
    np.testing.assert_array_equal(pliant.jit(spread)(x), spread(x))


def found_early(x: Any) -> Any:
    """Stacks that are left with elements, as a search ends, and one that is used again after it was emptied."""
    total = 0.0
    stack: list[Any] = []
    for i in range(len(x)):
        stack.append(i)
        while len(stack) > 0:
            a = stack.pop()
            if x[a] > 0.6:
                total += x[a] * 10
                break
            if a > 1:
                stack.append(a - 2)
                stack.append(a - 1)
            total += x[a]
        total += len(stack)
        while stack:
            total += stack.pop() * 0.001
        stack.append(i)
        total += len(stack) * stack[0]
    return total


def kept_apart(x: Any) -> Any:
    """A list that becomes as long as the one that is asked for in each step; there may be none."""
    stack: list[Any] = []
    other = [x[0], x[1], x[2]]
    if x[0] > 1:
        stack.append(x[0])
    while stack:
        a = stack.pop()
        if a < 3:
            stack.append(a + 1)
            stack.append(a + 2)
        other[:] = [b * 2 for b in stack]
    return len(other), sum(other), len(stack)


@pytest.mark.parametrize("first", [0.5, 1.5, 4.0])
def test_only_the_list_that_is_asked_for_is_empty_after_a_loop(first: float):
    x = np.array([first, 2.0, 0.25])
    np.testing.assert_allclose(pliant.jit(kept_apart)(x), kept_apart(x))


def test_a_loop_around_one_that_empties_a_list_is_a_loop():
    x = np.array([0.4, 0.1, 0.9, 0.5, 0.4, 0.6, 0.7, 0.2, 0.85])
    sizes = [len([*all_nodes(pliant.trace(spread, xs))]) for xs in (x, np.tile(x, 3))]
    assert sizes[1] < 1.1 * sizes[0]


def test_a_list_that_a_search_leaves_early_has_elements_still():
    x = np.array([0.4, 0.1, 0.3, 0.5, 0.4, 0.61, 0.2, 0.85])
    np.testing.assert_allclose(pliant.jit(found_early)(x), found_early(x))
