"""Derivatives of branches and loops in a loop are given what these read of wide carries, instead of the carries.

if c: dy = 2·p[k]·dx          p, a carry of a thousand elements, would be kept at each step

r = if c: p[k]
if c: dy = 2·r·dx             one element is kept
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import TypeAlias

from pliant.core.build import abstract
from pliant.core.ir import Function, Op, Value, Values, nodes, rebuild
from pliant.core.scope import scope
from pliant.ops.branch_part import Part, slots_of
from pliant.ops.cond import Cond
from pliant.ops.custom import pick
from pliant.ops.loop_form import LoopForm
from pliant.ops.region import cut, read_with
from pliant.ops.step_cut import TRIED, WIDE

Flags: TypeAlias = Sequence[bool]


def with_early_reads(dys: Values, dxs: Collection[Value], free: Collection[Value]) -> Values:
    """`dys`, linear in `dxs`, with such branches and loops. free: what need not be kept."""
    linear, made = set(dxs), dict[Value, Value]()
    for node in nodes(dys):
        if linear.isdisjoint(node.args):
            continue
        linear.update(node.values)
        args = tuple([made.get(a, a) for a in node.args])
        moved = [a in linear for a in node.args]
        late = [a.type.size >= WIDE and a not in linear and a not in free for a in node.args]
        ys = _reading_early(node.op, args, moved, late)
        if ys is None and args != node.args:
            ys = rebuild(node, args)
        made.update(zip(node.values, ys or (), strict=ys is not None))
    return tuple([made.get(y, y) for y in dys])


def _reading_early(op: Op, xs: Values, linear: Flags, late: Flags) -> Values | None:
    """The results of what is given what it reads of late operands; None if that is no smaller, or it is no such op."""
    while any(late):
        match op:
            case Cond():
                whole, size, made = _branch(op, xs, linear, late)
            case LoopForm() if "carry" not in pick(op.ins, late):
                whole, size, made = _loop(op, xs, op.spreading(linear, floats=True)[0], late)
            case _:
                return None
        if not any(whole):
            return made() if size < sum([x.type.bytes for x in pick(xs, late)]) else None
        late = [m and not w for m, w in zip(late, whole, strict=True)]
    return None


Made: TypeAlias = "tuple[list[bool], int, Callable[[], Values]]"
"""Which operands are read whole, how many bytes are read of other late ones, and the results if these are given."""


def _branch(op: Cond, xs: Values, linear: Flags, late: Flags) -> Made:
    def part(fn: Function) -> Part:
        dys, saved = _kept(fn, linear[1:], late[1:])
        return Part(replace(fn, results=dys), (), saved, (), dys)

    def made() -> Values:
        kept = Cond(*(p.ahead(slots) for p in parts)).of_read(*xs) if slots else ()
        return Cond(*(p.linear(slots) for p in parts)).of_read(xs[0], *kept, *xs[1:])

    parts = [part(fn) for fn in op.branches]
    slots = slots_of([p.saved for p in parts])
    whole = [any([p.fn.params[n] in p.saved for p in parts]) for n in range(len(xs) - 1)]
    return [False, *whole], sum([t.bytes for t in slots]), made


def _loop(op: LoopForm, xs: Values, linear: Flags, late: Flags) -> Made:
    index, *params = op.body.params
    dys, saved = _kept(op.body, (False, *linear), (False, *late))

    def made() -> Values:
        before, after = [not m for m in linear], [not m for m in late]
        body = abstract(saved, (index, *pick(params, before)), op.body.name)
        kept = replace(op, ins=pick(op.ins, before), outs=("stack",) * len(saved), body=body).apply(*pick(xs, before))
        body = abstract(dys, (index, *saved, *pick(params, after)), op.body.name)
        ins = (*("each",) * len(saved), *pick(op.ins, after))
        return replace(op, ins=ins, body=body).apply(*kept, *pick(xs, after))

    return [p in saved for p in params], op.length * sum([v.type.bytes for v in saved]), made


def _kept(fn: Function, linear: Flags, late: Flags) -> tuple[Values, Values]:
    """The results, linear in some parameters, and what they read that is made of others, the late ones."""
    dxs = pick(fn.params, linear)
    free = {p for p, is_late in zip(fn.params, late, strict=True) if not is_late}.difference(dxs)
    with scope():
        dys = with_early_reads(fn.results, dxs, free)
        return dys, cut(read_with(dys, dxs), free)


def read_whole(reads: Sequence[Value], fixed: Sequence[Value]) -> list[Value]:
    """Those of some arrays, the same at each step, that are better read again than what `reads` need of them is kept:
    few elements at a step. What holds the loop would have to keep the others whole, if they change there."""
    found = list(fixed)
    for p in [p for p in fixed if p.type.size >= WIDE][:TRIED]:
        least, less = cut(reads, found), [q for q in found if q is not p]
        if sum([v.type.size for v in cut(reads, less) if v not in least]) < WIDE:
            found = less
    return found
