"""Arrays that may not overlap, many of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant
from pliant.backends.calls import MISSED, Array, Call, Container, Result
from pliant.backends.llvm import BACKEND, jit
from pliant.backends.llvm.entry import make_entry
from pliant.backends.llvm.separate import FEW, in_order
from pliant.core.build import trace
from pliant.core.types import Type
from pliant.ops.elementwise import add

MANY = 40
VECTOR = Type("f64", (4,))


def pairs_of(watched: int, count: int) -> tuple[tuple[int, int], ...]:
    """The last arrays, and all others."""
    return tuple([(i, j) for j in range(count - watched, count) for i in range(j)])


@pytest.mark.parametrize("watched", [10, MANY - 1, MANY])
def test_those_that_are_watched_come_first(watched: int):
    order = in_order(pairs_of(watched, MANY))
    assert order
    assert set(order[0][: order[1]]) >= set(range(MANY - watched, MANY))
    assert sorted(order[0]) == [*range(MANY)]


def test_few_pairs_and_other_ones_are_looked_at_one_by_one():
    assert not in_order(pairs_of(3, 9))
    assert not in_order([(i, i + 1) for i in range(2 * FEW)])
    assert not in_order(pairs_of(20, MANY)[1:])


def made(watched: int) -> Any:
    """An entry that adds up many arrays, of which the last ones may share no byte with another."""
    run = BACKEND.compile(trace(lambda *vs: sum(vs[1:], start=add(vs[0], 0.0)), *[VECTOR] * MANY))
    arguments = tuple([Array(n) for n in range(MANY)])
    return make_entry(run, Call(arguments, Container(tuple, (Result(0, "array"),)), apart=pairs_of(watched, MANY)))


@pytest.mark.parametrize("watched", [10, MANY])
def test_arrays_that_share_a_byte_are_refused_wherever_they_stand(watched: int):
    entry, rng = made(watched), np.random.default_rng(watched)
    memory = rng.normal(size=4 * MANY + 3)
    rows = [memory[4 * n : 4 * n + 4] for n in range(MANY)]  # they touch each other
    for shift in (*range(-3, 4), 4):
        for _ in range(30):
            i, j = rng.choice(MANY, 2, replace=False)
            start = 4 * j + shift
            xs = [*rows]
            if 0 <= start <= memory.size - 4:
                xs[i] = memory[start : start + 4]
            met = [
                (a, b)
                for a, b in pairs_of(watched, MANY)
                if np.shares_memory(xs[a], xs[b])
            ]  # fmt: skip
            got = entry(*xs)
            assert (got is MISSED) == bool(met)
            if not met:
                np.testing.assert_allclose(got[0], np.sum(xs, axis=0))


@pytest.mark.parametrize("count", [4, MANY])
def test_writes_to_arrays_that_overlap_are_numpys_also_after_others(count: int):
    def run(*xs: Any) -> None:
        for n, x in enumerate(xs):
            x += n + 1.0
            x *= xs[n - 1]

    compiled, rng = pliant.jit(run), np.random.default_rng(count)
    memory = rng.normal(size=4 * count + 3)
    for shift in (0, 0, 0, 0, 2, 0, 3, 0):
        got, wanted = memory.copy(), memory.copy()
        for f, row in ((compiled, got), (run, wanted)):
            xs = [row[4 * n : 4 * n + 4] for n in range(count)]
            xs[-1] = row[4 * (count - 1) - shift :][:4]
            f(*xs)
        np.testing.assert_allclose(got, wanted, rtol=1e-12)


def test_the_code_for_arrays_that_lie_apart_is_linear_in_their_number(monkeypatch: pytest.MonkeyPatch):
    def run(*xs: Any) -> None:
        for x in xs:
            x += 1.0

    lines = list[int]()
    compiled = jit.compiled

    def noted(text: str, *more: Any) -> bytes:
        if "ptr @entry(" in text:
            lines.append(text.count("\n"))
        return compiled(text, *more)

    monkeypatch.setattr(jit, "compiled", noted)
    for count in (MANY, 3 * MANY):
        f = pliant.jit(run)
        xs = [np.ones(5) for _ in range(count)]
        for _ in range(3):
            f(*xs)
    few, many = lines
    assert many < 3.5 * few
