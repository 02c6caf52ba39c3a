"""About how long scalars take: in simple operations of a vector unit on one element, some quarters of a nanosecond."""

from __future__ import annotations

import math
from typing import Final

from pliant.kernel.scalars import Apply, Choose, Fold, Loop, Region, Scalar

SLOW: Final = {
    **dict.fromkeys(["div", "sqrt", "floor_divide", "remainder", "fmod"], 4),
    **dict.fromkeys(
        "exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh "
        "arctan2 cbrt hypot erf erfc logaddexp logaddexp2".split(),
        16,
    ),
    "pow": 32,
}
"""Name of a primitive → its cost, if that is not 1."""


def cost_of(region: Region) -> int:
    """The cost of all scalars of a region, once."""
    return sum([scalar_cost(s) for s in region.body])


def scalar_cost(scalar: Scalar) -> int:
    """The cost of one scalar."""
    match scalar:
        case Apply():
            return SLOW.get(scalar.op.name, 1)
        case Fold() | Loop():
            return math.prod([v.extent for v in scalar.vars]) * max(cost_of(scalar.body), 1)
        case Choose():
            return max([cost_of(side) for side in scalar.sides])
        case _:
            return 1
