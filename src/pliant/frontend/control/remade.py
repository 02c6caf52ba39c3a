"""Numbers that an exception holds, made again where it is handled.

try:
    if x[0] > 0:                the statement is tried first, in a region of its own
        raise Far(2 * x[0])
except Far as error:
    y = error.args[0]           2 * x[0], in the region of the handler
"""

from __future__ import annotations

from typing import Any

from pliant.core.ir import Param, Value, substitute
from pliant.frontend.array import TracedArray
from pliant.frontend.control.copies import scopes_of
from pliant.frontend.control.unbound import Unbound
from pliant.frontend.number import kind_of, with_kind
from pliant.frontend.tracing import current


def with_numbers_of_here(error: BaseException) -> BaseException:
    """The exception, whose numbers were made where the statement was tried, with these made again."""
    scopes = scopes_of(current())
    error.args = tuple([_of_here(x, scopes) for x in error.args])
    for name, x in list(vars(error).items()):
        setattr(error, name, _of_here(x, scopes))
    return error


def _of_here(x: Any, scopes: set[int]) -> Any:
    """Something that an exception holds; an error where it is used if it is a number of a step that has ended."""
    if type(x) is not TracedArray or x.concrete is not None:
        return x
    value = _again(x.value, scopes)
    if value is not None:
        return x if value is x.value else with_kind(value, kind_of(x))
    return Unbound(
        "a number that this exception holds is known only at run time, and was computed in a step of a loop",
        "bind it to a name before the raise, and read that",
    )


def _again(value: Value, scopes: set[int]) -> Value | None:
    """A value, made again in the scope there is; None if it depends on what only another one has."""
    known, todo, seen = dict[Value, Value](), [value], set[Value]()
    while todo:
        v = todo.pop()
        if v.node.scope in scopes:
            known[v] = v
        elif isinstance(v.op, Param):
            return None
        elif v not in seen:
            seen.add(v)
            todo += v.args
    return substitute((value,), known)[0]
