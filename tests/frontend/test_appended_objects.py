"""Objects that a call appends to a list outside: some of their attributes are None until a condition holds."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import pliant


class Stump:
    def __init__(self, threshold: Any) -> None:
        self.sign, self.threshold = 1, threshold


MODEL: Any = SimpleNamespace(items=[])


def fitted(start: Any, x: Any) -> None:
    stump, best = Stump(start), np.inf
    for v in x:
        if abs(v) < best:
            stump.sign, stump.threshold, best = -1, v, abs(v)
    MODEL.items.append(stump)


def of_a_step(start: Any, x: Any) -> None:
    stump = Stump(start)
    if x[0] > 0:
        stump.sign, stump.threshold = 2, x[1]
    MODEL.items.append(stump)


def given(start: Any, x: Any, items: Any) -> None:
    stump = Stump(start)
    if x[0] > 0:
        stump.sign, stump.threshold = 2, x[1]
    items.append(stump)


INPUTS = [np.arange(4.0) - 1.5, np.arange(4.0) + 3, np.full(4, np.inf), np.arange(4.0) - 2]


@pytest.mark.parametrize("start", [None, 0.0])
@pytest.mark.parametrize("f", [fitted, of_a_step])
def test_what_is_appended_outside_is_pythons(f: Any, start: Any) -> None:
    compiled = pliant.jit(lambda x: f(start, x))
    MODEL.items = []
    for x in INPUTS:
        compiled(x)
        f(start, x)
    held = [vars(x) for x in MODEL.items]
    assert held[::2] == held[1::2]


@pytest.mark.parametrize("start", [None, 0.0])
def test_what_is_appended_to_an_argument_is_pythons(start: Any) -> None:
    compiled = pliant.jit(lambda x, items: given(start, x, items))
    for x in INPUTS:
        found, expected = list[Any](), list[Any]()
        compiled(x, found)
        given(start, x, expected)
        assert [vars(stump) for stump in found] == [vars(stump) for stump in expected]
