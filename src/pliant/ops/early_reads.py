"""Derivatives of branches in a loop are given what the branches read of wide carries, instead of these.

    if c: dy = 2·p[k]·dx          p, a carry of a thousand elements, would be kept at each step

    r = if c: p[k]
    if c: dy = 2·r·dx             one element is kept
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from pliant.core.ir import Function, Value, Values, nodes, rebuild
from pliant.core.scope import scope
from pliant.ops.branch_part import Part, slots_of
from pliant.ops.cond import Cond
from pliant.ops.custom import pick
from pliant.ops.region import cut, read_with
from pliant.ops.step_cut import WIDE


def with_early_reads(dys: Values, dxs: Collection[Value], free: Collection[Value]) -> Values:
    """`dys`, linear in `dxs`, with such branches. free: what need not be kept."""
    linear, made = set(dxs), dict[Value, Value]()
    for node in nodes(dys):
        if linear.isdisjoint(node.args):
            continue
        linear.update(node.values)
        args = tuple([made.get(a, a) for a in node.args])
        ys = None
        if isinstance(node.op, Cond):
            moved = [a in linear for a in node.args]
            late = [a.type.size >= WIDE and a not in linear and a not in free for a in node.args]
            ys = _reading_early(node.op, args, moved[1:], late[1:])
        if ys is None and args != node.args:
            ys = rebuild(node, args)
        made.update(zip(node.values, ys or (), strict=ys is not None))
    return tuple([made.get(y, y) for y in dys])


def _reading_early(op: Cond, xs: Values, linear: Sequence[bool], late: Sequence[bool]) -> Values | None:
    """The results of branches that are given what they read of late operands; None if that is no smaller."""
    while any(late):
        parts = [_part(fn, linear, late) for fn in op.branches]
        whole = [any([part.fn.params[n] in part.saved for part in parts]) for n in range(len(late))]
        if not any(whole):
            slots = slots_of([part.saved for part in parts])
            if sum([t.bytes for t in slots]) >= sum([x.type.bytes for x in pick(xs[1:], late)]):
                return None
            kept = Cond(*(part.ahead(slots) for part in parts)).of_read(*xs) if slots else ()
            return Cond(*(part.linear(slots) for part in parts)).of_read(xs[0], *kept, *xs[1:])
        late = [m and not w for m, w in zip(late, whole, strict=True)]
    return None


def _part(fn: Function, linear: Sequence[bool], late: Sequence[bool]) -> Part:
    """A branch, which is linear in some of its operands, with what it reads that is made of others, the late ones."""
    dxs = pick(fn.params, linear)
    free = {p for p, is_late in zip(fn.params, late, strict=True) if not is_late}.difference(dxs)
    with scope():
        dys = with_early_reads(fn.results, dxs, free)
        return Part(replace(fn, results=dys), (), cut(read_with(dys, dxs), free), (), dys)
