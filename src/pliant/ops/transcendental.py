"""Exponentials, logarithms, circular and hyperbolic functions, real and complex."""

from __future__ import annotations

import math
from typing import final

from pliant.core.ir import Tangents, Value
from pliant.ops.base import Elementwise, Unary, like
from pliant.ops.bits import bitwise_and
from pliant.ops.compare import equal, isinf
from pliant.ops.power import hypot, sqrt
from pliant.ops.select import select

LN2, LN10 = math.log(2), math.log(10)


@final
class Exp(Unary):
    """eˣ."""

    def tangent(self, y: Value, x: Value, dx: Value) -> Value:
        return dx * y


@final
class Exp2(Unary):
    """2ˣ."""

    def tangent(self, y: Value, x: Value, dx: Value) -> Value:
        return dx * (LN2 * y)


@final
class Expm1(Unary):
    """eˣ − 1, exact to the last digits where x is tiny."""

    def tangent(self, y: Value, x: Value, dx: Value) -> Value:
        return dx * exp(x)  # y + 1 would lose the digits of a tiny eˣ


@final
class Log(Unary):
    """Natural logarithm."""

    def tangent(self, y: Value, x: Value, dx: Value) -> Value:
        return dx / x


@final
class Log2(Unary):
    """Logarithm to base 2."""

    def tangent(self, y: Value, x: Value, dx: Value) -> Value:
        return dx / (LN2 * x)


@final
class Log10(Unary):
    """Logarithm to base 10."""

    def tangent(self, y: Value, x: Value, dx: Value) -> Value:
        return dx / (LN10 * x)


@final
class Log1p(Unary):
    """log(1 + x), exact to the last digits where x is tiny."""

    def tangent(self, y: Value, x: Value, dx: Value) -> Value:
        return dx / (1.0 + x)


@final
class Sin(Unary):
    """sin x, x in radians."""

    def tangent(self, y: Value, x: Value, dx: Value) -> Value:
        return dx * cos(x)


@final
class Cos(Unary):
    """cos x, x in radians."""

    def tangent(self, y: Value, x: Value, dx: Value) -> Value:
        return -(dx * sin(x))


@final
class Tan(Unary):
    """tan x, x in radians."""

    def tangent(self, y: Value, x: Value, dx: Value) -> Value:
        return dx * (1.0 + y * y)


@final
class Arcsin(Unary):
    """The angle in [−π/2, π/2] whose sine is x."""

    def tangent(self, y: Value, x: Value, dx: Value) -> Value:
        return dx / sqrt((1.0 - x) * (1.0 + x))


@final
class Arccos(Unary):
    """The angle in [0, π] whose cosine is x."""

    def tangent(self, y: Value, x: Value, dx: Value) -> Value:
        return -(dx / sqrt((1.0 - x) * (1.0 + x)))


@final
class Arctan(Unary):
    """The angle in [−π/2, π/2] whose tangent is x."""

    def tangent(self, y: Value, x: Value, dx: Value) -> Value:
        return dx / (1.0 + x * x)


@final
class Arctan2(Elementwise):
    """The angle in [−π, π] of the point (x, y), operands y, x. The derivative at (0, 0) is 0."""

    domain = "f"

    def partials(self, y: Value, a: Value, b: Value) -> Tangents:
        r = hypot(a, b)
        r = select(equal(r, 0), math.inf, r)
        return b / r / r, -(a / r / r)  # r² may overflow or vanish


@final
class Sinh(Unary):
    """sinh x = (eˣ − e⁻ˣ) / 2."""

    def tangent(self, y: Value, x: Value, dx: Value) -> Value:
        return dx * cosh(x)


@final
class Cosh(Unary):
    """cosh x = (eˣ + e⁻ˣ) / 2."""

    def tangent(self, y: Value, x: Value, dx: Value) -> Value:
        return dx * sinh(x)


@final
class Tanh(Unary):
    """tanh x = sinh x / cosh x."""

    def tangent(self, y: Value, x: Value, dx: Value) -> Value:
        return dx * (1.0 - y * y)


@final
class Arcsinh(Unary):
    """The number whose hyperbolic sine is x."""

    def tangent(self, y: Value, x: Value, dx: Value) -> Value:
        return dx / (sqrt(1.0 + x * x) if x.dtype[0] == "c" else hypot(x, 1.0))


@final
class Arccosh(Unary):
    """The number ≥ 0 whose hyperbolic cosine is x ≥ 1."""

    def tangent(self, y: Value, x: Value, dx: Value) -> Value:
        return dx / (sqrt(x - 1.0) * sqrt(x + 1.0))  # √(x² − 1) has other branches


@final
class Arctanh(Unary):
    """The number whose hyperbolic tangent is x."""

    def tangent(self, y: Value, x: Value, dx: Value) -> Value:
        return dx / ((1.0 - x) * (1.0 + x))


class LogSum(Elementwise):
    """log(baseˣ + baseʸ) to the same base, without overflow."""

    commutative = True
    domain = "f"

    def gap(self, y: Value, a: Value, b: Value, log_half: float) -> Value:
        """a − y, which is log half for equal infinities, where it would be NaN."""
        edge = select(equal(a, b), like(y, log_half), like(y, 0.0))
        return select(bitwise_and(equal(a, y), isinf(a)), edge, a - y)


@final
class Logaddexp(LogSum):
    """log(eˣ + eʸ) without overflow."""

    def partials(self, y: Value, a: Value, b: Value) -> Tangents:
        return exp(self.gap(y, a, b, -LN2)), exp(self.gap(y, b, a, -LN2))


@final
class Logaddexp2(LogSum):
    """log₂(2ˣ + 2ʸ) without overflow."""

    def partials(self, y: Value, a: Value, b: Value) -> Tangents:
        return exp2(self.gap(y, a, b, -1.0)), exp2(self.gap(y, b, a, -1.0))


exp, exp2, expm1, log, log2, log10, log1p = Exp(), Exp2(), Expm1(), Log(), Log2(), Log10(), Log1p()
sin, cos, tan, arcsin, arccos, arctan, arctan2 = Sin(), Cos(), Tan(), Arcsin(), Arccos(), Arctan(), Arctan2()
sinh, cosh, tanh, arcsinh, arccosh, arctanh = Sinh(), Cosh(), Tanh(), Arcsinh(), Arccosh(), Arctanh()
logaddexp, logaddexp2 = Logaddexp(), Logaddexp2()

RULES = ()
