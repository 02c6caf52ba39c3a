"""In MLX: an `mx.custom_function` for each map. Under `mx.vmap` MLX has no values to call back with."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.diff.foreign import Map, Other
from pliant.diff.optional import package


def in_mlx(function: Any, x: Any, constants: tuple[Any, ...]) -> Any:
    """The value, as an array of MLX."""
    return _apply(package("mlx.core", "MLX", "mlx[cpu]"), constants, Map(function, "value"), x)


def _apply(mx: Any, constants: tuple[Any, ...], of: Map, *operands: Any) -> Any:
    """One of the maps, of arrays of MLX. MLX gives and takes a single operand without a tuple."""

    def other(made: Other) -> Any:
        return _apply(mx, constants, made[0], *made[1])

    @mx.custom_function
    def called(*xs: Any) -> Any:
        return mx.array(of.on_numpy(*map(np.array, xs), *constants))

    @called.vjp
    def backward(xs: Any, ct: Any, y: Any) -> Any:
        if of.count == 1:
            return other(of.cotangent(0, (xs,), ct))
        return tuple([other(of.cotangent(n, xs, ct)) for n in range(of.count)])

    @called.jvp
    def forward(xs: Any, dxs: Any) -> Any:
        if of.count == 1:
            return other(of.tangent(0, (xs,), dxs))
        terms = [other(of.tangent(n, xs, d)) for n, d in enumerate(dxs) if d is not None]
        return sum(terms[1:], terms[0])

    assert backward is not None
    assert forward is not None
    return called(*operands)
