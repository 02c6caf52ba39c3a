"""Sums into the same places of several arrays, as one loop over the places.

The gradient of `a[group] + b[group] * x` adds to two arrays at `group`. Each addition waits for the one before
it where places repeat; side by side, the chains of two arrays overlap, and the places are looked at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from pliant.core.ir import Function, Node, Value, Values, const, rebuild
from pliant.ops.compare import equal
from pliant.ops.index import ScatterAdd
from pliant.ops.select import select
from pliant.ops.shape import broadcast, iota, reshape, slice_axis
from pliant.transforms.replace import Env, replaced_in

MOST: Final = 4  # arrays in one loop


def together(fn: Function) -> Function:
    """`fn` with such sums merged."""
    groups = groups_of(fn.nodes)
    if not groups:
        return fn
    members = {node: group for group in groups for node in group}
    made: dict[Node, Value] = {}

    def rule(node: Node, env: Env) -> Value | None:
        if node not in members:
            return None
        if node not in made:
            group = members[node]
            for other in group:
                compute(other.args, env)
            made.update(zip(group, merged(group, env), strict=True))
        return made[node]

    return replaced_in(fn, rule, keeps=True)


def groups_of(order: Sequence[Node]) -> list[list[Node]]:
    """Sums that can be merged: into places by the same indices of the same array, none made from any of them."""
    found: dict[tuple[object, ...], list[Node]] = {}
    later = set[Value]()  # made from such a sum
    for node in order:
        is_late = any([a in later for a in node.args])
        if isinstance(node.op, ScatterAdd) and not is_late and not node.op.shared:
            found.setdefault((node.op, *node.args[:-1]), []).append(node)
        if is_late or isinstance(node.op, ScatterAdd):
            later.update(node.values)
    return [group[n : n + MOST] for group in found.values() for n in range(0, len(group), MOST) if len(group) > n + 1]


def compute(wanted: Values, env: Env) -> None:
    """What values become, although their nodes come later: the same that these will find."""
    todo = [*wanted]
    while todo:
        missing = [a for a in todo[-1].node.args if a not in env]
        if missing:
            todo += missing
            continue
        node = todo.pop().node
        if node.values[0] not in env:
            env.update(zip(node.values, rebuild(node, tuple([env[a] for a in node.args])), strict=True))


def merged(group: list[Node], env: Mapping[Value, Value]) -> list[Value]:
    """The sums of a group, parts of one sum into an array with an axis more."""
    (x, *indices), updates = [env[a] for a in group[0].args[:-1]], [env[node.args[-1]] for node in group]
    shape = (*updates[0].shape, len(group))
    inner = tuple(range(len(shape) - 1))
    place = broadcast(iota(len(group)), shape, (len(shape) - 1,))
    u = broadcast(updates[-1], shape, inner)
    for n, update in enumerate(updates[:-1]):
        is_here = equal(place, broadcast(const(n, "i64"), shape, ()))
        u = select(is_here, broadcast(update, shape, inner), u)
    wide = broadcast(x, (*x.shape, len(group)), tuple(range(x.type.rank)))
    (total,) = group[0].op.apply(wide, *indices, u)
    last = x.type.rank
    return [reshape(slice_axis(total, last, n, 1), x.shape) for n in range(len(group))]
