"""Containers from outside that are operands, compared, or given to methods: what changes in them is seen at the next call."""

from __future__ import annotations

from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

import numpy as np
import pytest

import pliant

WORDS = ["a", "b"]
NUMBERS = [1.0, 2.0]
NAMES = {"a", "b"}
SCALES = {"a": 1.0, "b": 2.0}
X = np.ones(2)
MORE, THREE = ["c"], [3.0]


def added(x: Any) -> Any:
    return x * len(MORE + WORDS)


def added_before(x: Any) -> Any:
    return x * len(WORDS + MORE)


def repeated(x: Any) -> Any:
    return x * len(WORDS * 2)


def compared(x: Any) -> Any:
    return x * (2 if WORDS == ["a", "b"] else 3)


def compared_in_a_chain(x: Any) -> Any:
    return x * (2 if ["a"] <= WORDS < ["a", "b", "z"] else 3)


def extended(x: Any) -> Any:
    words = ["q"]
    words += WORDS
    words.extend(WORDS)
    return x * len(words)


def joined(x: Any) -> Any:
    return x * len(",".join(WORDS))


def of_numbers(x: Any) -> Any:
    return x * sum(NUMBERS + THREE)


def united(x: Any) -> Any:
    return x * len(NAMES | {"z"}) + len(NAMES)


def updated(x: Any) -> Any:
    names = {"z"}
    names |= NAMES
    names.update(NAMES)
    return x * len(names)


def merged(x: Any) -> Any:
    return x * sum((SCALES | {"z": 3.0}).values()) + (SCALES == {"a": 1.0, "b": 2.0})


PROGRAMS = (
    added, added_before, repeated, compared, compared_in_a_chain, extended, joined, of_numbers, united, updated, merged,
)  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS)
def test_what_has_changed_is_seen(f: Callable[[Any], Any]) -> None:
    WORDS[:], NUMBERS[:] = ["a", "b"], [1.0, 2.0]
    NAMES.clear()
    NAMES.update("ab")
    SCALES.clear()
    SCALES.update(a=1.0, b=2.0)
    compiled = pliant.jit(f)
    np.testing.assert_array_equal(compiled(X), f(X))
    WORDS.append("zz")
    NUMBERS.append(4.0)
    NAMES.add("c")
    SCALES["c"] = 4.0
    np.testing.assert_array_equal(compiled(X), f(X))
    WORDS[0], NUMBERS[0], SCALES["a"] = "bbb", 5.0, 7.0
    NAMES.discard("a")
    np.testing.assert_array_equal(compiled(X), f(X))


def test_what_is_asked_for_its_identity_may_change() -> None:
    traced = SimpleQueue()
    cache: Any = []

    def f(x: Any) -> Any:
        traced.put(1)
        return x if cache is None else 2 * x

    compiled = pliant.jit(f)
    for n in range(3):
        cache.append(n)
        np.testing.assert_array_equal(compiled(X), 2 * X)
    assert traced.qsize() == 1
