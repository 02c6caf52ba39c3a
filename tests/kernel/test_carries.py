"""Carries of loops that change places: right at every number of steps, and never copied."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.kernel.carries import first_places

ROWS = np.arange(60.0).reshape(3, 20)


def written(a: Any, b: Any, c: Any) -> tuple[Any, Any, Any]:
    """The first array changed where it lies, and all three moved on by one."""
    a = a.copy()
    a[1:-1] = 0.5 * (b[2:] + c[:-2])
    return b, c, a


def made_anew(a: Any, b: Any, c: Any) -> tuple[Any, Any, Any]:
    """One array made from all, two moved on, one forgotten."""
    return b, a[::-1] + c, 0.5 * b


def exchanged_twice(a: Any, b: Any, c: Any) -> tuple[Any, Any, Any]:
    """Two arrays exchanged; the third is one of them once more."""
    return b, a, a


STEPS = [written, made_anew, exchanged_twice]


def plain(step: Callable[..., Any], steps: int) -> Any:
    state: Any = tuple(ROWS)
    for _ in range(steps):
        state = step(*state)
    return state


@pytest.mark.parametrize("steps", range(8))
@pytest.mark.parametrize("step", STEPS)
def test_moving_carries_of_a_counted_loop(step: Callable[..., Any], steps: int) -> None:
    def run(rows: Any) -> Any:
        return pliant.fori_loop(0, steps, lambda _, state: step(*state), tuple(rows[n] for n in range(3)))

    np.testing.assert_array_equal(pliant.jit(run)(ROWS), plain(step, steps))


@pytest.mark.parametrize("steps", range(8))
@pytest.mark.parametrize("step", STEPS)
def test_moving_carries_of_a_loop_with_a_condition(step: Callable[..., Any], steps: int) -> None:
    def run(rows: Any, end: Any) -> Any:
        def body(state: Any) -> Any:
            return state[0] + 1, *step(*state[1:])

        return pliant.while_loop(lambda state: state[0] < end, body, (0, *(rows[n] for n in range(3))))[1:]

    np.testing.assert_array_equal(pliant.jit(run)(ROWS, steps), plain(step, steps))


@pytest.mark.parametrize("steps", [0, 1, 2, 5])
def test_first_places_lead_home(steps: int) -> None:
    before = [1, 2, 0, 4, 3]
    held = list(first_places(before, steps))
    for _ in range(steps):
        held = [held[n] for n in before]
    assert held == [0, 1, 2, 3, 4]
