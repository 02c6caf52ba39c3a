"""Run a function on arrays of any array-API namespace."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, cast

from pliant.core.build import expanded
from pliant.core.ir import Function, Namespace, Op, Param
from pliant.core.types import SHORT, Type


def evaluate(fn: Function, xs: tuple[Any, ...], xp: Namespace) -> tuple[Any, ...]:
    """Results of `fn` on arrays `xs` of namespace `xp`."""
    return stepper(fn, xp)(xs)


def stepper(fn: Function, xp: Namespace) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    """`fn` as a Python function of arrays, for many calls."""
    order = [node for node in fn.nodes if not isinstance(node.op, Param)]

    def step(xs: tuple[Any, ...]) -> tuple[Any, ...]:
        env: dict[Any, Any] = dict(zip(fn.params, xs, strict=True))
        for node in order:
            outs = run(node.op, xp, [env[a] for a in node.args])
            env.update(zip(node.values, outs, strict=True))
        return tuple([env[r] for r in fn.results])

    return step


def run(op: Op, xp: Namespace, args: list[Any]) -> tuple[Any, ...]:
    """One primitive: the namespace's own rule for it, else its rule for this namespace, else its
    `array` rule, else `expand`."""
    own = getattr(xp, "pliant_rules", None)
    if own is not None and type(op) in own:
        return own[type(op)](op, xp, *args)
    rule = getattr(op, xp.__name__.partition(".")[0], None)
    if rule is None and not op.has("array"):
        types = (Type(short_dtype(a.dtype), tuple(a.shape)) for a in args)
        return evaluate(expanded(op, *types), tuple(args), xp)
    out = (rule or op.array)(xp, *args)
    return cast("tuple[Any, ...]", out) if isinstance(out, tuple) else (out,)


def ready(op: Op, xp: Namespace, types: tuple[Type, ...]) -> Callable[..., tuple[Any, ...]]:
    """One primitive as a function of arrays of these types, for many calls: `run`, which finds what serves it once."""
    rule = getattr(op, xp.__name__.partition(".")[0], None) or (op.array if op.has("array") else None)
    if hasattr(xp, "pliant_rules"):
        return lambda *xs: run(op, xp, [*xs])
    if rule is None:
        step = cache(lambda: stepper(expanded(op, *types), xp))
        return lambda *xs: step()(xs)

    def made(*xs: Any) -> tuple[Any, ...]:
        out = rule(xp, *xs)
        return cast("tuple[Any, ...]", out) if isinstance(out, tuple) else (out,)

    return made


def short_dtype(dtype: Any) -> str:
    """`f64` for `float64`, of any namespace."""
    return SHORT[str(dtype).rpartition(".")[2]]
