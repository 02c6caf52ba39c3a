"""Lists that a loop sorts by numbers that are known only at run time, as a simplex is: tuples of points and values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import UnsupportedError
from pliant.frontend.control.ordering import FEW
from pliant.testing import check_gradient

XS = [np.array(x) for x in ([[3.0, 1.0], [2.0, 2.0], [1.0, 0.5]], [[0.4, -0.3], [0.1, 0.3], [-2.0, 0.7]])]


def halved(points: Any) -> Any:
    rows = [(x, np.sum(x**2)) for x in points]
    steps = 0
    while True:
        rows.sort(key=lambda row: row[1])
        steps += 1
        if rows[0][1] < 1e-2 or steps > 20:
            return rows[0]
        x = 0.5 * rows[-1][0]
        if rows[1][1] < 1.0:
            del rows[-1]
            rows.append((x, np.sum(x**2)))
            continue
        nearer: list[Any] = []
        for x, _ in rows:
            nearer.append((0.7 * x, np.sum((0.7 * x) ** 2)))
        rows = nearer


@pytest.mark.parametrize("backend", ["llvm", "reference"])
def test_a_list_that_is_sorted_is_bound_to_another_one_in_some_steps(backend: str) -> None:
    compiled = pliant.jit(halved, backend=backend)
    slope = pliant.jit(pliant.grad(lambda x: np.sum(halved(x)[0])), backend=backend)
    for points in XS:
        for made, expected in zip(compiled(points), halved(points), strict=True):
            np.testing.assert_allclose(made, expected, rtol=1e-13)
        differences = np.zeros_like(points)
        for place in np.ndindex(*points.shape):
            step = np.zeros_like(points)
            step[place] = 1e-6
            differences[place] = (np.sum(halved(points + step)[0]) - np.sum(halved(points - step)[0])) / 2e-6
        np.testing.assert_allclose(slope(points), differences, rtol=1e-7, atol=1e-8)


def of_lists(points: Any) -> Any:
    rows = [[x, np.sum(x**2)] for x in points]
    steps = 0
    while True:
        rows.sort(key=lambda row: row[1])
        steps += 1
        if rows[0][1] < 1e-3 or steps > 20:
            return rows[0][0]
        rows[-1] = [0.5 * rows[-1][0], 0.25 * rows[-1][1]]


def of_lists_anew(points: Any) -> Any:
    rows = [[x, np.sum(x**2)] for x in points]
    steps = 0
    while True:
        rows = sorted(rows, key=lambda row: row[1])
        steps += 1
        if rows[0][1] < 1e-3 or steps > 20:
            return rows[0][0]
        rows[-1] = [0.5 * rows[-1][0], 0.25 * rows[-1][1]]


def test_an_error_says_that_elements_have_to_be_tuples() -> None:
    with pytest.raises(UnsupportedError, match="which are lists: tuples, as in"):
        pliant.jit(of_lists)(XS[0])


def read_after(points: Any) -> Any:
    rows = [[x, np.sum(x**2)] for x in points]
    first = rows[0]
    rows.sort(key=lambda row: row[1])
    rows.append([points[0], 0.5])
    rows = sorted(rows, key=lambda row: -row[1])
    return first[1], [row[1] for row in rows], rows[1][0] + first[0]


def written_after(points: Any) -> Any:
    rows = [[x, np.sum(x**2)] for x in points]
    rows.sort(key=lambda row: row[1])
    rows[0][1] = 7.0
    rows[1].append(1.0)
    return [row[1] for row in rows], len(rows[1])


def written_by_two_names(points: Any) -> Any:
    rows = [[x, np.sum(x**2)] for x in points]
    first = rows[0]
    rows.sort(key=lambda row: row[1])
    rows[0][1] = 7.0
    return first[1]


def longer_by_two_names(points: Any) -> Any:
    rows = [[x, np.sum(x**2)] for x in points]
    first = rows[0]
    rows.sort(key=lambda row: row[1])
    rows[0].append(7.0)
    return len(first)


def which(points: Any) -> Any:
    rows = [[x, np.sum(x**2)] for x in points]
    one, two, three = sorted(rows, key=lambda row: row[1])
    return 1.0 * (one is rows[0]) + 10.0 * (two is rows[0]) + 100.0 * (three is not rows[2]) + 1000.0 * (one is two)


def written_in_a_loop(points: Any) -> Any:
    rows = [[x, np.sum(x**2)] for x in points]
    for _ in range(4):
        rows = sorted(rows, key=lambda row: row[1])
        rows[0][1] += 10.0
        rows[-1].append(1.0)
    return [row[1] for row in rows], [len(row) for row in rows]


FOUND = [of_lists_anew, read_after, written_after, written_by_two_names, which]


@pytest.mark.parametrize("f", [*FOUND, longer_by_two_names, written_in_a_loop])
def test_lists_of_lists_are_sorted(f: Callable[[Any], Any]) -> None:
    compiled = pliant.jit(f)
    for points in XS:
        assert_close(compiled(points), f(points))
    check_gradient(lambda x: np.sum(of_lists_anew(x)), XS[0])


@pytest.mark.usefixtures("for_all_data")
@pytest.mark.parametrize("f", FOUND)
def test_lists_of_lists_are_sorted_where_data_decide_nothing(f: Callable[[Any], Any]) -> None:
    compiled = pliant.jit(f)
    for points in XS:
        assert_close(compiled(points), f(points))


def assert_close(got: Any, wanted: Any) -> None:
    made, expected = (x if isinstance(x, tuple) else (x,) for x in (got, wanted))
    for a, b in zip(made, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13)


@pytest.mark.usefixtures("for_all_data")
def test_lists_that_other_names_see_get_no_longer_where_data_decide_nothing() -> None:
    with pytest.raises(UnsupportedError, match="may be the one that 'first' holds"):
        pliant.jit(longer_by_two_names)(XS[0])


def collected(x: Any, limit: Any) -> Any:
    found: list[Any] = []
    pairs: list[Any] = []
    for k in range(len(x)):
        if x[k] < limit:
            found.append(x[k])
            pairs.append((np.floor(x[k]), k))
    found.sort()
    pairs.sort(key=lambda pair: pair[0])
    down = sorted(found, reverse=True)
    same = sorted(pairs, key=lambda pair: pair[0], reverse=True)
    total = 0.0
    for k in range(len(found)):
        total += found[k] * (k + 1) - down[k] * pairs[k][1] + same[k][1] * same[k][0]
    return total


@pytest.mark.parametrize("backend", ["llvm", "reference"])
def test_lists_of_few_elements_in_arrays_for_many(backend: str) -> None:
    compiled = pliant.jit(collected, backend=backend)
    slope = pliant.jit(pliant.grad(collected), backend=backend)
    x = np.random.default_rng(0).uniform(0, 20, 4 * FEW)
    for count in (0, 1, 2, FEW - 1, FEW, FEW + 1, 4 * FEW):
        limit = 30.0 if count == len(x) else np.sort(x)[count]
        np.testing.assert_allclose(compiled(x, limit), collected(x, limit), rtol=1e-12)
        way = np.where(np.arange(len(x)) % 3, 1e-6, 0)
        wanted = (collected(x + way, limit + 1e-4) - collected(x - way, limit + 1e-4)) / 2
        if count < FEW:  # else elements change places with others that are near
            np.testing.assert_allclose((slope(x, limit + 1e-4) * way).sum(), wanted, rtol=1e-4, atol=1e-9)


@pytest.mark.usefixtures("for_all_data")
def test_a_key_is_called_once_for_each_element() -> None:
    def f(x: Any) -> Any:
        seen: list[Any] = []

        def key(row: Any) -> Any:
            seen.append(row[0])
            return len(seen) % 2

        rows = sorted([[x[0], 1], [x[1], 2], [x[2], 3]], key=key)
        rows.sort(key=lambda row: row[1], reverse=True)
        return rows[0][0], rows[2][1], len(seen), seen[1]

    x = np.array([3.0, 5.0, 7.0])
    assert pliant.jit(f)(x) == f(x)
