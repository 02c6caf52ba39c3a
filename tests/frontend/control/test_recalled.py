"""What loops inside of others carry is recalled from one trial to the next: fewer trials, and the same programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import optree
import pytest

import pliant
from pliant.frontend.control import induction, recalled

X = np.linspace(-1.0, 1.5, 6)


def one(x: Any) -> Any:
    s = 0
    for i in range(6):
        s += x[i]
    return s


def two(x: Any) -> Any:
    s, y = 0, np.zeros(6)
    for i in range(6):
        for j in range(6):
            if x[j] > s:
                s += x[i]
                y[j] += 1
    return s, y


def three(x: Any) -> Any:
    s, y = 0, np.zeros(6)
    for i in range(6):
        for j in range(6):
            for k in range(6):
                if x[k] > s:
                    s += x[i] * x[j]
                    y[j] += 1
    return s, y


def four(x: Any) -> Any:
    s, y = 0, np.zeros(6)
    for i in range(6):
        for j in range(6):
            for k in range(6):
                for m in range(6):
                    if x[k] > s:
                        s += x[i] * x[j] * x[m]
                        y[j] += 1
    return s, y


def trials_of(monkeypatch: pytest.MonkeyPatch, f: Callable[..., Any]) -> int:
    run, count = induction.Round.run, [0]

    def counted(self: Any) -> Any:
        count[0] += 1
        return run(self)

    with monkeypatch.context() as patched:
        patched.setattr(induction.Round, "run", counted)
        pliant.trace(f, X)
    return count[0]


def test_a_loop_around_loops_takes_a_few_trials_more(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = [trials_of(monkeypatch, f) for f in (two, three, four)]
    assert counts[2] - counts[1] <= counts[1] - counts[0] + 2


def narrower_at_the_second_call(x: Any) -> Any:
    def summed(v: Any) -> Any:
        s = np.float32(0)
        for a in v:
            s = s + a
        return s

    total = 0.0
    for i in range(5):
        wide = summed(x * i)
        total += wide + summed((x * i).astype(np.float32))
    return total, summed(x.astype(np.float32))


def changed_only_at_first(x: Any) -> Any:
    a, b, s = 2, x[0] * 0 + 2, 0.0
    for i in range(5):
        for j in range(5):
            a = b if i == 0 else a
            s += a * x[j]
        b = 3
    return s, a


def exchanged(x: Any) -> Any:
    a, b = x.copy(), x * 2
    for _ in range(4):
        for _ in range(3):
            b[1:] = 0.5 * (a[:-1] + a[1:])
            a, b = b, a
    return a, b


def a_new_array_for_each_row(x: Any) -> Any:
    total = 0.0
    for i in range(6):
        row = np.zeros(6)
        for j in range(6):
            if x[j] > x[i]:
                row[j] = x[j] - x[i]
        for j in range(6):
            total += row[j] * j
    return total


def left_early(x: Any) -> Any:
    count, last = 0, -1
    for i in range(6):
        for j in range(6):
            if x[j] > x[i] + 0.4:
                last = j
                break
            count += 1
        else:
            count += 100
    return count, last


def listed_inside(x: Any) -> Any:
    made: list[Any] = []
    for i in range(4):
        row: list[Any] = []
        for j in range(5):
            row.append(x[i] * x[j])  # noqa: PERF401  (a list that grows)
        made.append(sum(row))
    return np.array(made)


def while_in_while(x: Any) -> Any:
    i = s = 0
    while i < 6:
        j, t = 0, x[i]
        while j < 6 and t < 2:
            t = t + abs(x[j])
            j += 1
        s += t * j
        i += 1
    return s


def counted_by_a_step(x: Any) -> Any:
    k, s = 0, 0.0
    for i in range(5):
        for j in range(i, 6):
            k += 1
            s += x[j] * k
    return s, k


PROGRAMS = (
    one, two, three, four, narrower_at_the_second_call, changed_only_at_first, exchanged, a_new_array_for_each_row,
    left_early, listed_inside, while_in_while, counted_by_a_step,
)  # fmt: skip


def name_of(f: Callable[..., Any]) -> str:
    return f.__name__


def nothing(*args: Any) -> bool:
    return False


@pytest.mark.parametrize("f", PROGRAMS, ids=name_of)
def test_the_program_is_that_of_a_search_from_nothing(f: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    with_memory = str(pliant.trace(f, X))
    with monkeypatch.context() as patched:
        patched.setattr(recalled, "_recall", nothing)
        assert str(pliant.trace(f, X)) == with_memory


def flat(tree: Any) -> Any:
    return np.concatenate([np.ravel(np.asarray(part, float)) for part in optree.tree_leaves(tree)])


@pytest.mark.parametrize("x", [X, X[::-1], X * 0.3], ids=["up", "down", "small"])
@pytest.mark.parametrize("f", PROGRAMS, ids=name_of)
def test_it_does_what_python_does(f: Callable[..., Any], x: Any) -> None:
    np.testing.assert_allclose(flat(pliant.jit(f)(x.copy())), flat(f(x.copy())), rtol=1e-12, atol=1e-14)
