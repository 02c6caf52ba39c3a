"""Elements of lists at places known only at run time, and writes to the arrays that they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant
from pliant.compiled import Compiled
from pliant.errors import IndexRangeError

STEPS = [0, 1, 2, 6]
DATA = [([1.0, 2.0], [1.5, 1.5]), ([2.0, 1.0], [1.5, 1.5]), ([2.0, 1.0], [1.5, 0.5]), ([0.0, 1.0], [1.5, 0.5])]


class Node:
    """An object that holds an array."""

    def __init__(self, held: Any) -> None:
        self.held = held


def written(a: Any, b: Any, n: Any) -> Any:
    """Both are written under their own names."""
    x = [a, b][int(a[0] > b[0])]
    b[:] = 0
    a += 5
    return x, n


def of_tuples(a: Any, b: Any, n: Any) -> Any:
    """An element of a tuple, which is an element."""
    x, k = [(a, 1), (b, 2)][int(a[0] > b[0])]
    b[:] = 0
    a += 5
    return x * k, n


def of_views(a: Any, b: Any, n: Any) -> Any:
    """An element that is an element of views."""
    y = [a[:1], b[1:]][int(a[0] > b[0])]
    x = [y, a[1:]][int(a[1] > b[1])]
    b[:] = 0
    a += 5
    return x, n


def of_rows(a: Any, b: Any, n: Any) -> Any:
    """A row of an array."""
    array = np.stack([a, b])
    rows = [*array]
    x = rows[int(a[0] > b[0])]
    array *= 2
    return x, n


def of_an_object(a: Any, b: Any, n: Any) -> Any:
    """An element that an object holds."""
    node = Node([a, b][int(a[0] > b[0])])
    for i in range(n):
        node = Node([a, b][int(a[0] + i > b[0])])
    b[:] = 0
    a += 1
    return node.held


def of_a_dict(a: Any, b: Any, n: Any) -> Any:
    """A dict that is made anew at each step."""
    held = {0: a, 1: b}
    for _ in range(n):
        held = {0: held[int(a[0] > b[0])], 1: b}
    b[:] = 0
    a += 1
    return held[0], held[1]


def written_by_a_loop(a: Any, b: Any, n: Any) -> Any:
    """The steps write what is picked before, and under conditions."""
    x = [a, b][int(a[0] > b[0])]
    if a[1] > b[1]:
        a += 1
    else:
        b *= 2
    for i in range(n):
        a[i % 2] += x[0]
    return x


def picked_in_branches(a: Any, b: Any, n: Any) -> Any:
    """Each branch picks another one, or makes an array."""
    both = [a, b]
    x = both[int(a[0] > b[0])] if a[1] > 1 else both[int(a[1] > b[1])]
    y = both[int(a[1] > b[1])] if a[0] > b[0] else np.zeros(2)
    a += 1.0
    b += 2.0
    return x, y, n


def picked_in_steps(a: Any, b: Any, n: Any) -> Any:
    """The last step's is written in that step, and after the loop."""
    both, x = [a, b], a
    for _ in range(n):
        x = both[int(a[0] > b[0])]
        a += 1.0
    b *= 2
    return x


def of_what_steps_make(a: Any, b: Any, n: Any) -> Any:
    """One of two, of which a step makes one that has a name, too."""
    x, y = a * 2, a * 3
    for i in range(n):
        y = a * (2 + i)
        x = [y, b][int(a[0] > b[0])]
    y += 1
    b += 1
    return x, y


def read_in_the_next_step(a: Any, b: Any, n: Any) -> Any:
    """What a step picks is read in the next one, after it was written."""
    both, x, s = [a, b], b, 0.0
    for _ in range(n):
        a += 1.0
        s += x[0]
        x = both[int(a[0] > b[0])]
    return x, s


def collected(a: Any, b: Any, n: Any) -> Any:
    """Each step puts one into a list."""
    both: list[Any] = [a, b]
    found: list[Any] = []
    for i in range(n):
        found.append(both[int(a[0] + i > b[0])])  # noqa: PERF401
    a += 1.0
    b += 2.0
    return found


def in_order(a: Any, b: Any, n: Any) -> Any:
    """A list that the steps sort."""
    both = [a, b]
    for _ in range(n):
        both = sorted(both, key=lambda e: e[0])
    b[:] = 0
    return tuple(both)


def exchanged(a: Any, b: Any, n: Any) -> Any:
    """A list whose elements the steps exchange."""
    both = [a, b]
    for _ in range(n):
        if both[0][0] > both[1][0]:
            both[0], both[1] = both[1], both[0]
    b[:] = 0
    return tuple(both)


def by_places(a: Any, b: Any, n: Any) -> Any:
    """A list that the steps make of itself."""
    both = [a, b]
    for _ in range(n):
        both = [both[j] for j in np.argsort([e[0] for e in both])]
    b[:] = 0
    return tuple(both)


def a_tuple(a: Any, b: Any, n: Any) -> Any:
    """A tuple that the steps make of itself."""
    both = (a, b)
    for _ in range(n):
        j = int(both[0][0] > both[1][0])
        both = (both[j], both[1 - j])
    b[:] = 0
    return both


def rows_in_order(a: Any, b: Any, n: Any) -> Any:
    """Rows of an array that the steps sort."""
    array = np.stack([a, b])
    rows = [*array]
    for _ in range(n):
        rows = sorted(rows, key=lambda e: e[0])
    array *= 0
    return rows[0]


def parts_in_steps(a: Any, b: Any, n: Any) -> Any:
    """Each step takes a part of another one."""
    both, i = [a, b], 0
    while True:
        a += 1.0
        x = both[int(a[0] > b[0])][1:]
        i += 1
        if i > n:
            break
    b[:] = 9.0
    return x


PROGRAMS = [
    written, of_tuples, of_views, of_rows, of_an_object, of_a_dict, written_by_a_loop, picked_in_branches,
    picked_in_steps, of_what_steps_make, read_in_the_next_step, collected, in_order, exchanged, by_places, a_tuple, rows_in_order,
    parts_in_steps,
]  # fmt: skip


def assert_same(got: Any, expected: Any) -> None:
    """The same numbers in the same containers."""
    if type(expected) in (list, tuple):
        assert len(got) == len(expected)
        for n in range(len(expected)):
            assert_same(got[n], expected[n])
        return
    np.testing.assert_allclose(got, expected)


@pytest.mark.parametrize("n", STEPS)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_writes_to_an_array_are_seen_in_what_was_picked(program: Any, n: int) -> None:
    compiled = pliant.jit(program)
    for a, b in DATA:
        assert_same(compiled(np.array(a), np.array(b), n), program(np.array(a), np.array(b), n))


def which(result: Any, a: Any, b: Any) -> Any:
    """Of each array that is returned, whether it is one of the arguments, or lies in the memory of one."""
    if type(result) in (list, tuple):
        return [which(x, a, b) for x in result]
    return [(result is x, np.shares_memory(result, x)) for x in (a, b)] if isinstance(result, np.ndarray) else None


@pytest.mark.parametrize("program", [p for p in PROGRAMS if p is not parts_in_steps], ids=lambda f: f.__name__)
def test_what_was_picked_of_the_caller_s_arrays_is_returned_as_that(program: Any) -> None:
    compiled = pliant.jit(program)
    for a, b in DATA:
        mine, theirs = (np.array(a), np.array(b)), (np.array(a), np.array(b))
        assert which(compiled(*mine, 2), *mine) == which(program(*theirs, 2), *theirs)


@pytest.mark.parametrize("k", [0, 2, -1])
def test_what_is_picked_by_an_argument_is_returned_and_left_as_it_is(k: int) -> None:
    def taken(held: Any, places: Any, k: Any) -> Any:
        held["last"] = places[k]
        made = held["last"] * 2
        return places[k], places[k][1:], [places[0], places[1], made][k], made

    taken, held, arrays = pliant.jit(taken), {}, [np.full(3, float(n)) for n in range(3)]
    one, part, other, made = taken(held, arrays, k)
    assert one is arrays[k]
    assert held["last"] is arrays[k]
    assert other is [arrays[0], arrays[1], made][k]
    part[0] = 5.0
    assert list(arrays[k]) == [float(k % 3), 5.0, float(k % 3)]


def in_two_orders(held: Any, k: Any) -> Any:
    """Some stand in the list twice, and others are picked from the end."""
    here, there = held[k], [*held][::-1][k]
    here[0] += 1.0
    there[1:] *= 2.0
    return here, there, there[1:], [here, there][k % 2]


@pytest.mark.parametrize("k", [0, 1, 3, 4, -1, -3])
def test_what_stands_in_a_list_twice_is_one_array(k: int) -> None:
    mine, theirs = [[np.full(3, float(n)) for n in range(3)] for _ in range(2)]
    order = [2, 0, 2, 1, 0]
    found = pliant.jit(in_two_orders)([mine[n] for n in order], k)
    expected = in_two_orders([theirs[n] for n in order], k)
    assert_same([*found, *mine], [*expected, *theirs])
    assert [which(x, *mine[:2]) for x in found] == [which(x, *theirs[:2]) for x in expected]


@pytest.mark.parametrize("count", [3, 60])
def test_which_one_of_many_is_returned_is_looked_up(count: int) -> None:
    arrays = [np.full(2, float(n)) for n in range(count)]

    def some(k: Any) -> Any:
        return arrays[k], arrays[k - 1], arrays[(k + 1) % count]

    assert all([x is arrays[n] for x, n in zip(pliant.jit(some)(1), (1, 0, 2), strict=True)])
    assert str(Compiled(some).program(1).fn).count("\n") < 40  # and not as many as there are arrays


def test_a_row_that_is_picked_is_a_view() -> None:
    row = pliant.jit(lambda m, k: [*m][k])
    m = np.zeros((4, 2))
    for k in (1, -1):
        row(m, k)[:] += k
    assert m.tolist() == [[0, 0], [1, 1], [0, 0], [-1, -1]]


def test_a_place_that_is_none_is_an_error_where_nothing_but_the_array_is_returned() -> None:
    with pytest.raises(IndexRangeError, match="index 7 is out of range for axis 0 of extent 2"):
        pliant.jit(lambda a, b, k: [a, b][k])(np.zeros(2), np.ones(2), 7)


@pytest.mark.parametrize(("a", "expected"), [([1.0, 2.0], [2.0, 4.0]), ([2.0, 1.0], [0.0, 0.0])])
def test_derivatives_know_of_writes_to_what_was_picked(a: Any, expected: Any) -> None:
    def product(a: Any, b: Any) -> Any:
        b = b * 1.0
        x = [a * 1.0, b][int(a[0] > b[0])]
        b[:] = 0
        return np.sum(x * a)

    np.testing.assert_allclose(pliant.grad(product)(np.array(a), np.array([1.5, 1.5])), expected)


def test_many_picks_of_each_other_take_no_longer_than_their_number() -> None:
    def swapped(a: Any, b: Any) -> Any:
        both = (a, b)
        for k in (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25):
            j = int(both[0][k % 2] > both[1][k % 2])
            both = (both[j], both[1 - j])
        b[:] = 0
        a += 1
        return both

    a, b = np.array([1.0, 2.0]), np.array([2.0, 1.0])
    assert_same(pliant.jit(swapped)(a.copy(), b.copy()), swapped(a.copy(), b.copy()))
