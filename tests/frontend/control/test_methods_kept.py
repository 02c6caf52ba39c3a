"""Methods of lists, dicts and sets that are called in another part of a function than they were read in."""

from __future__ import annotations

import collections
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import optree
import pytest

import pliant

X = np.array([3.0, 1.0, 2.0])


def appended(x: Any, t: float) -> Any:
    out = []
    add = out.append
    for v in x:
        if v > t:
            add(v)
    return sum(out), len(out)


def taken(x: Any, t: float) -> Any:
    out = [1.0, 2.0]
    take = out.pop
    if x[0] > t:
        take()
    return sum(out)


def of_classes_and_operator(x: Any, t: float) -> Any:
    out, table = [1.0, 2.0], {"a": 1.0}
    if x[0] > t:
        list.append(out, 1.0)
        operator.setitem(out, 0, 9.0)
        operator.setitem(table, "a", 2.0)
    return sum(out), table["a"]


class Kept:
    """An object with one attribute."""

    def __init__(self) -> None:
        self.v = 1.0


def set_plainly(x: Any, t: float) -> Any:
    kept = Kept()
    if x[0] > t:
        object.__setattr__(kept, "v", 4.0)
    return kept.v


def of_a_deque(x: Any, t: float) -> Any:
    queue: Any = collections.deque()
    put = queue.appendleft
    for v in x:
        if v > t:
            put(v)
    return sum(queue), len(queue)


def extended(x: Any, t: float) -> Any:
    out: list[Any] = []
    add = out.extend
    for v in x:
        add([v, 2 * v])
    return sum(out)


@pytest.mark.parametrize("f", [appended, taken, of_classes_and_operator, set_plainly, of_a_deque, extended])
def test_what_they_change_is_known(f: Callable[[Any, float], Any]) -> None:
    compiled = pliant.jit(f)
    for t in (1.5, 9.0, 2.5, 0.0):
        np.testing.assert_allclose(optree.tree_leaves(compiled(X, t)), optree.tree_leaves(f(X, t)), rtol=1e-14)
