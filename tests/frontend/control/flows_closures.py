"""Small programs of functions that a condition chooses, each with a list, dict or object of its own; x: f64[9], n: int."""

from __future__ import annotations

from functools import partial
from typing import Any


class Box:
    def __init__(self, value: Any) -> None:
        self.values = [value]

    def held(self) -> Any:
        return self.values


def with_a_list(value: Any) -> Any:
    held = [value]
    return lambda: held


def with_a_dict(value: Any) -> Any:
    held = {"n": value}
    return lambda: held


def with_an_object(value: Any) -> Any:
    held = Box(value)
    return lambda: held


def one_of_two(x: Any, n: int) -> Any:
    a, b = with_a_list(x[0]), with_a_list(x[1])
    one = a if x[2] > 0 else b
    one()[0] += 100 * x[3]
    return a()[0], b()[0], one()[0]


def rebound(x: Any, n: int) -> Any:
    a, b = with_a_dict(x[0]), with_a_dict(x[1])
    if x[2] > 0:
        b = a
    b()["n"] *= x[3]
    return a()["n"], b()["n"]


def of_a_list(x: Any, n: int) -> Any:
    many = [with_a_list(v) for v in x]
    for k in range(n):
        many[0 if x[k] > 0 else 1]()[0] += x[k]
    return [one()[0] for one in many]


def kept_by_a_name(x: Any, n: int) -> Any:
    a, b = with_a_list(x[0]), with_a_list(x[1])
    one = a if x[2] > 0 else b
    held = one()
    held[0] += 100 * x[3]
    a()[0] *= x[4]
    return a()[0], b()[0], held[0]


def of_objects(x: Any, n: int) -> Any:
    a, b = with_an_object(x[0]), with_an_object(x[1])
    if x[2] > 0:
        a = b
    a().values[0] *= x[3]
    return a().values[0], b().values[0]


def given_first(x: Any, n: int) -> Any:
    def held(values: Any, k: int) -> Any:
        return values

    a, b = partial(held, [x[0]]), partial(held, [x[1]])
    one = a if x[2] > 0 else b
    one(1)[0] += x[3]
    return a(2)[0], b(3)[0]


def methods(x: Any, n: int) -> Any:
    a, b = Box(x[0]).held, Box(x[1]).held
    one = a if x[2] > 0 else b
    one()[0] += x[3]
    return a()[0], b()[0]


def defaults(x: Any, n: int) -> Any:
    def make(value: Any) -> Any:
        def held(values: Any = (value, [value])) -> Any:
            return values[1]

        return held

    a, b = make(x[0]), make(x[1])
    one = a if x[2] > 0 else b
    one()[0] *= x[3]
    return a()[0], b()[0]


CLOSURES = (one_of_two, rebound, of_a_list, kept_by_a_name, of_objects, given_first, methods, defaults)
