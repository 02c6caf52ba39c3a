"""Batching: one program for `n` stacked problems. The batch axis is axis 0.

What depends on nothing that differs between the problems is computed once, without a batch axis: how long a part of
an array is, or how many steps a loop has.
"""

from __future__ import annotations

from collections.abc import Sequence

from pliant.core import ir
from pliant.core.build import expanded, trace
from pliant.core.ir import Function, Op, Param, Value, Values, rebuild
from pliant.core.origin import swap
from pliant.core.types import Type


def vmap(fn: Function, n: int, batched: tuple[bool, ...]) -> Function:
    """`fn` over `n` problems; operands marked in `batched` gain axis 0, and so does every result."""

    def mapped(*xs: Value) -> Values:
        return _with_axis(n, _made(fn, n, batched, xs), [r.type for r in fn.results])

    return trace(mapped, *types_over(fn, n, batched), names=_names(fn))


def vmap_apart(fn: Function, n: int, batched: tuple[bool, ...]) -> tuple[Function, tuple[bool, ...]]:
    """`fn` over `n` problems, whose results gain axis 0 where they differ between these; and where they do."""

    def mapped(*xs: Value) -> Values:
        return _made(fn, n, batched, xs)

    new = trace(mapped, *types_over(fn, n, batched), names=_names(fn))
    return new, tuple([_has_axis(y, r.type) for y, r in zip(new.results, fn.results, strict=True)])


def with_axis(fn: Function, n: int, wanted: Sequence[bool]) -> Function:
    """`fn` with axis 0 added to the results where it is `wanted`, the same for all n problems."""
    if not any(wanted):
        return fn

    def mapped(*xs: Value) -> Values:
        return tuple([ir.operators.lift(y, n) if w else y for y, w in zip(fn(*xs), wanted, strict=True)])

    return trace(mapped, *(p.type for p in fn.params), names=_names(fn))


def types_over(fn: Function, n: int, batched: Sequence[bool]) -> list[Type]:
    """The types of the parameters, with axis 0 where they are batched."""
    return [p.type.stacked(n) if b else p.type for p, b in zip(fn.params, batched, strict=True)]


def batch_of(op: Op, n: int, batched: tuple[bool, ...], xs: Values) -> Values:
    """What the op makes of n stacked problems, each result with axis 0."""
    types = op.infer(*(x.type.row if b else x.type for x, b in zip(xs, batched, strict=True)))
    return _with_axis(n, _by_rule(op, n, batched, xs), types if isinstance(types, tuple) else (types,))


def _made(fn: Function, n: int, batched: tuple[bool, ...], xs: Values) -> Values:
    """The results, with axis 0 where they differ between problems."""
    env: dict[Value, tuple[Value, bool]] = dict(zip(fn.params, zip(xs, batched, strict=True), strict=True))
    for node in fn.nodes:
        if isinstance(node.op, Param):
            continue
        args = tuple([env[a][0] for a in node.args])
        flags = tuple([env[a][1] for a in node.args])
        if not any(flags):
            env.update((v, (o, False)) for v, o in zip(node.values, rebuild(node, args), strict=True))
            continue
        before = swap(node.origin)
        try:
            outs = _by_rule(node.op, n, flags, args)
        finally:
            swap(before)
        env.update((v, (o, _has_axis(o, v.type))) for v, o in zip(node.values, outs, strict=True))
    return tuple([env[r][0] for r in fn.results])


def _by_rule(op: Op, n: int, batched: tuple[bool, ...], xs: Values) -> Values:
    """The op's own rule, or that of its `expand`."""
    if not op.has("batch"):
        fn = expanded(op, *(x.type.row if b else x.type for x, b in zip(xs, batched, strict=True)))
        return _made(fn, n, batched, xs)
    out = op.batch(n, batched, *xs)
    return out if isinstance(out, tuple) else (out,)


def _with_axis(n: int, ys: Values, types: Sequence[Type]) -> Values:
    """Results with axis 0, given their types in one problem."""
    return tuple([y if _has_axis(y, t) else ir.operators.lift(y, n) for y, t in zip(ys, types, strict=True)])


def _has_axis(y: Value, type: Type) -> bool:
    """Whether a result differs between problems, in one of which it has a type."""
    return y.type.rank > type.rank


def _names(fn: Function) -> list[str]:
    return [str(getattr(p.op, "hint", "")) for p in fn.params]
