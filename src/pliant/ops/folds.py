"""Folds over the steps of a loop: what they start from, what a step adds, what is made of that in the end.

`FOLDS` says how values are computed, `SMOOTH` how derivatives are: there the state of a fold is what
its derivative needs, so that nothing is stacked.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, final

from pliant.core.build import trace
from pliant.core.data import frozen
from pliant.core.ir import Value, Values, const
from pliant.core.types import Type
from pliant.ops.bits import logical_and, logical_not, logical_or
from pliant.ops.compare import equal, less_equal, maximum, minimum
from pliant.ops.custom import CustomJvp, stop_gradient
from pliant.ops.elementwise import add, div, mul, sub
from pliant.ops.index_rules import added
from pliant.ops.select import select
from pliant.ops.shape import broadcast

UFUNCS: Final = {
    "sum": "add", "total": "add", "prod": "multiply", "max": "maximum", "min": "minimum", "any": "logical_or",
    "all": "logical_and",
}  # fmt: skip
"""The function of two arrays that a fold applies."""

STARTS: Final = {"sum": 0, "total": 0, "prod": 1, "any": 0, "all": 1}


@final
@frozen
class Fold:
    """starts: type of a term → the state before any step. step: (state, term) → state. finish: state → result."""

    starts: Callable[[Type], Values]
    step: Callable[[Values, Value], Values]
    finish: Callable[[Values], Value]


def start_of(kind: str, dtype: str) -> float:
    """What a fold starts from."""
    if kind in STARTS:
        return STARTS[kind]
    if dtype[0] == "f":
        return -math.inf if kind == "max" else math.inf
    bits = 1 if dtype == "bool" else int(dtype[1:]) - (dtype[0] == "i")
    lowest = -(2**bits) if dtype[0] == "i" else 0
    return lowest if kind == "max" else 2**bits - 1


def filled(number: float, type: Type) -> Value:
    """An array of one number."""
    return broadcast(const(number, type.dtype), type.shape, ())


def simple(kind: str, combine: Callable[[Any, Any], Value]) -> Fold:
    """A fold whose state is its result."""
    return Fold(
        lambda type: (filled(start_of(kind, type.dtype), type),),
        lambda state, x: (combine(state[0], x),),
        lambda state: state[0],
    )


def added_up() -> Fold:
    """The sum, and what was rounded off it: as accurate as if it had twice the digits. The next sum waits for the one
    before only, not for the correction. Source: Knuth, The Art of Computer Programming 2, 4.2.2, theorem B."""

    def step(state: Values, x: Value) -> Values:
        total, lost = state
        new = add(total, x)
        taken = sub(new, total)
        return new, add(lost, add(sub(total, sub(new, taken)), sub(x, taken)))

    def finish(state: Values) -> Value:
        total, lost = state
        return select(equal(lost, lost), add(total, lost), total)  # what is lost of an infinite sum is NaN

    return Fold(lambda type: (filled(0, type), filled(0, type)), step, finish)


def extremum(kind: str, combine: Callable[[Any, Any], Value]) -> Fold:
    """The greatest or least term, the sum of the terms equal to it, and how many there are: its tangent
    is the mean of theirs."""

    def starts(type: Type) -> Values:
        return filled(start_of(kind, type.dtype), type), filled(0, type), filled(0, type)

    def step(state: Values, x: Value) -> Values:
        best, total, count = state
        term = stop_gradient(x)
        ahead = logical_not(less_equal(*((term, best) if kind == "max" else (best, term))))  # or one is NaN
        one, more = filled(1, x.type), equal(term, best)
        return (
            combine(best, term),
            select(ahead, x, select(more, add(total, x), total)),
            select(ahead, one, select(more, add(count, one), count)),
        )

    def finish(state: Values) -> Value:
        best, total, count = state
        return routed(best, div(total, maximum(count, filled(1, count.type))))

    return Fold(starts, step, finish)


def routed(value: Value, like: Value) -> Value:
    """A value whose tangent is that of `like`."""

    def same(value: Value, like: Value) -> Value:
        return value

    def tangent(value: Value, like: Value, own: Value, other: Value) -> Value:
        return other

    return CustomJvp(trace(same, *(value.type,) * 2), trace(tangent, *(value.type,) * 4))(value, like)


FOLDS: Final = {
    "sum": simple("sum", added),
    "total": added_up(),
    "prod": simple("prod", mul),
    "max": simple("max", maximum),
    "min": simple("min", minimum),
    "any": simple("any", logical_or),
    "all": simple("all", logical_and),
}
SMOOTH: Final = {"prod": FOLDS["prod"], "max": extremum("max", maximum), "min": extremum("min", minimum)}


def combined(kind: str, x: Value | None, y: Value | None) -> Value | None:
    """What a fold makes of two parts of its terms, of which it makes x and y; None stands for no terms."""
    if x is None or y is None:
        return y if x is None else x
    return FOLDS["sum" if kind == "total" else kind].step((x,), y)[0]
