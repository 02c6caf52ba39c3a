"""Lists, dicts and objects that are found in a list, or taken out of it, where data decide which: Python's answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pliant

GIVEN = [np.array(x) for x in ([1.1, 2.0, 3.0], [-1.1, -2.0, -3.0], [2.0, 0.5, 2.0])]


class Node:
    def __init__(self, v: Any) -> None:
        self.v: Any = v


def lists_that_may_be_one(x: Any) -> Any:
    a = [x[0], x[1]]
    b = a if x[0] > 0 else list(a)
    return [a, b].index(b), [b, a].index(a), [a, b].count(b)


def lists_without_the_least(x: Any) -> Any:
    pts = [[x[0]], [x[1]], [x[2]]]
    q = pts[1]
    pts.remove(min(pts, key=lambda p: p[0]))
    q[0] += 1
    pts[0][0] *= 2
    return pts[0][0], pts[1][0], len(pts), q[0]


def objects_without_the_least(x: Any) -> Any:
    pts = [Node(x[0]), Node(x[1]), Node(x[2])]
    q = pts[1]
    pts.remove(min(pts, key=lambda p: p.v))
    q.v += 1
    pts[0].v *= 2
    return pts[0].v, pts[1].v, len(pts), q.v


def of_objects(x: Any) -> Any:
    pts = [Node(x[0]), Node(x[1]), Node(x[2])]
    m = max(pts, key=lambda p: p.v)
    return pts.index(m), pts.count(m), m in pts, m in pts[:1]


def dicts_without_the_greatest(x: Any) -> Any:
    pts = [{"v": x[0]}, {"v": x[1]}, {"v": x[2]}]
    m = max(pts, key=lambda p: p["v"])
    i = pts.index(m)
    pts.remove(m)
    s = 0.0
    for p in pts:
        s = s * 2 + p["v"]
    return i, s


def until_none_is_left(x: Any) -> Any:
    pts = [[x[0], 1.0], [x[1], 2.0], [x[2], 3.0]]
    s = 0.0
    while pts:
        m = min(pts)
        s = s * 3 + m[0] * m[1]
        pts.remove(m)
    return s, 0


def of_equal_lists(x: Any) -> Any:
    pts = [[x[0], 1.0], [x[1], 2.0], [x[2], 3.0]]
    return pts.index([x[1], 2.0]), pts.index([x[2] + 0, 3.0])


def of_none(x: Any) -> Any:
    pts = [[x[0], 1.0], [x[1], 2.0], [x[2], 3.0]]
    pts.remove([5.0, x[0]])
    return 0, 0


def of_other_lengths(x: Any) -> Any:
    pts = [[x[0], 1.0], [x[1]], [x[2], 3.0, 4.0]]
    m = pts[0] if x[0] > 0 else [x[1]]
    return pts.index(m), pts.count(m)


def of_tuples(x: Any) -> Any:
    pts = [(x[0], 1.0), (x[1], 2.0), (x[2], 4.0)]
    pts.remove(min(pts))
    return pts[0][0], pts[1][1], pts.index(max(pts))


PROGRAMS = [
    lists_that_may_be_one,
    lists_without_the_least,
    objects_without_the_least,
    of_objects,
    dicts_without_the_greatest,
    until_none_is_left,
    of_equal_lists,
    of_other_lengths,
    of_tuples,
]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_what_is_found_is_pythons(f: Any) -> None:
    compiled = pliant.jit(f)
    for x in GIVEN:
        assert_allclose(compiled(x.copy()), f(x.copy()))


def test_derivatives_of_what_is_left_are_differences() -> None:
    way, step = np.array([1.0, -2.0, 0.5]), 1e-6

    def total(x: Any) -> Any:
        return sum(lists_without_the_least(x))

    for x in GIVEN[:2]:
        wanted = (total(x + step * way) - total(x - step * way)) / (2 * step)
        assert_allclose(pliant.grad(total)(x) @ way, wanted, rtol=1e-6)


def test_what_is_not_there_is_pythons_error() -> None:
    with pytest.raises(ValueError, match=r"list.remove\(x\): x not in list"):
        pliant.jit(of_none)(GIVEN[0])


def longer_by_its_place(x: Any) -> Any:
    d = [x[0], x[1], 1.5]
    k = d.index(min(d))
    if k == 2:
        x = np.concatenate((x, x))
    return np.eye(len(x)) * k


def longer_by_how_many(x: Any) -> Any:
    k = [x[0], 0.5, x[2]].count(x[2])
    if k + 1 == 3:
        x = np.concatenate((x, x))
    return np.eye(len(x)) * k


def longer_by_an_array_of_one(x: Any) -> Any:
    y = x
    if x[:1] > 1:
        y = np.concatenate((x, x))
    return np.eye(len(y))


@pytest.mark.parametrize("f", [longer_by_its_place, longer_by_how_many, longer_by_an_array_of_one])
def test_a_program_for_each_place_that_shapes_depend_on(f: Any) -> None:
    compiled = pliant.jit(f)
    for x in [*GIVEN, np.array([1.6, 1.7, 1.8])]:
        made, wanted = compiled(x), f(x)
        assert made.shape == wanted.shape
        assert_allclose(made, wanted)
