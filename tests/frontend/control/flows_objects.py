"""Small programs whose state is a frozen dataclass that each step makes anew; x: f64[9], n: int."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np


@dataclass(frozen=True)
class State:
    a: Any
    b: Any
    k: int = 0

    def after(self, v: Any) -> State:
        return replace(self, a=self.a + v * self.b, b=self.b * 0.9, k=self.k + 1)


@dataclass(frozen=True, slots=True)
class Phase:
    q: Any
    p: Any

    def __add__(self, other: Phase) -> Phase:
        return Phase(self.q + other.q, self.p + other.p)

    def __mul__(self, c: float) -> Phase:
        return Phase(self.q * c, self.p * c)


@dataclass(frozen=True)
class Whole:
    state: State
    phase: Phase
    name: str = "whole"


def replaced_state(x: Any, n: int) -> Any:
    s = State(0.0, np.ones(9))
    for v in x:
        s = s.after(v)
    return s.a, s.b, s.k


def runge_kutta_of_phases(x: Any, n: int) -> Any:
    y, h = Phase(x[0], x[1]), 0.1

    def f(y: Phase) -> Phase:
        return Phase(y.p, y.q * -1.0)

    for _ in range(20):
        k1 = f(y)
        k2 = f(y + k1 * (h / 2))
        k3 = f(y + k2 * (h / 2))
        k4 = f(y + k3 * h)
        y = y + (k1 + k2 * 2.0 + k3 * 2.0 + k4) * (h / 6)
    return y.q, y.p


def objects_in_objects(x: Any, n: int) -> Any:
    w = Whole(State(0.0, 1.0), Phase(0.0, x * 2))
    for v in x:
        w = replace(w, state=w.state.after(v), phase=Phase(w.phase.q + w.state.a, w.phase.p * 0.5 + v))
    return w.state.a, w.phase.q, w.phase.p


def objects_of_branches(x: Any, n: int) -> Any:
    s, steps = State(x[0] + 2, x[1]), 0
    for v in x:
        s = State(s.a + v, s.b) if v > 0 else State(s.a, s.b - v)
    while s.a < 100:
        s = State(s.a * 1.5, s.b + s.a, s.k + 1)
        steps += 1
        if steps > 30:
            break
    return s.a, s.b, s.k


def arrays_in_objects_that_are_written(x: Any, n: int) -> Any:
    s = before = State(0.0, np.zeros(9))
    for i in range(9):
        s.b[i] = x[i] * i
        before = s
        s = State(s.a + s.b[i], s.b)
    before.b[0] = 7.0
    return s.a, s.b, before.a, before.b


def object_before_the_last(x: Any, n: int) -> Any:
    s = before = State(0.0, np.zeros(9))
    for i in range(n + 4):
        before = s
        s = State(s.a + x[i], s.b + x)
    return s.a, s.b, before.a


def appended_objects(x: Any, n: int) -> Any:
    s, states = State(0.0, x * 0), []
    for v in x:
        s = State(s.a + v, s.b + s.a)
        states.append(s)
    return np.array([state.a for state in states]), states[4].b, s.b


OBJECTS = (
    replaced_state, runge_kutta_of_phases, objects_in_objects, objects_of_branches, arrays_in_objects_that_are_written,
    object_before_the_last, appended_objects,
)  # fmt: skip
