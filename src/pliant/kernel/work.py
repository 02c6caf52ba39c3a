"""What a step has to do at least: the bytes it moves, and its operations on floats.

An array counts once, however often it is read, since it could stay in cache. An operation counts as in
`cost`: 1 for an addition or multiplication, 4 for a division or root, 16 for a function of libm.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from typing import Final, final

from pliant.core.data import frozen
from pliant.kernel.cost import price_of
from pliant.kernel.ir import (
    Apply,
    Blocks,
    Buffer,
    Copy,
    Fill,
    Fold,
    Load,
    Loop,
    Nest,
    Product,
    Region,
    Rows,
    Run,
    Scalar,
    Step,
    Store,
    Var,
    writes,
)
from pliant.kernel.schedule import depth_of, regions
from pliant.ops.loop import Loop as Counted

PREFIXES: Final = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"))


@final
@frozen
class Work:
    """Bytes to be moved, and operations; None where they are not known, inside a library or a loop."""

    bytes: int
    flops: int | None

    def __str__(self) -> str:
        flops = "" if self.flops is None else f", {amount(self.flops)}flop"
        return f"{amount(self.bytes)}B{flops}"


def amount(number: float) -> str:
    """A number with three digits and the prefix of its unit."""
    size, prefix = next(u for u in PREFIXES if number >= u[0] or u[0] == (1.0 if number == 0 else 1e-9))
    return f"{number / size:.3g} {prefix}"


def work_of(step: Step) -> Work:
    """The work of one step."""
    match step:
        case Nest():
            return Work(_moved(step), _flops_of_nest(step, set()))
        case Rows():
            made = {*writes(step)}
            return Work(sum([_moved(nest) for nest in step.nests]), sum([_flops_of_nest(n, made) for n in step.nests]))
        case Blocks():
            inner = [work_of(part) for part in step.steps]
            return Work(_bytes({*step.reads, *writes(step)}), sum([work.flops or 0 for work in inner]))
        case Fill():
            return Work(_touched(step.body, 1, {}), _flops(step.body.body, 1))
        case Product():
            m, n, k = step.sizes
            per_term = 8 if step.out.type.dtype[0] == "c" else 2
            places = m * (m + 1) // 2 if step.is_with_own_transpose else m * n
            return Work(_bytes({*step.reads, step.out}), per_term * math.prod((*step.batch, places, k)))
        case Copy():
            return Work(_bytes((step.source, step.out)), 0)
        case Run():
            return Work(_bytes({*step.reads, *writes(step)}), _flops_of_steps(step))
        case _:
            return Work(_bytes({*step.reads, *writes(step)}), None)


def _flops_of_steps(run: Run) -> int | None:
    """Operations of a loop whose steps are counted before the call; None of others."""
    op = run.node.op
    if not isinstance(op, Counted) or "count" in op.ins:
        return None
    inner = [work_of(step).flops for part in run.parts for step in part.steps]
    return None if None in inner else op.length * sum([flops for flops in inner if flops])


def _bytes(buffers: Iterable[Buffer]) -> int:
    return sum([b.type.bytes for b in buffers])


def _moved(nest: Nest) -> int:
    """Bytes of the elements that a nest reads and writes: of a window not the array around it."""
    points = math.prod(nest.space)
    return _touched(nest.body, points, dict.fromkeys([root.buffer for root in nest.roots if root.buffer], points))


def _touched(region: Region, times: int, written: Mapping[Buffer, int]) -> int:
    """Bytes of the elements that scalars load and store, and of so many elements that are `written` besides."""
    counts, todo = dict(written), [(region, times)]
    while todo:
        region, times = todo.pop()
        for s in region.body:
            if isinstance(s, Load | Store):
                counts[s.buffer] = counts.get(s.buffer, 0) + times
            todo += [(inner, times * _turns(s)) for inner in regions(s)]
    return sum([min(b.type.size, n) * b.type.bytes // max(b.type.size, 1) for b, n in counts.items()])


def _turns(s: Scalar) -> int:
    """How often the regions inside a scalar run."""
    return math.prod([v.extent for v in s.vars]) if isinstance(s, Fold | Loop) else 1


def _flops_of_nest(nest: Nest, made: Collection[Buffer]) -> int:
    """Operations of a nest, each scalar in the outermost loop that it depends on."""
    depths: dict[Scalar, int] = {}
    places: dict[Var, int] = {v: n + 1 for n, v in enumerate(nest.vars)}
    total = math.prod(nest.space) * len([root for root in nest.roots if root.fold])
    for s in nest.body.body:
        depths[s] = depth = depth_of(s, depths, places, made)
        total += _flops([s], math.prod([v.extent for v in nest.vars[:depth]]))
    return total


def _flops(body: Iterable[Scalar], times: int) -> int:
    """Operations of scalars that run some times."""
    total, todo = 0, [(s, times) for s in body]
    while todo:
        s, times = todo.pop()
        if isinstance(s, Apply) and s.dtype[0] in "fc":
            total += price_of(s.op) * times
        if isinstance(s, Fold):
            total += times * _turns(s)
        todo += [(inner, times * _turns(s)) for region in regions(s) for inner in region.body]
    return total
