"""What a primitive costs alone, for choosing between programs before they are fused: the model of `cost`, for arrays.

In operations of a vector unit on one element. What fuses with its neighbours counts its operations only; what does not,
such as a product of matrices, also what it reads and writes.
"""

from __future__ import annotations

import math
from typing import Final

from pliant.core.inner import functions_of
from pliant.core.ir import Function, Node
from pliant.kernel.cost import FOLDED, READ, WRITE, price_of
from pliant.ops.base import Elementwise, Movement
from pliant.ops.cond import Cond
from pliant.ops.contract import Dot
from pliant.ops.loop import Loop
from pliant.ops.matrix import Matrices
from pliant.ops.reduce import Reduction

STEP: Final = 4.0
"""For a primitive at all: a loop has to begin and end, and a scalar takes time as well."""
VIEW: Final = 0.01
"""For an element that is only found elsewhere."""
TERM: Final = 0.5
"""For each product of two elements in a product of matrices."""
TURNS: Final = 64
"""Of a loop whose number of steps is not known."""


def price(node: Node) -> float:
    """The cost of a node, more than 0."""
    op = node.op
    read = sum([a.type.size for a in node.args])
    written = sum([t.size for t in node.types])
    if isinstance(op, Elementwise):
        return STEP + written * price_of(op)
    if isinstance(op, Movement) or not node.args:
        return VIEW + VIEW * written
    if isinstance(op, Reduction):
        return STEP + read
    held = [price_of_function(fn) for fn in functions_of(op).values()]
    if held:
        turns = op.length if isinstance(op, Loop) else TURNS
        return STEP + (max(held) if isinstance(op, Cond) else turns * sum(held))
    moved = READ["near"] * read + WRITE["near"] * written
    if isinstance(op, Dot):
        return STEP + moved + TERM * math.prod(op.sizes(*node.args))
    if isinstance(op, Matrices):
        return STEP + moved + FOLDED * read * max([a.shape[-1] for a in node.args if a.shape], default=1)
    return STEP + moved + FOLDED * (read + written)


def price_of_function(fn: Function) -> float:
    """The cost of all that a function computes, once."""
    return sum([price(node) for node in fn.nodes])
