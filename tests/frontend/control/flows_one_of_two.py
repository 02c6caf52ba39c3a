"""Small programs that change an object which is one of two, or of several, by a condition; x: f64[9], n: int."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np


@dataclass
class Point:
    m: Any
    v: Any = 0.0

    def bump(self, by: Any) -> None:
        self.m += by
        self.v = self.v * 2


@dataclass(eq=False)
class Hashed:
    m: Any
    n: int = 0


@dataclass(slots=True)
class Slotted:
    m: Any


class Plain:
    def __init__(self, m: Any) -> None:
        self.m = m


@dataclass
class Held:
    m: Any
    t: list[Any] = field(default_factory=list[Any])
    d: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class Frozen:
    m: Any
    t: list[Any]


class Named(NamedTuple):
    m: Any
    t: list[Any]


@dataclass
class Outer:
    p: Point
    q: Any


def set_of_a_chosen_one(x: Any, n: int) -> Any:
    a, b, d, e = Point(x[0]), Point(x[1]), Hashed(x[2]), Hashed(x[3])
    c, f = (a if x[0] > x[1] else b), (d if x[2] > 0 else e)
    c.m = 5.0 * x[4]
    f.m += 1
    return a.m, b.m, c.m, d.m, e.m, f.m


def set_of_one_after_an_if(x: Any, n: int) -> Any:
    a, b, d, e = Slotted(x[0]), Slotted(x[1]), Plain(x[2]), Plain(x[3])
    if x[0] > 0.5:
        c, f = a, d
    else:
        c, f = b, e
    c.m += x[5]
    f.m *= x[6]
    a.m *= 2
    return a.m, b.m, c.m, d.m, e.m, f.m


def set_of_the_greatest(x: Any, n: int) -> Any:
    points = [Point(v) for v in x]
    max(points, key=lambda p: p.m).m += 1.0
    points[np.argmin(x)].m *= 3.0
    points[-1 - np.argmin(x)].v = 2.0
    return [p.m for p in points], [p.v for p in points]


def set_of_the_first_in_order(x: Any, n: int) -> Any:
    points = [Point(v) for v in x]
    in_order = sorted(points, key=lambda p: p.m)
    in_order[0].m = 5.0
    in_order[1].v += 1.0
    others = [*points]
    points.sort(key=lambda p: -p.m)
    points[-1].v -= 2.0
    return [p.m for p in others], [p.v for p in others]


def set_of_one_at_each_step(x: Any, n: int) -> Any:
    points = [Plain(x[0]), Plain(x[1]), Plain(x[2])]
    for k in range(9):
        p = points[np.argmax([x[k], x[k - 1], x[k - 2]])]
        p.m = p.m * 0.9 + x[k]
    return [p.m for p in points]


def set_of_one_in_a_loop(x: Any, n: int) -> Any:
    a, b = Point(0.0, np.zeros(2)), Point(1.0, np.ones(2))
    for v in x:
        c = a if v > 0.3 else b
        c.m += v
        c.v = c.v * 0.5 + v
    return a.m, b.m, a.v, b.v


def swapped(x: Any, n: int) -> Any:
    a, b = Point(x[0]), Point(x[1])
    first = a
    if x[0] > x[1]:
        a, b = b, a
    a.m += 10 * x[2]
    b.v = x[3]
    return a.m, b.m, first.m, first.v


def by_two_conditions(x: Any, n: int) -> Any:
    a, b = Point(x[0]), Plain(x[1])
    c = a if x[2] > 0 else Point(x[2])
    d = c if x[3] > 0 else a
    d.m *= 3
    e = b if x[2] > 0 else Plain(x[2])
    f = e if x[3] > 0 else Plain(x[3])
    f.m *= 3
    return a.m, b.m, c.m, d.m, e.m, f.m


def by_two_conditions_in_lists(x: Any, n: int) -> Any:
    a = [x[0]]
    c = a if x[2] > 0 else [x[2]]
    d = c if x[3] > 0 else a
    d[0] = d[0] * 3
    return a[0], c[0], d[0]


def called(x: Any, n: int) -> Any:
    a, b = Point(x[0], x[:3] * 1), Point(x[1], x[3:6] * 1)
    c = a if x[0] > x[1] else b
    c.bump(x[2])
    c.v[0] = 7.0
    return a.m, b.m, a.v, b.v


def changed_by_a_function(x: Any, n: int) -> Any:
    def change(p: Any) -> None:
        p.m = p.m * 2
        setattr(p, "v", x[2])  # noqa: B010

    outer = Outer(Point(x[0]), SimpleNamespace(p=Point(x[1])))
    change(outer.p if x[0] > 0 else outer.q.p)
    return outer.p.m, outer.q.p.m, outer.p.v, outer.q.p.v


def parts_of_one(x: Any, n: int) -> Any:
    a, b = Outer(Point(x[0]), x[1]), Outer(Point(x[2]), x[3])
    c = a if x[0] > 0 else b
    c.p.m += 1
    a.p.m *= 2
    c.q = 3.0
    kept = copy.copy(c)
    kept.q = 4.0
    return a.p.m, b.p.m, c.p.m, a.q, b.q


def with_lists(x: Any, n: int) -> Any:
    a, b = Held(x[0], [x[1]]), Held(x[2])
    b.t.append(x[3])
    c = a if x[0] > 0 else b
    c.t[0] *= 2
    c.m += 1
    best = Held(0.0, [0.0])
    for v in x:
        tried = Held(v, [v, v * 2][:1])
        if tried.m > best.m:
            best = tried
    return c.m, a.t[0], b.t[0], best.m, best.t[0], max([Held(v) for v in x], key=lambda h: h.m).m


def lists_of_what_cannot_be_set(x: Any, n: int) -> Any:
    a, b, d, e = Frozen(x[0], [x[1]]), Frozen(x[2], [x[3]]), Named(x[0], [x[1]]), Named(x[2], [x[3]])
    c, f = (a if x[0] > 0 else b), (d if x[0] > 0 else e)
    c.t[0] = 5.0
    f.t[0] = 7.0 * f.m
    return a.t[0], b.t[0], d.t[0], e.t[0]


def a_list_is_set(x: Any, n: int) -> Any:
    a, b = Held(x[0], [x[1]]), Held(x[2], [x[3]])
    c = a if x[0] > 0 else b
    c.t = [x[4], x[5]][:1]
    c.t[0] *= 3
    return a.t[0], b.t[0], c.t[0]


def namespaces(x: Any, n: int) -> Any:
    a, b = SimpleNamespace(m=x[0], t=[x[1]]), SimpleNamespace(m=x[2], t=[x[3]])
    c = a if x[0] > 0 else b
    c.m *= 2
    c.t[0] += 1
    return a.m, b.m, a.t[0], b.t[0]


def not_seen_any_more(x: Any, n: int) -> Any:
    best = Point(x[0], [x[0]])
    for v in x:
        tried = Point(v * 2, [v])
        if tried.m > best.m:
            best = tried
    best.m += 1
    best.extra = 5.0  # type: ignore[attr-defined]
    return best.m, best.v[0], best.extra  # type: ignore[attr-defined]


ONE_OF_TWO = (
    set_of_a_chosen_one,
    set_of_one_after_an_if,
    set_of_the_greatest,
    set_of_the_first_in_order,
    set_of_one_at_each_step,
    set_of_one_in_a_loop,
    swapped,
    by_two_conditions,
    by_two_conditions_in_lists,
    called,
    changed_by_a_function,
    parts_of_one,
    with_lists,
    lists_of_what_cannot_be_set,
    a_list_is_set,
    namespaces,
    not_seen_any_more,
)
