"""Programs with `with` statements, whose objects look at data and change arrays as they are entered and left."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np


class Sign:
    """Entered as the absolute value of a number."""

    def __init__(self, v: Any) -> None:
        self.v = v

    def __enter__(self) -> Any:
        if self.v > 0:
            return self.v
        return -2 * self.v

    def __exit__(self, *error: object) -> None:
        self.v = 0.0


class Clipped:
    """Clips an array as it is left."""

    def __init__(self, v: Any) -> None:
        self.v, self.count = v, 0

    def __enter__(self) -> Clipped:
        self.count += 1
        return self

    def __exit__(self, *error: object) -> None:
        for i in range(len(self.v)):
            if self.v[i] > 1:
                self.v[i] = np.sqrt(self.v[i])
                self.count += 1


class Log(list[Any]):
    """A list of what was entered."""

    def __enter__(self) -> Log:
        self.append(1.0)
        return self

    def __exit__(self, *error: object) -> None:
        if self[0] < 0.5:
            self[0] = self[0] * 3


@contextlib.contextmanager
def doubled(v: Any) -> Iterator[Any]:
    """Twice an array, which is changed before and after."""
    if v[0] > 0:
        v[0] = 0.5 * v[1]
    yield v * 2
    for i in range(len(v)):
        if v[i] < 0:
            v[i] = v[i] ** 2


@contextlib.contextmanager
def restored(v: Any, i: Any) -> Iterator[Any]:
    """An element that gets its value back."""
    before = v[i] * 1.0
    if before > 0.3:
        v[i] = before**3
    try:
        yield v[i]
    finally:
        v[i] = before - 1


class Solver:
    """Has a manager as a method."""

    def __init__(self, x: Any) -> None:
        self.x, self.level = x, 1.0

    @contextlib.contextmanager
    def at(self, level: Any) -> Iterator[Solver]:
        """Another level for a while."""
        before, self.level = self.level, level
        if self.x[1] > 0:
            self.level = self.level * 2
        yield self
        self.level = before + (1 if self.x[2] > 0 else 2)


def entered_by_sign(x: Any, n: int) -> Any:
    with Sign(x[0]) as v:
        return v + n * x[1]


def chosen_and_entered(x: Any, n: int) -> Any:
    with Sign(x[0] if x[1] > 0 else x[2] * 3) as v:
        y = v * 2
    return y


def clipped(x: Any, n: int) -> Any:
    c = Clipped(x)
    with c as inside:
        y = inside.v.sum()
    return y, c.count, x


def clipped_in_a_loop(x: Any, n: int) -> Any:
    y, c = 0.0, Clipped(x)
    for i in range(n):
        with c:
            x[i] = x[i] * 2 + 1
        y += x[i]
    return y, x, c.count


def clipped_in_a_branch(x: Any, n: int) -> Any:
    y = x.sum()
    if x[0] > 0:
        with Clipped(x) as c, Sign(x[1]) as v:
            y = v * c.v[2]
    return y, x


def left_from_inside(x: Any, n: int) -> Any:
    for i in range(n):
        with Clipped(x):
            if x[i] > 0.5:
                return x[i] * 2
    return x[0]


def changed_before_and_after(x: Any, n: int) -> Any:
    with doubled(x) as v:
        y = v.sum()
    return y, x


def restored_in_a_loop(x: Any, n: int) -> Any:
    y = 0.0
    for i in range(n):
        with restored(x, i) as v:
            y += v * x[i]
    return y, x


def a_method(x: Any, n: int) -> Any:
    solver, y = Solver(x), 0.0
    with solver.at(3.0) as s:
        y = s.level * x[0]
    return y, solver.level


def a_list(x: Any, n: int) -> Any:
    with Log([x[0], x[1]]) as log:
        y = log[0] * len(log)
    return y, log[0], len(log)


MANAGERS: list[Callable[..., Any]] = [
    entered_by_sign,
    chosen_and_entered,
    clipped,
    clipped_in_a_loop,
    clipped_in_a_branch,
    left_from_inside,
    changed_before_and_after,
    restored_in_a_loop,
    a_method,
    a_list,
]
