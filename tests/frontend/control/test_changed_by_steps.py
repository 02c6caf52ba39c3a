"""Lists that loops go over, and that a step changes under a condition of data: programs do what Python does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import UnsupportedError


def appended(elements: Any, x: Any) -> Any:
    n = 0
    for e in elements:
        n += 1
        if x > 0 and n < 9:
            elements.append(e)
    return n


def numbered(elements: Any, x: Any) -> Any:
    n = 0
    for i, e in enumerate(elements):
        n += i
        if x > 0 and n < 9:
            elements.append(e)
    return n


def beside(elements: Any, x: Any) -> Any:
    n = 0
    for _, i in zip(elements, range(20), strict=False):
        n += i
        if x > 0:
            elements.pop()
    return n


def backwards(elements: Any, x: Any) -> Any:
    n = 0
    for _ in reversed(elements):
        n += 1
        if x > 0 and n > 1:
            elements.clear()
    return n


LISTS = ([1.0, 2.0], [1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 3.0], [1.0, 2], [np.ones(2), np.ones(2)])
LOOPS = (appended, numbered, beside, backwards)


@pytest.mark.parametrize("f", LOOPS)
@pytest.mark.parametrize("elements", LISTS)
@pytest.mark.parametrize("x", [1.0, -1.0])
def test_steps_see_what_the_list_has_now(f: Callable[..., Any], elements: list[Any], x: float) -> None:
    assert pliant.jit(f)([*elements], x) == f([*elements], x)


@pytest.mark.parametrize("f", LOOPS)
@pytest.mark.usefixtures("for_all_data")
def test_for_all_data_it_is_refused(f: Callable[..., Any]) -> None:
    with pytest.raises(UnsupportedError):
        pliant.jit(f)([1.0, 2.0, 3.0], 1.0)
