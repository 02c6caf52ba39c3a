"""Small arrays that the innermost loop walks in strides, and outer loops walk again: transposed first.

Points as rows of three coordinates, say: each coordinate of the next points side by side is what vectors
want. One pass over a small array spares many passes of the nest the shuffling.
"""

from __future__ import annotations

import math
from typing import Final

from pliant.core.types import Type
from pliant.kernel.ir import Affine, Buffer, Fold, Load, Nest, Region, Root, Step, Var, numbers, writes
from pliant.kernel.schedule import regions
from pliant.ops.shape import permute, reshape

WIDEST: Final = 16  # elements of a stride
LEAST_LENGTH: Final = 64  # steps of the innermost loop
LEAST_TURNS: Final = 16  # how often the array is walked at least
LARGEST: Final = 1 << 19  # bytes: what is packed stays in cache
UNROLLED: Final = 7  # steps of a loop that is no loop in the end: the one around it is the innermost


def packed(steps: list[Step]) -> list[Step]:
    """The steps, with such arrays transposed before the nests that read them."""
    found = list[Step]()
    for step in steps:
        if isinstance(step, Nest):
            inner = next((v for v in reversed(step.vars) if v.extent > UNROLLED), None)
            found += packs(step, inner) if inner and inner.extent >= LEAST_LENGTH else []
        found.append(step)
    return found


def packs(nest: Nest, inner: Var) -> list[Nest]:
    """Nests that transpose what this one reads in strides; it reads the transposed arrays from then on."""
    made, found = {*writes(nest)}, list[Nest]()
    for buffer, loads in loads_of(nest).items():
        stride = stride_of(buffer, loads, nest, inner)
        if stride and buffer not in made:
            pack = transposing(buffer, stride)
            found.append(pack)
            (root,) = pack.roots
            assert root.buffer
            for load in loads:
                load.buffer, load.offset = root.buffer, moved(load.offset, stride, buffer.type.size // stride)
            nest.reads = nest.reads - {buffer} | {root.buffer}
    return found


def loads_of(nest: Nest) -> dict[Buffer, list[Load]]:
    """The loads of each buffer; none of those that a long loop inside the nest walks."""
    found: dict[Buffer, list[Load]] = {}
    walked, todo = set[Buffer](), [(nest.body, False)]
    while todo:
        region, is_inner = todo.pop()
        for s in region.body:
            if isinstance(s, Load):
                found.setdefault(s.buffer, []).append(s)
                if is_inner or s.ordered:
                    walked.add(s.buffer)
            is_long = isinstance(s, Fold) and math.prod([v.extent for v in s.vars]) > UNROLLED
            todo += [(inner, is_inner or is_long) for inner in regions(s)]
    return {buffer: loads for buffer, loads in found.items() if buffer not in walked}


def stride_of(buffer: Buffer, loads: list[Load], nest: Nest, inner: Var) -> int:
    """The stride by which a loop of a nest walks an array, if transposing it pays; 0 if it does not."""
    type = buffer.type
    stride = loads[0].offset.factor(inner)
    if not 1 < stride <= WIDEST or type.size % stride or type.bytes > LARGEST or not type.is_float:
        return 0
    if buffer.value is None or buffer.value.type != type:
        return 0
    turns = math.prod([v.extent for v in nest.vars if not any([load.offset.factor(v) for load in loads])])
    is_same = all([load.offset.factor(inner) == stride and fits(load.offset, stride) for load in loads])
    return stride if is_same and turns >= LEAST_TURNS else 0


def fits(offset: Affine, stride: int) -> bool:
    """Whether what is no multiple of a stride is a place inside it."""
    rest = Affine(offset.start % stride, tuple([(a, f) for a, f in offset.terms if f % stride]))
    span = rest.range()
    return span is not None and span[0] >= 0 and span[1] < stride


def moved(offset: Affine, stride: int, length: int) -> Affine:
    """Where the element at an offset lies after rows of `stride` elements have become columns of `length`."""
    start = offset.start // stride + offset.start % stride * length
    return Affine(start, tuple([(a, f * length if f % stride else f // stride) for a, f in offset.terms]))


def transposing(buffer: Buffer, stride: int) -> Nest:
    """The nest that transposes an array of rows of `stride` elements."""
    assert buffer.value
    length = buffer.type.size // stride
    value = permute(reshape(buffer.value, (length, stride)), (1, 0))
    place, step = Var(stride), Var(length)
    nest = Nest((stride, length), vars=(place, step), body=Region(None), reads={buffer})
    load = Load(buffer, Affine(0, ((step, stride), (place, 1))))
    load.region, load.number = nest.body, next(numbers)
    nest.body.body.append(load)
    out = Buffer(Type(buffer.type.dtype, (stride, length)), value)
    nest.roots = [Root(value, None, out, scalar=load, offset=Affine(0, ((place, length), (step, 1))))]
    return nest
