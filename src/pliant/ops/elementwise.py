"""Arithmetic on each element, and what connects dtypes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from pliant.core.ir import Const, Namespace, Tangents, Value, Values
from pliant.core.types import DTYPES, Type
from pliant.errors import DTypeError
from pliant.ops.base import Elementwise, Linear, Unary, fit, unfit
from pliant.ops.compare import equal
from pliant.ops.complex import conj, real
from pliant.ops.select import Find, select, sparing


@final
@dataclass(frozen=True)
class Add(Linear, Elementwise):
    """x + y; of bools, their `or`."""

    commutative = True
    domain = "biufc"
    linear = (0, 1)

    def array(self, xp: Namespace, x: Any, y: Any) -> Any:
        return x + y

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        (y,) = self.apply(*xs)
        match dxs if y.type.is_float else (None, None):
            case None, None:
                return (y,), (None,)
            case (dx, None) | (None, dx):
                return (y,), (fit(dx, y.type),)
            case dx, dy:
                return (y,), (self(dx, dy),)

    def transpose(self, ct: Value, *xs: Value | Type) -> Tangents:
        return tuple(unfit(ct, x) if isinstance(x, Type) else None for x in xs)

    def support(self, find: Find, x: Value, y: Value) -> Value | None:
        a = find(x)
        b = find(y) if a is not None else None
        if a is None or b is None or not (a.shape == b.shape == x.shape == y.shape):
            return None
        return a if a is b else self(a, b)


@final
@dataclass(frozen=True)
class Sub(Linear, Elementwise):
    """x − y; not of bools."""

    domain = "iufc"
    linear = (0, 1)

    def array(self, xp: Namespace, x: Any, y: Any) -> Any:
        return x - y

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        (y,) = self.apply(*xs)
        match dxs if y.type.is_float else (None, None):
            case None, None:
                return (y,), (None,)
            case dx, None:
                return (y,), (fit(dx, y.type),)
            case None, dx:
                return (y,), (fit(neg(dx), y.type),)
            case dx, dy:
                return (y,), (self(dx, dy),)

    def transpose(self, ct: Value, a: Value | Type, b: Value | Type) -> Tangents:
        return (
            unfit(ct, a) if isinstance(a, Type) else None,
            neg(unfit(ct, b)) if isinstance(b, Type) else None,
        )


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
        return tuple(
            unfit(scaled(ct, other), x) if isinstance(x, Type) else None  # the other one is known
            for x, other in ((a, b), (b, a))
        )

    def support(self, find: Find, a: Value, b: Value) -> Value | None:
        # 0·b is 0 only if b is finite
        if isinstance(a.op, Const):
            return find(b)
        return find(a) if isinstance(b.op, Const) else None


@final
@dataclass(frozen=True)
class Div(Elementwise):
    """x / y: `f[…], f[…] → f[…]`."""

    domain = "fc"

    def array(self, xp: Namespace, x: Any, y: Any) -> Any:
        return x / y

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        (_, b), (da, db) = xs, dxs
        y = self(*xs)
        if da is None and db is None:
            return (y,), (None,)
        rise = neg(y * db) if da is None else da if db is None else da - y * db
        return (y,), (fit(rise / b, y.type),)

    def transpose(self, ct: Value, a: Value | Type, b: Value | Type) -> Tangents:
        return unfit(sparing(lambda c: c / conj(b), ct), a), None


@final
@dataclass(frozen=True)
class Neg(Linear, Unary):
    """−x; not of bools."""

    domain = "iufc"

    def array(self, xp: Namespace, x: Any) -> Any:
        return -x

    def transpose(self, ct: Value, x: Value | Type) -> Tangents:
        return (self(ct),)

    def support(self, find: Find, x: Value) -> Value | None:
        return find(x)


@final
@dataclass(frozen=True)
class Convert(Linear, Unary):
    """The same numbers in another dtype, as `astype` does: complex → real drops the imaginary part."""

    dtype: str
    domain = "biufc"

    def infer(self, x: Type) -> Type:
        if self.dtype not in DTYPES:
            raise DTypeError(f"convert: unknown dtype {self.dtype!r}")
        return x.with_dtype(self.dtype)

    def array(self, xp: Namespace, x: Any) -> Any:
        drops = "complex" in str(x.dtype) and self.dtype[0] not in "cb"
        return xp.astype(xp.real(x) if drops else x, getattr(xp, DTYPES[self.dtype]))

    def torch(self, torch: Namespace, x: Any) -> Any:
        return x.to(getattr(torch, DTYPES[self.dtype]))

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        (y,) = self.apply(*xs)
        (dx,) = dxs
        return (y,), (convert(dx, self.dtype) if dx is not None and y.type.is_float else None,)

    def transpose(self, ct: Value, x: Value | Type) -> Tangents:
        return (convert(ct, x.dtype),)

    def support(self, find: Find, x: Value) -> Value | None:
        return find(x)


@final
@dataclass(frozen=True)
class Sign(Unary):
    """−1, 0 or 1 with the sign of x; z / |z| of a complex z, 0 at 0."""

    domain = "iufc"

    def tangent(self, y: Value, x: Value, dx: Value) -> Value | None:
        if x.dtype[0] != "c":
            return None
        along = convert(real(dx * conj(y)), x.dtype)  # the part that changes |x|
        size = absolute(x)
        return select(equal(size, 0), 0, (dx - y * along) / convert(size, x.dtype))


@final
@dataclass(frozen=True)
class Abs(Unary):
    """|x|, real of a complex x. The derivative at 0 is 0."""

    domain = "iufc"
    makes = "real"

    def tangent(self, y: Value, x: Value, dx: Value) -> Value:
        return real(dx * conj(sign(x)))


add, sub, mul, div, neg = Add(), Sub(), Mul(), Div(), Neg()
sign, absolute = Sign(), Abs()


def convert(x: Value, dtype: str) -> Value:
    """`Convert` as a function; nothing is made where it would change nothing."""
    return x if x.dtype == dtype else Convert(dtype)(x)


def scaled(ct: Value, known: Any) -> Value:
    """The cotangent times the conjugate of what the tangent was multiplied with."""
    if isinstance(known.op, Const):
        return ct * conj(known)
    return sparing(lambda c: c * conj(known), ct)


RULES = ()
