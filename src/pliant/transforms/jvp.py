"""Forward mode: push tangents along with values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias, runtime_checkable

from pliant.core import ir
from pliant.core.build import expanded, trace
from pliant.core.ir import Function, Node, Op, Param, Tangents, Value, Values, rebuild
from pliant.core.origin import derived, swap
from pliant.core.protocols import implements


@runtime_checkable
class Linearizable(Protocol):
    """A primitive whose derivative is a separate, linear computation."""

    def linearize(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        """Results, and tangents whose linear part shares no node with the results."""
        ...


Rule: TypeAlias = Callable[[Values, Tangents], tuple[Values, Tangents]]


def push(fn: Function, xs: Values, dxs: Tangents, *, split: bool = False) -> tuple[Values, Tangents]:
    """Results of `fn` and their tangents. `split` keeps the linear part apart from the rest,
    which reverse mode needs (see `Linearizable`)."""
    value: dict[Value, Value] = dict(zip(fn.params, xs, strict=True))
    tangent: dict[Value, Value] = {p: d for p, d in zip(fn.params, dxs, strict=True) if d is not None}
    for node in fn.nodes:
        if isinstance(node.op, Param):
            for p in node.values:
                value.setdefault(p, p)  # a value of an enclosing trace
            continue
        args = tuple([value[a] for a in node.args])
        ys = rebuild(node, args)  # interned: the rule below finds these, named
        if any([a in tangent for a in node.args]):
            dargs = tuple([tangent.get(a) for a in node.args])
            ys, dys = _differentiate(node, args, dargs, split)
            tangent.update((v, d) for v, d in zip(node.values, dys, strict=True) if d is not None)
        value.update(zip(node.values, ys, strict=True))
    return tuple([value[r] for r in fn.results]), tuple([tangent.get(r) for r in fn.results])


def _differentiate(node: Node, xs: Values, dxs: Tangents, split: bool) -> tuple[Values, Tangents]:
    """One node's results and tangents, under an origin derived from the node's."""
    before = swap(derived(node.origin))
    try:
        return _rule(node.op, split)(xs, dxs)
    finally:
        swap(before)


def _rule(op: Op, split: bool) -> Rule:
    """The op's own rule, or the derivative of its `expand`."""
    if split and implements(op, Linearizable):
        return op.linearize
    if op.has("jvp"):
        return op.jvp
    return lambda xs, dxs: push(expanded(op, *(x.type for x in xs)), xs, dxs, split=split)


def instantiate(xs: Values, dxs: Tangents) -> Values:
    """Replace exact zeros by arrays of zeros."""
    return tuple([ir.operators.zeros(x.type) if d is None else d for x, d in zip(xs, dxs, strict=True)])


def jvp(fn: Function, active: tuple[bool, ...]) -> Function:
    """`(x…, dx of active…) -> (y…, dy of float…)`."""

    def pushed(*args: Value) -> Values:
        xs, rest = args[: len(active)], iter(args[len(active) :])
        ys, dys = push(fn, xs, tuple(next(rest) if a else None for a in active))
        return *ys, *(d for y, d in zip(ys, instantiate(ys, dys), strict=True) if y.type.is_float)

    types = [p.type for p in fn.params]
    return trace(pushed, *types, *(t for t, a in zip(types, active, strict=True) if a))
