"""What a loop is to write over is read before it: no copy is made for what reads an element of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant


def kept_aside(x: Any) -> Any:
    for n in range(len(x) - 1, -1, -1):
        item, place = x[n], n
        while place < len(x) - 2:
            x[place] = x[place + 2]
            place += 2
        x[place] = item
    return x


def of_each_step(x: Any) -> Any:
    for n in range(len(x)):
        first, k = x[n] * 2, 0
        while x[k] < first and k < 3:
            x[k] += first
            k += 1
        x[n] -= first * k
    return x


def by_a_branch(x: Any) -> Any:
    for n in range(1, len(x)):
        before = x[n - 1]
        if x[n] > 0.5:
            x[n] *= 0.5
            x[0] += x[n]
        x[n - 1] = before + x[0]
    return x


@pytest.mark.parametrize("f", [kept_aside, of_each_step, by_a_branch], ids=lambda f: f.__name__)
def test_no_step_copies_the_array(f: Callable[[Any], Any]) -> None:
    x = np.random.default_rng(0).random(1000)
    np.testing.assert_allclose(pliant.jit(f)(x.copy()), f(x.copy()), rtol=1e-12)
    text = str(pliant.explain(f, x))
    inside = text[text.index("memory:") :].split("inside", 1)[1]
    arrays = [line for line in inside.splitlines() if "f64[1000]" in line]
    assert arrays
    assert not [line for line in arrays if "in the memory of" not in line and ", given" not in line]
