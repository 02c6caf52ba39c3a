"""Run a function on arrays of any array-API namespace."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, cast

from pliant.core.build import expanded
from pliant.core.ir import Function, Namespace, Node, Op, Param, Value
from pliant.core.types import SHORT, Type


def evaluate(fn: Function, xs: tuple[Any, ...], xp: Namespace) -> tuple[Any, ...]:
    """Results of `fn` on arrays `xs` of namespace `xp`."""
    return stepper(fn, xp)(xs)


def stepper(fn: Function, xp: Namespace) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    """`fn` as a Python function of arrays, for many calls. Values are dropped when they have been read for the last
    time: what comes after them may take their memory."""
    order, told = _with_last_reads(fn), getattr(xp, "pliant_error", None)

    def step(xs: tuple[Any, ...]) -> tuple[Any, ...]:
        env: dict[Any, Any] = dict(zip(fn.params, xs, strict=True))
        for node, last in order:
            try:
                outs = run(node.op, xp, [env[a] for a in node.args])
            except (RuntimeError, TypeError, AttributeError) as error:  # what a library lacks
                if told is None or (lack := told(error, node)) is None:
                    raise
                raise lack from error
            env.update(zip(node.values, outs, strict=True))
            for value in last:
                del env[value]
        return tuple([env[r] for r in fn.results])

    return step


def _with_last_reads(fn: Function) -> list[tuple[Node, list[Value]]]:
    """The nodes in order, each with the values that nothing after it reads."""
    read, order = set(fn.results), list[tuple[Node, list[Value]]]()
    for node in reversed([n for n in fn.nodes if not isinstance(n.op, Param)]):
        order.append((node, [v for v in dict.fromkeys((*node.args, *node.values)) if v not in read]))
        read.update(node.args)
    return order[::-1]


def run(op: Op, xp: Namespace, args: list[Any]) -> tuple[Any, ...]:
    """One primitive: as the namespace runs them, if it has a way of its own, else by its rule."""
    own = getattr(xp, "pliant_run", None)
    return run_rule(op, xp, args) if own is None else own(op, args)


def run_rule(op: Op, xp: Namespace, args: list[Any]) -> tuple[Any, ...]:
    """One primitive by its rule for this namespace, else its `array` rule, else `expand`."""
    rule = getattr(op, xp.__name__.partition(".")[0], None)
    if rule is None and not op.has("array"):
        types = (Type(short_dtype(a.dtype), tuple(a.shape)) for a in args)
        return evaluate(expanded(op, *types), tuple(args), xp)
    out = (rule or op.array)(xp, *args)
    return cast("tuple[Any, ...]", out) if isinstance(out, tuple) else (out,)


def ready(op: Op, xp: Namespace, types: tuple[Type, ...]) -> Callable[..., tuple[Any, ...]]:
    """One primitive as a function of arrays of these types, for many calls: `run`, which finds what serves it once."""
    rule = getattr(op, xp.__name__.partition(".")[0], None) or (op.array if op.has("array") else None)
    if hasattr(xp, "pliant_run"):
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
