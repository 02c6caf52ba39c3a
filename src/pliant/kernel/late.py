"""Parts of arrays that must be read before they are written over.

What is cheap is computed where it is read. If that is after a write to the array, the array has to be kept:
all of it, for a part. So such a part is copied before, unless all that reads it can come first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from pliant.core.ir import Node, Value
from pliant.kernel.reach import under_reshapes
from pliant.ops.base import Elementwise, Movement
from pliant.ops.block import BlockWrite, ReadBlock
from pliant.ops.index import Gather, Scatter
from pliant.ops.reduce import Reduction
from pliant.ops.shape import Reshape
from pliant.ops.update import Window

WRITES = Scatter | Window | BlockWrite

MOST: Final = 200  # nodes of a function in which it is looked what comes after a write: so this takes linear time


def overwritten_part(
    value: Value,
    order: Sequence[Node],
    uses: Mapping[Value, Sequence[Node]],
    is_kept: Callable[[Node, Value], bool],
) -> Value | None:
    """The part of an array written where it lies that a value, read several times, shows, if some of what reads it
    may come after the write. is_kept: whether a reduction's value lies in memory."""
    part = value
    while isinstance(part.op, Movement) and part.args[0].type.size == part.type.size:
        part = part.args[0]
    if len(uses.get(value, ())) < 2 or not isinstance(part.op, Gather | ReadBlock):
        return None
    shown = _shapes(part.args[0], uses)
    writes = {u for whole in shown for u in uses.get(whole, ()) if isinstance(u.op, WRITES) and u.args[0] is whole}
    if not writes or (len(order) <= MOST and not _is_read_after(value, writes, order, uses, is_kept)):
        return None
    return part


def _shapes(value: Value, uses: Mapping[Value, Sequence[Node]]) -> list[Value]:
    """An array in all its shapes, which lie in one memory."""
    found = [under_reshapes(value)]
    for x in found:
        found += [u.values[0] for u in uses.get(x, ()) if isinstance(u.op, Reshape)]
    return found


def _is_read_after(
    value: Value,
    writes: set[Node],
    order: Sequence[Node],
    uses: Mapping[Value, Sequence[Node]],
    is_kept: Callable[[Node, Value], bool],
) -> bool:
    """Whether a step that depends on some writes may read a value, computed where it is read."""
    late = set(writes)
    for node in order:
        if any([a.node in late for a in node.args]):
            late.add(node)
    todo, seen = [value], set[Value]()
    while todo:
        x = todo.pop()
        users = uses.get(x, ())
        if not users or any([user in late and user not in writes for user in users]):
            return True
        for user in users:
            is_inside = isinstance(user.op, Elementwise | Movement)
            is_inside = is_inside or (isinstance(user.op, Reduction) and not is_kept(user, user.values[0]))
            todo.extend([y for y in user.values if is_inside and y not in seen])
            seen.update(user.values)
    return False
