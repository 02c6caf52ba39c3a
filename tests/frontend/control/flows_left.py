"""Small programs that return early from a `try` or `with` what its end changes; x: f64[9], n: int."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any


class Box:
    def __init__(self, value: Any) -> None:
        self.value = value


class Changing:
    def __init__(self, values: Any) -> None:
        self.values = values

    def __enter__(self) -> Any:
        self.values[0] += 1.0
        return self.values

    def __exit__(self, *_: object) -> None:
        self.values[0] *= 2.0


@contextmanager
def changing(values: Any) -> Any:
    values[0] += 1.0
    try:
        yield values
    finally:
        values[0] *= 3.0


def a_list(x: Any, n: int) -> Any:
    a = [x[0]]
    try:
        if x[1] > 0:
            return a
        a[0] *= x[2]
    finally:
        a[0] += 1.0
    return a


def one_of_two_lists(x: Any, n: int) -> Any:
    a, b = [x[0]], [x[1]]

    def found() -> Any:
        try:
            if x[2] > 0:
                return a
            if x[3] > 0.2:
                return b
        finally:
            a[0] += x[4]
            b[0] *= x[5]
        return [x[6]]

    found()[0] += 5.0
    return a, b


def a_dict(x: Any, n: int) -> Any:
    a, b = {"n": x[0]}, {"n": x[1]}

    def changed() -> None:
        a["n"] += x[4]
        b["n"] *= x[5]

    try:
        if x[2] > 0:
            return a["n"], a, b
        return b["n"], b, a
    finally:
        changed()


def an_object(x: Any, n: int) -> Any:
    def found() -> Any:
        a, b = Box(x[0]), Box(x[1])
        try:
            if x[2] > 0:
                return a
            return b
        finally:
            a.value += x[4]
            b.value *= x[5]

    return found().value


def a_list_twice(x: Any, n: int) -> Any:
    a = [x[0]]

    def found() -> Any:
        try:
            if x[1] > 0:
                return a, x[3]
            a[0] *= x[2]
        finally:
            a[0] += 1.0
        return a, x[4]

    one, y = found()
    one[0] *= y
    return a


def a_list_in_a_list(x: Any, n: int) -> Any:
    a = [x[0]]
    try:
        if x[1] > 0:
            return [a, x[3]]
    finally:
        a[0] += 1.0
    return [a, x[4]]


def a_longer_list(x: Any, n: int) -> Any:
    a = [x[0]]
    try:
        if x[1] > 0:
            return a
        a[0] *= x[2]
    finally:
        a.append(x[3])
    return a


def by_a_manager(x: Any, n: int) -> Any:
    a = [x[0]]
    with Changing(a):
        if x[1] > 0:
            return a
    return a


def one_of_two_by_a_manager(x: Any, n: int) -> Any:
    a, b = [x[0]], [x[1]]

    def found() -> Any:
        with Changing(a):
            if x[2] > 0:
                return a
            return b

    found()[0] *= x[3]
    return a, b


def by_a_generator(x: Any, n: int) -> Any:
    a = [x[0]]
    for v in x[:n]:
        with changing(a) as b:
            if v > 0.2:
                return b
    return a


def in_another_try(x: Any, n: int) -> Any:
    a = [x[0]]
    try:
        try:
            if x[1] > 0:
                return a
        finally:
            a[0] += x[2]
        a[0] *= x[3]
    finally:
        a[0] -= 0.5
    return a


LEFT_EARLY = (
    a_list, one_of_two_lists, a_dict, an_object, a_list_twice, a_list_in_a_list, a_longer_list, by_a_manager,
    one_of_two_by_a_manager, by_a_generator, in_another_try,
)  # fmt: skip
