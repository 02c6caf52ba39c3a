"""How far arrays are looked at: of x, in select(i < n, x, 0), only the elements below n.

e = exp(z)                         who makes an array with limits known only at run time makes no more of it than
s = sum(select(i < n, e, 0))       anybody looks at, and leaves the rest of its memory as it is
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from pliant.core.ir import Const, Node, Value
from pliant.kernel.ir import Fill, Load, Nest, Program, Root, Run, Step, Var
from pliant.kernel.lengths import Lengths, Limits, is_number
from pliant.kernel.schedule import scalars
from pliant.ops.base import Elementwise
from pliant.ops.bits import BitwiseAnd
from pliant.ops.block import BlockWrite
from pliant.ops.index import Scatter
from pliant.ops.loop import Loop
from pliant.ops.reduce import Reduction
from pliant.ops.scan import Sequential
from pliant.ops.select import Select
from pliant.ops.shape import Broadcast, Permute, Reshape

Reach: TypeAlias = dict[int, Value]
"""Axis → where nobody looks at the elements from there on."""


def wanted(order: Sequence[Node], results: Sequence[Value], limits: Limits) -> dict[Value, Reach]:
    """How far the values of a program are looked at; those that are looked at all over are left out.

    order: of the nodes, operands first."""
    if not any([_ends_early(node, limits) for node in order]):
        return {}
    found: dict[Value, Reach] = dict.fromkeys(results, Reach())
    for node in reversed(order):
        for place, a in enumerate(node.args):
            if a.shape and not isinstance(a.op, Const):
                reach = _reach(node, place, found, limits)
                before = found.get(a)
                found[a] = reach if before is None else {k: n for k, n in reach.items() if before.get(k) is n}
    return {value: reach for value, reach in found.items() if reach}


def is_made_as_far(value: Value, found: dict[Value, Reach]) -> bool:
    """Whether a value is rows of a loop's steps, of which nobody looks at others than those that are made."""
    op = value.op
    return isinstance(op, Loop) and "count" in op.ins and found[value].get(0) is value.args[op.ins.index("count")]


def _ends_early(node: Node, limits: Limits) -> bool:
    """Whether a node looks at an operand only up to a limit."""
    is_masked = isinstance(node.op, Select | BitwiseAnd) and bool(limits.masks.of(node.args[0]))
    is_counted = isinstance(node.op, Loop) and "count" in node.op.ins and "each" in node.op.ins
    return is_masked or is_counted or (isinstance(node.op, BlockWrite) and not node.op.shared)


def _reach(node: Node, place: int, found: dict[Value, Reach], limits: Limits) -> Reach:
    """How far a node looks at one of its operands."""
    op, a, made = node.op, node.args[place], node.values[0]
    of_result = found.get(made, Reach())
    match op:
        case Elementwise() if a.shape != made.shape or hasattr(op, "failure"):
            return {}
        case Select() if place == 1:
            return of_result | limits.masks.of(node.args[0])
        case BitwiseAnd():  # False wherever the other one is
            return of_result | limits.masks.of(node.args[1 - place])
        case Elementwise():
            return of_result
        case Broadcast(axes=axes):
            kept = [(k, axis) for k, axis in enumerate(axes) if a.shape[k] == made.shape[axis]]
            return {k: of_result[axis] for k, axis in kept if axis in of_result}
        case Permute(order):
            return {order[axis]: n for axis, n in of_result.items()}
        case Reshape():
            old, new = ([k for k, n in enumerate(v.shape) if n != 1] for v in (a, made))
            is_same = [a.shape[k] for k in old] == [made.shape[k] for k in new]
            return {old[new.index(k)]: n for k, n in of_result.items() if k in new} if is_same else {}
        case Sequential():  # goes on from what comes before
            return {k: n for k, n in of_result.items() if k != op.axis or not op.reverse}
        case Reduction():
            kept = [k for k in range(len(a.shape)) if k not in op.axes]
            return {kept[k]: n for k, n in of_result.items()}
        case Loop() if "count" in op.ins and op.ins[place] == "each":
            return {0: node.args[op.ins.index("count")]}
        case Scatter() if place:
            ends, rest = limits.ends.of(node.args[-1])
            used = ends if ends and rest == op.idle else {}
            return used if place == len(node.args) - 1 else _of_index(node, node.args[0].shape[op.shared], used, limits)
        case BlockWrite() if not place and not op.shared:
            return of_result
        case BlockWrite() if place == 1 and not op.shared:
            lengths = enumerate(op.lengths(node.args[2:]))
            return {axis: n for axis, n in lengths if not is_number(n, a.shape[axis])}
        case _:
            return {}


def _of_index(node: Node, extent: int, used: Reach, limits: Limits) -> Reach:
    """How far a scatter, which uses so much of an index, looks at it: it checks what may be out of range."""
    ends, rest = limits.ends.of(node.args[1])
    is_checked = len(node.args) > 3 or rest not in range(extent)
    return {} if is_checked else {axis: n for axis, n in used.items() if ends.get(axis) is n}


def leave_unread(program: Program) -> None:
    """Let nests not fill the rests of arrays of which other nests read no more than they make."""
    kept = {*program.results}
    for nest in [step for step in program.steps if isinstance(step, Nest) and step.limits]:
        for root in nest.roots:
            if root.rest is not None and root.buffer and not root.fold and root.buffer not in kept:
                readers = [step for step in program.steps if root.buffer in step.reads and step is not nest]
                if all([reads_as_far(step, root, nest) for step in readers]):
                    root.rest = None


def _fills_as_far(reader: Fill, place: int, value: Value, lengths: Lengths) -> bool:
    """Whether a step computes an operand from a value in memory element by element, and looks at it only as far as
    the lengths say; or computes it from others."""
    todo, seen = [reader.node.args[place]], set[Value]()
    while todo:
        a = todo.pop()
        if a not in seen and a not in reader.leaves:
            todo.extend(a.args)
        seen.add(a)
    if value not in seen:
        return True
    between = [a for a in seen - reader.leaves if a.shape]
    reach = _reach(reader.node, place, {}, Limits())
    is_along = all([isinstance(a.op, Elementwise) and a.shape == value.shape for a in between])
    return is_along and tuple([reach.get(axis) for axis in range(len(value.shape))]) == lengths


def reads_as_far(reader: Step, root: Root, maker: Nest) -> bool:
    """Whether a step reads an array only as far as a nest makes it."""
    if isinstance(reader, Run):
        taken = [_reach(reader.node, n, {}, Limits()) for n, b in enumerate(reader.args) if b is root.buffer]
        return all([tuple([reach.get(axis) for axis in range(len(maker.vars))]) == maker.lengths for reach in taken])
    if isinstance(reader, Fill):
        return all([_fills_as_far(reader, n, root.value, maker.lengths) for n in range(len(reader.node.args))])
    if not isinstance(reader, Nest) or any([other.base is root.buffer for other in reader.roots]):
        return False
    ends = {root.offset.factor(v): n for v, n in zip(maker.vars, maker.lengths, strict=True) if n}
    lengths = {v: n for v, n in zip(reader.vars, reader.lengths, strict=False) if n}
    for s in scalars(reader.body):
        if isinstance(s, Load) and s.buffer is root.buffer:
            loops = {factor: lengths.get(a) for a, factor in s.offset.terms if isinstance(a, Var)}
            is_plain = s.offset.start == 0 and len(loops) == len(s.offset.terms)
            if not is_plain or any([loops.get(factor) is not n for factor, n in ends.items()]):
                return False
    return True
