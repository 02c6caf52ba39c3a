"""`try` statements of which nothing fails at run time, and which are left from inside, do what Python's do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant

TABLE = {"a": 2.0, "b": 3.0}


class Lower:
    """Looks up what is not there in lower case."""

    def __init__(self, table: dict[str, float]) -> None:
        self.table = table

    def __getitem__(self, key: str) -> float:
        try:
            return self.table[key]
        except KeyError:
            pass
        return self.table[key.lower()]


def by_a_handler_that_runs_to_its_end(x: Any, key: str) -> Any:
    try:
        return x * TABLE[key]
    except KeyError:
        pass
    return x * TABLE[key.lower()]


def by_an_object(x: Any, key: str) -> Any:
    return x * Lower(TABLE)[key]


def by_a_handler(x: Any, key: str) -> Any:
    try:
        return x * TABLE[key]
    except KeyError as error:
        if len(key) > 1:
            return x * len(error.args)
    x = x + 1
    return x * TABLE[key.lower()]


def in_a_loop(x: Any, key: str) -> Any:
    for one in (key, "a", "C", "B"):
        try:
            x = x + TABLE[one]
            if one == key:
                continue
        except KeyError:
            if one == "C":
                break
        x = x * 3
    return x


def at_its_end(x: Any, key: str) -> Any:
    try:
        return x
    finally:
        if key == "a":
            return x * 2  # noqa: B012


def at_its_end_after_a_change(x: Any, key: str) -> Any:
    try:
        if key == "a":
            return x
    finally:
        x = x + 1
        if key == "b":
            return x * 2  # noqa: B012
    return x


def one_in_another(x: Any, key: str) -> Any:
    try:
        try:
            return x * TABLE[key]
        except KeyError:
            x = x + 1
        return x * TABLE[key.lower()]
    except KeyError:
        x = x + 2
    return x


@pytest.mark.parametrize("key", ["a", "b", "A", "cc"])
@pytest.mark.parametrize("f", [
    by_a_handler_that_runs_to_its_end, by_an_object, by_a_handler, in_a_loop, at_its_end, at_its_end_after_a_change,
    one_in_another,
])  # fmt: skip
def test_they_are_left_as_pythons_are(f: Callable[..., Any], key: str) -> None:
    def asked(f: Callable[..., Any]) -> Any:
        try:
            return f(np.array([1.5, -2.0]), key)
        except KeyError as error:
            return error.args

    assert repr(asked(pliant.jit(f))) == repr(asked(f))
