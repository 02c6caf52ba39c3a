"""Short steps of loops that wait for each other, several of them as one step: fewer instructions count and jump, and a
processor tells by the address of an instruction which number in memory it waits for.

LLVM would choose such loops itself, but then takes a third more time for all, and writes out the rests of loops in
vectors too."""

from __future__ import annotations

from typing import Final

from pliant.kernel.ir import Copy, Fill, Fold, Loop, Nest, Program, Run, Step
from pliant.ops.cond import Cond

STEPS: Final = 4
MOST: Final = 200  # lines of one step, before LLVM's passes, which leave about one in five


def are_short(program: Program, lines: int) -> bool:
    """Whether several steps are to be one. lines: of a step, which is a program."""
    return lines < MOST and not any(map(has_loop, program.steps))


def has_loop(step: Step) -> bool:
    """Whether there is a loop in a step of a program, or may be one."""
    match step:
        case Nest() | Fill():
            inner = [v for s in step.body.body if isinstance(s, Loop | Fold) for v in s.vars]
            return any([v.extent > 1 for v in (*inner, *(step.vars if isinstance(step, Nest) else ()))])
        case Run() if isinstance(step.node.op, Cond):
            return any([has_loop(inner) for part in step.parts for inner in part.steps])
        case Copy():
            return False
        case _:
            return True
