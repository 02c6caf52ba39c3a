# ruff: noqa: PERF401, SIM113 (that such loops are loops is what is tested)
"""Small programs with lists of which data decide how many elements they have, and others of which the numbers of the
steps do; x: f64[9], n: int."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

SIDES = [True, False, True, True, False, True, True, True, False]


def positive(x: Any) -> Iterator[Any]:
    for v in x:
        if v > 0.01:
            yield v


def all_but_one(x: Any, n: int) -> Any:
    s, out = sum(positive(x)), []
    for k in range(9):
        if k != 2:
            out.append(x[k] * s)
    return out


def by_a_list_from_outside(x: Any, n: int) -> Any:
    s, out = list(positive(x)), []
    for k in range(9):
        if SIDES[k]:
            out.append(x[k] * len(s))
    return out


def pairs_below_the_diagonal(x: Any, n: int) -> Any:
    s, out = sum(positive(x)), []
    for i in range(6):
        for j in range(i):
            if j != 1:
                out.append((i, x[i] * x[j] + s))
    return out


def up_to_a_break(x: Any, n: int) -> Any:
    s, out = max(positive(x), default=0.0), []
    for k in range(9):
        if k == 7:
            break
        out.append(x[k] * s)
    return out


def by_a_counter(x: Any, n: int) -> Any:
    s, out, count = sum(positive(x)), [], 0
    for v in x:
        if count % 3 < 2:
            out.append(v * s)
        count += 1
    return out


def every_other(x: Any, n: int) -> Any:
    s, out, is_on = sum(positive(x)), [], True
    for v in x:
        if is_on:
            out.append(v + s)
        is_on = not is_on
    return out


def a_list_made_at_once(x: Any, n: int) -> Any:
    s = sum(positive(x))
    return [x[k] * s for k in range(9) if k % 4]


def by_an_argument(x: Any, n: int) -> Any:
    s, out = sum(positive(x)), []
    for k in range(9):
        if k < n:
            out.append(x[k] * s)
    return out


def as_an_array(x: Any, n: int) -> Any:
    s, out = list(positive(x)), []
    for k in range(9):
        if k % 2:
            out.append(x[k] * len(s))
    return np.arange(len(out)) + np.array(out)


LENGTHS = [all_but_one, by_a_list_from_outside, pairs_below_the_diagonal, up_to_a_break, by_a_counter, every_other,
           a_list_made_at_once, by_an_argument, as_an_array]  # fmt: skip
