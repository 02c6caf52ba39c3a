"""Match a pattern with holes against a value, or say how near it came."""

from __future__ import annotations

from dataclasses import dataclass
from math import copysign
from typing import Any, TypeAlias, final

from pliant.core.ir import Const, Number, Op, Pattern, Value

Bound: TypeAlias = "dict[str, Value]"
Goals: TypeAlias = "tuple[Any, Value, Value, Goals] | None"  # pattern, operand, who reads it, the rest


@final
@dataclass(frozen=True, slots=True)
class Miss:
    """How many parts fitted before one did not, which value that was, and why."""

    depth: int
    reason: str
    value: Value


def match_value(pattern: Pattern, value: Value) -> Bound | Miss:
    """The values of the pattern's holes, or the nearest miss."""
    return _solve((pattern, value, value, None), {}, 0)


def _solve(goals: Goals, bound: Bound, depth: int) -> Bound | Miss:
    """Satisfy the goals from the first; commutative operands are tried in both orders.

    Recursive in the size of the pattern, never in that of the program.
    """
    if goals is None:
        return bound
    pattern, value, reader, rest = goals
    if type(pattern) is not Pattern:
        if not is_literal(value, pattern):
            return Miss(depth, f"wanted the literal {pattern!r}, found {text_of(value)}", reader)
        return _solve(rest, bound, depth + 1)
    op = pattern.op
    if not isinstance(op, str):
        return _solve_op(op, pattern, value, rest, bound, depth)
    if bound.get(op, value) is not value:
        return Miss(depth, f"{op!r} stands for two different values", reader)
    return _solve(rest, {**bound, op: value}, depth + 1)


def kind_of(op: Op | type[Op]) -> type[Op]:
    """The primitive that a pattern asks for."""
    return type(op) if isinstance(op, Op) else op


def _solve_op(op: Op | type[Op], pattern: Pattern, value: Value, rest: Goals, bound: Bound, depth: int) -> Bound | Miss:
    node, patterns = value.node, pattern.args
    if type(node.op) is not kind_of(op) or len(node.args) != len(patterns):
        return Miss(depth, f"wanted {op.name}, found {text_of(value)}", value)
    if isinstance(op, Op) and node.op != op:
        return Miss(depth, f"wanted {op!r}, found {node.op!r}", value)
    if value.index != pattern.index:
        return Miss(depth, f"wanted result {pattern.index} of {op.name}, found result {value.index}", value)
    nearest: Miss | None = None
    both = op.commutative and patterns[0] is not patterns[1]
    for order in (patterns, patterns[::-1]) if both else (patterns,):
        goals = rest
        for pattern, operand in zip(reversed(order), reversed(node.args), strict=True):
            goals = (pattern, operand, value, goals)
        result = _solve(goals, bound, depth + 1)
        if not isinstance(result, Miss):
            return result
        if nearest is None or result.depth > nearest.depth:
            nearest = result
    assert nearest is not None
    return nearest


def is_literal(value: Value, number: Number) -> bool:
    """Whether `value` is the literal `number`, of any dtype. NaN is NaN, and -0.0 is not 0.0."""
    op = value.node.op
    return type(op) is Const and same_number(op.value, number)


def same_number(a: Number, b: Number) -> bool:
    """Equal, and zeros of equal sign; NaN equals NaN."""
    if a != b:
        return a != a and b != b
    if a:
        return True
    left, right = complex(a), complex(b)
    return copysign(1, left.real) == copysign(1, right.real) and copysign(1, left.imag) == copysign(1, right.imag)


def text_of(value: Value) -> str:
    """A literal as written, anything else by what made it and its type."""
    return repr(value.op.value) if isinstance(value.op, Const) else f"{value.op.name} of type {value.type}"
