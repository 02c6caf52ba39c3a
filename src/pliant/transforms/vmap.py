"""Batching: one program for `n` stacked problems. The batch axis is axis 0."""

from __future__ import annotations

from pliant.core import ir
from pliant.core.build import expanded, trace
from pliant.core.ir import Function, Op, Param, Value, Values, nodes, rebuild
from pliant.core.origin import swap


def vmap(fn: Function, n: int, batched: tuple[bool, ...]) -> Function:
    """`fn` over `n` problems; operands marked in `batched` gain axis 0, and so does every result."""

    def mapped(*xs: Value) -> Values:
        env: dict[Value, tuple[Value, bool]] = dict(zip(fn.params, zip(xs, batched, strict=True), strict=True))
        for node in nodes(fn.results):
            if isinstance(node.op, Param):
                continue
            args = tuple([env[a][0] for a in node.args])
            flags = tuple([env[a][1] for a in node.args])
            if not any(flags):
                env.update((v, (o, False)) for v, o in zip(node.values, rebuild(node, args), strict=True))
                continue
            before = swap(node.origin)
            try:
                outs = batch_of(node.op, n, flags, args)
            finally:
                swap(before)
            env.update((v, (o, True)) for v, o in zip(node.values, outs, strict=True))
        return tuple([x if flag else ir.operators.lift(x, n) for x, flag in (env[r] for r in fn.results)])

    types = (p.type.stacked(n) if b else p.type for p, b in zip(fn.params, batched, strict=True))
    return trace(mapped, *types, names=[str(getattr(p.op, "hint", "")) for p in fn.params])


def batch_of(op: Op, n: int, batched: tuple[bool, ...], xs: Values) -> Values:
    """The op's own rule, or `vmap` of its `expand`."""
    if not op.has("batch"):
        types = (x.type.row if b else x.type for x, b in zip(xs, batched, strict=True))
        return vmap(expanded(op, *types), n, batched)(*xs)
    out = op.batch(n, batched, *xs)
    return out if isinstance(out, tuple) else (out,)
