"""Products that are added to an array where it lies: `G += A @ B` is one BLAS call.

Only for arrays that the program may write over: elsewhere the sum is a nest, whose rounding stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

from pliant.core.ir import Function, Node, Value
from pliant.kernel.product import is_product
from pliant.ops.base import Movement
from pliant.ops.contract import Dot
from pliant.ops.elementwise import Add
from pliant.ops.shape import Permute


@final
@dataclass(frozen=True)
class Sum:
    """`start` plus the product of x and y."""

    start: Value
    op: Dot
    x: Value
    y: Value
    passed: tuple[Node, ...]  # nodes of the product itself, whose values nobody else reads


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
        return None  # BLAS must not write what it reads
    if dot is product:
        return Sum(start, op, x, y, (dot.node,))
    (first, second), rank = op.free(x, y), dot.type.rank
    is_exchanged = not any(op.batch_axes) and product.op == Permute((*range(len(first), rank), *range(len(first))))
    if not is_exchanged or len(first) + len(second) != rank:
        return None
    exchanged = Dot((op.contract[1], op.contract[0]), op.batch_axes)
    return Sum(start, exchanged, y, x, (dot.node, product.node))


def lying(value: Value) -> Value:
    """The value that movements show a part of."""
    while isinstance(value.op, Movement):
        (value,) = value.args
    return value
