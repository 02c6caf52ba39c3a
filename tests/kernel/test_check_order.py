"""The verifier's two ideas against counting: what lies in memory byte by byte, and which access comes first."""

from __future__ import annotations

import itertools
import warnings
from random import Random
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.core.types import Type
from pliant.errors import PlanWarning
from pliant.kernel.check.memory import Memory, Region
from pliant.kernel.check.order import Access, Level, are_in_different_rows, comes_before
from pliant.kernel.ir import Affine, Buffer, Load, Var

SEEDS = range(400)


def drawn(rng: Random, loops: list[Var], width: int) -> Access:
    factors = {v: rng.choice([-12, -4, -1, 0, 1, 3, 4, 12]) * width for v in loops}
    return Access(rng.randint(-12, 12) * width, width, factors)


def touched(x: Access, point: dict[Var, int]) -> range:
    start = x.start + sum([f * point[v] for v, f in x.factors.items()])
    return range(start, start + x.width)


def meet(first: Access, second: Access, levels: list[Level], *, same: bool, gap: int) -> bool:
    """Whether they do, by trying all points."""
    loops = [lv.first for lv in levels]
    points = list(itertools.product(*[range(v.extent) for v in loops]))
    for p, q in itertools.product(points, points):
        forward = [(a, b) if not lv.is_backward else (-a, -b) for a, b, lv in zip(p, q, levels, strict=True)]
        before, after = [a for a, _ in forward], [b for _, b in forward]
        is_later = before < after if gap == 1 else after[0] - before[0] >= gap
        if not (is_later or (same and p == q)):
            continue
        a, b = (touched(x, dict(zip(loops, at, strict=True))) for x, at in ((first, p), (second, q)))
        if a.start < b.stop and b.start < a.stop:
            return True
    return False


def found(seed: int, gap: int = 1) -> tuple[bool, bool]:
    """(what is derived, what is so) for a random pair of accesses."""
    rng = Random(seed)
    loops = [Var(rng.randint(1, 4)) for _ in range(rng.randint(1, 3))]
    levels = [Level(v, v, rng.random() < 0.3) for v in loops]
    first, second = drawn(rng, loops, rng.choice([1, 8])), drawn(rng, loops, rng.choice([1, 8]))
    same = gap == 1 and rng.random() < 0.5
    gaps = () if gap == 1 else (gap,)
    return comes_before(first, second, levels, same=same, gaps=gaps), meet(first, second, levels, same=same, gap=gap)


@pytest.mark.parametrize("same", [False, True])
@pytest.mark.parametrize("extents", [(), (1,), (1, 1), (2,), (1, 3)])
def test_what_is_not_known_is_later_only_where_there_is_a_later_point(extents: tuple[int, ...], same: bool) -> None:
    loops = [Var(n) for n in extents]
    known, unknown = (Access(0, 8, dict.fromkeys(loops, 8), is_known=is_known) for is_known in (True, False))
    for first, second in ((known, unknown), (unknown, known), (unknown, unknown)):
        is_before = comes_before(first, second, [Level(v, v) for v in loops], same=same)
        assert is_before == (same or max(extents, default=1) > 1)


@pytest.mark.parametrize("gap", [1, 2, 3])
def test_what_is_derived_to_be_safe_is_safe(gap: int) -> None:
    pairs = [found(seed, gap) for seed in SEEDS]
    assert not [seed for seed, (derived, is_so) in enumerate(pairs) if is_so and not derived]


def test_few_that_are_safe_are_not_seen_to_be() -> None:
    pairs = [found(seed) for seed in SEEDS]
    safe = [derived for derived, is_so in pairs if not is_so]
    assert sum(safe) <= 0.2 * len(safe)


def test_memory_holds_what_was_written_last() -> None:
    rng = Random(0)
    memory, bytes_ = Memory(), [None] * 200
    buffers = [Buffer(Type("u8", (rng.randint(1, 60),)), None) for _ in range(30)]
    for _ in range(3000):
        buffer = rng.choice(buffers)
        low = rng.randint(0, 200 - buffer.type.bytes)
        region = Region(0, low, low + buffer.type.bytes)
        content = buffer if rng.random() < 0.9 else None
        memory.write(region, content)
        bytes_[low : region.high] = [content and (content, low)] * buffer.type.bytes
        other = rng.choice(buffers)
        at = rng.randint(0, 200 - other.type.bytes)
        there = bytes_[at : at + other.type.bytes]
        is_there = all([x == (other, at) for x in there])
        assert (memory.content(Region(0, at, at + other.type.bytes)) is other) == is_there


def rows_drawn(rng: Random, number: Load) -> tuple[Access, list[Var]]:
    """A window of a matrix with rows of 8, which may end at a number or be in the row that has it."""
    row, column, width = Var(rng.choice([1, 3, 5])), Var(rng.choice([1, 4, 7])), rng.choice([1, 2])
    ends = ((row, number),) if rng.random() < 0.5 else ()
    fixed = ((number, rng.choice([1, 7, 8, 9])),) if rng.random() < 0.5 else ()
    factors = {row: rng.choice([8, 16]), column: 1}
    return Access(rng.choice([0, 1, 7, 8, -8]), width, factors, fixed=fixed, ends=ends), [row, column]


def bytes_of(x: Access, loops: list[Var], number: int) -> set[int]:
    """All that an access touches, for a number."""
    counts = [range(min(v.extent, number) if dict(x.ends).get(v) else v.extent) for v in loops]
    start = x.start + sum([f * number for _, f in x.fixed])
    places = [
        start + sum([x.factors[v] * i for v, i in zip(loops, at, strict=True)]) for at in itertools.product(*counts)
    ]
    return {place + n for place in places for n in range(x.width)}


def test_rows_that_are_derived_to_be_different_are() -> None:
    rng, seen = Random(0), 0
    for _ in range(4000):
        number = Load(Buffer(Type("i64"), None), Affine())
        (a, loops), (b, others) = rows_drawn(rng, number), rows_drawn(rng, number)
        if are_in_different_rows(a, b):
            seen += 1
            assert all([bytes_of(a, loops, n).isdisjoint(bytes_of(b, others, n)) for n in range(8)]), (a, b)
    assert seen > 100


def test_a_plan_for_an_element_from_another_at_places_of_run_time_is_right() -> None:
    def f(m: Any) -> Any:
        x, y = m[0], m[1]
        for k in range(8):
            x[k % 4] += y[k % 3]
        return m.sum()

    m = np.arange(36.0).reshape(6, 6)
    with warnings.catch_warnings():
        warnings.simplefilter("error", PlanWarning)
        assert pliant.jit(f)(m.copy()) == f(m.copy())
