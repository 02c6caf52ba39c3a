"""Reverse mode: pull cotangents back through the linear part of a program."""

from __future__ import annotations

from collections.abc import Sequence

from pliant.core.build import expanded
from pliant.core.ir import Function, Node, Tangents, Value, Values, nodes, param
from pliant.core.origin import derived, swap
from pliant.core.types import Type
from pliant.errors import DifferentiationError
from pliant.transforms.jvp import push


def pull(results: Sequence[Value | None], params: Values, cts: Tangents) -> Tangents:
    """Cotangents of `params`, given those of `results`, which must depend on `params` linearly."""
    live = [(r, c) for r, c in zip(results, cts, strict=True) if r is not None and c is not None]
    order = nodes([r for r, _ in live])
    linear = set(params)
    for node in order:
        if any([a in linear for a in node.args]):
            linear.update(node.values)
    ct: dict[Value, Value] = {}
    for r, c in live:
        ct[r] = ct[r] + c if r in ct else c
    for node in reversed(order):
        node_cts = tuple([ct.get(v) for v in node.values])
        if not node.args or node.values[0] not in linear or all([c is None for c in node_cts]):
            continue
        before = swap(derived(node.origin))
        try:
            back = _transpose(node, node_cts, linear)
            for a, c in zip(node.args, back, strict=True):
                if c is not None and a in linear:
                    ct[a] = ct[a] + c if a in ct else c
        finally:
            swap(before)
    return tuple([ct.get(p) for p in params])


def _transpose(node: Node, cts: Tangents, linear: set[Value]) -> Tangents:
    """Cotangents of the node's linear operands, by its rule or through its `expand`."""
    args: list[Value | Type] = [a.type if a in linear else a for a in node.args]
    if node.op.multilinear and sum(isinstance(a, Type) for a in args) > 1:
        raise DifferentiationError(
            f"{node.op.name}: more than one operand depends on the tangents, so this is not linear in them",
            hint="a custom derivative must be linear in tangents and cotangents",
        ).at(("here", node.origin))
    if node.op.has("transpose"):
        return node.op.transpose(cts[0] if len(cts) == 1 else cts, *args)
    fn = expanded(node.op, *(a.type for a in node.args))
    known = {p: a for p, a in zip(fn.params, args, strict=True) if isinstance(a, Value)}
    ys = Function(fn.name, tuple(known), fn.results)(*known.values())
    unknown = tuple([p for p in fn.params if p not in known])
    back = iter(pull(ys, unknown, cts))
    return tuple([None if isinstance(a, Value) else next(back) for a in args])


def linearize(fn: Function, xs: Values, active: tuple[bool, ...]) -> tuple[Values, Values, Tangents]:
    """Results, fresh tangent parameters of the active operands, and result tangents written in
    terms of them."""
    dxs = tuple([param(x.type, f"d{i}") if a else None for i, (x, a) in enumerate(zip(xs, active, strict=True))])
    ys, dys = push(fn, xs, dxs, split=True)
    return ys, tuple([d for d in dxs if d is not None]), dys


def vjp(fn: Function, xs: Values, cts: Tangents, active: tuple[bool, ...]) -> tuple[Values, Tangents]:
    """Results, and cotangents of the active operands (None for the others, and for exact zeros)."""
    ys, dxs, dys = linearize(fn, xs, active)
    back = iter(pull(dys, dxs, cts))
    return ys, tuple([next(back) if a else None for a in active])
