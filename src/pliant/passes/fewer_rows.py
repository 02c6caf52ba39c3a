"""Rows are taken before they are computed, if there are fewer of them then.

    y = (a @ x + b)[rows]           y = a[rows] @ x + b

What makes each row from the rows of its operands is done with those rows that are wanted. Where that ends, at a
parameter or at something that others need too, the rows are taken. Only for products and reductions: what is
elementwise is computed where it is read anyway.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, TypeAlias, final

from pliant.core.data import frozen
from pliant.core.inner import functions_of, map_functions
from pliant.core.ir import Function, Node, Op, Users, Value
from pliant.core.origin import at
from pliant.ops.base import Elementwise
from pliant.ops.contract import Dot
from pliant.ops.index import Gather
from pliant.ops.reduce import Reduction
from pliant.ops.shape import Broadcast, Concatenate, Permute, Reshape, Slice, permute
from pliant.transforms.replace import Env, replaced, replaced_in

FEWER: Final = 2  # times as many rows as are taken: from here on it pays

Axes: TypeAlias = "tuple[int | None, ...]"


def fewer_rows(fn: Function) -> Function:
    """`fn` with rows taken early, also in the functions that it holds."""
    if any([functions_of(node.op) for node in fn.nodes]):
        inner = {n: op for n in fn.nodes if (op := map_functions(n.op, fewer_rows)) is not n.op}
        fn = replaced(fn, lambda n, args: inner[n].apply(*args) if n in inner else None) if inner else fn
    order = fn.nodes
    if not any([takes_fewer(node) for node in order]):
        return fn
    users = fn.users()
    found = {node: plan for node in order if takes_fewer(node) and (plan := plan_of(node, order, users))}
    return replaced_in(fn, lambda node, env: found[node].made(env) if node in found else None) if found else fn


def takes_fewer(node: Node) -> bool:
    """Whether a node takes rows of an array, by one list of numbers, and not most of them."""
    if not isinstance(node.op, Gather) or node.op.shared or len(node.args) != 2:
        return False
    x, rows = node.args
    return rows.type.rank == 1 and 0 < FEWER * rows.shape[0] <= x.shape[0]


def plan_of(taking: Node, order: Sequence[Node], users: Users) -> Plan | None:
    """What is computed of fewer rows, if that saves anything."""
    wanted: dict[Value, set[int]] = {taking.args[0]: {0}}
    moved: dict[Node, int] = {}
    for node in reversed(order[: order.index(taking)]):
        value = node.values[0]
        axes = wanted.get(value, ())
        if len(axes) != 1 or not all([user is taking or user in moved for user in users[value]]):
            continue
        (axis,) = axes
        sources = sources_of(node, axis)
        if sources is None:
            continue
        moved[node] = axis
        for a, source in zip(node.args, sources, strict=True):
            if source is not None:
                wanted.setdefault(a, set()).add(source)
    is_worth_it = any([isinstance(node.op, Dot | Reduction) for node in moved])
    has_rows = any([value.node not in moved for value in wanted])
    return Plan(taking, tuple(reversed(moved.items()))) if is_worth_it and has_rows else None


@final
@frozen
class Plan:
    """Nodes to be made with fewer rows, in their order, and the axis of each that the rows are along."""

    taking: Node
    moved: tuple[tuple[Node, int], ...]

    def made(self, env: Env) -> Value:
        """The rows that are taken; `env`: what values have become."""
        rows, new = env[self.taking.args[1]], dict[Value, Value]()
        for node, axis in self.moved:
            sources = sources_of(node, axis)
            assert sources is not None
            args = [
                env[a] if source is None else new[a] if a in new else self.taken(env[a], source, rows)
                for a, source in zip(node.args, sources, strict=True)
            ]
            with at(node.origin):
                (new[node.values[0]],) = with_rows(node, axis, rows.shape[0]).apply(*args)
        return new[self.taking.args[0]]

    def taken(self, x: Value, axis: int, rows: Value) -> Value:
        """Some rows of an operand that is needed whole, or is there."""
        order = (axis, *[a for a in range(x.type.rank) if a != axis])
        (made,) = self.taking.op.apply(permute(x, order), rows)
        return permute(made, [order.index(a) for a in range(x.type.rank)])


def sources_of(node: Node, axis: int) -> Axes | None:
    """For each operand, along which axis lie the rows that those along an axis of the result are made of; None if
    each row needs all of it. None for all, if a row needs other rows."""
    op, n = node.op, node.types[0].shape[axis]
    match op:
        case Elementwise():
            return tuple([axis if a.shape else None for a in node.args])
        case Permute(order):
            return (order[axis],)
        case Broadcast(_, axes):
            place = axes.index(axis) if axis in axes else None
            return (place if place is not None and node.args[0].shape[place] == n else None,)
        case Slice(start, step, length):
            is_whole = (start[axis], step[axis], length[axis]) == (0, 1, node.args[0].shape[axis])
            return (axis,) if is_whole else None
        case Reshape(shape):
            before, given = math.prod(shape[:axis]), node.args[0].shape
            same = [a for a, m in enumerate(given) if m == n and math.prod(given[:a]) == before]
            return (same[-1],) if same else None
        case Concatenate(joined):
            return (axis,) * len(node.args) if axis != joined else None
        case Reduction():
            return ([a for a in range(node.args[0].type.rank) if a not in op.axes][axis],)
        case Dot():
            return _sources_of_product(op, node, axis)
        case _:
            return None


def _sources_of_product(op: Dot, node: Node, axis: int) -> Axes:
    stack, (free_x, free_y) = len(op.batch_axes[0]), op.free(*node.args)
    if axis < stack:
        return op.batch_axes[0][axis], op.batch_axes[1][axis]
    axis -= stack
    return (free_x[axis], None) if axis < len(free_x) else (None, free_y[axis - len(free_x)])


def with_rows(node: Node, axis: int, count: int) -> Op:
    """The operation that makes `count` rows along an axis."""
    match node.op:
        case Broadcast(shape, axes):
            return Broadcast(_with_extent(shape, axis, count), axes)
        case Reshape(shape):
            return Reshape(_with_extent(shape, axis, count))
        case Slice(start, step, length):
            return Slice(start, step, _with_extent(length, axis, count))
        case _:
            return node.op


def _with_extent(shape: tuple[int, ...], axis: int, extent: int) -> tuple[int, ...]:
    return (*shape[:axis], extent, *shape[axis + 1 :])
