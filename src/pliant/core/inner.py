"""The functions that a primitive holds: a loop's body, the arms of a branch.

Passes go into them by `map_functions`, so that none needs to know which primitives there are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from functools import cache, wraps
from typing import Any, TypeVar, cast

from pliant.core.ir import Function, Op

T = TypeVar("T")


def answered(question: Callable[[Function], T]) -> Callable[[Function], T]:
    """A question about a function that is asked at each of the levels around it, and answered once."""

    @wraps(question)
    def asked(fn: Function) -> T:
        if question not in fn.answers:
            fn.answers[question] = question(fn)
        return fn.answers[question]

    return asked


def settling(change: Callable[[Function], Function]) -> Callable[[Function], Function]:
    """A pass that is not run again on a function that it has left as it was."""

    @wraps(change)
    def changed(fn: Function) -> Function:
        if change in fn.answers:
            return fn
        new = change(fn)
        if new is fn:
            fn.answers[change] = True
        return new

    return changed


def functions_of(op: Op) -> dict[str, Function]:
    """The function-valued fields of an op, e.g. a loop's body, in their order."""
    names = function_fields(type(op))
    return {k: v for k in names if type(v := getattr(op, k)) is Function} if names else {}


@cache
def function_fields(of: type[Op]) -> tuple[str, ...]:
    """The fields of a primitive that may be functions."""
    return tuple([f.name for f in fields(cast("Any", of)) if "Function" in str(f.type)])


def map_functions(op: Op, f: Any) -> Op:
    """The op with `f` applied to each function-valued field; the op itself where that changes nothing."""
    found = functions_of(op)
    made = {k: f(v) for k, v in found.items()}
    return op if all([made[k] is v for k, v in found.items()]) else replace(cast("Any", op), **made)
