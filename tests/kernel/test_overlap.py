"""Nests that write where they read: run point by point, as a sweep says, each load finds the old element."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

import pytest

from pliant.core.build import trace
from pliant.core.types import Type
from pliant.kernel.ir import Affine, Buffer, Load, Nest, Root, Var, numbers, strides_of
from pliant.kernel.overlap import FREE, Sweep, are_apart, rows_are_apart, sweep_for, sweep_of
from pliant.ops.elementwise import neg

SHAPE = (9, 11, 13)


def windows(rng: random.Random) -> tuple[tuple[Var, ...], Affine, list[Affine]]:
    """A window of an array as a store, and others of its extents as loads, mostly with equal steps."""
    extents = [rng.choice([1, 2, 3, 5, 6]) for _ in SHAPE]
    loops = tuple(Var(n) for n in extents)
    steps = [rng.choice([1, 1, 1, 2, -1]) for _ in SHAPE]

    def place(steps: list[int]) -> Affine:
        total = Affine()
        for v, step, size, stride in zip(loops, steps, SHAPE, strides_of(SHAPE), strict=True):
            span = abs(step) * (v.extent - 1)
            low = rng.randrange(size - span) if span < size else 0
            start = low if step > 0 else low + span
            total = total + Affine(start * stride, ((v, step * stride),))
        return total

    fits = [abs(step) * (n - 1) < size for step, n, size in zip(steps, extents, SHAPE, strict=True)]
    steps = [step if fit else 1 for step, fit in zip(steps, fits, strict=True)]
    others = [steps if rng.random() < 0.9 else [1, 1, 1] for _ in range(rng.randrange(1, 4))]
    return tuple(v for v in loops if v.extent > 1), place(steps), [place(s) for s in others]


def nest_of(loops: tuple[Var, ...], store: Affine, loads: list[Affine]) -> tuple[Nest, Root, Buffer]:
    type = Type("f64", SHAPE)
    out, memory = Buffer(type, None), Buffer(type, None)
    root = Root(trace(neg, type).results[0], buffer=out, offset=store)
    nest = Nest(tuple(v.extent for v in loops), [root], vars=loops)
    nest.body.body += [Load(memory, offset) for offset in loads]
    return nest, root, memory


def points(loops: tuple[Var, ...], sweep: Sweep) -> Iterator[tuple[int, dict[Var, int]]]:
    """The number of a point's step of the outermost loop, and the point, in the order of a sweep."""
    order = sweep.loops or loops
    for at in itertools.product(*[range(v.extent) for v in order]):
        pairs = zip(order, at, strict=True)
        yield at[0] if at else 0, {v: v.extent - 1 - i if v in sweep.backward else i for v, i in pairs}


def value_at(offset: Affine, point: dict[Var, int]) -> int:
    return offset.start + sum(f * point.get(a, 0) for a, f in offset.terms if isinstance(a, Var))


def reads_old_elements(nest: Nest, store: Affine, loads: list[Affine], sweep: Sweep) -> bool:
    """Whether no load finds what was written before; parts of a delayed sweep are written one part late."""
    written, waiting = set[int](), list[tuple[int, int]]()
    for step, point in points(nest.vars, sweep):
        if sweep.delay:
            part = step // sweep.delay
            written |= {a for p, a in waiting if p < part - 1}
        if any(value_at(load, point) in written for load in loads):
            return False
        if sweep.delay:
            waiting.append((step // sweep.delay, value_at(store, point)))
        else:
            written.add(value_at(store, point))
    return True


@pytest.mark.parametrize("seed", range(60))
def test_a_sweep_reads_everything_before_it_is_overwritten(seed: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("pliant.kernel.overlap.PART", 1)
    rng = random.Random(seed)
    for _ in range(40):
        loops, store, loads = windows(rng)
        if not loops:
            continue
        nest, root, memory = nest_of(loops, store, loads)
        sweep = sweep_of(nest, root, lambda b, m=memory: b is m)
        if isinstance(sweep, Sweep):
            assert reads_old_elements(nest, store, loads, sweep), (store, loads, sweep)


def test_one_sign_needs_no_memory_and_two_need_two_parts():
    v = Var(1000)
    nest, _, _ = nest_of((v,), store := Affine(1, ((v, 1),)), [])
    assert sweep_for({0}, nest, store) == FREE
    assert sweep_for({0, 3}, nest, store) == Sweep((v,))
    assert sweep_for({-1, 0}, nest, store) == Sweep((v,), frozenset((v,)))
    both = sweep_for({-1, 1}, nest, store)
    assert isinstance(both, str)  # two parts of 512 are more than there is
    v.extent = 5000
    assert sweep_for({-1, 1}, nest, store) == Sweep((v,), frozenset(), 512)


@pytest.mark.parametrize("seed", range(20))
def test_what_is_taken_to_be_apart_is(seed: int):
    rng = random.Random(seed)
    for _ in range(100):
        loops, store, (load, *_) = windows(rng)
        other, other_store, _ = windows(rng)
        for a, b in ((store, load), (store, other_store)):
            if are_apart(a, b):
                every = [{value_at(x, p) for _, p in points(vs, FREE)} for x, vs in ((a, loops), (b, (*loops, *other)))]
                assert every[0].isdisjoint(every[1])


def known_late() -> Load:
    """A number that is known at run time."""
    made = Load(Buffer(Type("i64"), None), Affine())
    made.number = next(numbers)
    return made


def rows_of(rng: random.Random, ends: dict[Var, Load], limit: Load) -> Affine:
    """A window of a matrix, whose rows may end at a number that is known at run time or be the one that has it."""
    row, column = Var(rng.choice([1, 3, 5])), Var(rng.choice([1, 4, 7]))
    if rng.random() < 0.5:
        ends[row] = limit
    atoms = [row, column, *rng.sample([limit], rng.randrange(2))]
    total = Affine(rng.choice([0, 0, 1, 7, 8, -8]))
    for atom in atoms:
        total = total + Affine(
            0, ((atom, rng.choice([1, 7, 8, 9] if atom is limit else [8, 16] if atom is row else [1])),)
        )
    return total


def places_of(x: Affine, ends: dict[Var, Load], limit: Load, number: int) -> set[int]:
    """All values of an offset, where the limit is this number."""
    loops = [a for a, _ in x.terms if isinstance(a, Var)]
    counts = [range(min(v.extent, number) if v in ends else v.extent) for v in loops]
    start = x.start + x.factor(limit) * number
    return {start + sum(x.factor(v) * i for v, i in zip(loops, at, strict=True)) for at in itertools.product(*counts)}


def test_rows_that_are_taken_to_be_apart_are():
    rng, seen = random.Random(0), 0
    for _ in range(4000):
        limit, ends = known_late(), dict[Var, Load]()
        a, b = rows_of(rng, ends, limit), rows_of(rng, ends, limit)
        if rows_are_apart(a, b, ends, ()):
            seen += 1
            every = [[places_of(x, ends, limit, number) for x in (a, b)] for number in range(8)]
            assert all([first.isdisjoint(second) for first, second in every]), (a, b, ends)
    assert seen > 100


def test_a_row_is_apart_from_those_before_it():
    i, p, q = known_late(), Var(60), Var(60)
    row, before = Affine(0, ((i, 61), (q, 1))), Affine(0, ((i, 1), (p, 60), (q, 1)))
    assert rows_are_apart(row, before, {p: i}, (p, q))
    assert not rows_are_apart(row, before, {q: i}, (p, q))
    assert not rows_are_apart(row, before + 60, {p: i}, (p, q))
