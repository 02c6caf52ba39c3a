"""Small programs of objects of classes that can be changed; x: f64[9], n: int."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np


class Vector:
    def __init__(self, a: Any, b: Any) -> None:
        self.a, self.b = a, b

    def __add__(self, other: Vector) -> Vector:
        return Vector(self.a + other.a, self.b + other.b)

    def __rmul__(self, c: float) -> Vector:
        return Vector(c * self.a, c * self.b)

    def square(self) -> Any:
        return self.a * self.a + self.b * self.b

    def move(self, d: Any) -> None:
        self.a = self.a + d


class Filter:
    def __init__(self, n: int, first: Any) -> None:
        self.taps, self.k = np.zeros(n), 0
        if first > 0:
            self.gain = first
        else:
            self.gain = 1 - first

    @property
    def mean(self) -> Any:
        return self.taps.sum() / 3

    @mean.setter
    def mean(self, value: Any) -> None:
        self.taps[:] = self.taps - self.mean + value

    def __call__(self, v: Any) -> Any:
        self.taps[self.k % 3] = v * self.gain
        self.k += 1
        self.seen = self.k
        return self.mean


class Damped(Filter):
    def __init__(self, n: int, first: Any, damping: float) -> None:
        super().__init__(n, first)
        self.damping = damping

    def __call__(self, v: Any) -> Any:
        return super().__call__(v) * self.damping


@dataclass
class Body:
    q: Any
    p: Any
    k: int = 0
    log: list[Any] = field(default_factory=list[Any])

    def __post_init__(self) -> None:
        self.buffer = np.zeros(2)

    def step(self, h: float) -> None:
        self.p = self.p - h * self.q
        self.q = self.q + h * self.p
        self.buffer[self.k % 2] = self.q
        self.k += 1


def objects_made_at_each_step(x: Any, n: int) -> Any:
    v = Vector(x[0], x[1])
    for i in range(9):
        v = v + 0.5 * Vector(x[i], 1.0)
    return v.a, v.b


def objects_until_a_condition_holds(x: Any, n: int) -> Any:
    v, k = Vector(x[0], x[1]), 0
    while v.a < 10:
        v, k = 1.5 * v + Vector(3.0, x[2]), k + 1
    return v.a, v.b, k


def objects_that_are_changed(x: Any, n: int) -> Any:
    body = Body(x[0], x[1])
    for _ in range(20):
        body.step(0.1)
    return body.q, body.p, body.k, body.buffer


def the_best_object(x: Any, n: int) -> Any:
    best = Vector(x[0], x[1])
    for i in range(8):
        p = Vector(x[i], x[i + 1])
        if p.square() < best.square():
            best = p
    return best.a, best.b


def the_object_before(x: Any, n: int) -> Any:
    v = before = Vector(x[0], x[1])
    for i in range(8):
        before = v
        v = Vector(v.a + x[i], before.b * 0.9)
    return v.a, before.a, before.b


def changed_and_then_replaced(x: Any, n: int) -> Any:
    v = first = Vector(x[0], x[1])
    for i in range(8):
        v.move(x[i])
        v = Vector(v.a * 0.5, v.b)
    return v.a, v.b, first.a


def one_object_under_two_names(x: Any, n: int) -> Any:
    v = w = Vector(x[0], x[1])
    for i in range(8):
        v = w = Vector(v.a + x[i], w.b * 0.9)
    w.move(1.0)
    return v.a, w.a


def filters(x: Any, n: int) -> Any:
    f, total = Damped(3, x[0], 0.7), 0.0
    for v in x:
        total = total + f(v)
        if v > 1:
            f.mean = v
    return total, f.taps, f.seen


def array_of_an_object_in_place(x: Any, n: int) -> Any:
    f = Filter(3, x[0])
    f.taps += x[:3]
    return f.taps


def appended_objects_that_are_changed(x: Any, n: int) -> Any:
    points = []
    for i in range(8):
        p = Vector(x[i], x[i + 1])
        p.move(1.0)
        points.append(p)
    points[0].move(2.0)
    return [p.a for p in points]


def object_at_a_traced_place(x: Any, n: int) -> Any:
    points = [Vector(x[i], x[i + 1] * 2) for i in range(8)]
    total = 0.0
    for i in range(9):
        k = np.argmin(np.abs(x[:8] - x[i]))
        total = total + points[k].b * points[k].a
    return total


def one_of_two_objects(x: Any, n: int) -> Any:
    p, q = Vector(x[0], x[1]), Vector(x[2], x[3])
    chosen = p if x[0] > 0 else q
    return chosen.a, chosen.b


def one_of_several_arrays_that_keep_their_names(x: Any, n: int) -> Any:
    points = [x[i : i + 2] * 1.0 for i in range(4)]

    def height(p: Any) -> Any:
        return ((p - 0.2) ** 2).sum()

    best = min(points, key=height)
    for _ in range(8):
        for i in range(4):
            moved = 0.9 * points[i] + 0.1 * best
            if height(moved) < height(points[i]):
                points[i] = moved.copy()
        best = min(points, key=height)
    return best, points


def objects_of_a_class_of_its_own(x: Any, n: int) -> Any:
    class Stack:
        def __init__(self) -> None:
            self.items: list[Any] = []
            self.count = 0

        def push(self, v: Any) -> None:
            self.items.append(v)
            self.count += 1

    s = Stack()
    for v in x:
        s.push(v * 2)
    return np.array(s.items), s.count


def attributes_by_name(x: Any, n: int) -> Any:
    v, spare = Vector(0.0, 1.0), Vector(1.0, 2.0)
    for i in range(9):
        for name in ("a", "b"):
            setattr(v, name, getattr(v, name) * 0.5 + x[i])
        if x[i] > 0:
            setattr(spare, "a", x[i])  # noqa: B010
    setattr(spare, "c", x[0])  # noqa: B010
    if x[1] > 0:
        delattr(spare, "c")
        setattr(spare, "c", x[1])  # noqa: B010
    return v.a, v.b, spare.a, getattr(spare, "c", 0.0)


def state_of_a_function_inside(x: Any, n: int) -> Any:
    total = before = 0.0

    def change(v: Any) -> Any:
        nonlocal total, before
        d = v - before
        before = v
        total += v * d
        return d

    y, left = 0.0, list[Any]()
    for i in range(9):
        y += 0.5 * change(1.0 - y) + x[i]
        left.append(y)
    return np.array(left), total, before


CLASSES = (
    objects_made_at_each_step, objects_until_a_condition_holds, objects_that_are_changed, the_best_object,
    the_object_before, changed_and_then_replaced, one_object_under_two_names, filters, array_of_an_object_in_place,
    appended_objects_that_are_changed, object_at_a_traced_place, one_of_two_objects, one_of_several_arrays_that_keep_their_names,
    objects_of_a_class_of_its_own, attributes_by_name, state_of_a_function_inside,
)  # fmt: skip
UNROLLED = (one_object_under_two_names,)
