"""Make functions: run Python on parameters, or cut a function out of values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

from pliant.core.ir import Const, Function, Op, Operand, Param, Value, Values, as_value, param, substitute
from pliant.core.scope import Scope, scope
from pliant.core.types import Type


def trace(fn: Callable[..., Any], *types: Type, names: Sequence[str] = ()) -> Function:
    """Record what `fn` does to values of the given types, in a trace of its own."""
    code = getattr(fn, "__code__", None)
    given = tuple(names) or (code.co_varnames[: code.co_argcount] if code else ())
    hints = (*given, *(f"x{i}" for i in range(len(given), len(types))))
    with scope():
        params = tuple(param(t, h) for t, h in zip(types, hints, strict=False))
        out = fn(*params)
        outs = cast("Iterable[Operand]", out if isinstance(out, tuple | list) else (out,))
        results = tuple(map(as_value, outs))
    return Function(getattr(fn, "__name__", "fn"), params, results)


def abstract(results: Values, over: Values, name: str = "abstract") -> Function:
    """`results` as a function of some of the values they are made from."""
    with scope():
        params = tuple(param(v.type, hint_of(v)) for v in over)
        return Function(name, params, substitute(results, dict(zip(over, params, strict=True))))


def hint_of(value: Value) -> str:
    """The user's name for a parameter, "" for anything else."""
    return value.op.hint.partition(".")[0] if isinstance(value.op, Param) else ""


def known_of(value: Value) -> Any:
    """The array that a parameter is always bound to; None if there is none, and for anything else."""
    return value.op.known if isinstance(value.op, Param) else None


def told(fn: Function, operands: Iterable[Value]) -> Function:
    """`fn` for these operands, which tell what arrays its parameters are bound to."""
    known = [known_of(v) for v in operands]
    with scope():
        params = tuple([param(p.type, hint_of(p), array) for p, array in zip(fn.params, known, strict=True)])
        return Function(fn.name, params, fn(*params)) if any([array is not None for array in known]) else fn


def number_of(value: Value) -> int | None:
    """The integer that a literal is; None for anything else."""
    return int(value.op.value.real) if isinstance(value.op, Const) else None


def expanded(op: Op, *types: Type) -> Function:
    """`op.expand` as a function: the default for every rule that is not written."""
    return trace(op.expand, *types, names=[f"x{i}" for i in range(len(types))])


def is_closed(results: Values, scope: Scope) -> bool:
    """Whether nothing made in a trace, nor its results, are made from values of other traces but literals."""
    number = scope.number
    outer = [v for v in results if v.node.scope != number]
    outer += [a for node in scope.table.values() for a in node.args if a.node.scope != number]
    return all([isinstance(v.op, Const) for v in outer])


def free_values(fn: Function, number: int) -> Values:
    """Values of other traces that `fn`, made by trace `number`, reads; literals excepted."""
    found: dict[Value, None] = {}
    seen: set[int] = set()
    stack = list(reversed(fn.results))
    while stack:
        value = stack.pop()
        if value.node.scope != number:
            if not isinstance(value.op, Const):
                found[value] = None
        elif id(value.node) not in seen:
            seen.add(id(value.node))
            stack.extend(reversed(value.args))
    return tuple(found)
