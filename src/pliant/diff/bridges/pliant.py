"""In Pliant: a primitive that calls back."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from pliant.core.ir import Op, Tangents, Value, Values
from pliant.core.types import Type
from pliant.diff.foreign import Map, Other, only
from pliant.frontend.array import fresh
from pliant.frontend.convert import as_traced
from pliant.ops.elementwise import add
from pliant.ops.shape import Slice, concatenate, reshape


def in_pliant(function: Any, x: Any, constants: tuple[Any, ...]) -> Any:
    """The value, as a traced array."""
    values = [as_traced(c).value for c in constants]
    made = function.result_type(x, constants)
    return fresh(Foreign(Map(function, "value"), made)(x.value, *values), is_array=True)


@final
@dataclass(frozen=True)
class Foreign(Op):
    """One of the maps of a function outside the program, of its operands and then constants."""

    map: Map
    y: Type

    def infer(self, x: Type, *rest: Type) -> Type:
        return x if self.map.is_like_x else self.y

    def array(self, xp: Any, *xs: Any) -> Any:
        return np.array(self.map.on_numpy(*xs))  # the function may hold what it returns

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        count = self.map.count
        if any([d is not None for d in dxs[count:]]):
            raise only("with respect to its first argument")
        terms = [self._other(self.map.tangent(n, xs, d), xs) for n, d in enumerate(dxs[:count]) if d is not None]
        return (self(*xs),), (functools.reduce(add, terms) if terms else None,)

    def transpose(self, ct: Value, *xs: Value | Type) -> Tangents:
        return tuple([
            self._other(self.map.transposed(n, xs, ct), xs) if isinstance(x, Type) else None for n, x in enumerate(xs)
        ])  # fmt: skip

    def _other(self, made: Other, xs: Any) -> Value:
        """Another map of the same function, for the same constants."""
        return Foreign(made[0], self.y)(*made[1], *xs[self.map.count :])

    def batch(self, n: int, batched: tuple[bool, ...], *xs: Value) -> Value:
        rows: list[Value] = [
            self(*[_row(x, i) if b else x for x, b in zip(xs, batched, strict=True)]) for i in range(n)
        ]
        return concatenate(tuple([reshape(row, (1, *row.shape)) for row in rows]), 0)


def _row(x: Value, i: int) -> Value:
    rest = x.shape[1:]
    return reshape(Slice((i, *[0] * len(rest)), (1,) * len(x.shape), (1, *rest))(x), rest)
