"""What may fail comes before what writes to arguments that does not depend on it: these are as before where it fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant


def written_later(x: Any, y: Any, i: Any) -> None:
    y[i] = 5.0
    x[:] = 1.0


def written_on_both_sides(x: Any, y: Any, i: Any) -> None:
    x *= 2
    y[i] = 1.0
    x *= 2


def no_integer(x: Any, y: Any, i: Any) -> None:
    x[0] = 3
    y[0] = int(x[1] * np.nan)
    x[1] = 9 + i


def read_from_another(x: Any, y: Any, i: Any) -> Any:
    x += y
    return y[i] + x.sum()


def in_a_loop(x: Any, y: Any, i: Any) -> Any:
    x -= 1.0
    total = 0.0
    for k in range(2):
        total += y[i * k]
    return total


@pytest.mark.parametrize("f", [written_later, written_on_both_sides, no_integer, read_from_another, in_a_loop])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_nothing_is_written_where_a_call_raises(f: Callable[..., Any], dtype: str) -> None:
    compiled = pliant.jit(f)
    for _ in range(3):  # the later ones by native code
        x, y = np.arange(1, 5, dtype=dtype), np.zeros(4, dtype)
        with pytest.raises((IndexError, ValueError)):
            compiled(x, y, 7)
        assert list(x) == [1.0, 2.0, 3.0, 4.0]
        assert not y.any()


def test_what_does_not_fail_is_written() -> None:
    x, y = np.arange(4.0), np.zeros(4)
    pliant.jit(written_on_both_sides)(x, y, 2)
    assert list(x) == [0.0, 4.0, 8.0, 12.0]
    assert list(y) == [0.0, 0.0, 1.0, 0.0]


def test_no_memory_is_taken_for_it() -> None:
    """A write of one element stays one, where what may fail reads another array."""

    def step(ring: Any, table: Any, k: Any, i: Any) -> Any:
        ring[k] = 1.0
        return table[i]

    text = str(pliant.explain(step, np.zeros(1000), np.ones(1000), 3, 4))
    assert "in the memory of argument ring" in text
    assert "copy" not in text
