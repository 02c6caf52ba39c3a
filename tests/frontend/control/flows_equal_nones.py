"""Small programs that ask by == and != whether something is None; x: f64[9]."""

from __future__ import annotations

from typing import Any

import numpy as np

# ruff: noqa: E711, SIM300
# pyright: basic, reportOptionalOperand=false


def equal_to_none(x: Any, n: int) -> Any:
    made, j, prev = np.zeros(9), 0, None
    for i in range(9):
        if x[i] > 0.5:
            if prev == None:
                prev = x[i]
            else:
                made[j] = prev * x[i]
                prev = None
                j += 1
    if prev != None:
        made[j] = prev
    return made


def unlike_none(x: Any, n: int) -> Any:
    last = None
    for i in range(9):
        if x[i] > 1:
            last = x[i]
    return (None != last) * 1, (last != None) + 1, (last == None) * x[0], last != x[8]


def unlike_each_other(x: Any, n: int) -> Any:
    one = other = None
    for i in range(9):
        if x[i] > 1:
            one = i
        if x[i] > 1.5:
            other = i
    return (one != other) * 1.0, (one == other) + 1


EQUAL_NONES = (equal_to_none, unlike_none, unlike_each_other)
