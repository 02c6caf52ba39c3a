"""What a step of a loop must keep so that some of its values can be made again later, where a carry is kept once.

    carry p …; y = f(p); last y          p at a step is y at the step before

So a carry as a step finds it and as it leaves it take one array, not two: see `late_stacks`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from pliant.core.ir import Value, Values, nodes
from pliant.ops.fewest import bytes_of
from pliant.ops.region import cut

WIDE: Final = 8  # elements of a carry from which on it is kept once
TRIED: Final = 8  # carries; with more, choosing takes longer than it saves


def step_cut(
    reads: Sequence[Value], free: Collection[Value], carries: Sequence[tuple[Value, Value]], steps: int
) -> Values:
    """What must be kept of the reads at each step. carries: what a step finds of each, and what it leaves; `free`: what
    need not be kept, as it is there or is kept anyway."""
    free, paid = set(free), 0
    near = _known({y for _, y in carries if y in free}, carries) - free  # as rows of what is kept anyway
    least = cut(reads, free | near, steps)
    cost = bytes_of(least)
    left = {y: p for p, y in carries if y not in free}
    while len(least) > 1 and len(left) <= TRIED:
        trials = {y: cut(reads, free | near | _known({y}, carries), steps) for y in left}
        costs = {y: paid + y.type.bytes + bytes_of(some) for y, some in trials.items()}
        best = min(costs, key=lambda y: costs[y], default=None)
        if best is None or costs[best] >= cost:
            break
        near, least, cost = near | _known({best}, carries), trials[best], costs[best]
        paid += best.type.bytes
        del left[best]
    found = {a for node in nodes(reads, stop=(*least, *free, *near)) for a in node.args}.union(reads)
    return *least, *[v for v in dict.fromkeys(v for pair in carries for v in pair) if v in near and v in found]


def _known(kept: set[Value], carries: Sequence[tuple[Value, Value]]) -> set[Value]:
    """What is known of carries where some of what steps leave is kept: what they find, and what that was before."""
    while more := {p for p, y in carries if y in kept and p not in kept}:
        kept = kept | more
    return kept
