"""Loops and branches of a program in JAX: `lax.scan`, `lax.while_loop` and `lax.cond`."""

from __future__ import annotations

import functools
from typing import Any, Final

from pliant.diff.optional import package
from pliant.ops.cond import Cond
from pliant.ops.custom import pick
from pliant.ops.loop import Loop
from pliant.ops.while_loop import WhileLoop
from pliant.transforms.evaluate import evaluate, stepper


def _lax() -> Any:
    return package("jax.lax", "JAX", "jax")


def cond(op: Cond, xp: Any, condition: Any, *xs: Any) -> tuple[Any, ...]:
    """`lax.cond`."""
    sides = [functools.partial(_side, fn, xp) for fn in (op.then, op.otherwise)]
    return _lax().cond(condition, *sides, *xs)


def _side(fn: Any, xp: Any, *xs: Any) -> tuple[Any, ...]:
    return evaluate(fn, xs, xp)


def while_loop(op: WhileLoop, xp: Any, *xs: Any) -> tuple[Any, ...]:
    """`lax.while_loop`: JAX too has no reverse mode of it."""
    test, body = stepper(op.test, xp), stepper(op.body, xp)

    def with_carries(carries: tuple[Any, ...]) -> tuple[Any, ...]:
        rest = iter(carries)
        return tuple([next(rest) if kind == "carry" else x for x, kind in zip(xs, op.ins, strict=True)])

    def goes_on(carries: tuple[Any, ...]) -> Any:
        return test(with_carries(carries))[0]

    def step(carries: tuple[Any, ...]) -> tuple[Any, ...]:
        return body(with_carries(carries))

    return _lax().while_loop(goes_on, step, tuple(pick(xs, op.are_carries)))


def loop(op: Loop, xp: Any, *xs: Any) -> tuple[Any, ...]:
    """`lax.scan` of what stacks and carries; folds are taken over their stacks."""
    if "count" in op.ins or set(op.outs) - {"last", "stack", "sum", "total"} or op.length < SHORTEST:
        return op.array(xp, *xs)
    body = stepper(op.body, xp)
    is_carry, is_each = ([kind == name for kind in op.ins] for name in ("carry", "each"))

    def step(carries: tuple[Any, ...], given: tuple[Any, ...]) -> tuple[Any, Any]:
        i, rows = given
        parts = {"carry": iter(carries), "each": iter(rows)}
        state = [next(parts[kind]) if kind in parts else x for x, kind in zip(xs, op.ins, strict=True)]
        ys = body((i, *state))
        is_last = [kind == "last" for kind in op.outs]
        return tuple(pick(ys, is_last)), tuple(pick(ys, [not flag for flag in is_last]))

    given = xp.arange(op.length), tuple(pick(xs, is_each))
    ends, stacks = _lax().scan(step, tuple(pick(xs, is_carry)), given, reverse=op.reverse)
    last, rest = iter(ends), iter(stacks)
    made: list[Any] = []
    for kind in op.outs:
        stack = next(last) if kind == "last" else next(rest)
        made.append(xp.sum(stack, axis=0, dtype=stack.dtype) if kind in ("sum", "total") else stack)
    return tuple(made)


SHORTEST: Final = 16  # shorter loops are written out


class Namespace:
    """`jax.numpy`, with JAX's control flow for primitives that hold functions."""

    __name__ = "jax.numpy"
    pliant_rules: Final = {Cond: cond, WhileLoop: while_loop, Loop: loop}

    def __init__(self, jnp: Any) -> None:
        self._jnp = jnp

    def __getattr__(self, name: str) -> Any:
        return getattr(self._jnp, name)
