"""Loops that may end early, but not after more steps than a number says, as loops of so many steps.

    for i in range(n):                  for i in range(n):
        s = step(s)                         if not ended:
        if ends(s):                             s = step(s)
            break                               ended = ends(s)

Steps after the end do nothing. So these have derivatives in both modes where loops of unknown length have not.
"""

from __future__ import annotations

from typing import Final

from pliant.core.build import number_of, trace
from pliant.core.inner import functions_of, map_functions
from pliant.core.ir import Function, Node, Value, Values
from pliant.core.types import Type
from pliant.ops.bits import BitwiseAnd
from pliant.ops.compare import Less
from pliant.ops.cond import Cond
from pliant.ops.custom import pick
from pliant.ops.elementwise import Add
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
        steps = _most_steps(op, args) if isinstance(op, WhileLoop) else None
        if isinstance(op, WhileLoop) and steps is not None and steps <= MOST:
            return _masked(op, steps, args)
        return None if op is node.op else op.apply(*args)

    return replaced(fn, rule)


def _most_steps(op: WhileLoop, args: Values) -> int | None:
    """How many steps there are at most, by a carry that is counted up from one number to another."""
    found = [_counted(op, args, test) for test in _conditions(op.test.results[0])]
    return min([n for n in found if n is not None], default=None)


def _conditions(value: Value) -> list[Value]:
    """Conditions of which all must hold."""
    return [c for a in value.args for c in _conditions(a)] if isinstance(value.op, BitwiseAnd) else [value]


def _counted(op: WhileLoop, args: Values, test: Value) -> int | None:
    """How many steps there are until a condition, that a carry is less than a number, does not hold."""
    if not isinstance(test.op, Less) or test.args[0] not in op.test.params:
        return None
    counter, limit = op.test.params.index(test.args[0]), number_of(test.args[1])
    start, places = number_of(args[counter]), dict(op.carries)
    if limit is None or start is None or counter not in places or args[counter].dtype[0] != "i":
        return None
    after = op.body.results[places[counter]]
    if not isinstance(after.op, Add) or op.body.params[counter] not in after.args:
        return None
    step = next((n for n in map(number_of, after.args) if n is not None), 0)
    return max(-(-(limit - start) // step), 0) if step > 0 else None


def _masked(op: WhileLoop, steps: int, args: Values) -> Values:
    """The carries after so many steps, of which those after the end do nothing."""
    types = op.operand_types
    stay = trace(lambda *xs: pick(xs, op.are_carries), *types)

    def step(_: Value, *xs: Value) -> Values:
        return Cond(op.body, stay).apply(*op.test(*xs), *xs)

    return Loop(steps, op.ins, ("last",) * len(op.carries), trace(step, Type("i64"), *types)).apply(*args)
