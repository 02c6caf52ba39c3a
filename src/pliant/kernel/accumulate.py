"""What is added to an array where it lies: `G += A @ B` is one call, and an array put together
from parts, as a packed gradient is, is added part by part.

Only for arrays that the program may write over: elsewhere the sum is a nest, whose rounding stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import final

from pliant.core.data import frozen
from pliant.core.ir import Function, Node, Value
from pliant.core.origin import at
from pliant.core.scope import scope
from pliant.kernel.product import is_product, lying
from pliant.ops.contract import Dot
from pliant.ops.elementwise import Add
from pliant.ops.shape import Concatenate, Permute
from pliant.ops.update import add_slice


@final
@frozen
class Sum:
    """`start` plus the product of x and y."""

    start: Value
    op: Dot
    x: Value
    y: Value
    passed: tuple[Node, ...]  # nodes of the product itself, whose values nobody else reads


def by_parts(fn: Function, owned: Sequence[tuple[int, int]]) -> Function:
    """`fn` with concatenated arrays, that are only added to owned parameters, added piece by piece."""
    found = {r: whole for p, r in owned if (whole := _concatenated(fn.results[r], fn.params[p]))}
    if not found:
        return fn
    counts = fn.use_counts()
    homes = {r: fn.params[p] for p, r in owned}
    results = list(fn.results)
    with scope():
        for r, whole in found.items():
            if counts[whole] == 1:
                with at(fn.results[r].origin):
                    results[r] = _added(homes[r], whole)
        return Function(fn.name, fn.params, tuple(results))


def _concatenated(total: Value, start: Value) -> Value | None:
    """The concatenated array that is added to another."""
    if not isinstance(total.op, Add) or start not in total.node.args:
        return None
    return next((a for a in total.node.args if isinstance(a.op, Concatenate)), None)


def _added(total: Value, whole: Value) -> Value:
    assert isinstance(whole.op, Concatenate)
    axis, start = whole.op.axis, 0
    for part in whole.node.args:
        total = add_slice(total, part, [start if a == axis else 0 for a in range(whole.type.rank)])
        start += part.shape[axis]
    return total


def sums_of(fn: Function, owned: Sequence[tuple[int, int]], uses: Mapping[Value, Sequence[Node]]) -> dict[Node, Sum]:
    """The sums that are added up in an owned parameter, one product after the other."""
    found: dict[Node, Sum] = {}
    for p, r in owned:
        chain, value = dict[Node, Sum](), fn.results[r]
        while value is not fn.params[p]:
            part = _sum(value, uses) if value is fn.results[r] or len(uses.get(value, ())) == 1 else None
            if part is None:
                break
            chain[value.node] = part
            value = part.start
        else:
            found.update(chain)
    return found


def _sum(value: Value, uses: Mapping[Value, Sequence[Node]]) -> Sum | None:
    if not isinstance(value.op, Add):
        return None
    for start, product in (value.node.args, value.node.args[::-1]):
        if start.shape == value.shape and len(uses[product]) == 1:
            found = _product(start, product, uses)
            if found:
                return found
    return None


def _product(start: Value, product: Value, uses: Mapping[Value, Sequence[Node]]) -> Sum | None:
    """A sum with a contraction, or with a transposed one, which is that of its operands exchanged."""
    dot = product
    if isinstance(product.op, Permute):
        (dot,) = product.node.args
    op = dot.op
    if not isinstance(op, Dot) or len(uses[dot]) != 1 or not is_product(dot.node):
        return None
    x, y = dot.node.args
    if start in (lying(x), lying(y)):
        return None  # it must not write what it reads
    if dot is product:
        return Sum(start, op, x, y, (dot.node,))
    (first, second), rank = op.free(x, y), dot.type.rank
    is_exchanged = not any(op.batch_axes) and product.op == Permute((*range(len(first), rank), *range(len(first))))
    if not is_exchanged or len(first) + len(second) != rank:
        return None
    exchanged = Dot((op.contract[1], op.contract[0]), op.batch_axes)
    return Sum(start, exchanged, y, x, (dot.node, product.node))
