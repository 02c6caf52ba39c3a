"""What a way back over a tape adds to zeros, and is then added to an array, it adds to the array.

    z = rewind(tape, zeros); y = acc + z        y = rewind(tape, acc)

What a loop of unknown length reads of an array then has a cotangent that is not added up densely. A tape is read once,
so this is no rule: it has to be known that nothing else reads z.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from pliant.core.ir import Function, Node, Value, Values, functions_of, nodes
from pliant.core.scope import scope
from pliant.ops.accumulation import is_only_added_to
from pliant.ops.elementwise import Add
from pliant.ops.select import is_zero
from pliant.ops.tape import Rewind
from pliant.transforms.replace import Env, changed_inside, copied, replaced


def start_of_sums(fn: Function) -> Function:
    """`fn` with such ways back, in the functions that its primitives hold too."""
    order = nodes(fn.results)
    if any([functions_of(node.op) for node in order]):
        fn = replaced(fn, lambda node, args: changed_inside(node, args, start_of_sums))
    while pair := next(_sums(fn), None):
        fn = _started(fn, *pair)
    return fn


def _sums(fn: Function) -> Iterator[tuple[Node, Value, Value]]:
    """Sums of an array and of what a way back adds to zeros, which nothing else reads."""
    order = nodes(fn.results)
    uses = Counter([*fn.results, *(a for node in order for a in node.args)])
    for node in order:
        if isinstance(node.op, Add) and any([isinstance(a.op, Rewind) for a in node.args]):
            for acc, total in (node.args, node.args[::-1]):
                is_one = isinstance(total.op, Rewind) and uses[total] == 1 and acc.type == total.type
                if is_one and _adds_to_zeros(total) and total.node not in nodes([acc]):
                    yield node, acc, total


def _adds_to_zeros(total: Value) -> bool:
    op = total.op
    assert isinstance(op, Rewind)
    place = op.carries[total.index][0]
    return is_zero(total.args[place - op.saved + 1]) and is_only_added_to(op.back, place, total.index)


def _started(fn: Function, add: Node, acc: Value, total: Value) -> Function:
    """`fn` with one of the ways back begun with the array."""
    op = total.op
    assert isinstance(op, Rewind)
    start = op.carries[total.index][0] - op.saved + 1

    def rule(node: Node, env: Env) -> Values | None:
        if node is total.node:
            return op.apply(*(env[acc if n == start else a] for n, a in enumerate(node.args)))
        return (env[total],) if node is add else None

    with scope():
        return Function(fn.name, fn.params, copied(fn.results, {p: p for p in fn.params}, (acc,), rule))
