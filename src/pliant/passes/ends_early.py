"""Loops that may end early, but not after more steps than a number says, as loops of so many steps.

    for i in range(n):                  for i in range(n):
        s = step(s)                         if not ended:
        if ends(s):                             s = step(s)
            break                               ended = ends(s)

Steps after the end do nothing. So these have derivatives in both modes where loops of unknown length have not.
"""

from __future__ import annotations

from typing import Final, final

from pliant.core.build import number_of, trace
from pliant.core.data import frozen
from pliant.core.inner import functions_of, map_functions
from pliant.core.ir import Function, Node, Value, Values
from pliant.core.types import Type
from pliant.ops.bits import BitwiseAnd
from pliant.ops.compare import Less
from pliant.ops.cond import Cond
from pliant.ops.custom import pick
from pliant.ops.elementwise import Add, add, convert, mul
from pliant.ops.loop import Loop
from pliant.ops.while_loop import WhileLoop
from pliant.transforms.replace import replaced

MOST: Final = 1024  # steps, each of which looks at whether the loop has ended


def with_all_steps(fn: Function) -> Function:
    """`fn` with such loops as loops of all steps, in the functions that its primitives hold too."""
    if not any([functions_of(node.op) for node in fn.nodes]):
        return fn

    def rule(node: Node, args: Values) -> Values | None:
        op = map_functions(node.op, with_all_steps)
        counter = _counter(op, args) if isinstance(op, WhileLoop) else None
        if isinstance(op, WhileLoop) and counter is not None and counter.steps <= MOST:
            return _masked(op, counter, args)
        return None if op is node.op else op.apply(*args)

    return replaced(fn, rule)


@final
@frozen
class _Counter:
    """A carry that is `start` and `by` more after each step, and after how many steps the loop has ended by it."""

    operand: int
    start: int
    by: int
    steps: int


def _counter(op: WhileLoop, args: Values) -> _Counter | None:
    """What bounds the number of steps: of several counters that which ends first."""
    found = [_counted(op, args, test) for test in _conditions(op.test.results[0])]
    return min([c for c in found if c is not None], key=lambda c: c.steps, default=None)


def _conditions(value: Value) -> list[Value]:
    """Conditions of which all must hold."""
    return [c for a in value.args for c in _conditions(a)] if isinstance(value.op, BitwiseAnd) else [value]


def _counted(op: WhileLoop, args: Values, test: Value) -> _Counter | None:
    """The counter of a condition, that a carry is less than a number."""
    if not isinstance(test.op, Less) or test.args[0] not in op.test.params:
        return None
    counter, limit = op.test.params.index(test.args[0]), number_of(test.args[1])
    start, places = number_of(args[counter]), dict(op.carries)
    if limit is None or start is None or counter not in places or args[counter].dtype[0] != "i":
        return None
    after = op.body.results[places[counter]]
    if not isinstance(after.op, Add) or op.body.params[counter] not in after.args:
        return None
    by = next((n for n in map(number_of, after.args) if n is not None), 0)
    return _Counter(counter, start, by, max(-(-(limit - start) // by), 0)) if by > 0 else None


def _masked(op: WhileLoop, counter: _Counter, args: Values) -> Values:
    """The carries after so many steps, of which those after the end do nothing. Those before it know the counter by
    the number of the step, whatever is known of when the loop ends."""
    types, place = op.operand_types, counter.operand

    def go(number: Value, *xs: Value) -> Values:
        return op.body(*xs[:place], number, *xs[place + 1 :])

    def stay(_: Value, *xs: Value) -> Values:
        return pick(xs, op.are_carries)

    sides = [trace(side, types[place], *types) for side in (go, stay)]

    def step(i: Value, *xs: Value) -> Values:
        number = convert(add(mul(i, counter.by), counter.start), types[place].dtype)
        return Cond(*sides).apply(*op.test(*xs), number, *xs)

    body = trace(step, Type("i64"), *types)
    return Loop(counter.steps, op.ins, ("last",) * len(op.carries), body).apply(*args)
