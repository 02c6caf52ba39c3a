"""The benchmarks measure the right thing: their gradients by hand are gradients, their clocks run."""

from __future__ import annotations

import time

import numpy as np
import optree
import pytest

import pliant
from benchmarks.measure import interleaved
from benchmarks.programs import Program, programs
from benchmarks.sides import numpy, relative
from benchmarks.sides import pliant as compiled

SMALL = [p for p in programs() if all(np.size(leaf) < 500_000 for leaf in optree.tree_leaves(p.args))]


@pytest.mark.parametrize("program", SMALL, ids=lambda p: p.name)
def test_pliant_agrees_with_numpy_and_the_gradient_by_hand(program: Program) -> None:
    got, expected = optree.tree_leaves(compiled(program)()), optree.tree_leaves(numpy(program)())
    assert max(relative(a, b) for a, b in zip(got, expected, strict=True)) < 1e-9


def test_a_slower_side_takes_longer() -> None:
    times = interleaved({"sleeps": lambda: time.sleep(0.002), "returns": lambda: None}, rounds=2, seconds=0.004)
    assert times["sleeps"] >= 0.002 > times["returns"]


def test_jit_of_a_long_program_agrees_with_numpy() -> None:
    from benchmarks.long import straight

    x = np.linspace(0.1, 1.0, 4)
    fn = straight(np, 200)
    assert pliant.jit(fn)(x) == pytest.approx(fn(x))


def test_programs_that_draw_agree_with_numpy() -> None:
    from benchmarks.draws import PROGRAMS, sides_of

    for f in PROGRAMS:
        assert len(sides_of(f, 50)) >= 2


def test_the_branches_of_a_program_are_the_same_on_every_backend() -> None:
    from benchmarks.branches import BACKENDS, KINDS, PROGRAMS

    a = np.random.default_rng(0).standard_normal((6, 6))
    for f in PROGRAMS:
        for is_cheap in (np.True_, np.False_):
            assert KINDS["value"](f, "llvm")(is_cheap, a) == pytest.approx(f(is_cheap, a))
            for make in KINDS.values():
                one, other = [optree.tree_leaves(make(f, backend)(is_cheap, a)) for backend in BACKENDS]
                assert max(relative(x, y) for x, y in zip(one, other, strict=True)) < 1e-12
