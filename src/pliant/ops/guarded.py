"""Branches and steps that run for a whole batch: what problems read there that do not take them must exist.

A problem that takes the other branch, or has ended, computes what is thrown away. An index that its condition
would have kept in range may lie anywhere there, and its check would stop all the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, cast, runtime_checkable

from pliant.core.build import hint_of, trace
from pliant.core.inner import functions_of
from pliant.core.ir import Function, Node, Value, Values, const
from pliant.core.protocols import implements
from pliant.core.types import Type
from pliant.ops.base import Linear, Safe
from pliant.ops.region import reached
from pliant.ops.select import select
from pliant.ops.shape import broadcast
from pliant.transforms.replace import replaced


@runtime_checkable
class Partial(Protocol):
    """A primitive that has no result for some operands."""

    def somewhere(self, *types: Type) -> dict[int, Safe]:
        """The operands that must be in range, and for each what always is."""
        ...


def guarded(fn: Function, batched: Sequence[bool]) -> Function:
    """`fn` with a condition before its operands: without it, places that depend on the batched operands are such as
    there always are, and loops in it whose ends do end at once."""
    given, holders, moving = _partial(fn, batched)

    def step(condition: Value, *args: Value) -> Values:
        def rule(node: Node, xs: Values) -> Values | None:
            if node in holders:
                return cast("Any", node.op).under(condition, tuple([a in moving for a in node.args]), *xs)
            places = given.get(node, {})
            if moving.isdisjoint([node.args[n] for n in places]):
                return None
            return node.op.apply(
                *(
                    select(broadcast(condition, x.shape, ()), x, _safe(places[n], x.type))
                    if n in places and node.args[n] in moving
                    else x
                    for n, x in enumerate(xs)
                )
            )

        return replaced(fn, rule)(*args)

    return trace(step, Type("bool"), *(p.type for p in fn.params), names=["condition", *map(hint_of, fn.params)])


def fails_for_all(fn: Function, batched: Sequence[bool]) -> bool:
    """Whether what all problems share may have no result: a factorisation, or a check, that they have in common. Reads
    at places in common do not count, as most are of the steps of loops."""
    given, _, moving = _partial(fn, batched)
    checks = [(node, places) for node, places in given.items() if not isinstance(node.op, Linear)]
    return any([moving.isdisjoint([node.args[n] for n in places]) for node, places in checks])


def _partial(fn: Function, batched: Sequence[bool]) -> tuple[dict[Node, dict[int, Safe]], set[Node], set[Value]]:
    """The primitives that may have no result, with their operands that must be in range; those that hold such; and of
    all these operands those that differ between problems."""
    given = {node: node.op.somewhere(*(a.type for a in node.args)) for node in fn.nodes if implements(node.op, Partial)}
    held = {node: functions_of(node.op).values() for node in fn.nodes if hasattr(node.op, "under")}
    holders = {node for node, functions in held.items() if any(map(_is_partial, functions))}
    named = dict.fromkeys([node.args[n] for node, places in given.items() for n in places])
    named.update(dict.fromkeys([a for node in holders for a in node.args]))
    apart = reached(Function(fn.name, fn.params, tuple(named)), batched)
    return given, holders, {v for v, is_moving in zip(named, apart, strict=True) if is_moving}


def _is_partial(fn: Function) -> bool:
    """Whether there may be no result for some operands."""
    ops = [node.op for node in fn.nodes]
    return any([implements(op, Partial) or any(map(_is_partial, functions_of(op).values())) for op in ops])


def _safe(found: Safe, type: Type) -> Value:
    """An operand that is in range."""
    return const(found, type.dtype) if isinstance(found, int) else found(type)
