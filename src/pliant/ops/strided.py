"""Any strided view of a vector: how arrays that are not row-major lie in their memory."""

from __future__ import annotations

import math
from typing import Any, final

from pliant.core import ir
from pliant.core.data import frozen
from pliant.core.ir import Namespace, Tangents, Value, const
from pliant.core.types import Type
from pliant.errors import ShapeError
from pliant.ops.base import Movement
from pliant.ops.elementwise import add, mul
from pliant.ops.index import scatter_add
from pliant.ops.shape import Permute, Slice, broadcast, iota, permute, reshape


@final
@frozen
class Strided(Movement):
    """Elements of a vector: `y[i, j, …] = x[start + step[0]·i + step[1]·j + …]`; `t[n] → t[shape]`.

    Steps may be negative, or such that an element appears several times; each index is in range.
    """

    start: int
    step: tuple[int, ...]
    shape: tuple[int, ...]

    def infer(self, x: Type) -> Type:
        if x.rank != 1 or len(self.step) != len(self.shape):
            raise ShapeError(f"strided: expected a vector and a step for each axis of {self.shape}, got {x}")
        reach = [s * (n - 1) for s, n in zip(self.step, self.shape, strict=True)]
        low, high = (self.start + sum([limit(r, 0) for r in reach]) for limit in (min, max))
        if 0 not in self.shape and not 0 <= low <= high < x.size:
            raise ShapeError(f"strided: elements {low} to {high} lie outside of {x}")
        return x.with_shape(self.shape)

    def array(self, xp: Namespace, x: Any) -> Any:
        place = xp.zeros(self.shape, dtype=xp.int64) + self.start
        for axis, (n, step) in enumerate(zip(self.shape, self.step, strict=True)):
            rest = (1,) * (len(self.shape) - 1 - axis)
            place = place + xp.reshape(xp.arange(n, dtype=xp.int64) * step, (n, *rest))
        return x[place]

    def transpose(self, ct: Value, x: Value | Type) -> Tangents:
        zeros = ir.operators.zeros(x if isinstance(x, Type) else x.type)
        places = places_of(self.start, self.step, self.shape)
        return (scatter_add(zeros, (places,), ct, unique=is_injective(self.step, self.shape)),)

    def batch(self, n: int, batched: tuple[bool, ...], x: Value) -> Value:
        (size,) = x.shape[1:]
        return Strided(self.start, (size, *self.step), (n, *self.shape))(reshape(x, (n * size,)))

    def source(self, k: Any, i: Any, x: Type) -> Any:
        place = k.affine(0, 1, self.start)
        for part, step in zip(i, self.step, strict=True):
            place = place + k.affine(part, step, 0)
        return (place,)

    @property
    def nearest(self) -> int:
        """How far apart elements lie along the axis along which they are nearest."""
        return min([abs(s) for s, n in zip(self.step, self.shape, strict=True) if s and n > 1], default=1)


def strided(x: Value, start: int, step: tuple[int, ...], shape: tuple[int, ...]) -> Value:
    """`Strided` as a function, by simpler movements where they say the same."""
    moving = tuple([a for a, (s, n) in enumerate(zip(step, shape, strict=True)) if s and n > 1])
    if 0 in shape:
        return Strided(start, step, shape)(x)
    steps, extents = tuple([step[a] for a in moving]), tuple([shape[a] for a in moving])
    order = sorted(range(len(moving)), key=lambda a: -steps[a])
    rows = [extents[a] for a in order]
    is_dense = [steps[a] for a in order] == [math.prod(rows[a + 1 :]) for a in range(len(rows))]
    if is_dense and start == 0 and math.prod(extents) == x.type.size:
        part = permute(reshape(x, rows), Permute(tuple(order)).inverse())
    elif not moving:
        part = Slice((start,), (1,), (1,))(x)
    else:
        part = Strided(start, steps, extents)(x)
    kept = tuple([a for a, (s, n) in enumerate(zip(step, shape, strict=True)) if s or n == 1])
    return broadcast(reshape(part, tuple([shape[a] for a in kept])), shape, kept)


def places_of(start: int, step: tuple[int, ...], shape: tuple[int, ...]) -> Value:
    """The place of each element: `i64[shape]`."""
    made = broadcast(const(start, "i64"), shape, ())
    for axis, (n, stride) in enumerate(zip(shape, step, strict=True)):
        made = add(made, broadcast(mul(iota(n), stride), shape, (axis,)))
    return made


def is_injective(step: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    """Whether no element appears twice, as far as steps tell without search."""
    span = 0
    for stride, n in sorted([(abs(s), n) for s, n in zip(step, shape, strict=True) if n > 1]):
        if stride <= span:
            return False
        span += stride * (n - 1)
    return True
