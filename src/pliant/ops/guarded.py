"""Branches and steps that run for a whole batch, also for problems that do not take them.

What these compute is thrown away. But an index that their condition would have kept in range may lie anywhere there,
and its check would stop all the others; a loop need not end; and where a result is infinite, or no number, so is its
derivative, and zero times that is no zero. So indices and the like are such as there always are, and where more is
done than elementwise work, all operands are those of a problem that does take the branch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, cast, runtime_checkable

from pliant.core.build import hint_of, trace
from pliant.core.inner import answered, functions_of
from pliant.core.ir import Function, Node, Value, Values, const
from pliant.core.protocols import implements
from pliant.core.types import Type
from pliant.ops.base import Linear, Safe
from pliant.ops.custom import StopGradient
from pliant.ops.elementwise import convert
from pliant.ops.index import gather
from pliant.ops.masked_writes import select_by_problem
from pliant.ops.reduce import argmax
from pliant.ops.region import reached
from pliant.ops.select import select, spares
from pliant.ops.shape import broadcast, lift
from pliant.transforms.replace import replaced
from pliant.transforms.vmap import vmap


@runtime_checkable
class Partial(Protocol):
    """A primitive that has no result for some operands."""

    def somewhere(self, *types: Type) -> dict[int, Safe]:
        """The operands that must be in range, and for each what always is."""
        ...


def for_those(fn: Function, n: int, batched: tuple[bool, ...]) -> Function:
    """`fn` for a batch of n problems, with one more operand before its own: the condition of each. What it makes for
    those whose condition does not hold is any; it holds for some, or `fn` is plain."""
    if is_plain(fn):
        return vmap(guarded(fn, batched), n, (True, *batched))
    made = vmap(fn, n, batched)

    def step(condition: Value, *xs: Value) -> Values:
        if not n:
            return made(*xs)
        first = argmax(convert(condition, "u8"), 0)
        return made(*(as_at(first, condition, x) if b else x for x, b in zip(xs, batched, strict=True)))

    return trace(step, Type("bool", (n,)), *(p.type for p in made.params))


def as_at(first: Value, condition: Value, x: Value) -> Value:
    """x; where a condition does not hold, what it is for the first problem for which it does, as a constant."""
    (row,) = StopGradient().apply(gather(x, first))
    return select_by_problem(condition, x, lift(row, x.shape[0]))


@answered
def is_plain(fn: Function) -> bool:
    """Whether a problem may run it whatever its operands are: no loops, and no derivative but zero of what is thrown
    away."""
    held = [(node.op, functions_of(node.op).values()) for node in fn.nodes if node.args]
    return all([all(map(is_plain, inner)) if hasattr(op, "under") else spares(op) and not inner for op, inner in held])


def guarded(fn: Function, batched: Sequence[bool]) -> Function:
    """`fn`, which is plain, with a condition before its operands: without it, places that depend on the batched
    operands are such as there always are."""
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
