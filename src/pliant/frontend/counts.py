"""What is known of the numbers that a loop leaves.

for v in x:                 each step adds 0 or 1 to k, and so 0 ≤ k ≤ len(x) after the loop
    if v > 0: k += 1

for i in range(9):          n is what it was before the loop, or one of the numbers of its steps
    if x[i] > 0: n = i
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from pliant.core.ir import Const, Value
from pliant.ops.bits import BitwiseAnd
from pliant.ops.compare import Less
from pliant.ops.cond import Cond
from pliant.ops.elementwise import Add, Convert, Sub
from pliant.ops.loop import Loop
from pliant.ops.select import Select
from pliant.ops.while_loop import WhileLoop

Ends: TypeAlias = "tuple[int, int]"
_NONE: Ends = 0, 0


def counted(value: Value) -> tuple[Value, Ends] | None:
    """What a loop's number starts from, and how much is added to it at least and at most; None if that is not known."""
    op, carry = value.op, _carry_of(value)
    if not isinstance(op, Loop) or carry is None:
        return None
    start, own = carry
    step = _added(op.body.results[value.index], {own: _NONE})
    if step is None:
        return None
    return start, (op.length * min(step[0], 0), op.length * max(step[1], 0))


def bound_to(value: Value) -> list[Value] | None:
    """What a number that a loop leaves may be, where its steps choose between what it was and others: what it starts
    from, and these. None of any other value."""
    op, carry = value.op, _carry_of(value)
    if not isinstance(op, Loop | WhileLoop) or carry is None:
        return None
    start, own = carry
    others = _choices(op.body.results[value.index], {})
    return [start, *[x for x in others if x is not own]]


def _carry_of(value: Value) -> tuple[Value, Value] | None:
    """What a number that a loop carries starts from, and what stands for it in a step; None of any other value."""
    op = value.op
    if not isinstance(op, Loop | WhileLoop):
        return None
    place = next((p for p, r in op.carries if r == value.index), None)
    if place is None:  # a fold, or a stack
        return None
    return value.args[place - (1 if isinstance(op, Loop) else 0)], op.body.params[place]


def counters(value: Value) -> list[tuple[Value, Value | int, int]]:
    """The numbers that count the steps of the loop which leaves a value, where one is taken: what each starts from at
    least, and its greatest number."""
    op = value.op
    match op:
        case Loop():
            return [(op.body.params[0], 0, op.length - 1)]
        case WhileLoop():
            holding = _all_of(op.test.results[0])
            found = list[tuple[Value, Value | int, int]]()
            for p, r in op.carries:
                own, made = op.body.params[p], op.body.results[r]
                if isinstance(made.op, Add) and made.args[0] is own and (_ends(made.args[1]) or (-1, 0))[0] >= 0:
                    ends = [c.args[1] for c in holding if isinstance(c.op, Less) and c.args[0] is op.test.params[p]]
                    found += [(own, value.args[p], most[1] - 1) for end in ends if (most := _ends(end))]
            return found
        case _:
            return []


def _all_of(condition: Value) -> list[Value]:
    """The conditions that all hold where one does."""
    if isinstance(condition.op, BitwiseAnd):
        return [c for a in condition.args for c in _all_of(a)]
    return [condition]


def _choices(y: Value, given: Mapping[Value, list[Value]]) -> list[Value]:
    """What a value is one of. given: the same of the parameters of branches."""
    match y.op:
        case Select():
            return [*_choices(y.args[1], given), *_choices(y.args[2], given)]
        case Cond():
            args = [_choices(a, given) for a in y.args[1:]]
            return [
                x for fn in y.op.branches
                for x in _choices(fn.results[y.index], {**given, **dict(zip(fn.params, args, strict=True))})
            ]  # fmt: skip
        case _:
            return given.get(y, [y])


def _added(y: Value, known: dict[Value, Ends | None]) -> Ends | None:
    """What y has more than the number it is made of. known: the same of other values; that number has 0."""
    if y not in known:
        known[y] = None if y.shape else _found(y, known)
    return known[y]


def _found(y: Value, known: dict[Value, Ends | None]) -> Ends | None:
    op, args = y.op, y.args
    match op:
        case Add():
            ways = [(_added(args[0], known), _ends(args[1])), (_added(args[1], known), _ends(args[0]))]
            return next((_sum(*way) for way in ways if way[0] is not None), None)
        case Sub():
            less = _ends(args[1])
            return None if less is None else _sum(_added(args[0], known), (-less[1], -less[0]))
        case Select():
            return _either(_added(args[1], known), _added(args[2], known))
        case Cond():
            given = [_added(a, known) for a in args[1:]]
            then, otherwise = [
                _added(branch.results[y.index], dict(zip(branch.params, given, strict=True))) for branch in op.branches
            ]
            return _either(then, otherwise)
        case Loop():
            inner = counted(y)
            return None if inner is None else _sum(_added(inner[0], known), inner[1])
        case _:
            return None


def _ends(x: Value) -> Ends | None:
    """The range of what is added."""
    if isinstance(x.op, Const) and x.dtype == "i64":
        number = int(x.op.value.real)
        return number, number
    return (0, 1) if isinstance(x.op, Convert) and x.args[0].dtype == "bool" else None


def _sum(x: Ends | None, y: Ends | None) -> Ends | None:
    return None if x is None or y is None else (x[0] + y[0], x[1] + y[1])


def _either(x: Ends | None, y: Ends | None) -> Ends | None:
    return None if x is None or y is None else (min(x[0], y[0]), max(x[1], y[1]))
