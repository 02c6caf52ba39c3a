"""Lists of lists at places known only at run time: what is refused."""

from __future__ import annotations

import bisect
import heapq
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import UnboundError, UnsupportedError

X = np.array([1.0, 2.0, 0.0])


def test_a_row_that_was_read_before_its_lists_were_written_is_an_error() -> None:
    def f(x: Any) -> Any:
        table = [[0.0] * 3 for _ in range(3)]
        row = table[int(x[0])]
        table[0][0] = 4.0
        return row[0]

    with pytest.raises(UnboundError, match=r"a row of a list of lists was read .* before the lists were written"):
        pliant.jit(f)(X)


@pytest.mark.usefixtures("for_all_data")
def test_lists_that_are_one_list_are_that_list() -> None:
    def f(x: Any) -> Any:
        table = [[0.0] * 3] * 3
        table[int(x[0])][0] = x[1]
        return table[0][0], table[1][0]

    for k in (-3.0, 0.0, 2.0):
        x = np.array([k, 0.7])
        assert pliant.jit(f)(x) == f(x)
    with pytest.raises(IndexError):
        pliant.jit(f)(np.array([3.0, 0.7]))


def test_rows_of_other_lengths_by_a_condition() -> None:
    def f(x: Any) -> Any:
        table = [[1.0, 2.0], [3.0, 4.0]]
        if x[0] > 0:
            table[0].append(5.0)
        else:
            table[int(x[1]) % 2][0] = 7.0
        return table[0][1] + len(table[0])

    for x in (X, -X):
        assert pliant.jit(f)(x) == f(x)


def shorter(q: Any) -> None:
    del q[0]


LONGER: dict[str, Any] = {
    "append": lambda q: q.append(7.0),
    "pop": lambda q: q.pop(),
    "insert": lambda q: q.insert(0, 5.0),
    "sort": lambda q: q.sort(),
    "reverse": lambda q: q.reverse(),
    "extend": lambda q: q.extend([1.0]),
    "clear": lambda q: q.clear(),
    "del": shorter,
    "of its class": lambda q: list.append(q, 4.0),
    "heappush": lambda q: heapq.heappush(q, 0.5),
    "insort": lambda q: bisect.insort(q, 5.0),
}


@pytest.mark.parametrize("name", LONGER)
@pytest.mark.parametrize("is_dict", [False, True], ids=["list", "dict"])
def test_lists_read_at_a_place_are_changed_where_they_are(name: str, is_dict: bool) -> None:
    def at_an_argument(k: Any) -> Any:
        rows: Any = {0: [1.0, 5.0], 1: [4.0, 3.0]} if is_dict else [[1.0, 5.0], [4.0, 3.0]]
        LONGER[name](rows[k])
        return rows

    def at_the_largest(x: Any) -> Any:
        return at_an_argument(np.argmax(x))

    first, second = pliant.jit(at_an_argument), pliant.jit(at_the_largest)
    for k in (1, 0, 1):
        assert first(k) == at_an_argument(k)
        assert second(np.eye(2)[k]) == at_an_argument(k)


@pytest.mark.usefixtures("for_all_data")
def test_a_row_gets_longer_at_a_place_known_only_at_run_time() -> None:
    def f(x: Any) -> Any:
        rows = [[1.0, 5.0], [4.0, 3.0]]
        rows[np.argmax(x)].append(1.0)
        return [len(row) for row in rows], rows[0][-1]

    for x in np.eye(2):
        assert pliant.jit(f)(x) == f(x)


def held_twice(x: Any, i: Any) -> Any:
    rows = [[x[0]], [x[1]], [x[2]]]
    rows[0] = rows[i]
    rows[1] = [9.0]
    rows[0][0] = 7.0
    return rows[0][0], rows[1][0], rows[2][0]


def let_go_of(x: Any, i: Any) -> Any:
    rows = [[x[0]], [x[1]], [x[2]]]
    row = rows[i]
    row[0] = 3.0
    rows[1] = [8.0]
    return row[0], row[i - i], rows[1][0], rows[i][0]


def written_after(x: Any, i: Any) -> Any:
    rows = [[x[0], 1.0], [x[1], 2.0], [x[2], 3.0]]
    row = rows[i]
    rows[1] = [8.0, 9.0]
    row[i - i] = 3.0
    return row[0], rows[1][0], rows[i][0]


@pytest.mark.parametrize("i", [0, 1, 2])
@pytest.mark.parametrize("f", [held_twice, let_go_of, written_after])
def test_a_row_is_the_one_that_was_read_whatever_is_in_its_place_now(f: Any, i: int):
    x = np.array([1.0, 2.0, 4.0])
    assert pliant.jit(f)(x, i) == f(x, i)


@pytest.mark.usefixtures("for_all_data")
def test_a_row_is_not_written_where_there_may_be_another_one():
    with pytest.raises(UnsupportedError, match="a list is written that was read at a place known only at run time"):
        pliant.jit(lambda x: written_after(x, np.argmax(x)))(np.array([1.0, 2.0, 4.0]))
