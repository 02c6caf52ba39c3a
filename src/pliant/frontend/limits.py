"""What is known of numbers by the conditions that choose them, and by what floats were computed from.

10 if k > 10 else k         k is at most 10 where it is chosen
int(np.clip(x, 0, 6))       is at most 6; nothing is known of its least value, as x may be NaN
"""

from __future__ import annotations

import math
from typing import Final

from pliant.core.ir import Const, Value
from pliant.ops.compare import Greater, GreaterEqual, Less, LessEqual, Maximum, Minimum
from pliant.ops.elementwise import Convert
from pliant.ops.rounding import Floor, Trunc
from pliant.ops.select import Select

DEPTH: Final = 24  # how far back a number is looked into


def ordered(condition: Value, *, holds: bool) -> tuple[Value, Value, bool] | None:
    """Two values of which the first is at most the other, or less, as a condition that holds or does not says."""
    match condition.op:
        case Less() | LessEqual():
            (x, y), is_strict = condition.args, isinstance(condition.op, Less)
        case Greater() | GreaterEqual():
            (y, x), is_strict = condition.args, isinstance(condition.op, Greater)
        case _:
            return None
    return (x, y, is_strict) if holds else (y, x, not is_strict)


def most_of(x: Value, depth: int = DEPTH) -> float | None:
    """The greatest number that a float can be, but for NaN; None if nothing is known."""
    if isinstance(x.op, Const):
        return x.op.value.real if math.isfinite(x.op.value.real) else None
    if not depth or not x.type.is_float:
        return None
    match x.op:
        case Minimum() | Maximum():
            ends = [most_of(a, depth - 1) for a in x.args]
        case Select():
            pairs = [(y, ordered(x.args[0], holds=n == 0)) for n, y in enumerate(x.args[1:])]
            ends = [most_of(pair[1] if pair and y is pair[0] else y, depth - 1) for y, pair in pairs]
        case Floor() | Trunc() | Convert():
            end = most_of(x.args[0], depth - 1)
            return float(math.trunc(end)) if isinstance(x.op, Trunc) and end is not None else end
        case _:
            return None
    found = [end for end in ends if end is not None]
    if isinstance(x.op, Minimum):
        return min(found, default=None)
    return max(found) if len(found) == 2 else None
