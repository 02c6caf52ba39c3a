"""Arithmetic on each element, and what connects dtypes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from pliant.core.ir import Namespace, Tangents, Value, const
from pliant.core.types import DTYPES, Type
from pliant.errors import DTypeError
from pliant.ops.base import Elementwise, Linear, fit, like, unfit


@final
@dataclass(frozen=True)
class Add(Linear, Elementwise):
    """x + y; of bools, their `or`."""

    commutative = True
    domain = "biufc"
    linear = (0, 1)

    def array(self, xp: Namespace, x: Any, y: Any) -> Any:
        return x + y

    def jvp(self, xs: tuple[Value, ...], dxs: Tangents) -> tuple[tuple[Value, ...], Tangents]:
        return Elementwise.jvp(self, xs, dxs) if None in dxs else Linear.jvp(self, xs, dxs)

    def partials(self, y: Value, a: Value, b: Value) -> Tangents:
        one = const(1, y.dtype)
        return one, one

    def transpose(self, ct: Value, *xs: Value | Type) -> Tangents:
        return tuple(unfit(ct, x) if isinstance(x, Type) else None for x in xs)


@final
@dataclass(frozen=True)
class Convert(Elementwise):
    """The same numbers in another dtype, as `astype` does: complex → real drops the imaginary part."""

    dtype: str
    domain = "biufc"

    def infer(self, x: Type) -> Type:
        if self.dtype not in DTYPES:
            raise DTypeError(f"convert: unknown dtype {self.dtype!r}")
        return x.with_dtype(self.dtype)

    def array(self, xp: Namespace, x: Any) -> Any:
        return xp.astype(x, getattr(xp, DTYPES[self.dtype]))

    def torch(self, torch: Namespace, x: Any) -> Any:
        return x.to(getattr(torch, DTYPES[self.dtype]))

    def jvp(self, xs: tuple[Value, ...], dxs: Tangents) -> tuple[tuple[Value, ...], Tangents]:
        (y,) = self.apply(*xs)
        (dx,) = dxs
        return (y,), (convert(dx, self.dtype) if dx is not None and y.type.is_float else None,)

    def transpose(self, ct: Value, x: Value | Type) -> Tangents:
        return (convert(ct, x.dtype),)


@final
@dataclass(frozen=True)
class Mul(Elementwise):
    """x·y; of bools, their `and`."""

    commutative = True
    domain = "biufc"

    def array(self, xp: Namespace, x: Any, y: Any) -> Any:
        return x * y

    def partials(self, y: Value, a: Value, b: Value) -> Tangents:
        return b, a

    def transpose(self, ct: Value, a: Value | Type, b: Value | Type) -> Tangents:
        if isinstance(a, Type):
            assert isinstance(b, Value)
            return unfit(fit(ct * conj(b), Type(ct.dtype, ct.shape)), a), None
        return None, unfit(conj(a) * ct, b)


@final
@dataclass(frozen=True)
class Conj(Elementwise):
    """The complex conjugate."""

    domain = "c"
    linear = (0,)

    def jvp(self, xs: tuple[Value, ...], dxs: Tangents) -> tuple[tuple[Value, ...], Tangents]:
        return self.apply(*xs), tuple(None if d is None else self(d) for d in dxs)

    def transpose(self, ct: Value, x: Value | Type) -> Tangents:
        return (self(ct),)


def conj(x: Any) -> Any:
    """The complex conjugate; a real value unchanged."""
    return Conj()(x) if isinstance(x, Value) and x.dtype[0] == "c" else x


def convert(x: Value, dtype: str) -> Value:
    """`Convert` as a function; nothing is made where it would change nothing."""
    return x if x.dtype == dtype else Convert(dtype)(x)


def add(x: Any, y: Any) -> Value:
    """x + y; a Python number takes the other's dtype."""
    return Add()(like(y, x), like(x, y))


def mul(x: Any, y: Any) -> Value:
    """x·y; a Python number takes the other's dtype."""
    return Mul()(like(y, x), like(x, y))


RULES = ()
