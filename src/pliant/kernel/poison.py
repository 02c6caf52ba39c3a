"""A debug mode: memory that holds nothing is filled with NaN, before it is first written and after its last use.

So a program that reads what is not there shows it, in every call.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from pliant.core.ir import const
from pliant.core.types import Type
from pliant.kernel.ir import (
    Affine,
    Blocks,
    Buffer,
    Literal,
    Nest,
    Program,
    Region,
    Root,
    RowStep,
    Run,
    Step,
    Var,
    numbers,
    root_of,
)
from pliant.kernel.place import last_uses

BYTE: Final = 255  # floats of such bytes are NaN, integers −1


def poison(program: Program, free: Iterable[Buffer] = ()) -> None:
    """Add steps that fill dead memory, in the programs inside too. free: parameters that nobody reads afterwards."""
    last = last_uses(program.steps)
    kept = {root_of(b) for b in program.results}
    steps = list[Step]()
    steps += [_filling(slot, low, size) for slot, low, size in _unwritten(program)]
    for number, step in enumerate(program.steps):
        if isinstance(step, Run):
            for part in step.parts:
                poison(part)
        if isinstance(step, Blocks):
            _poison_room(step)
        steps.append(step)
        dead = [b for b, end in last.items() if end == number and b not in kept and (b.slot == 0 or b in free)]
        steps += [_filling(b.slot, b.offset, b.type.bytes) for b in dead]
    program.steps = steps


def _poison_room(step: Blocks) -> None:
    """Fill the rows of what is private to a block, before it is first written and after its last use."""
    own = sorted({root_of(b) for b in step.private}, key=lambda b: b.number)
    last = last_uses(step.steps)
    steps: list[RowStep] = [_filling_rows(step, b) for b in own]
    for number, inner in enumerate(step.steps):
        steps += [inner, *[_filling_rows(step, b) for b in own if last[b] == number]]
    step.steps = steps


def _filling_rows(step: Blocks, buffer: Buffer) -> Nest:
    """A step that fills the rows of a block of what is private to it."""
    rows, width = step.rows.extent, buffer.type.bytes // step.size
    nest = _filling(buffer.slot, buffer.offset, rows * width)
    (root,) = nest.roots
    assert root.buffer
    nest.space, nest.vars = (rows, width), (Var(rows), Var(width))
    root.offset = Affine(0, ((nest.vars[0], width), (nest.vars[1], 1), (step.first, -width)))
    root.buffer.type = Type("u8", (step.size, width))
    step.loops |= {nest.vars[0]}
    step.private |= {root.buffer}
    return nest


def _unwritten(program: Program) -> list[tuple[int, int, int]]:
    """What no step has written when the program begins: workspace, and results that lie in no parameter."""
    own = [(b.slot, 0, b.type.bytes) for b in program.results if b.slot > len(program.params)]
    return [(0, 0, program.arena), *own]


def _filling(slot: int, low: int, size: int) -> Nest:
    """A step that fills some bytes."""
    nest, var = Nest((size,)), Var(size)
    literal = Literal("u8", BYTE)
    literal.region, literal.number = Region(None), next(numbers)
    out = Buffer(Type("u8", (size,)), const(BYTE, "u8"))
    out.slot, out.offset = slot, low
    assert out.value
    nest.vars, nest.body.body = (var,), [literal]
    nest.roots = [Root(out.value, None, out, scalar=literal, offset=Affine(0, ((var, 1),)))]
    return nest
