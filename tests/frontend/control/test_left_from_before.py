"""What a loop leaves that may have been there before it: it is not changed as if it were another one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import UnsupportedError

HIGH = np.array([0.9, *[0.3, 0.5] * 40])
LATER = np.array([0.3, *[0.2, 0.5] * 40])


@dataclass
class Point:
    m: float


class Plain:
    def __init__(self, m: Any) -> None:
        self.m = m


def of_objects(kind: Any) -> Callable[[Any], Any]:
    def f(x: Any) -> Any:
        best = first = kind(x[0])
        for v in x[1:]:
            p = kind(v)
            if p.m > best.m:
                best = p
        best.m += 1
        return first.m

    return f


def of_lists(x: Any) -> Any:
    best = first = [x[0]]
    for v in x[1:]:
        if v > best[0]:
            best = [v]
    first[0] += 1
    return best[0]


def of_others(x: Any) -> Any:
    best, other = [x[0]], [7.0]
    for v in x[1:]:
        if v > best[0]:
            best = other
    best[0] += 1
    return other[0]


def none_sees(x: Any) -> Any:
    best = [x[0], 0]
    for n, v in enumerate(x):
        if v > best[0]:
            best = [v, n]
    best[0] += 1
    return best[0] * (best[1] + 1)


def nobody_changes(x: Any) -> Any:
    best = first = Point(x[0])
    for v in x[1:]:
        if v > best.m:
            best = Point(v)
    return best.m + 2 * first.m


@pytest.mark.parametrize("f", [of_objects(Point), of_objects(Plain)])
def test_what_may_be_another_one_is_not_changed(f: Callable[[Any], Any]) -> None:
    with pytest.raises(UnsupportedError, match=r"is changed that may be the one that '(first|best|other)' holds"):
        pliant.jit(f)(HIGH)


@pytest.mark.parametrize("f", [none_sees, nobody_changes, of_lists, of_others])
def test_what_nobody_else_sees_or_unrolled_loops_know_is(f: Callable[[Any], Any]) -> None:
    for x in (HIGH, LATER, -HIGH):
        assert pliant.jit(f)(x) == pytest.approx(f(x), rel=1e-12)
        assert pliant.grad(f)(x).sum() == pytest.approx(pliant.jvp(f, (x,), (np.ones_like(x),))[1], rel=1e-12)


def test_whether_it_is_the_one_from_before_is_not_known() -> None:
    def f(x: Any) -> Any:
        best = first = [x[0]]
        for v in x[1:]:
            if v > best[0]:
                best = [v]
        return 1.0 if best is first else 2.0

    with pytest.raises(UnsupportedError, match="whether this list is another one is decided by conditions"):
        pliant.jit(f)(HIGH)


def test_what_steps_change_of_another_name_is_not_lost() -> None:
    def f(x: Any, n: int) -> Any:
        a, b = Point(x[0]), Point(x[1])
        held = [a, b]
        for k in range(n):
            if a.m < b.m:
                a, b = b, a
            a.m -= x[k] ** 2
        return held[0].m, held[1].m

    x = np.random.default_rng(0).normal(size=600)
    for n in (2, 5):
        np.testing.assert_allclose(pliant.jit(lambda x, n=n: f(x, n))(x), f(x, n), rtol=1e-12)
    with pytest.raises(UnsupportedError, match="a Point is changed that may be the one that 'held' holds"):
        pliant.jit(lambda x: f(x, 300))(x)
    with pytest.raises(UnsupportedError, match="a Point is changed that may be the one that 'held' holds"):
        pliant.jit(f)(x, 300)
