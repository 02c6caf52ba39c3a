"""The order of steps: readers of what is overwritten come first, and everything after what it needs."""

from __future__ import annotations

import random

import pytest

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
