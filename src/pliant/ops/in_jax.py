"""Primitives that hold functions, in JAX: its branches and loops, and its rules for derivatives of the user's own.

A loop whose end is found on the way is a `lax.while_loop`, of which JAX has forward mode alone. `loop_in_jax` has those
of a known or bounded number of steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from pliant.transforms.evaluate import evaluate, stepper

if TYPE_CHECKING:
    from pliant.core.ir import Function, Namespace
    from pliant.ops.cond import Cond
    from pliant.ops.custom import CustomJvp, CustomVjp
    from pliant.ops.retrace import Retrace
    from pliant.ops.while_loop import WhileLoop

SNAPSHOTS: Final = 64  # states of a loop of unknown length that its way back starts from


def jax_module(name: str = "") -> Any:
    """JAX, or a module of it: only there when a program is run by it."""
    return import_module(f"jax.{name}" if name else "jax")


def adding(x: Any) -> str:
    """The method of an array's `at` that adds to elements; the sum of bools is their `or`, and JAX has none."""
    return "max" if x.dtype == bool else "add"


# --- branches and loops


def cond(op: Cond, jnp: Namespace, condition: Any, xs: Sequence[Any]) -> tuple[Any, ...]:
    """`lax.cond`: one side is run."""
    return jax_module("lax").cond(condition, *(_side(fn, jnp) for fn in op.branches), *xs)


def _side(fn: Function, jnp: Namespace) -> Any:
    step = stepper(fn, jnp)

    def side(*xs: Any) -> tuple[Any, ...]:
        return step(xs)

    return side


def while_loop(op: WhileLoop, jnp: Namespace, xs: Sequence[Any]) -> tuple[Any, ...]:
    """`lax.while_loop`."""
    test, body = stepper(op.test, jnp), stepper(op.body, jnp)

    def goes_on(carries: tuple[Any, ...]) -> Any:
        return test(carrying(op.ins, xs, carries))[0]

    def step(carries: tuple[Any, ...]) -> tuple[Any, ...]:
        return body(carrying(op.ins, xs, carries))

    return jax_module("lax").while_loop(goes_on, step, of_kind("carry", op.ins, xs))


def of_kind(kind: str, kinds: Sequence[str], xs: Sequence[Any]) -> tuple[Any, ...]:
    """The xs of a kind."""
    return tuple([x for x, k in zip(xs, kinds, strict=True) if k == kind])


def carrying(kinds: Sequence[str], xs: Sequence[Any], carries: Sequence[Any], rows: Sequence[Any] = ()) -> Any:
    """The operands of a step: the given ones, with these carries and rows."""
    parts = {"carry": iter(carries), "each": iter(rows)}
    return tuple([next(parts[k]) if k in parts else x for x, k in zip(xs, kinds, strict=True)])


def retrace(op: Retrace, jnp: Namespace, xs: Sequence[Any]) -> tuple[Any, ...]:
    """A loop of unknown length and the way back, without a tape, which grows: some states are kept, evenly spaced, and
    the steps between them are run again, for each step back. Of n steps about n²/128 are run."""
    lax, count = jax_module("lax"), len(op.ins)
    test, ahead, back = (stepper(fn, jnp) for fn in (op.test, op.ahead, op.back))
    given, held, width = tuple(xs[:count]), tuple(xs[count:]), len(op.carries)
    start = of_kind("carry", op.ins, given)

    def step(carries: Any) -> Any:
        return ahead(carrying(op.ins, given, carries))

    def once(_: Any, carries: Any) -> Any:
        return step(carries)[:width]

    def many(carries: Any, n: Any) -> Any:
        return lax.fori_loop(0, n, once, carries)

    def counted(state: Any) -> Any:
        return state[0] + 1, step(state[1])[:width]

    def goes_on(state: Any) -> Any:
        return test(carrying(op.ins, given, state[1]))[0]

    zero = jnp.asarray(0, dtype=jnp.int64)
    steps, _ = lax.while_loop(goes_on, counted, (zero, start))
    apart = (steps + SNAPSHOTS - 1) // SNAPSHOTS

    def snapshot(state: Any, _: Any) -> tuple[Any, Any]:
        at, carries = state
        length = jnp.clip(steps - at, 0, apart)
        return (at + length, many(carries, length)), carries

    _, kept = lax.scan(snapshot, (zero, start), None, length=SNAPSHOTS)

    def undo(n: Any, held: Any) -> Any:
        at = steps - 1 - n
        number = at // jnp.maximum(apart, 1)
        saved = step(many(tuple([x[number] for x in kept]), at - number * apart))[width:]
        return back((*saved, *[given[k] for k in op.reads], *held))

    return lax.fori_loop(zero, steps, undo, held)


# --- derivatives of the user's own


def checkpoint(body: Function, jnp: Namespace, xs: Sequence[Any]) -> tuple[Any, ...]:
    """`jax.checkpoint`."""
    return jax_module().checkpoint(_side(body, jnp))(*xs)


def custom_jvp(op: CustomJvp, jnp: Namespace, xs: Sequence[Any]) -> tuple[Any, ...]:
    """`jax.custom_jvp`."""
    tangent = stepper(op.tangent, jnp)
    floats = [p.type.is_float for p in op.body.params]

    def rule(xs: Any, dxs: Any) -> Any:
        ys = custom_jvp(op, jnp, xs)
        return ys, with_tangents(ys, tangent((*xs, *[d for d, f in zip(dxs, floats, strict=True) if f])))

    made = jax_module().custom_jvp(_side(op.body, jnp))
    made.defjvp(rule)
    return made(*xs)


def custom_vjp(op: CustomVjp, jnp: Namespace, xs: Sequence[Any]) -> tuple[Any, ...]:
    """`jax.custom_vjp`. JAX's cotangents of complex numbers are conjugate to ours."""
    count, floats = len(op.body.results), [r.type.is_float for r in op.body.results]

    def forward(*xs: Any) -> Any:
        made = evaluate(op.forward, xs, jnp)
        return made[:count], made[count:]

    def backward(residuals: Any, cts: Any) -> Any:
        given = [_conj(jnp, c) for c, f in zip(cts, floats, strict=True) if f]
        made = iter(evaluate(op.backward, (*residuals, *given), jnp))
        return tuple([_conj(jnp, next(made)) if p.type.is_float else None for p in op.body.params])

    made = jax_module().custom_vjp(_side(op.body, jnp))
    made.defvjp(forward, backward)
    return made(*xs)


def _conj(jnp: Namespace, x: Any) -> Any:
    return jnp.conj(x) if jnp.iscomplexobj(x) else x


def with_tangents(ys: Sequence[Any], dys: Sequence[Any]) -> tuple[Any, ...]:
    """A tangent for each result, given those of the floats: JAX's own zeros for the others."""
    rest, jax = iter(dys), jax_module()
    zeros = [jax.custom_derivatives.zero_from_primal(y) for y in ys]
    return tuple([zero if zero.dtype == jax.dtypes.float0 else next(rest) for zero in zeros])
