"""How far a loop of a known number of steps counts: what each step adds to a number is bounded, and so is all of it.

for v in x:                 each step adds 0 or 1 to k, and so 0 ≤ k ≤ len(x) after the loop
    if v > 0: k += 1
"""

from __future__ import annotations

from typing import TypeAlias

from pliant.core.ir import Const, Value
from pliant.ops.cond import Cond
from pliant.ops.elementwise import Add, Convert, Sub
from pliant.ops.loop import Loop
from pliant.ops.select import Select

Ends: TypeAlias = "tuple[int, int]"
_NONE: Ends = 0, 0


def counted(value: Value) -> tuple[Value, Ends] | None:
    """What a loop's number starts from, and how much is added to it at least and at most; None if that is not known."""
    op = value.op
    if not isinstance(op, Loop) or op.outs[value.index] != "last":
        return None
    number = op.outs[: value.index].count("last")
    carry = [n for n, kind in enumerate(op.ins) if kind == "carry"][number]
    step = _added(op.body.results[value.index], {op.body.params[1 + carry]: _NONE})
    if step is None:
        return None
    return value.args[carry], (op.length * min(step[0], 0), op.length * max(step[1], 0))


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
