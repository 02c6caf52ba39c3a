"""Small programs whose loops raise in every step that there is, if there is one; x: f64[9], n: int."""

from __future__ import annotations

from typing import Any


def by_an_argument(x: Any, n: int, k: int = 2) -> Any:
    r = x[0]
    try:
        for _ in range(n):
            r = r + x[1]
            if k == 2:
                raise ValueError
            r = r * 2
    except ValueError:
        r = r + x[2] * 100
    return r


def before_anything_changes(x: Any, n: int, k: int = 2) -> Any:
    r = x[0]
    try:
        for _ in range(n):
            if k == 2:
                raise ValueError("two")
            r = r + 1
    except ValueError as error:
        r = r * len(error.args)
        x = x * 3
    else:
        r = r * 7
    return r + x.sum()


def in_a_while(x: Any, n: int, k: int = 2) -> Any:
    r = x[0] * 0
    try:
        while r < n - 3:
            r = r + 1
            if k > 1:
                raise ValueError
    except ValueError:
        return r + x[0]
    return r - x[1]


def before_finally(x: Any, n: int, k: int = 2) -> Any:
    r = x[0]
    try:
        for _ in range(n):
            try:
                if k == 2:
                    raise ValueError
            finally:
                r = r + 10
    except ValueError:
        r = r * 2
    finally:
        r = r + x[1]
    return r


def inside_finally(x: Any, n: int, k: int = 2) -> Any:
    r = x[0]
    try:
        try:
            for _ in range(n):
                if k == 2:
                    raise ValueError
        finally:
            r = r + 10
    except ValueError:
        r = r * 2
    return r


def of_a_key(x: Any, n: int) -> Any:
    known = {"a": x[0]}
    try:
        for _ in range(n):
            x = x * known["b"]
    except KeyError:
        return x[1]
    return x[2]


def in_an_inner_loop(x: Any, n: int, k: int = 2) -> Any:
    r = x[0]
    try:
        for i in range(n):
            for _ in range(i):
                r = r + 1
                if k == 2:
                    raise ValueError
            r = r + 0.5
    except ValueError:
        r = r * 100
    return r


def caught_around_an_outer_loop(x: Any, n: int, k: int = 2) -> Any:
    r = x[0]
    for _ in range(3):
        try:
            for _ in range(n):
                if k == 2:
                    raise ValueError
            r = r + x[1]
        except ValueError:
            r = r * 2
    return r


def of_a_function(x: Any, n: int, mode: str = "b") -> Any:
    def step(v: Any) -> Any:
        if mode != "a":
            raise ValueError("unknown mode")
        return v * 2

    for i in range(n):
        x = step(x)
        x[0] = i
    return x


def by_data_outside(x: Any, n: int) -> Any:
    r = 0.0
    if x[0] > 0:
        for _ in range(n):
            raise ValueError("positive")
    return r + x[1]


RAISING = [
    by_an_argument, before_anything_changes, in_a_while, before_finally, inside_finally, of_a_key, in_an_inner_loop,
    caught_around_an_outer_loop, of_a_function, by_data_outside,
]  # fmt: skip
