"""A program of JAX, a jaxpr, on values of a trace: operation after operation, each by its rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np

from pliant.core.build import abstract, free_values
from pliant.core.data import frozen
from pliant.core.ir import Function, Value, Values, const, param
from pliant.core.origin import here
from pliant.core.scope import scope
from pliant.core.types import SHORT, Type
from pliant.errors import DTypeError, UnsupportedError
from pliant.ops.elementwise import convert

Made: TypeAlias = "Value | Sequence[Value]"
Rule: TypeAlias = Callable[..., Made]
"""Of the parameters of an operation, as keywords, and its operands."""
HolderRule: TypeAlias = Callable[..., Made]
"""The same of one that holds programs: its first operand is the walk, its second the operation."""


def type_of(aval: Any) -> Type:
    """The type of what JAX says that an array is."""
    name = str(aval.dtype)
    if name not in SHORT:
        raise DTypeError(
            f"from_jax: arrays of JAX's {name} have no dtype of NumPy",
            hint="random numbers can be drawn outside, and passed as an argument" if "key" in name else "",
        )
    return Type(SHORT[name], tuple(aval.shape))


def short(dtype: Any) -> str:
    """The name of a dtype here."""
    name = str(np.dtype(dtype)) if np.dtype(dtype).kind in "biufc" else str(dtype)
    if name not in SHORT:
        raise DTypeError(f"from_jax: JAX's {name} is no dtype of NumPy")
    return SHORT[name]


@frozen
class Walk:
    """rules, holders: by the names of operations. enter: the value of an array that a program holds.
    is_wide: whether JAX has 64 bits."""

    rules: dict[str, Rule]
    holders: dict[str, HolderRule]
    enter: Callable[[Any], Value]
    is_wide: bool

    def closed(self, program: Any, xs: Sequence[Value]) -> Values:
        """The results of a program with the arrays that it holds."""
        return self.run(program.jaxpr, [self.constant(c) for c in program.consts], xs)

    def constant(self, x: Any) -> Value:
        """The value of an array that a program holds, a literal if it is one number."""
        return self.enter(x) if np.ndim(x) else number(x, x.dtype)

    def run(self, jaxpr: Any, consts: Sequence[Value], xs: Sequence[Value]) -> Values:
        """The results of a program without."""
        env: dict[Any, Value] = dict(zip(jaxpr.constvars, consts, strict=True))
        env.update(zip(jaxpr.invars, xs, strict=True))

        def read(x: Any) -> Value:
            return number(x.val, x.aval.dtype) if hasattr(x, "val") else env[x]

        for eqn in _read(jaxpr):
            made = self.applied(eqn, [read(x) for x in eqn.invars])
            for out, y in zip(eqn.outvars, made, strict=True):
                env[out] = _checked(eqn, y, type_of(out.aval)) if not _is_dropped(out) else y
        return tuple([read(x) for x in jaxpr.outvars])

    def applied(self, eqn: Any, xs: Sequence[Value]) -> Sequence[Value]:
        """The results of one operation."""
        name = eqn.primitive.name
        if name in self.holders:
            made = self.holders[name](self, eqn, *xs)
        elif name in self.rules:
            made = self.rules[name](*xs, **eqn.params)
        else:
            raise unsupported(eqn)
        return [made] if isinstance(made, Value) else made

    def function(self, program: Any, name: str = "body") -> tuple[Function, Values]:
        """A program as a function of its operands, and then of what else it reads: values of the scope around it."""
        with scope() as own:
            params = tuple([param(type_of(v.aval)) for v in program.jaxpr.invars])
            results = self.closed(program, params)
            free = free_values(Function(name, params, results), own.number)
        return abstract(results, (*params, *free), name), free


def _read(jaxpr: Any) -> list[Any]:
    """The operations of a program whose results are read, or that have effects."""
    read, found = {id(v) for v in jaxpr.outvars}, list[Any]()
    for eqn in reversed(jaxpr.eqns):
        if eqn.effects or any([id(v) in read for v in eqn.outvars]):
            found.append(eqn)
            read.update([id(v) for v in eqn.invars])
    return found[::-1]


def number(x: Any, dtype: Any) -> Value:
    """A number as a literal."""
    return const(np.asarray(x).item(), short(dtype))


def _is_dropped(out: Any) -> bool:
    return type(out).__name__ == "DropVar"


def _checked(eqn: Any, y: Value, wanted: Type) -> Value:
    """A result of the type that JAX says."""
    if y.type == wanted:
        return y
    assert y.shape == wanted.shape, f"from_jax: {eqn.primitive.name} made {y.type}, expected {wanted}"
    return convert(y, wanted.dtype)


def unsupported(eqn: Any, what: str = "") -> UnsupportedError:
    """The error of an operation that is not translated, with its line in the function of JAX."""
    name = eqn.primitive.name
    line = import_module("jax.extend.source_info_util").summarize(eqn.source_info)
    hint = {
        "pure_callback": "call the NumPy function itself, outside of the function of JAX",
        "io_callback": "print, or write, outside of the function of JAX",
        "debug_callback": "print outside of the function of JAX",
    }.get(name, "random numbers can be drawn outside, and passed as an argument" if "random" in name else "")
    hint = hint or "write this part in NumPy, between functions of JAX"
    where = f", at {line}" if line and line != "unknown" else ""
    message = f"from_jax: JAX's operation {name!r}{what} is not supported{where}"
    return UnsupportedError(message, hint=hint).at(("called here", here()))
