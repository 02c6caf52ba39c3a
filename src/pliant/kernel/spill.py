"""Nests that write late: all of a window at once, or part by part; so they find what was there before."""

from __future__ import annotations

import math

from pliant.core.types import Type
from pliant.kernel.ir import (
    Affine,
    Blocks,
    Buffer,
    Checked,
    Delay,
    Fill,
    Host,
    Load,
    Nest,
    Root,
    Routine,
    Rows,
    Run,
    Scalar,
    Step,
    Stop,
    Var,
    number_of_point,
    numbers,
)
from pliant.kernel.overlap import Sweep
from pliant.kernel.schedule import regions, scalars


def delayed(nest: Nest, root: Root, sweep: Sweep) -> None:
    """Let the loops of a nest run as a sweep wants, and a root wait if it has to."""
    nest.vars, nest.backward, nest.is_swept = sweep.loops, sweep.backward, True
    if sweep.delay:
        row = math.prod([v.extent for v in sweep.loops[1:]])
        ring = Buffer(Type(root.value.dtype, (2 * sweep.delay * row,)), root.value)
        ring.reason = "each of its elements is read from both sides after it would have been written"
        nest.delay = Delay(root, ring, sweep.delay)


def is_same(nest: Nest, root: Root, sweep: Sweep) -> bool:
    """Whether the loops of a nest already run as a sweep wants."""
    held = nest.delay.steps if nest.delay and nest.delay.root is root else 0
    return nest.vars == sweep.loops and nest.backward == sweep.backward and held >= sweep.delay


def spilled(nest: Nest, root: Root, reason: str) -> Nest:
    """Let a nest compute a root into memory of its own; the nest that moves it from there to where it belongs."""
    assert root.buffer
    held = Buffer(Type(root.value.dtype, (math.prod([v.extent for v in nest.vars]),)), root.value)
    held.reason = reason
    loops = {v: Var(v.extent) for v in nest.vars}
    mover = Nest(tuple([v.extent for v in nest.vars]), vars=tuple(loops.values()))
    place = [(loops.get(a) if isinstance(a, Var) else a, f) for a, f in root.offset.terms]
    target = Affine(root.offset.start, tuple([(a, f) for a, f in place if a]))
    mover.body.body += needed([*nest.limits.values(), *[a for a, _ in place if isinstance(a, Scalar)]], nest)
    load = Load(held, number_of_point(tuple(loops.values())))
    load.region, load.number = mover.body, next(numbers)
    mover.body.body.append(load)
    mover.limits = {loops[v]: end for v, end in nest.limits.items()}
    mover.roots = [Root(root.value, None, root.buffer, root.base, scalar=load, offset=target)]
    mover.reads = {s.buffer for s in mover.body.body if isinstance(s, Load)} | ({root.base} if root.base else set())
    root.buffer, root.base, root.offset = held, None, number_of_point(nest.vars)
    return mover


def needed(wanted: list[Scalar], nest: Nest) -> list[Scalar]:
    """The scalars of a nest that some of them are computed from, in their order."""
    found, todo = set[Scalar](), wanted
    while todo:
        scalar = todo.pop()
        if scalar not in found:
            found.add(scalar)
            todo += [*scalar.operands(), *[a for i in scalar.indices() for a, _ in i.terms if isinstance(a, Scalar)]]
    return [s for s in nest.body.body if s in found]


def may_fail_halfway(step: Step) -> bool:
    """Whether a step may find out that an index is wrong, or worse, when it has written a part."""
    match step:
        case Nest():
            return any([isinstance(s, Checked) for s in scalars(step.body)])
        case Rows():
            return any([may_fail_halfway(nest) for nest in step.nests])
        case Fill():
            begin = next((n + 1 for n, s in enumerate(step.body.body) if isinstance(s, Stop)), 0)
            rest = step.body.body[begin:]
            parts = [*rest, *[s for top in rest for region in regions(top) for s in scalars(region)]]
            return any([isinstance(s, Checked) for s in parts])
        case _:
            return isinstance(step, Routine | Host) and step.site >= 0


def may_fail(step: Step) -> bool:
    """Whether a step may find out that an index is wrong, or worse, be it before it has written anything."""
    match step:
        case Fill():
            return any([isinstance(s, Checked) for s in scalars(step.body)])
        case Run():
            return any([may_fail(inner) for part in step.parts for inner in part.steps])
        case Blocks():
            return any([may_fail(inner) for inner in step.steps])
        case _:
            return may_fail_halfway(step)
