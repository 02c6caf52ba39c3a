"""Whole parts and remainders, and what a floating-point number is made of."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, final

from pliant.core.ir import Namespace, Tangents, Value, Values
from pliant.core.types import Type
from pliant.errors import DTypeError
from pliant.ops.base import Elementwise, Linear, Unary, common_shape, fit, like, unfit
from pliant.ops.compare import equal, isinf, signbit
from pliant.ops.elementwise import Convert, convert
from pliant.ops.select import select
from pliant.rewrite.rule import rewrite


class Rounding(Unary):
    """A whole number near x; flat between its steps."""

    domain = "f"


@final
class Floor(Rounding):
    """⌊x⌋, the largest whole number ≤ x."""


@final
class Ceil(Rounding):
    """⌈x⌉, the smallest whole number ≥ x."""


@final
class Trunc(Rounding):
    """x without its fraction."""


@final
class Rint(Rounding):
    """The nearest whole number, the even one of two; of a complex number, of both parts."""

    domain = "fc"

    def torch(self, torch: Namespace, x: Any) -> Any:
        return torch.complex(torch.round(x.real), torch.round(x.imag)) if x.is_complex() else torch.round(x)


class Quotient(Elementwise):
    """Of whole numbers by 0 it is 0."""

    domain = "iuf"

    def jax(self, jnp: Namespace, x: Any, y: Any) -> Any:
        compute = getattr(jnp, self.name)
        if jnp.issubdtype(y.dtype, jnp.inexact):
            return compute(x, y)
        return jnp.where(y == 0, jnp.zeros_like(y), compute(x, jnp.where(y == 0, jnp.ones_like(y), y)))


@final
class FloorDivide(Quotient):
    """⌊x / y⌋; 0 for whole x and y = 0."""

    def torch(self, torch: Namespace, x: Any, y: Any) -> Any:
        return whole_quotient(torch, x, y) if not x.is_floating_point() else torch.floor_divide(x, y)


@final
class Remainder(Quotient):
    """x − y·⌊x / y⌋, with the sign of y; 0 for whole x and y = 0."""

    def torch(self, torch: Namespace, x: Any, y: Any) -> Any:
        if x.is_floating_point():
            return torch.remainder(x, y)
        return torch.where(y == 0, torch.zeros_like(x), x - y * whole_quotient(torch, x, y))

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        return without_multiple(self, xs, dxs, floor_divide)


@final
class Fmod(Quotient):
    """x without the multiples of y, with the sign of x; 0 for whole x and y = 0."""

    def torch(self, torch: Namespace, x: Any, y: Any) -> Any:
        if x.is_floating_point():
            return torch.fmod(x, y)
        return torch.where((y == 0) | (y == -1), torch.zeros_like(x), torch.fmod(x, torch.where(y == 0, y + 1, y)))

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        return without_multiple(self, xs, dxs, truncated_quotient)


def whole_quotient(torch: Namespace, x: Any, y: Any) -> Any:
    """⌊x / y⌋ of PyTorch's integers, for which it stops where y is 0, or the quotient does not fit."""
    divisor = torch.where((y == 0) | (y == -1), torch.ones_like(y), y)
    found = torch.floor_divide(x, divisor)
    found = torch.where(y == 0, torch.zeros_like(found), found)
    return torch.where(y == -1, -x, found) if x.dtype.is_signed else found


def truncated_quotient(x: Value, y: Value) -> Value:
    """x / y without its fraction."""
    return trunc(x / y)


def without_multiple(
    op: Elementwise, xs: Values, dxs: Tangents, count: Callable[[Value, Value], Value]
) -> tuple[Values, Tangents]:
    """The derivative of x − y·count(x, y), count being constant between its steps."""
    (y,), (da, db) = op.apply(*xs), dxs
    if not y.type.is_float or (da is None and db is None):
        return (y,), (None,)
    if db is None:
        return (y,), (fit(da, y.type) if da is not None else None,)
    multiple = db * count(*xs)
    return (y,), (fit(-multiple if da is None else da - multiple, y.type),)


@final
class Heaviside(Elementwise):
    """0 for x < 0, 1 for x > 0, and y for x = 0."""

    domain = "f"

    def torch(self, torch: Namespace, x: Any, y: Any) -> Any:
        return torch.where(torch.isnan(x), x, torch.heaviside(x, y))

    def partials(self, y: Value, a: Value, b: Value) -> Tangents:
        return None, select(equal(a, 0), like(y, 1), 0)


@final
class Copysign(Elementwise):
    """|x| with the sign of y."""

    domain = "f"

    def partials(self, y: Value, a: Value, b: Value) -> Tangents:
        return select(equal(signbit(a), signbit(b)), like(y, 1), -1), None


@final
class Nextafter(Elementwise):
    """The next representable number after x towards y; its derivative is that of x."""

    domain = "f"

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        (y,) = self.apply(*xs)
        return (y,), (None if dxs[0] is None else fit(dxs[0], y.type),)


@final
class Spacing(Rounding):
    """The distance from x to the next representable number away from 0, with the sign of x."""

    def torch(self, torch: Namespace, x: Any) -> Any:
        away = torch.copysign(torch.full_like(x, math.inf), x)
        return torch.nextafter(x, away) - x


_FORMS: Final = {2: (42, 15, 10, "int16"), 4: (360, 127, 23, "int32"), 8: (2700, 1023, 52, "int64")}
"""By bytes of a float, for scaling by thirds, so that each power is one in itself, whose bits are known: the greatest
exponent that matters, the bias, the bits of the fraction, and the integers of as many bytes."""


@final
class Ldexp(Linear, Elementwise):
    """x·2ⁿ: `f[…], i[…] → f[…]`."""

    domain = "f"

    def infer(self, x: Type, n: Type) -> Type:
        if x.kind != "f" or n.dtype not in ("i32", "i64"):
            raise DTypeError(f"ldexp: wants a float and an i32 or i64, got {x} and {n}")
        return Type(x.dtype, common_shape(self.name, (x, n)))

    def jax(self, jnp: Namespace, x: Any, n: Any) -> Any:
        # jnp.ldexp is not linear for JAX
        most, bias, digits, whole = _FORMS[x.dtype.itemsize]
        n = jnp.clip(n, -most, most)
        for part in (n // 3, n // 3, n - 2 * (n // 3)):
            x = x * ((part.astype(whole) + bias) << digits).view(x.dtype)
        return x

    def torch(self, torch: Namespace, x: Any, n: Any) -> Any:
        most, bias, digits, whole = _FORMS[x.itemsize]
        n = torch.clamp(n, -most, most)
        for part in (n // 3, n // 3, n - 2 * (n // 3)):
            x = x * ((part.to(getattr(torch, whole)) + bias) << digits).view(x.dtype)
        return x

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        (y,) = self.apply(*xs)
        return (y,), (None if dxs[0] is None else self(dxs[0], xs[1]),)

    def transpose(self, ct: Value, x: Value | Type, n: Value) -> Tangents:
        return unfit(self(ct, n), x), None


@final
class Mantissa(Unary):
    """m of x = m·2ᵉ with 1/2 ≤ |m| < 1, the first result of `frexp`."""

    domain = "f"

    def array(self, xp: Namespace, x: Any) -> Any:
        return xp.frexp(x)[0]

    def tangent(self, y: Value, x: Value, dx: Value) -> Value:
        return ldexp(dx, -exponent(x))


@final
class Exponent(Unary):
    """e of x = m·2ᵉ with 1/2 ≤ |m| < 1, the second result of `frexp`: `f[…] → i32[…]`."""

    domain = "f"
    makes = "i32"

    def array(self, xp: Namespace, x: Any) -> Any:
        return xp.frexp(x)[1]


floor, ceil, trunc, rint = Floor(), Ceil(), Trunc(), Rint()
floor_divide, remainder, fmod = FloorDivide(), Remainder(), Fmod()
heaviside, copysign, nextafter, spacing = Heaviside(), Copysign(), Nextafter(), Spacing()
ldexp, mantissa, exponent = Ldexp(), Mantissa(), Exponent()


def frexp(x: Value) -> tuple[Value, Value]:
    """m and e of x = m·2ᵉ."""
    return mantissa(x), exponent(x)


def modf(x: Value) -> tuple[Value, Value]:
    """Fraction and whole part of x, both with its sign."""
    whole = trunc(x)
    return copysign(select(isinf(x), 0, x - whole), x), whole


def deg2rad(x: Value) -> Value:
    """Degrees in radians."""
    return x * (math.pi / 180)


def rad2deg(x: Value) -> Value:
    """Radians in degrees."""
    return x * (180 / math.pi)


@rewrite(Rounding, reads=(Floor, Ceil, Trunc, Rint))
def rounding_of_rounded(value: Value) -> Value | None:
    """⌊⌊x⌋⌋ → ⌊x⌋, and so for all that round to whole numbers."""
    (x,) = value.args
    both = (Floor, Ceil, Trunc, Rint)
    return x if isinstance(value.op, both) and isinstance(x.op, both) else None


@rewrite(Convert, reads=(Trunc,))
def convert_of_trunc(value: Value) -> Value | None:
    """convert(trunc x) → convert x, to whole numbers, which leaves the fraction out too."""
    (x,) = value.args
    return convert(x.args[0], value.dtype) if isinstance(x.op, Trunc) and value.dtype[0] in "iu" else None


RULES = (rounding_of_rounded, convert_of_trunc)
