"""Short loops over large arrays are written out: all that their steps make is then one pass over memory.

    for c in coefficients:               y = ((x + c0)·x + c1)·x + c2
        y = y * x + c

So is done where steps compute each element of what they carry of that element alone.
"""

from __future__ import annotations

from typing import Final

from pliant.core.inner import functions_of, map_functions
from pliant.core.ir import Function, Node, Value, Values, const
from pliant.ops.base import Elementwise
from pliant.ops.loop import Loop
from pliant.ops.shape import reshape, slice_axis
from pliant.transforms.replace import replaced

MOST: Final = 16  # steps
LARGE: Final = 1024  # elements
LONGEST: Final = 256  # operations of all steps


def written_out(fn: Function) -> Function:
    """`fn` with such loops written out, in the functions that its primitives hold too."""
    if not _is_wanted(fn):
        return fn

    def rule(node: Node, args: Values) -> Values | None:
        op = map_functions(node.op, written_out)
        if isinstance(op, Loop) and is_written_out(op):
            return _steps(op, args)
        return None if op is node.op else op.apply(*args)

    return replaced(fn, rule)


def _is_wanted(fn: Function) -> bool:
    """Whether there is such a loop, also in the functions that primitives hold."""
    ops = [node.op for node in fn.nodes if functions_of(node.op)]
    inside = [f for op in ops for f in functions_of(op).values()]
    return any([isinstance(op, Loop) and is_written_out(op) for op in ops]) or any(map(_is_wanted, inside))


def is_written_out(loop: Loop, n: int = 1) -> bool:
    """Whether a loop is short, and what it carries for n problems is large and computed element by element."""
    body = [node for node in loop.body.nodes if node.args]
    if loop.length > MOST or loop.length * len(body) > LONGEST or "count" in loop.ins or {*loop.outs} != {"last"}:
        return False
    carried = {p for c, _ in loop.carries if (p := loop.body.params[c]).type.size * n >= LARGE}
    return bool(carried) and not any([functions_of(node.op) for node in body]) and _is_by_elements(body, carried)


def _is_by_elements(body: list[Node], carried: set[Value]) -> bool:
    """Whether whatever depends on some large arrays is of their elements at the same place."""
    reached = set(carried)
    for node in body:
        if reached.isdisjoint(node.args):
            continue
        if not isinstance(node.op, Elementwise) or any(
            [a.shape != node.types[0].shape for a in reached & {*node.args}]
        ):
            return False
        reached.update(node.values)
    return True


def _steps(loop: Loop, xs: Values) -> Values:
    """The results of a loop, by all its steps."""
    places = {k: c - 1 for c, k in loop.carries}
    state = list(xs)
    for n in range(loop.length)[:: -1 if loop.reverse else 1]:
        rows = [_row(x, n) if kind == "each" else x for x, kind in zip(state, loop.ins, strict=True)]
        made = loop.body(const(n, "i64"), *rows)
        for k, y in enumerate(made):
            state[places[k]] = y
    return tuple([state[places[k]] for k in range(len(loop.outs))])


def _row(x: Value, n: int) -> Value:
    return reshape(slice_axis(x, 0, n, 1), x.shape[1:])
