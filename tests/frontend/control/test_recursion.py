"""Functions that call themselves until data end it."""

import numpy as np
import pytest

import pliant
from pliant.frontend.control import recursion
from pliant.testing import check_gradient

rng = np.random.default_rng(0)


def quicksort(x):
    if len(x) <= 1:
        return x
    pivot = x[len(x) // 2]
    return np.concatenate([quicksort(x[x < pivot]), x[x == pivot], quicksort(x[x > pivot])])


def partitioned(x):
    x = x.copy()

    def sort(low, high):
        if low >= high:
            return
        pivot, i = x[high], low
        for j in range(low, high):
            if x[j] < pivot:
                x[i], x[j] = x[j], x[i]
                i += 1
        x[i], x[high] = x[high], x[i]
        sort(low, i - 1)
        sort(i + 1, high)

    sort(0, len(x) - 1)
    return x


def filled(image, row, column):
    image = image.copy()
    old = image[row, column]

    def fill(i, j):
        if i < 0 or j < 0 or i >= image.shape[0] or j >= image.shape[1] or image[i, j] != old:
            return
        image[i, j] = 9
        for di, dj in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            fill(i + di, j + dj)

    fill(row, column)
    return image


def empty_place(board):
    for i in range(board.shape[0]):
        for j in range(board.shape[1]):
            if board[i, j] == 0:
                return i, j
    return None


def fits(board, n, i, j):
    return n not in board[i] and n not in board[:, j]


def solved(board):
    """A latin square, by backtracking."""
    board = board.copy()

    def solve():
        place = empty_place(board)
        if not place:
            return True
        for n in range(1, len(board) + 1):
            if fits(board, n, *place):
                board[place] = n
                if solve():
                    return True
                board[place] = 0
        return False

    assert solve()
    return board


def area(k, depth=None):
    """Adaptive quadrature."""

    def f(x):
        return np.exp(-k * x * x)

    def simpson(a, b):
        return (b - a) / 6 * (f(a) + 4 * f((a + b) / 2) + f(b))

    def rec(a, b, tolerance, depth):
        c = (a + b) / 2
        whole, halves = simpson(a, b), simpson(a, c) + simpson(c, b)
        if depth == 0 or abs(halves - whole) < 15 * tolerance:
            return halves + (halves - whole) / 15
        rest = None if depth is None else depth - 1
        return rec(a, c, tolerance / 2, rest) + rec(c, b, tolerance / 2, rest)

    return rec(0.0, 3.0, 1e-5, depth)


PROGRAMS = [
    (quicksort, (rng.normal(size=9),), (np.array([2.0, 1.0, 1.0, 3.0, 3.0, 0.0, 5.0, 4.0, 9.0]),)),
    (partitioned, (np.array([3.0, 1, 2, 5, 4]),), (np.array([1.0, 2, 3, 4, 5]),)),
    (filled, (np.array([[1, 1, 0], [0, 1, 0], [1, 0, 1]]), 0, 0), (np.array([[0, 1, 0], [0, 0, 0], [1, 0, 1]]), 1, 1)),
    (solved, (np.array([[1, 0, 3], [0, 0, 0], [0, 0, 2]]),), (np.array([[0, 2, 0], [2, 0, 0], [0, 0, 0]]),)),
    (area, (1.3,), (0.2,)),
]


@pytest.mark.parametrize(("f", "first", "other"), PROGRAMS, ids=[p[0].__name__ for p in PROGRAMS])
def test_data_decide_how_often_a_function_calls_itself(f, first, other):
    compiled = pliant.jit(f)
    for args in (first, other, first):
        np.testing.assert_allclose(compiled(*args), f(*args), rtol=1e-14)


def test_gradients_go_through_such_calls():
    check_gradient(area, 1.3)
    check_gradient(lambda x: quicksort(x) @ np.arange(6.0), np.array([3.0, -1, 2, 7, 5, 0]))


def test_what_data_cannot_decide_takes_as_long_as_it_takes(monkeypatch):
    monkeypatch.setattr(recursion, "DEEP", 1)
    monkeypatch.setattr(recursion, "MOST", 3)

    def areas(ks):
        return [area(k, 3) for k in ks]

    program = pliant.trace(areas, np.ones(2))
    ks = np.array([1.3, 0.2])
    np.testing.assert_allclose(pliant.evaluate(program, ks), areas(ks), rtol=1e-14)

    def total(ks):
        return pliant.fori_loop(0, len(ks), lambda i, made: made + area(ks[i], 3), 0.0)

    np.testing.assert_allclose(pliant.jit(total)(ks), sum(areas(ks)), rtol=1e-14)


def tree(x, depth):
    if depth == 0:
        return x.sum()
    if x[0] > 0:
        return tree(x * 0.9 - 0.05 * depth, depth - 1) + 1.0
    return tree(x + 0.3, depth - 1)


def test_a_function_that_calls_itself_under_few_conditions_is_for_all_data(monkeypatch):
    monkeypatch.setattr(recursion, "DEEP", 3)
    monkeypatch.setattr(recursion, "MOST", 100)

    def run(x):
        return tree(x, 6)

    def called(k, x):
        return called(k - 1, x) if k else compiled(x)

    compiled = pliant.jit(run)
    for x in rng.normal(size=(4, 3)):
        np.testing.assert_allclose(called(9, x), run(x), rtol=1e-14)
    (entries,) = compiled.entries.values()
    assert [entry.program.decided for entry in entries] == [None]


def test_a_function_that_counts_its_calls_and_has_too_many_ways_is_for_some_data():
    def root(c, a, b, n):
        m = (a + b) / 2
        if n == 0:
            return m
        return root(c, a, m, n - 1) if (a * a - c) * (m * m - c) <= 0 else root(c, m, b, n - 1)

    def f(c):
        return root(c, 0.0, 3.0, 40)

    compiled = pliant.jit(f)
    for c in (2.0, 3.0, 7.5, 2.0):
        assert compiled(c) == f(c)
