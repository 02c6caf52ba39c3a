# ruff: noqa: PERF401 (that such loops are loops is what is tested)
# pyright: basic
"""A list that each step fills, and lets go of for a new one, is a new list at each step: the loop stays one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant import compiled
from tests.frontend.control.laws import X, assert_derivatives_are_differences, assert_is_pythons, name_of


def middles(x: Any, n: int) -> Any:
    held, made = [], np.zeros(9)
    for i in range(9):
        for k in range(3):
            held.append(x[(i + k) % 9] * (k + 1))
        held.sort()
        made[i] = held[1]
        held = []
    return made, len(held)


def as_many_as_are_positive(x: Any, n: int) -> Any:
    held, made = [], np.zeros((9, 9))
    for i in range(9):
        for j in range(9):
            for k in range(3):
                if x[(i * j + k) % 9] > 0.2:
                    held.append(x[(i * j + k) % 9])
                else:
                    held.append(0)
            held.sort()
            made[i, j] = held[len(held) // 2]
            held = []
    return made


def seen_by_another_name(x: Any, n: int) -> Any:
    held = []
    first = held
    for i in range(9):
        held.append(x[i])
        held.append(x[i] * 2)
        held = []
    return sum(first), len(first), len(held)


def the_one_before(x: Any, n: int) -> Any:
    held, last, total = [], [], 0.0
    for i in range(9):
        held.append(x[i] * i)
        held.append(x[i] ** 2)
        total = total + (last[0] * last[1] if i > 0 else 0.0)
        last = held
        held = []
    return total, last


def added_by_a_method(x: Any, n: int) -> Any:
    held, made = [], np.zeros(9)
    add = held.append
    for i in range(9):
        add(x[i])
        made[i] = len(held)
        held = []
    return made, held


def kept_in_a_list(x: Any, n: int) -> Any:
    held, kept = [], []
    for i in range(9):
        held.append(x[i] * i)
        held.append(x[i])
        kept.append(held)
        held = []
    return sum([a * b for a, b in kept])


def counted_at_run_time(x: Any, n: int) -> Any:
    held, total = [], 0.0
    while total < 3:
        held.append(np.abs(x[0]) + 1)
        held.append(total)
        total = total + max(held) * len(held) + held[0]
        held = []
    return total, len(held)


REFILLED = (
    kept_in_a_list, counted_at_run_time, middles, as_many_as_are_positive, seen_by_another_name, the_one_before, added_by_a_method,
)  # fmt: skip


@pytest.mark.parametrize("backend", ["reference", "llvm"])
@pytest.mark.parametrize("f", REFILLED, ids=name_of)
def test_it_is_pythons(f: Callable[..., Any], backend: str) -> None:
    assert_is_pythons(f, backend)


@pytest.mark.parametrize(
    "f", [middles, as_many_as_are_positive, the_one_before, kept_in_a_list, counted_at_run_time], ids=name_of
)
def test_derivatives_are_differences(f: Callable[..., Any]) -> None:
    assert_derivatives_are_differences(f)


@pytest.mark.parametrize("f", [middles, as_many_as_are_positive], ids=name_of)
def test_the_loop_stays_one(f: Callable[..., Any]) -> None:
    assert "unrolled" not in str(pliant.explain(f, X, 5))


def test_a_list_that_a_loop_carries_asks_for_no_other_program(monkeypatch: pytest.MonkeyPatch) -> None:
    def f(x: Any) -> Any:
        held = [0.0, 0.0]
        for v in x:
            held = [held[0] + v, held[1] * v]
        held.append(3.0)
        return held[0] + held[2]

    traced = list[int]()
    trace: Any = compiled.trace_program

    def counted(*args: Any, **options: Any) -> Any:
        traced.append(1)
        return trace(*args, **options)

    monkeypatch.setattr(compiled, "trace_program", counted)
    call = pliant.jit(f)
    assert [call(X), call(X)] == [f(X), f(X)]
    assert len(traced) == 1
