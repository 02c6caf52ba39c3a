"""Loops of unknown length that must be refused, each with what it is given. The messages are golden texts."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

import pliant

X = np.arange(3.0)


def list_that_is_changed_and_let_go_of(x: Any) -> Any:
    found = [[x, x.sum()]]
    while found[0][1] < 5:
        found.append([found[-1][0] * 2, found[-1][1] * 2])
        found = found[1:]
        found[0][1] += 1
    return found[0]


def attribute_that_a_step_sets_first(x: Any) -> Any:
    held = Held()
    while x[0] < 5:
        held.last = x * 2
        x = x + held.last
    return x


class Held:
    """An object without attributes."""

    last: Any


def function_without_a_program_in_an_endless_loop(x: Any) -> Any:
    term, n = x[1], 0
    while True:
        term = term * x[2] / math.gamma(n + 1.5)
        n = n + 1
        if term < 1e-9:
            return term


def function_without_a_program_in_a_counting_loop(x: Any) -> Any:
    term = x[1]
    for n in itertools.count():
        term = term * x[2] / math.gamma(n + 1.5)
        if term < 1e-9:
            break
    return term


WRONG_LOOPS = {
    f.__name__: (pliant.jit(f), (X,))
    for f in (
        list_that_is_changed_and_let_go_of,
        attribute_that_a_step_sets_first,
        function_without_a_program_in_an_endless_loop,
        function_without_a_program_in_a_counting_loop,
    )
}
