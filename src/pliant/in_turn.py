"""Whether problems of a batch are taken in turn, each from its beginning to its end, or in step, all at once.

In step, what one problem has too few elements of becomes vectors, and products with a matrix that all share become
one larger product. But each step of a loop then passes over the arrays of all problems, which may be too many for the
caches that hold those of one. What both take is estimated, in operations on one element.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from pliant.core.inner import functions_of
from pliant.core.ir import Function, Node, Param, Value
from pliant.core.types import Type
from pliant.kernel.cost import price_of
from pliant.ops.base import Movement
from pliant.ops.block import BlockWrite, ReadBlock
from pliant.ops.contract import Dot
from pliant.ops.index import Indexed, Scatter
from pliant.ops.loop import Loop
from pliant.ops.loop_form import LoopForm
from pliant.ops.update import Window
from pliant.ops.while_loop import WhileLoop
from pliant.passes.written_out import is_written_out

LONG: Final = 1 << 12  # bytes of an array that is worth a pass of its own
NEAR: Final = 1 << 16  # bytes that stay near the processor from step to step
FAR: Final = 1  # operations that take as long as an element's way to and from where what is not near lies
VECTOR: Final = 8  # elements that take as long as one
TILED: Final = 1 / 4  # of the time of a product with few rows or columns takes one with many
UNKNOWN: Final = 100  # steps
GAIN: Final = 1.25  # times as fast, from which on problems are taken in turn: steps over more have parts for threads

Costs: TypeAlias = tuple[float, float]
"""In step, and in turn."""


def is_faster_in_turn(fn: Function, n: int, flags: Sequence[bool]) -> bool:
    """Whether n problems, which differ in the parameters that are flagged, are better taken in turn."""
    if n < 2 or not any([functions_of(node.op) for node in fn.nodes]):
        return False
    in_step, in_turn = _costs(fn, n, flags, 0)
    return GAIN * in_turn < in_step


def _costs(fn: Function, n: int, flags: Sequence[bool], steps: float) -> Costs:
    """What n problems take in a function that is run so often in loops; 0: outside of them."""
    differs, found = set[Value]([p for p, f in zip(fn.params, flags, strict=True) if f]), list[Costs]()
    for node in fn.nodes:
        if isinstance(node.op, Param):
            continue
        own = [a in differs for a in node.args]
        differs.update(_differing(node, own))
        if functions_of(node.op):
            found.extend([_costs(f, n, of, max(steps, 1) * k if k else steps) for f, of, k in _inside(node, n, own)])
        elif any(own):
            found.append(_own(node, n, own, steps))
        elif steps:
            _, once = _own(node, 1, [True] * len(own), steps)
            found.append((once, n * once))
    return sum([a for a, _ in found]), sum([b for _, b in found])


def _differing(node: Node, own: Sequence[bool]) -> list[Value]:
    """The results that differ between problems, given the operands that do."""
    if not any(own):
        return []
    reached = node.op.reached(tuple(own)) if isinstance(node.op, LoopForm | WhileLoop) else [True] * len(node.values)
    return [v for v, r in zip(node.values, reached, strict=True) if r]


def _inside(node: Node, n: int, own: Sequence[bool]) -> Iterator[tuple[Function, Sequence[bool], float]]:
    """The functions of a primitive, the parameters of each that differ, and how many steps run it; 0: no loop does, or
    all steps are one pass."""
    match node.op:
        case LoopForm() as op:
            is_pass = isinstance(op, Loop) and is_written_out(op, n)
            yield op.body, (False, *op.spreading(own, floats=False)[0]), 0 if is_pass else op.length
        case WhileLoop() as op:
            flags, _ = op.differing(own)
            yield op.test, flags, UNKNOWN
            yield op.body, flags, UNKNOWN
        case op:
            for fn in functions_of(op).values():
                count = len(fn.params)  # of a branch, one less than the operands
                yield fn, own[len(own) - count :] if count <= len(own) else [any(own)] * count, 0


def _own(node: Node, n: int, own: Sequence[bool], steps: float) -> Costs:
    """What a primitive takes whose operands differ between problems, or some of them."""
    type, times = _passed(node, [a for a, o in zip(node.args, own, strict=True) if o]), n * max(steps, 1)
    is_far = steps and type.bytes >= LONG and n * type.bytes > NEAR
    far = times * type.size * FAR if is_far else 0
    match node.op:
        case Dot() as op:
            b, *sides, k = op.sizes(*node.args)
            work = times * b * math.prod(sides) * k
            larger = sides if all(own) else [side * n if o else side for side, o in zip(sides, own, strict=True)]
            return work * _share(larger) + far, work * _share(sides)
        case Movement():  # views
            return 0, 0
        case op:
            price = max(price_of(op), 1)
            return times * type.size * price + far, times * max(type.size, VECTOR) * price


def _share(sides: Sequence[int]) -> float:
    """What an operation of a product takes, given how many rows and columns that has."""
    return TILED if min(sides) >= VECTOR else 1


def _passed(node: Node, args: Sequence[Value]) -> Type:
    """The largest array that a primitive passes over; of one that it reads or writes a part of, that part."""
    match node.op:
        case Scatter():
            return node.args[-1].type
        case Window() | BlockWrite():
            return node.args[1].type
        case Indexed() | ReadBlock() | Movement():
            return node.types[0]
        case _:
            return max((*node.types, *(a.type for a in args)), key=lambda t: t.bytes)
