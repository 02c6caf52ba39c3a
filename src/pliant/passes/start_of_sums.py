"""What a way back over a tape adds to zeros, and is then added to an array, it adds to the array.

    z = rewind(tape, zeros); y = acc + z        y = rewind(tape, acc)

What a loop of unknown length reads of an array then has a cotangent that is not added up densely. A tape is read once,
so this is no rule: it has to be known that nothing else reads z.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from pliant.core.inner import functions_of
from pliant.core.ir import Function, Node, Value, Values, nodes
from pliant.core.scope import scope
from pliant.ops.accumulation import is_only_added_to
from pliant.ops.elementwise import Add
from pliant.ops.select import is_zero
from pliant.ops.tape import Rewind
from pliant.transforms.replace import Env, changed_inside, copied, replaced


def start_of_sums(fn: Function) -> Function:
    """`fn` with such ways back, in the functions that its primitives hold too."""
    order = fn.nodes
    if any([functions_of(node.op) for node in order]):
        fn = replaced(fn, lambda node, args: changed_inside(node, args, start_of_sums))
    while found := next(_sums(fn), None):
        fn = _started(fn, *found)
    return fn


def _sums(fn: Function) -> Iterator[tuple[Node, Value, Value, Value]]:
    """Sums of an array and of what ways back, one after the other, add to zeros, which nothing else reads; and what the
    first of these leaves."""
    uses = fn.use_counts()
    for node in fn.nodes:
        if isinstance(node.op, Add) and any([isinstance(a.op, Rewind) for a in node.args]):
            for acc, total in (node.args, node.args[::-1]):
                first = _first(total, uses)
                if first and acc.type == total.type and first.node not in nodes([acc]):
                    yield node, acc, total, first


def _first(total: Value, uses: Counter[Value]) -> Value | None:
    """What the way back leaves that adds to zeros, of several that add to what the one before has left."""
    while isinstance(total.op, Rewind) and uses[total] == 1:
        start = total.args[_start(total)]
        if not is_only_added_to(total.op.back, total.op.carries[total.index][0], total.index):
            return None
        if is_zero(start):
            return total
        total = start
    return None


def _start(total: Value) -> int:
    """Which operand of a way back one of its results starts from."""
    op = total.op
    assert isinstance(op, Rewind)
    return op.carries[total.index][0] - op.saved + 1


def _started(fn: Function, add: Node, acc: Value, total: Value, first: Value) -> Function:
    """`fn` with the first of the ways back begun with the array."""
    op, start = first.op, _start(first)

    def rule(node: Node, env: Env) -> Values | None:
        if node is first.node:
            return op.apply(*(env[acc if n == start else a] for n, a in enumerate(node.args)))
        return (env[total],) if node is add else None

    with scope():
        return Function(fn.name, fn.params, copied(fn.results, {p: p for p in fn.params}, (acc,), rule))
