"""How wide the vectors of a function's loops are.

A loop of 30 steps with vectors of eight takes three of these, and six steps one by one; with vectors of four seven
and two, which is quicker. So functions whose loops are short, or end early at a place that only running tells, use
vectors of half the width that the processor has. Long loops lose by that, unless they do little but divide: a quotient
of a wide vector, or a square root, takes somewhat longer than two of narrow ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil, frexp, prod
from typing import Final, TypeAlias

from pliant.backends.llvm.math import function_of
from pliant.core.types import REAL_OF, itemsize
from pliant.kernel.ir import Apply, Literal, Load, Nest, Rows, Run, Scalar, Step, Var
from pliant.kernel.schedule import depth_of
from pliant.ops.loop import Loop

HALF: Final = 32  # bytes; narrower vectors are never better
SINGLE: Final = 2  # vectors that one step alone takes as long as
UNSURE: Final = 3  # the same, where it is not known how many there are
UNKNOWN: Final = 16  # steps of a loop that ends by a condition
FUNCTION: Final = 20  # vectors without one that a vector of a function such as exp takes as long as
BESIDE: Final = 8  # operations that a processor does beside a quotient
MASKED: Final = 16  # steps; the last vector of a shorter loop is masked if its functions one by one would take longer


Times: TypeAlias = dict[tuple[Step, int], float]  # of steps with vectors of so many bytes


def is_narrow(steps: Sequence[Step], widths: Sequence[int], known: Times | None = None) -> bool:
    """Whether some steps take less time with vectors of half the width. widths: bytes of the processor's vectors;
    known: times of steps that others around them have asked for."""
    known = {} if known is None else known
    if 2 * HALF not in widths:
        return False
    return time_of(steps, HALF, known) < time_of(steps, 2 * HALF, known) or are_quotients(steps)


def time_of(steps: Iterable[Step], width: int, known: Times) -> float:
    """About how many vectors the innermost loops of some steps take."""
    total = 0.0
    for step in steps:
        if (step, width) not in known:
            known[step, width] = _time_of_step(step, width, known)
        total += known[step, width]
    return total


def _time_of_step(step: Step, width: int, known: Times) -> float:
    match step:
        case Nest():
            return time_of_nest(step, width)
        case Rows():
            return sum([time_of_nest(nest, width) for nest in step.nests])
        case Run():
            op = step.node.op
            times = op.length if isinstance(op, Loop) else UNKNOWN
            return times * sum([time_of(part.steps, width, known) for part in step.parts])
        case _:
            return 0.0


def time_of_nest(nest: Nest, width: int) -> float:
    """About how many vectors a nest takes; of loops that end early half the steps are run."""
    loops = [v for v in nest.vars if v.extent > 1]
    if not loops:
        return 0.0
    *outer, inner = loops
    dtypes = [s.dtype for s in nest.body.body if isinstance(s, Load)]
    dtypes += [root.scalar.dtype for root in nest.roots if root.scalar]
    lanes = width // max([itemsize(REAL_OF.get(t, t)) for t in dtypes], default=width)
    return prod([_steps(nest, v) for v in outer]) * _time(nest, inner, lanes) * (1 + FUNCTION * count_functions(nest))


def _steps(nest: Nest, loop: Var) -> float:
    return loop.extent / 2 if loop in nest.limits else loop.extent


def count_functions(nest: Nest) -> int:
    """How many functions a nest computes that take much longer than a mask."""
    return sum([isinstance(s, Apply) and bool(function_of(s.op, s.dtype)) for s in nest.body.body])


def are_quotients(steps: Iterable[Step]) -> bool:
    """Whether all loops of some steps do little but divide, and there are such."""
    nests = [nest for step in steps for nest in nests_of(step)]
    loops = [nest for nest in nests if nest is None or any([v.extent > 1 for v in nest.vars])]
    return bool(loops) and all([nest is not None and is_of_quotients(nest) for nest in loops])


def nests_of(step: Step) -> list[Nest | None]:
    """The nests of a step; None for what is no nest."""
    match step:
        case Nest():
            return [step]
        case Rows():
            return [*step.nests]
        case Run():
            return [nest for part in step.parts for inner in part.steps for nest in nests_of(inner)]
        case _:
            return [None]


def is_of_quotients(nest: Nest) -> bool:
    """Whether the innermost loop of a nest does little but divide, and take square roots."""
    applied, depths = list[Apply](), dict[Scalar, int]()
    places = {v: n for n, v in enumerate(nest.vars, 1)}
    innermost = max([n for v, n in places.items() if v.extent > 1])
    for s in nest.body.body:
        depths[s] = depth_of(s, depths, places, ())
        if isinstance(s, Apply) and depths[s] >= innermost:
            applied.append(s)
    found = len([s for s in applied if is_quotient(s)])
    return 0 < len(applied) <= (1 + BESIDE) * found and not count_functions(nest)


def is_quotient(s: Apply) -> bool:
    """Whether a scalar is a quotient of floats, or a square root; by a power of two it is a product."""
    if s.op.name not in ("div", "sqrt") or s.dtype[0] != "f":
        return False
    by = s.args[-1]
    return not isinstance(by, Literal) or abs(frexp(by.value.real)[0]) != 0.5


def _time(nest: Nest, loop: Var, lanes: int) -> float:
    if loop.extent < MASKED and count_functions(nest):
        return ceil(loop.extent / lanes)
    if loop in nest.limits:
        return loop.extent / 2 / lanes + UNSURE * min(lanes - 1, loop.extent) / 2
    return loop.extent // lanes + SINGLE * (loop.extent % lanes)
