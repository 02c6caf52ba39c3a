"""Dicts that make what is asked of them, in loops whose steps are traced once, and under conditions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant

X = np.array([1.0, -2.0, 3.0, 4.0, -5.0, 6.0, 7.0])


def history(x: Any) -> Any:
    log = defaultdict[str, list[Any]](list)
    for i in range(8):
        log["e"].append(x * i)
    return np.array(log["e"])


def some(x: Any) -> Any:
    log = defaultdict[str, list[Any]](list)
    for i in range(8):
        log["a"].append(x * i)
        if i % 2:
            log["b"].append(i)
    return np.array(log["a"]).sum(), np.array(log["b"]).sum()


def until(x: Any) -> Any:
    log, y = defaultdict[str, list[Any]](list), np.abs(x).sum()
    while y < 1000:
        y = y * 1.5 + 1
        log["y"].append(y)
    return np.array(log["y"]).sum(), len(log["y"])


def tables(x: Any) -> Any:
    log = defaultdict[str, dict[str, Any]](dict)
    for i in range(8):
        log["e"]["k"] = x * i
    return log["e"]["k"]


def by_number(x: Any) -> Any:
    log = defaultdict[int, list[Any]](list)
    for i in range(len(x)):
        log[i % 3].append(x[i])
    return [sum(v) for v in log.values()]


def counted(x: Any) -> Any:
    log = defaultdict[str, Any](int)
    for i in range(8):
        log["e"] += i * x
    return log["e"]


def inside(x: Any) -> Any:
    total = 0.0
    for i in range(6):
        log = defaultdict[str, list[Any]](list)
        for j in range(6):
            log["s"].append(x * (i + j))
        total = total + sum(log["s"])
    return total


def arrays(x: Any) -> Any:
    log = defaultdict[Any, Any](lambda: np.zeros(7))
    for i in range(8):
        log[i % 2] += x * i
        if i > 4:
            log["z"][1] += i
    return log[0].sum(), log[1].sum(), log["z"].sum()


def anew(x: Any) -> Any:
    total = 0.0
    for k in range(6):
        log = defaultdict[str, Any](lambda: np.ones(7))
        for _ in range(8):
            log["e"] *= x
        total = total + log["e"].sum() * k
    return total


def records(x: Any) -> Any:
    log = defaultdict[str, dict[str, Any]](lambda: {"n": 0, "sum": np.zeros(7)})
    for i in range(8):
        log["a"]["n"] += 1
        log["a"]["sum"] += x * i
    return log["a"]["n"], log["a"]["sum"].sum()


@pytest.mark.parametrize("f", [arrays, anew, records, history, some, until, tables, by_number, counted, inside])
def test_what_a_defaultdict_makes_in_a_loop_is_carried(f: Callable[..., Any]):
    for x in (X, X * 0.3):
        for made, wanted in zip(np.atleast_1d(pliant.jit(f)(x)), np.atleast_1d(f(x)), strict=True):
            np.testing.assert_allclose(made, wanted, rtol=1e-12)
