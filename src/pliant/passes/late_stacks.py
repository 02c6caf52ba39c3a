"""A stack of what steps find of a carry is that of what they leave of it, one row late.

    p = loop { carry p …; y = f(p); last y; stack p; stack y }        p = concatenate(start, y[:-1])

Derivatives keep both (`step_cut`). The one is read as rows of the other (`rows_inside`), and takes no memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias, cast

from pliant.core.inner import functions_of, map_functions
from pliant.core.ir import Function, Node, Value, Values
from pliant.ops.custom import pick
from pliant.ops.loop import Loop
from pliant.ops.loop_form import In, Out
from pliant.ops.shape import concatenate, reshape, slice_axis
from pliant.ops.step_cut import WIDE
from pliant.passes.row_wise import taken
from pliant.transforms.replace import Env, replaced_in

Kinds: TypeAlias = "dict[Value, set[tuple[In, Value | None] | None]]"


def late_stacks(fn: Function) -> Function:
    """`fn` without such stacks, where loops read them row by row; also in the functions that it holds."""
    if not any([functions_of(node.op) for node in fn.nodes]):
        return fn
    fn = _late_inside(fn)
    order = fn.nodes
    kinds = _kinds(fn, order)
    found = {node: late for node in order if isinstance(node.op, Loop) and (late := _late(node, node.op, kinds))}

    def rule(node: Node, env: Env) -> Values | None:
        op = map_functions(node.op, late_stacks)
        if node in found:
            assert isinstance(op, Loop)
            return _without(found[node], op, tuple([env[a] for a in node.args]))
        return None if op is node.op else op.apply(*(env[a] for a in node.args))

    return replaced_in(fn, rule)


def _kinds(fn: Function, order: Sequence[Node]) -> Kinds:
    """As what kinds of operands loops read each value, and how many steps they run; None stands for other readers."""
    found: Kinds = {r: {None} for r in fn.results}
    for node in order:
        ins = node.op.ins if isinstance(node.op, Loop) else (None,) * len(node.args)
        count = _count(node)
        for a, kind in zip(node.args, ins, strict=True):
            found.setdefault(a, set()).add(kind and (kind, count))
    return found


def _count(node: Node) -> Value | None:
    """How many steps a loop runs; None if all, or if it is no loop."""
    op = node.op
    return node.args[op.ins.index("count")] if isinstance(op, Loop) and "count" in op.ins else None


def _late_inside(fn: Function) -> Function:
    """`fn` without stacks of such stacks of loops in the steps of a loop."""
    order = fn.nodes
    kinds = _kinds(fn, order)
    found = {n: late for n in order if isinstance(n.op, Loop) and (late := _stacks_of_late(n, n.op, kinds))}

    def rule(node: Node, env: Env) -> Values | None:
        return _outside(found[node], node, tuple([env[a] for a in node.args])) if node in found else None

    return replaced_in(fn, rule) if found else fn


def _stacks_of_late(node: Node, loop: Loop, kinds: Kinds) -> dict[int, list[int]]:
    """Stacks of a loop that are such stacks of one in its steps; each with the operands that the latter's first rows
    are, and the number of the stack that has the others."""
    places = {y: k for k, (y, kind) in enumerate(zip(loop.body.results, loop.outs, strict=True)) if kind == "stack"}
    found = dict[int, list[int]]()
    for y, k in places.items():
        if isinstance(y.op, Loop) and kinds.get(node.values[k]) == {("each", _count(node))}:
            *chain, source = _late(y.node, y.op, {y: {("each", None)}}).get(y.index, [-1])
            if source >= 0 and y.node.values[source] in places:
                found[k] = [*chain, places[y.node.values[source]]]
    return found


def _outside(late: Mapping[int, Sequence[int]], node: Node, xs: Values) -> Values:
    """The results of a loop that makes no such stacks, but stacks of their first rows."""
    loop = node.op
    assert isinstance(loop, Loop)
    results, stay = loop.body.results, [k not in late for k in range(len(loop.outs))]
    starts = [results[k].args[c - 1] for k, (*chain, _) in late.items() for c in chain]
    outs: tuple[Out, ...] = (*pick(loop.outs, stay), *cast("list[Out]", ["stack"] * len(starts)))
    body = replace(loop.body, results=(*pick(results, stay), *starts))
    made = iter(replace(loop, outs=outs, body=body).apply(*xs))
    found = {k: next(made) for k, stays in enumerate(stay) if stays}
    for k, (*chain, source) in late.items():
        inner = results[k].op
        assert isinstance(inner, Loop)
        rows = [reshape(x, (loop.length, 1, *x.shape[1:])) for x in (next(made) for _ in chain)]
        first = len(rows) if inner.reverse else 0
        part = slice_axis(found[source], 1, first, inner.length - len(rows))
        found[k] = concatenate((part, *rows[::-1]) if inner.reverse else (*rows, part), 1)
    return tuple([found[k] for k in range(len(loop.outs))])


def _late(node: Node, loop: Loop, kinds: Kinds) -> dict[int, list[int]]:
    """Such stacks, each with the operands that its first rows are, and the number of the stack that has the others,
    or that of an operand below zero."""
    count = _count(node)
    if (count is not None and loop.reverse) or loop.length < 2:  # or no step is known to be the first
        return {}
    params, results = loop.body.params, loop.body.results
    stacks = {y: k for k, (y, kind) in enumerate(zip(results, loop.outs, strict=True)) if kind == "stack"}
    rows = {p: -n for n, p in enumerate(params[1:], start=1) if loop.ins[n - 1] == "each"}
    after = {params[c]: results[k] for c, k in loop.carries}
    found = dict[int, list[int]]()
    for p, k in stacks.items():
        chain, v = list[Value](), p
        while v in after and v not in chain:
            chain.append(v)
            v = after[v]
        source = None if v in after else stacks.get(v, rows.get(v))
        is_late = source is not None and 0 < len(chain) < loop.length and p.type.size >= WIDE
        if is_late and kinds.get(node.values[k]) == {("each", count)}:
            found[k] = [*map(params.index, chain), cast("int", source)]
    return found


def _without(late: Mapping[int, Sequence[int]], loop: Loop, xs: Values) -> Values:
    """The results of a loop that makes no late stacks."""
    stay = [k not in late for k in range(len(loop.outs))]
    body = replace(loop.body, results=pick(loop.body.results, stay))
    made = iter(replace(loop, outs=pick(loop.outs, stay), body=body).apply(*xs))
    found = {k: next(made) for k, stays in enumerate(stay) if stays}
    for k, (*chain, source) in late.items():
        whole = found[source] if source >= 0 else xs[-source - 1]
        starts = [reshape(xs[c - 1], (1, *xs[c - 1].shape)) for c in chain]
        rest = range(len(starts), loop.length) if loop.reverse else range(loop.length - len(starts))
        part = taken(whole, rest)
        found[k] = concatenate((part, *starts[::-1]) if loop.reverse else (*starts, part), 0)
    return tuple([found[k] for k in range(len(loop.outs))])
