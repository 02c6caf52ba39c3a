"""In Pliant: a primitive that calls back."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from pliant.core.ir import Op, Tangents, Value, Values
from pliant.core.types import Type
from pliant.diff.bridges.jax import in_program_of_jax
from pliant.diff.bridges.torch import in_program_of_torch
from pliant.diff.foreign import Map, Other, only
from pliant.errors import ArgumentError, UnsupportedError
from pliant.frontend.array import fresh
from pliant.frontend.convert import as_traced
from pliant.frontend.tracing import current
from pliant.ops.elementwise import add
from pliant.ops.shape import Slice, concatenate, reshape
from pliant.transforms.evaluate import short_dtype


def in_pliant(function: Any, x: Any, constants: tuple[Any, ...]) -> Any:
    """The value, as a traced array."""
    values = [as_traced(c).value for c in constants]
    made = function.result_type(x, constants, _held)
    return fresh(Foreign(Map(function, "value"), made)(x.value, *values), is_array=True)


def _held(x: Any) -> Any:
    """What a traced array holds in the call for which this is traced; None if that is not known."""
    deciding = current().outermost.needs.deciding
    found = None if deciding is None else deciding.held(as_traced(x).value)
    return None if found is None else np.array(found)[()]


@final
@dataclass(frozen=True)
class Foreign(Op):
    """One of the maps of a function outside the program, of its operands and then constants."""

    map: Map
    y: Type

    def infer(self, x: Type, *rest: Type) -> Type:
        return x if self.map.is_like_x else self.y

    def array(self, xp: Any, *xs: Any) -> Any:
        name = self.map.function.__name__
        if any([getattr(getattr(x, "dtype", None), "kind", "") == "O" for x in xs]):
            raise UnsupportedError(
                f"{name} is a DifferentiateWith: CasADi and SymPy, whose programs are expressions, cannot run it",
                hint="give them the function itself, or use another system outside",
            )
        made = np.array(self.map.on_numpy(*xs))  # the function may hold what it returns
        given, wanted = Type(short_dtype(made.dtype), made.shape), self.infer(*[_type(x) for x in xs])
        if given != wanted:
            raise ArgumentError(f"{name}: expected a result {wanted}, as before, got {given}")
        return made

    def jax(self, jnp: Any, *xs: Any) -> Any:
        return in_program_of_jax(self.map, self.y, xs)

    def torch(self, torch: Any, *xs: Any) -> Any:
        return in_program_of_torch(self.map, xs)

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


def _type(x: Any) -> Type:
    return Type(short_dtype(x.dtype), tuple(x.shape))


def _row(x: Value, i: int) -> Value:
    rest = x.shape[1:]
    return reshape(Slice((i, *[0] * len(rest)), (1,) * len(x.shape), (1, *rest))(x), rest)
