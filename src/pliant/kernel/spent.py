"""Which rows a loop may write over: those of a stack that it takes row by row, and that nothing else reads.

    starts = loop(i) { …; stack c }
    loop(i) { each c = starts; … c.at[j].add(y) … }     row i is of no use after step i

So what begins as such a row is made where the row lies, and is not copied first.
"""

from __future__ import annotations

from pliant.core.ir import Function, Value
from pliant.ops.loop import Loop


def spent_rows(fn: Function) -> dict[int, frozenset[int]]:
    """The parameters of loops' bodies, by the body's identity, whose content nobody needs after the step."""
    uses, found = fn.use_counts(), dict[int, frozenset[int]]()
    for node in fn.nodes:
        op = node.op
        if isinstance(op, Loop):
            rows = zip(op.ins, node.args, strict=True)
            mine = [n for n, (kind, a) in enumerate(rows, start=1) if kind == "each" and uses[a] == 1 and is_stack(a)]
            found[id(op.body)] = found.get(id(op.body), frozenset(mine)).intersection(mine)
    return {body: rows for body, rows in found.items() if rows}


def is_stack(value: Value) -> bool:
    """Whether a loop has stacked a value."""
    return isinstance(value.op, Loop) and value.op.outs[value.index] == "stack"
