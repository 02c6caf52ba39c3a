"""What things cost, and so what is worth keeping in memory: a model in operations of a vector unit on one element.

A value with several readers is either kept, that is computed once, written, and read by each of them; or each makes it
again, from what it is made of, and reads that:

    kept         cost + share·READ + WRITE + readers·READ
    made again   readers·(cost + share·READ)

`share` is how much of what it is made of lies in far memory, in elements for each of its own: 1 for exp x of a large
x, 0 for what is broadcast from little. Near the processor it counts as nothing, since such reads go on beside the
operations. There is an end of far memory, too: what is grown from little, such as the distances of all pairs of points,
is made again even where that takes longer.
"""

from __future__ import annotations

import math
from typing import Final

from pliant.core.ir import Const, Op, Param
from pliant.kernel.scalars import Apply, Choose, Fold, Loop, Region, Scalar
from pliant.ops.base import Elementwise, Movement
from pliant.ops.block import ReadBlock
from pliant.ops.shape import Iota
from pliant.ops.strided import Strided

SIMPLE: Final = frozenset(
    "add sub mul neg convert conj select abs maximum minimum fmax fmin sign real imag complex equal not_equal less "
    "less_equal greater greater_equal bitwise_and bitwise_or bitwise_xor invert floor ceil trunc rint isnan isinf "
    "isfinite signbit copysign heaviside left_shift right_shift bitcast bitwise_count ensure agree".split()
)
"""Primitives that are an instruction, or two."""
SLOWER: Final = {
    "div": 4, "sqrt": 4, "floor_divide": 8, "remainder": 8, "fmod": 8, "pow": 32, "logaddexp": 32, "gcd": 64, "lcm": 64,
}  # fmt: skip
FUNCTION: Final = 16
"""All others: functions such as exp."""
APART: Final = 2
"""What is read at some distance, for each element that lies between; no more than that of as many as `FARTHEST`."""
FARTHEST: Final = 6
FOLDED: Final = 4
"""A reduction, or another rule of its own, for each of its elements."""

SHARED: Final = 1 << 22
"""Multiplications of a product of matrices from which on threads share it; of a stack of smaller ones each has some."""
FAR: Final = 1 << 22
"""Bytes of arrays that do not stay near the processor."""
WRITE: Final = {"near": 1.5, "far": 2.5}
READ: Final = {"near": 3.0, "far": 3.0}
"""Operations that take as long as an element's way to memory, and from there. Far: as on a Zen 4 core, where x² + x
with two readers takes as long either way, and x/(1 + x²) 4/5 as long if it is kept. Near: with a share of a loop."""
GROWN: Final = 1 / 8
"""The share of a far value that is grown."""
COSTLY: Final = 100
"""Operations from which on such a value is kept."""


BLOCK: Final = 1 << 16
"""Bytes that a block touches: what stays in the nearest caches."""
LONGEST_ROW: Final = 1 << 21
"""Bytes of a row that is a block by itself: what stays in a core's share of the last ones."""


def is_kept(cost: int, bytes: int, readers: float, share: float) -> bool:
    """Whether a value is kept. cost: of one of its elements; readers: how often each element is read."""
    if bytes < FAR:
        return (readers - 1) * cost > WRITE["near"] + readers * READ["near"]
    if share <= GROWN and cost <= COSTLY:
        return False
    return (readers - 1) * (cost + share * READ["far"]) > WRITE["far"] + readers * READ["far"]


def rows_in_block(row: int, private: int) -> int:
    """How many rows steps take at a time; 0 for all. row: bytes that they touch of one; private: those of them that
    nobody else reads, so that they never go to memory: where rows are long, only this pays."""
    if row <= BLOCK:
        return BLOCK // row
    return 1 if row <= LONGEST_ROW and 2 * private >= row else 0


def price_of(op: Op) -> int:
    """The cost of a primitive for one element."""
    if isinstance(op, Strided):
        return APART * min(op.nearest - 1, FARTHEST)
    if isinstance(op, Movement | ReadBlock | Iota | Param | Const):
        return 0
    if isinstance(op, Elementwise):
        return 1 if op.name in SIMPLE else SLOWER.get(op.name, FUNCTION)
    return FOLDED


def cost_of(region: Region) -> int:
    """The cost of all scalars of a region, once."""
    return sum([scalar_cost(s) for s in region.body])


def scalar_cost(scalar: Scalar) -> int:
    """The cost of one scalar."""
    match scalar:
        case Apply():
            return price_of(scalar.op)
        case Fold() | Loop():
            return math.prod([v.extent for v in scalar.vars]) * max(cost_of(scalar.body), 1)
        case Choose():
            return max([cost_of(side) for side in scalar.sides])
        case _:
            return 1
