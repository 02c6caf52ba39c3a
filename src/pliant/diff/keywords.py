"""What `**options: Unpack[…]` takes, spelled out in the signature that `help` and editors show."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

from pliant.errors import ArgumentError

F = TypeVar("F", bound=Callable[..., Any])

_DEFAULTS: Final = {"has_aux": False, "on_mismatch": "error"}  # of all others None


def keywords(options: Any) -> Callable[[F], F]:
    """A function with the keywords of a TypedDict, shown one by one.

    >>> import inspect, pliant.diff as diff
    >>> list(inspect.signature(diff.jacobian).parameters)
    ['f', 'system', 'x', 'contexts', 'prep', 'out', 'has_aux', 'y']
    """
    shown = [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=_DEFAULTS.get(name), annotation=hint.__forward_arg__
        )
        for name, hint in options.__annotations__.items()
    ]

    def spelled_out(function: F) -> F:
        given = inspect.signature(function)
        rest = [p for p in given.parameters.values() if p.kind is not p.VAR_KEYWORD]
        made: Any = function
        made.__signature__ = given.replace(parameters=[*rest, *shown])
        return function

    return spelled_out


def refuse(operator: str, others: Iterable[str]) -> None:
    """ArgumentError for keywords that an operator does not have, if there are any."""
    for name in others:
        raise ArgumentError(
            f"{operator}: got an unexpected keyword argument {name!r}",
            hint="what f takes beside x follows x: Constant(c), Cache(c), ConstantOrCache(tree) or Active(w)",
        )
