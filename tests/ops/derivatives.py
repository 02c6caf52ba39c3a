"""Derivatives of functions of IR values, on arrays: for tests of special cases."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.core.build import trace
from pliant.core.ir import Function, const
from pliant.core.types import DTYPES, Type
from pliant.ops.complex import real
from pliant.ops.reduce import reduce_sum
from pliant.testing import reverse, run
from pliant.transforms.jvp import push

SHORT = {np.dtype(long): short for short, long in DTYPES.items()}


def arrays(xs: Any, dtype: str) -> list[Any]:
    """Operands as arrays: lists and numbers of `dtype`, arrays as they are."""
    return [x if isinstance(x, np.ndarray) else np.asarray(x, DTYPES[dtype]) for x in xs]


def types(xs: Any) -> list[Type]:
    """The types of arrays."""
    return [Type(SHORT[x.dtype], x.shape) for x in xs]


def total(f: Any, *of: Type) -> Function:
    """The sum of the real parts of `f`'s results."""
    return trace(lambda *xs: reduce_sum(real(f(*xs))), *of)


def gradient(f: Any, *xs: Any, dtype: str = "f64") -> Any:
    """The gradient of the sum of `f(x)`, with respect to its first operand; a tuple if several."""
    operands = arrays(xs, dtype)
    fn = total(f, *types(operands))
    back = run(reverse(fn, (True,) * len(operands)), [*operands, np.ones((), DTYPES[fn.results[0].dtype])])
    return back[0] if len(back) == 1 else back


def second(f: Any, x: Any, dtype: str = "f64") -> Any:
    """The second derivative of an elementwise function of one operand, reverse over reverse."""
    (operand,) = arrays([x], dtype)

    def first(x: Any) -> Any:
        fn = total(f, x.type)
        (dx,) = reverse(fn, (True,))(x, const(1, fn.results[0].dtype))
        return dx

    return gradient(first, operand)


def tangent(f: Any, x: Any, dx: Any, dtype: str = "f64") -> Any:
    """The tangent of `f` at x along dx; None for an exact zero."""
    operands = arrays([x, dx], dtype)
    found: list[bool] = []

    def pushed(x: Any, dx: Any) -> Any:
        ((y,), (dy,)) = push(trace(f, x.type), (x,), (dx,))
        found.append(dy is not None)
        return y if dy is None else dy

    fn = trace(pushed, *types(operands))
    return run(fn, operands)[0] if found[0] else None
