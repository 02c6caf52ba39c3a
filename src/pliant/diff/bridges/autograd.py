"""In HIPS autograd: a primitive for each map."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from pliant.diff.foreign import Map, Other
from pliant.diff.optional import package


def in_autograd(function: Any, x: Any, constants: tuple[Any, ...]) -> Any:
    """The value, as autograd's functions see it."""
    return _apply(package("autograd.extend", "Autograd", "autograd"), constants, Map(function, "value"), x)


def _apply(extend: Any, constants: tuple[Any, ...], of: Map, *operands: Any) -> Any:
    """One of the maps, of arrays or autograd's boxes."""

    def other(made: Other) -> Any:
        return _apply(extend, constants, made[0], *made[1])

    @extend.primitive
    def called(*xs: Any) -> Any:
        return of.on_conjugate(*xs, *constants)[()]

    def backward(n: int, y: Any, *xs: Any) -> Callable[[Any], Any]:
        return lambda ct: other(of.cotangent(n, xs, ct))

    def forward(n: int, dx: Any, y: Any, *xs: Any) -> Any:
        return other(of.tangent(n, xs, dx))

    numbers = range(of.count)
    extend.defvjp(called, *[functools.partial(backward, n) for n in numbers])
    extend.defjvp(called, *[functools.partial(forward, n) for n in numbers])
    return called(*operands)
