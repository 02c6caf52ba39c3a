"""What every step of a loop would compute again is computed once, before the loop.

Moved out is what depends on nothing that changes from step to step, if it is more than simple operations
on each element, which cost no more than reading it would. What may fail stays where it is if the loop
may have no steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from pliant.core.build import hint_of, trace
from pliant.core.inner import functions_of, map_functions
from pliant.core.ir import Const, Function, Node, Op, Value, Values, substitute
from pliant.core.types import Type
from pliant.ops.base import Elementwise, Movement
from pliant.ops.block import Block
from pliant.ops.branch_part import Unset
from pliant.ops.custom import pick
from pliant.ops.index import Indexed
from pliant.ops.loop import Loop
from pliant.ops.region import CHEAP
from pliant.ops.shape import Concatenate, Iota
from pliant.ops.while_loop import WhileLoop
from pliant.transforms.replace import replaced

AnyLoop: TypeAlias = Loop | WhileLoop

GROWTH: Final = 4  # times the largest operand: what is larger is not kept, unless it is several of them


def hoist(fn: Function) -> Function:
    """`fn` with what loops would compute again and again before them; inner loops first."""
    order = fn.nodes
    inner = {n: map_functions(n.op, hoist) for n in order if functions_of(n.op)}
    if all([op is n.op and not (isinstance(op, AnyLoop) and any(_moved(op))) for n, op in inner.items()]):
        return fn
    return replaced(fn, lambda node, args: _lightened(inner[node], args) if node in inner else None)


def _moved(op: AnyLoop) -> list[Values]:
    """For each function of a loop, what is computed before it."""
    lead = 1 if isinstance(op, Loop) else 0  # the index
    is_sure = isinstance(op, Loop) and op.length > 0 and "count" not in op.ins
    fixed = [kind in ("const", "count") for kind in op.ins]
    return [invariants(fn, pick(fn.params[lead:], fixed), is_sure=is_sure) for fn in functions_of(op).values()]


def _lightened(op: Op, args: Values) -> Values:
    """The results of a loop, with what never changes in it computed before; those of another primitive."""
    moved = _moved(op) if isinstance(op, AnyLoop) else []
    if not isinstance(op, AnyLoop) or not any(moved):
        return op.apply(*args)
    fns, outside = list(functions_of(op).values()), list[Value]()
    for fn, found in zip(fns, moved, strict=True):
        outside += substitute(found, dict(zip(fn.params[len(fn.params) - len(args) :], args, strict=True)))
    types = [v.type for v in outside]
    made = [_taking(fn, found, types, start) for fn, found, start in zip(fns, moved, (0, len(moved[0])), strict=False)]
    ins = op.ins + ("const",) * len(outside)
    if isinstance(op, Loop):
        return replace(op, ins=ins, body=made[0]).apply(*args, *outside)
    return replace(op, ins=ins, test=made[0], body=made[1]).apply(*args, *outside)


def _taking(fn: Function, found: Values, types: Sequence[Type], start: int) -> Function:
    """The function with more parameters, of which those from `start` on are what was found."""
    count = len(fn.params)

    def step(*args: Value) -> Values:
        given = dict(zip(fn.params, args, strict=False))
        return substitute(fn.results, {**given, **dict(zip(found, args[count + start :], strict=False))})

    return trace(step, *(p.type for p in fn.params), *types, names=[hint_of(p) for p in fn.params])


def invariants(fn: Function, fixed: Sequence[Value], *, is_sure: bool) -> Values:
    """What to compute before a loop, of all that depends on nothing but `fixed` parameters."""
    still, heavy, used = set(fixed), set[Value](), dict[Value, None]()
    for node in fn.nodes:
        if isinstance(node.op, Const):
            still.update(node.values)
        elif node.args and all([a in still for a in node.args]) and _is_movable(node, is_sure=is_sure):
            still.update(node.values)
            heavy.update(node.values if _is_heavy(node) or any([a in heavy for a in node.args]) else ())
        else:
            used.update([(a, None) for a in node.args if a in still])
    used.update([(r, None) for r in fn.results if r in still])
    largest = max([p.type.size for p in fixed], default=0)
    found, todo = dict[Value, None](), list(used)
    while todo:
        value = todo.pop()
        if value not in heavy or value in found:
            continue
        grows = value.type.size > GROWTH * largest and not isinstance(value.op, Concatenate)
        if isinstance(value.op, Movement) or grows:
            todo.extend(value.args)
        else:
            found[value] = None
    return tuple(found)


def _is_movable(node: Node, *, is_sure: bool) -> bool:
    may_fail = isinstance(node.op, Indexed | Block) or bool(functions_of(node.op)) or hasattr(node.op, "failure")
    return not isinstance(node.op, Unset) and (is_sure or not may_fail)


def _is_heavy(node: Node) -> bool:
    """Whether it takes longer than to read its result."""
    is_simple = isinstance(node.op, Movement | Iota) or (isinstance(node.op, Elementwise) and node.op.name in CHEAP)
    return not is_simple and not isinstance(node.op, Indexed | Block)
