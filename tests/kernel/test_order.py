"""The order of steps: readers of what is overwritten come first, and everything after what it needs."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.core.types import Type
from pliant.kernel.ir import Buffer, Copy, Fill, Step, takes_over, writes
from pliant.kernel.order import reads_first


def program(rng: random.Random, length: int) -> list[Step]:
    """Copies of buffers, and updates of some; each buffer has one writer."""
    buffers, steps = [Buffer(Type("f64", (4,)), None) for _ in range(3)], list[Step]()
    for _ in range(length):
        source, out = rng.choice(buffers), Buffer(Type("f64", (4,)), None)
        if rng.random() < 0.5:
            steps.append(Copy(source, out, ""))
        else:
            fill = Fill(None, out, copied=source, begins=True)  # type: ignore[arg-type]
            fill.reads = {source, rng.choice(buffers)}
            steps.append(fill)
        buffers.append(out)
    return steps


def violations(steps: list[Step]) -> int:
    """How many updates have a reader of their operand behind them."""
    pairs = [(n, source) for n, step in enumerate(steps) for source, _ in takes_over(step)]
    return sum([any([source in other.reads for other in steps[n + 1 :]]) for n, source in pairs])


@pytest.mark.parametrize("seed", range(30))
def test_every_step_stays_behind_what_it_reads(seed: int):
    steps = program(random.Random(seed), 40)
    made = reads_first(steps, {})
    assert sorted(map(id, made)) == sorted(map(id, steps))
    known = {b for step in steps for b in writes(step)}
    done = set[Buffer]()
    for step in made:
        assert (step.reads & known) <= done
        done |= set(writes(step))
    assert violations(made) <= violations(steps)


def test_a_reader_that_needs_the_result_stays_where_it_is():
    a, b, c = (Buffer(Type("f64", (4,)), None) for _ in range(3))
    update = Fill(None, b, copied=a, begins=True)  # type: ignore[arg-type]
    update.reads = {a}
    late = Fill(None, c)  # type: ignore[arg-type]
    late.reads = {a, b}
    free = Copy(a, Buffer(a.type, None), "")
    assert reads_first([update, late], {}) == [update, late]
    assert reads_first([update, free], {}) == [free, update]


def test_of_two_that_write_over_what_the_other_reads_the_smaller_is_copied():
    number, array = Buffer(Type("f64", ()), None), Buffer(Type("f64", (40,)), None)
    update = Fill(None, Buffer(array.type, None), copied=array, begins=True)  # type: ignore[arg-type]
    update.reads = {array, number}
    total = Fill(None, Buffer(number.type, None), copied=number, begins=True)  # type: ignore[arg-type]
    total.reads = {array, number}
    assert reads_first([update, total], {}) == [total, update]
    assert reads_first([total, update], {}) == [total, update]


def along_rows(a: Any) -> None:
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            a[i, j] += a[i, j - 1]


def down_columns_from_the_end(a: Any) -> None:
    for j in range(a.shape[1]):
        for i in range(a.shape[0] - 2, -1, -1):
            a[i, j] -= a[i + 1, j]


def in_one_row(a: Any) -> None:
    for j in range(1, a.shape[1]):
        a[3, j] += a[3, j - 1]


@pytest.mark.parametrize("f", [along_rows, down_columns_from_the_end, in_one_row])
def test_running_sums_in_a_matrix_copy_numbers_and_no_matrix(f: Callable[..., Any]):
    a = np.random.default_rng(0).normal(size=(13, 17))
    assert "copies" not in str(pliant.explain(f, a))
    made, wanted = a.copy(), a.copy()
    pliant.jit(f)(made)
    f(wanted)
    np.testing.assert_array_equal(made, wanted)
