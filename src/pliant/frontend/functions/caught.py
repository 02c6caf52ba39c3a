"""What NumPy and Python raise where the user's program would catch it: a condition, and operands for which nothing is
raised. Where nobody catches it, the operations raise by themselves, or make NaN and infinity."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from pliant.core.ir import Value, const
from pliant.frontend.array import TracedArray, fresh
from pliant.frontend.convert import value_of
from pliant.frontend.failures import fail_if, is_caught
from pliant.ops.bits import invert, logical_and
from pliant.ops.compare import equal, isfinite, isinf, isnan
from pliant.ops.definite import Definite
from pliant.ops.matrix import diagonals, identities
from pliant.ops.reduce import reduce_or
from pliant.ops.select import select
from pliant.ops.shape import broadcast
from pliant.ops.solve import Lu

LinAlgError: Final = np.linalg.LinAlgError
_OVERFLOWING: Final = frozenset(("exp", "exp2", "expm1", "sinh", "cosh", "pow", "ldexp", "gamma", "lgamma"))


def _any(x: Value) -> Value:
    return reduce_or(x, tuple(range(x.type.rank)))


def _without(failed: Callable[[Value], Value], message: str, a: Value) -> Value:
    if not is_caught(LinAlgError) or not a.type.size:
        return a
    bad = _any(failed(a))
    fail_if(bad, LinAlgError(message))
    return select(broadcast(bad, a.shape, ()), identities(a.type), a)


def definite(a: Value) -> Value:
    """Matrices that have a Cholesky factor."""
    return _without(lambda a: invert(Definite()(a)), "Matrix is not positive definite", a)


def regular(a: Value) -> Value:
    """Matrices that have an inverse."""
    return _without(lambda a: equal(diagonals(Lu().apply(a)[0]), const(0, a.dtype)), "Singular matrix", a)


def finite(a: Value, message: str) -> Value:
    """Matrices of finite elements, for which all iterations converge."""
    return _without(lambda a: invert(isfinite(a)), message, a)


def divisor(x: Any, y: Any) -> None:
    """A number that another one is divided by, both Python's."""
    are_pythons = all([type(v) in (int, float) or (type(v) is TracedArray and v.is_weak) for v in (x, y)])
    if type(y) is TracedArray and are_pythons and is_caught(ZeroDivisionError):
        fail_if(equal(y.value, const(0, y.type.dtype)), ZeroDivisionError("division by zero"))


def whole(x: TracedArray) -> TracedArray:
    """A number that becomes an integer."""
    if x.type.kind != "f":
        return x
    one = _for_which_not(isnan, ValueError("cannot convert float NaN to integer"), x.value)
    return fresh(_for_which_not(isinf, OverflowError("cannot convert float infinity to integer"), one))


def _for_which_not(test: Callable[[Value], Value], error: Exception, x: Value) -> Value:
    if not is_caught(type(error)):
        return x
    fail_if(test(x), error)
    return select(test(x), const(0, x.dtype), x)


def in_domain(name: str, made: TracedArray, args: tuple[Any, ...]) -> None:
    """What a function of `math` makes of numbers."""
    if made.type.dtype != "f64":
        return
    error = OverflowError("math range error") if name in _OVERFLOWING else ValueError("math domain error")
    given = [value_of(x, "f64") for x in args if type(x) is TracedArray]
    if is_caught(ValueError):
        is_number = _every([invert(isnan(x)) for x in given])
        fail_if(logical_and(isnan(made.value), is_number), ValueError("math domain error"))
    if is_caught(type(error)):
        is_finite = _every([isfinite(x) for x in given])
        fail_if(logical_and(isinf(made.value), is_finite), error)


def _every(tests: list[Value]) -> Value:
    made = tests[0]
    for test in tests[1:]:
        made = logical_and(made, test)
    return made
