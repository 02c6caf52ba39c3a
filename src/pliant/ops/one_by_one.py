"""Which batches of loops are taken problem by problem.

A step of a loop whose end is another one for each problem can be taken for all at once, with those left alone that
have ended. But then a step that writes a few elements of an array would pass over the whole array, for all of them.
So it is with a branch that holds such loops, and with a loop whose steps read or write parts of arrays that are of
another length for each problem: all at once, a step would take as long as if each part was the whole array.
"""

from __future__ import annotations

from pliant.core.inner import functions_of
from pliant.core.ir import Const, Function, Op
from pliant.ops.block import Block
from pliant.ops.index import Indexed
from pliant.ops.loop_form import LoopForm
from pliant.ops.shape import Broadcast
from pliant.ops.step_cut import WIDE


def has_parts(fn: Function, least: int = WIDE) -> bool:
    """Whether parts of arrays of `least` elements or more are read or written there, at places of run time."""
    for node in fn.nodes:
        if isinstance(node.op, Indexed | Block) and node.args[0].type.size >= least:
            return True
        if any([has_parts(f, least) for f in functions_of(node.op).values()]):
            return True
    return False


def has_own_parts(fn: Function, least: int = WIDE) -> bool:
    """Whether each problem of a batch has parts of a length of its own there, of arrays of `least` elements or more."""
    for node in fn.nodes:
        op = node.op
        if isinstance(op, Block) and op.shared and node.args[0].type.row.size >= least:
            lengths = [n.args[0] if isinstance(n.op, Broadcast) else n for n in node.args[-len(op.step) :]]
            if not all([isinstance(n.op, Const) for n in lengths]):
                return True
        if any([has_own_parts(f, least) for f in functions_of(op).values()]):
            return True
    return False


def holds_problems(fn: Function, n: int) -> bool:
    """Whether n problems are taken one by one there, in a loop or in what it holds."""
    ops = [node.op for node in fn.nodes]
    inside = [f for op in ops for f in functions_of(op).values()]
    return any([_is_of_problems(op, n) for op in ops]) or any([holds_problems(f, n) for f in inside])


def _is_of_problems(op: Op, n: int) -> bool:
    if not isinstance(op, LoopForm) or op.length != n or not {*op.ins} <= {"each", "const"} or {*op.outs} != {"stack"}:
        return False
    node, *others = {r.node for r in op.body.results}
    return (
        not others and node.args == op.body.params[1:] and any([has_parts(f) for f in functions_of(node.op).values()])
    )
