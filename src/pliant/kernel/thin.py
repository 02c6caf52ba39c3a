"""Products that are better loops than BLAS calls: of a vector with a matrix that need never be in memory.

`exp(-(x[:, None] - y)**2) @ b` reads n + m numbers and makes n. As a sum over products it is one nest, its
matrix computed row by row; as a BLAS call it would write and read n·m numbers. An outer product is a
product of elements too: whoever reads it computes it.
"""

from __future__ import annotations

import math
from typing import Final

from pliant.core.ir import Function, Node, Users, Value
from pliant.ops.base import Elementwise, Movement
from pliant.ops.contract import Dot
from pliant.ops.elementwise import mul
from pliant.ops.reduce import Reduction, reduce_sum
from pliant.ops.shape import Permute, broadcast, permute, reshape
from pliant.transforms.replace import replaced

LARGE: Final = 1 << 14  # elements of a matrix that is worth not being made
WORTH: Final = 8  # times as many elements as what it is made from
SHORT: Final = 64  # terms of a sum that is computed again wherever it is read


def thinned(fn: Function) -> Function:
    """`fn` with such products as sums of products of elements."""
    order = fn.nodes
    if not any([isinstance(node.op, Dot) for node in order]):
        return fn
    users = fn.users()
    chosen = {node for node in order if is_outer(node) or is_thin(node, users)}
    if not chosen:
        return fn
    return replaced(fn, lambda node, args: as_sum(node, *args) if node in chosen else None)


def is_outer(node: Node) -> bool:
    """Whether a node is a product without a sum."""
    return isinstance(node.op, Dot) and node.types[0].is_float and node.op.sizes(*node.args)[3] == 1


def is_thin(node: Node, users: Users) -> bool:
    """Whether a node is a product of a vector with a large matrix that nobody wants in memory."""
    if not isinstance(node.op, Dot) or not node.types[0].is_float:
        return False
    matrix = matrix_of(node.op, *node.args)
    base = unpermuted(matrix)[0] if matrix else None
    if base is None or base.type.size < LARGE or not isinstance(base.op, Elementwise):
        return False
    return all_by_element(base, users) and read_for(base) * WORTH <= base.type.size


def all_by_element(value: Value, users: Users) -> bool:
    """Whether all that reads a value can take its elements as they are made."""
    for user in users[value]:
        if user is None:
            return False
        if isinstance(user.op, Permute):
            if not all_by_element(user.values[0], users):
                return False
        elif isinstance(user.op, Dot):
            if matrix_of(user.op, *user.args) is not value:
                return False
        elif not isinstance(user.op, Elementwise | Reduction):
            return False
    return True


def unpermuted(value: Value) -> tuple[Value, tuple[int, ...]]:
    """What a value is a permutation of, and which of its axes each axis of the value is."""
    axes = tuple(range(value.type.rank))
    while isinstance(value.op, Permute):
        axes = tuple([value.op.order[a] for a in axes])
        (value,) = value.args
    return value, axes


def matrix_of(op: Dot, x: Value, y: Value) -> Value | None:
    """The operand that is a matrix, if the other one is a vector."""
    _, m, n, k = op.sizes(x, y)
    if k > 1 and n == 1 < m:
        return x
    return y if k > 1 and m == 1 < n else None


def read_for(value: Value) -> int:
    """How many elements are read from memory to compute a value once."""
    total, todo, seen = 0, [value], set[Value]()
    while todo:
        value = todo.pop()
        if value in seen:
            continue
        seen.add(value)
        op = value.op
        is_short = isinstance(op, Reduction) and value.args[0].type.size <= SHORT * max(value.type.size, 1)
        if isinstance(op, Elementwise | Movement) or is_short:
            todo.extend(value.args)
        else:
            total += value.type.size
    return total


def as_sum(node: Node, x: Value, y: Value) -> Value:
    """The same product as a sum over a product of elements, in the order of the matrix's own axes."""
    op = node.op
    assert isinstance(op, Dot)
    free_x, free_y = op.free(x, y)
    if is_outer(node):
        return _outer(op, x, y, node)
    is_left = matrix_of(op, x, y) is x
    matrix, vector = (x, y) if is_left else (y, x)
    matrix, at_axis = unpermuted(matrix)
    contract, batch = ([*pair] if is_left else [*reversed(pair)] for pair in (op.contract, op.batch_axes))
    contract[0], batch[0] = (tuple([at_axis[a] for a in axes]) for axes in (contract[0], batch[0]))
    own = [at_axis[a] for a in (free_x if is_left else free_y)]
    other = free_y if is_left else free_x
    places = dict(zip((*batch[1], *contract[1]), (*batch[0], *contract[0]), strict=True))
    axes = sorted(places, key=lambda axis: places[axis])
    narrow = reshape(permute(vector, (*axes, *other)), [vector.shape[a] for a in axes])
    wide = broadcast(narrow, matrix.shape, tuple([places[a] for a in axes]))
    total = reduce_sum(mul(matrix, wide), tuple(sorted(contract[0])))
    left = [a for a in range(matrix.type.rank) if a not in contract[0]]
    order = [left.index(a) for a in (*batch[0], *own)]
    return reshape(permute(total, order), node.types[0].shape)


def _outer(op: Dot, x: Value, y: Value, node: Node) -> Value:
    """A product without a sum: each element of one with each of the other."""
    free_x, free_y = op.free(x, y)
    batch = [x.shape[a] for a in op.batch_axes[0]]
    full = (*batch, math.prod([x.shape[a] for a in free_x]), math.prod([y.shape[a] for a in free_y]))
    b = len(batch)
    left = reshape(permute(x, (*op.batch_axes[0], *free_x, *op.contract[0])), (*batch, full[b]))
    right = reshape(permute(y, (*op.batch_axes[1], *op.contract[1], *free_y)), (*batch, full[b + 1]))
    both = mul(broadcast(left, full, (*range(b), b)), broadcast(right, full, (*range(b), b + 1)))
    return reshape(both, node.types[0].shape)
