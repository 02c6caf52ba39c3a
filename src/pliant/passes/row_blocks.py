"""Products of a loop's rows, summed over the steps, are those of blocks of rows.

    dot(ys, ys) over T rows        loop(T/B) { ys = loop(B) { …; stack y }; sum dot(ys, ys) }

A block of rows stays near the processor, and products of blocks take no longer than one product of all rows.
"""

from __future__ import annotations

from typing import Final

from pliant.core.ir import Function, Node, Value, Values
from pliant.ops.checkpoints import in_blocks
from pliant.ops.contract import Dot
from pliant.ops.loop import Loop
from pliant.transforms.replace import Env, replaced_in

FAR: Final = 6 << 20  # bytes of rows that do not stay near the processor
NEAR: Final = 1 << 20  # bytes of a block, at most
LEAST: Final = 32  # rows of a block; with fewer, adding up their products takes as long as making them
SMALLER: Final = 2  # how many times smaller than the rows a product must be


def as_blocks(fn: Function, node: Node) -> tuple[Function, Node] | None:
    """`fn` with a loop in blocks, where there are such products of its rows; and the loop over blocks."""
    loop = node.op
    assert isinstance(loop, Loop)
    size = _size(loop, node) if _has_products(fn, node) else 0
    if not size or loop.has_folds or "count" in loop.ins:
        return None
    made = list[Node]()

    def apply(blocks: Loop, xs: Values) -> Values:
        results = blocks.apply(*xs)
        made.append(results[0].node)
        return results

    def rule(other: Node, env: Env) -> Values | None:
        return in_blocks(loop, tuple([env[a] for a in node.args]), size, apply) if other is node else None

    return replaced_in(fn, rule, keeps=True), made[0]


def _size(loop: Loop, node: Node) -> int:
    """How many rows to make at a time; 0 if there is no such number."""
    stacks = [v.type for v, kind in zip(node.values, loop.outs, strict=True) if kind == "stack"]
    width = sum([t.bytes for t in stacks]) // loop.length
    most = NEAR // max(width, 1)
    if width * loop.length < FAR:
        return 0
    return max([n for n in range(LEAST, min(most, loop.length // SMALLER) + 1) if loop.length % n == 0], default=0)


def _has_products(fn: Function, node: Node) -> bool:
    """Whether there are products along the steps of a loop, much smaller than its rows."""
    after, rows = set[Value](node.values), max([v.type.size for v in node.values], default=0)
    for later in fn.nodes:
        if after.isdisjoint(later.args):
            continue
        after.update(later.values)
        op = later.op
        if isinstance(op, Dot) and not op.batch_axes[0] and 0 in op.contract[0] and 0 in op.contract[1]:
            free = op.free(*later.args)
            if all(free) and later.types[0].size * SMALLER <= rows:
                return True
    return False
