"""A call that fails midway leaves its arguments as NumPy would: what came before the error has happened."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant


def gathered(x: Any, y: Any, i: Any) -> None:
    x[:] = y[i] * 2


def gathered_part(x: Any, y: Any, i: Any) -> None:
    x[1:-1] = y[i][1:-1]


def added(x: Any, y: Any, i: Any) -> None:
    x[i] += 1


def moved(x: Any, y: Any, i: Any) -> None:
    x[i] = y[i]


def between(x: Any, y: Any, i: Any) -> None:
    x += 1
    x[i] = 7
    x *= 2


@pytest.mark.parametrize("f", [gathered, gathered_part, added, moved, between])
def test_a_failed_call_leaves_what_numpy_leaves(f: Callable[..., None]):
    compiled = pliant.jit(f)
    for wrong in (False, True, False, False, False, True):  # by the general way, and by the C-level entry
        i = np.array([*range(1, 18), 100 if wrong else 0, 3, 4])
        given, wanted = ([np.arange(20.0), np.arange(30.0, 60.0), i.copy()] for _ in range(2))
        for run, xs in ((compiled, given), (f, wanted)):
            if wrong:
                with pytest.raises(IndexError):
                    run(*xs)
            else:
                run(*xs)
        np.testing.assert_array_equal(given[0], wanted[0])
        np.testing.assert_array_equal(given[1], wanted[1])


def test_a_call_that_raises_leaves_objects_and_counters_outside_as_they_were() -> None:
    table: dict[str, Any] = {"n": 0, "a": np.zeros(1), "rows": []}

    def f(x: Any) -> None:
        table["n"] += 1
        table["a"] += x
        table["rows"].append(x)
        if x > 5:
            raise ValueError("too large")

    compiled = pliant.jit(f)
    for count in (1, 2, 3):
        compiled(1.0)
        with pytest.raises(ValueError, match="too large"):
            compiled(9.0)
        assert (table["n"], table["a"].tolist(), table["rows"]) == (count, [count], [1.0] * count)
