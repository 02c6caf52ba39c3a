"""Names that are bound to a part of an array which the loop writes, until a condition binds them to another one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant


def least(pop: Any) -> Any:
    best = pop[0]
    for i in range(6):
        trial = pop[i] * 0.9
        pop[i] = trial
        if trial[0] < best[0]:
            best = trial
    return best


def replaced_if_better(pop: Any) -> Any:
    best = pop[0]
    for i in range(6):
        trial = pop[i] * 0.9 - 0.02
        if trial[0] < pop[i, 0]:
            pop[i] = trial
            if trial[0] < best[0]:
                best = trial
    return best


def generations(pop: Any) -> Any:
    fit = pop.sum(1)
    j = np.argmin(fit)
    best = pop[j]
    for _ in range(5):
        for i in range(6):
            trial = pop[i] * 0.8 + pop[(i + 1) % 6] * 0.1
            f = trial.sum()
            if f < fit[i]:
                pop[i], fit[i] = trial, f
                if f < fit[j]:
                    j, best = i, trial
    return best, fit, j


def while_there_is_a_budget(pop: Any) -> Any:
    best, n = pop[0], 0
    while n < 20:
        for i in range(6):
            trial = pop[i] * 0.9
            n += 1
            if trial[0] < pop[i, 0]:
                pop[i] = trial
                if trial[0] < best[0]:
                    best = trial
    return best


def written_itself(pop: Any) -> Any:
    best = pop[0]
    for i in range(6):
        trial = pop[i] * 0.9
        pop[i] = trial
        best *= 0.99
        if trial[0] < best[0]:
            best = trial
    return best


def written_after_the_loop(pop: Any) -> Any:
    best = pop[0]
    for i in range(6):
        pop[i] = pop[i] * 0.9
        if pop[i, 0] < best[0] - 0.1:
            best = pop[i] * 1.0
    best[0] = 7.0
    return best


def the_array_is_written_after_the_loop(pop: Any) -> Any:
    best = pop[0]
    for i in range(6):
        pop[i] = pop[i] * 0.9
        if pop[i, 0] < best[0] - 0.1:
            best = pop[i] * 1.0
    pop[0] = 7.0
    return best


def both_names_after_the_loop(pop: Any) -> Any:
    best = pop[0]
    trial = pop[0] * 1.0
    for i in range(6):
        trial = pop[i] * 0.9
        pop[i] = trial
        if trial[0] < best[0]:
            best = trial
    trial[0] += 3.0
    return best, trial


def changed_after_it_is_bound(pop: Any) -> Any:
    best = pop[0]
    for i in range(6):
        trial = pop[i] * 0.9
        if trial[0] < best[0]:
            best = trial
        trial[1] += 1.0
        pop[i] = trial
    return best


def two_names(pop: Any) -> Any:
    best, worst = pop[0], pop[1]
    for i in range(6):
        trial = pop[i] * 0.9
        pop[i] = trial
        if trial[0] < best[0]:
            best = trial
        if trial[0] > worst[0]:
            worst = trial
    return best, worst


def two_names_of_one_part(pop: Any) -> Any:
    best = pop[0]
    other = best
    for i in range(6):
        trial = pop[i] * 0.9
        pop[i] = trial
        if trial[0] < best[0]:
            best = trial
    other[2] = 5.0
    return best, other


def the_whole_array(pop: Any) -> Any:
    x = pop[0]
    best = x
    for i in range(6):
        trial = x * 0.9 + 0.01 * i
        x[:] = x * 1.1
        if trial[0] < best[0]:
            best = trial
    return best, x


def nobody_moves(pop: Any) -> Any:
    best = pop[0]
    for i in range(6):
        pop[i] = pop[i] * 1.1
        if pop[i, 0] < best[0] - 100:
            best = pop[i] * 1.0
    return best


PROGRAMS = (
    least, replaced_if_better, generations, while_there_is_a_budget, written_itself, written_after_the_loop,
    the_array_is_written_after_the_loop, both_names_after_the_loop, changed_after_it_is_bound, two_names,
    two_names_of_one_part, the_whole_array, nobody_moves,
)  # fmt: skip
BASES = [np.random.default_rng(n).uniform(0.1, 1, (6, 3)) for n in range(3)]


def results(f: Callable[..., Any], pop: Any) -> list[Any]:
    made = f(pop)
    return [np.array(y, float) for y in (made if isinstance(made, tuple) else (made,))] + [pop]


@pytest.mark.parametrize("backend", ["llvm", "reference"])
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_values_are_pythons(f: Callable[..., Any], backend: str) -> None:
    compiled = pliant.jit(f, backend=backend)
    for base in (*BASES, *BASES):
        for got, want in zip(results(compiled, base.copy()), results(f, base.copy()), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-12)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_what_is_returned_is_a_view_where_pythons_is(f: Callable[..., Any]) -> None:
    def first(x: Any) -> Any:
        made = f(x)
        return made[0] if isinstance(made, tuple) else made

    compiled = pliant.jit(first)
    for base in BASES:
        one, two = base.copy(), base.copy()
        assert np.shares_memory(compiled(one), one) == np.shares_memory(first(two), two)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradients_are_those_of_differences(f: Callable[..., Any]) -> None:
    def loss(x: Any) -> Any:
        return sum([np.sum(np.cos(np.arange(r.size)) * np.ravel(r) ** 2) for r in results(f, x * 1.0)])

    for base in BASES[:2]:
        steps = 1e-6 * np.eye(18).reshape(18, 6, 3)
        wanted = np.reshape([(loss(base + d) - loss(base - d)) / 2e-6 for d in steps], (6, 3))
        np.testing.assert_allclose(pliant.grad(loss)(base), wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("f", [least, replaced_if_better, generations], ids=lambda f: f.__name__)
def test_the_loop_is_one_of_the_program(f: Callable[..., Any]) -> None:
    assert {report.kind for report in pliant.explain(f, BASES[0].copy()).loops} == {"loop"}
