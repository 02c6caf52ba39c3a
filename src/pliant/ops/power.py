"""Powers and roots."""

from __future__ import annotations

import math
from typing import Any, Final, final

from pliant.core.ir import Const, Namespace, Tangents, Value, Values, const
from pliant.ops.base import Elementwise, Unary, can_be_read, fit, sum_of
from pliant.ops.bits import bitwise_or
from pliant.ops.compare import equal, less, less_equal
from pliant.ops.complex import complex as as_complex
from pliant.ops.complex import imag, real
from pliant.ops.elementwise import is_float
from pliant.ops.select import select
from pliant.rewrite.rule import rewrite, rule

MOST: Final = 100
"""Whole powers of complex numbers are products below it, as in NumPy."""


@final
class Pow(Elementwise):
    """xʸ; a whole number to a negative whole power raises ValueError, as in NumPy.

    ∂/∂y is taken as 0 where xʸ is 0 or x ≤ 0: there it is 0, or does not exist.
    """

    domain = "iufc"
    ufunc = "power"

    def torch(self, torch: Namespace, x: Any, y: Any) -> Any:
        is_whole = not (x.is_floating_point() or x.is_complex())
        if is_whole and can_be_read(torch, y) and bool((y < 0).any()):
            raise ValueError("Integers to negative integer powers are not allowed.")
        return torch.pow(x, y)

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        (x, n), (dx, dn) = xs, dxs
        (y,) = self.apply(x, n)
        if not y.type.is_float or (dx is None and dn is None):
            return (y,), (None,)
        from pliant.ops.transcendental import log  # whose derivatives are powers and roots

        terms = list[Value]()
        if dx is not None:
            terms.append(dx * slope(x, n))
        if dn is not None:
            undefined = equal(y, 0)
            if y.dtype[0] == "f":
                undefined = bitwise_or(undefined, less_equal(x, 0))
            terms.append(dn * select(undefined, 0, y * log(x)))
        return (y,), (fit(sum_of(terms), y.type),)


def slope(x: Value, n: Value) -> Value:
    """∂xⁿ/∂x = n·xⁿ⁻¹, which is 0 for n = 0 also where x = 0."""
    if isinstance(n.op, Const) and n.op.value == 2:
        return 2.0 * x
    if isinstance(n.op, Const) and n.op.value == 3:
        return 3.0 * (x * x)
    if isinstance(n.op, Const) and n.op.value != 0:
        return n * power(x, n.op.value - 1)
    return select(equal(n, 0), 0, n * power(x, n - 1.0))


@final
class Sqrt(Unary):
    """√x; the derivative at 0 is infinite."""

    def tangent(self, y: Value, x: Value, dx: Value) -> Value:
        return dx / (2.0 * y)


@final
class Cbrt(Unary):
    """∛x, negative for negative x: `f[…] → f[…]`."""

    domain = "f"

    def torch(self, torch: Namespace, x: Any) -> Any:
        y = torch.copysign(torch.pow(torch.abs(x), 1 / 3), x)
        better = y - (y * y - x / y) / (3 * y)  # a step of Newton's, for the last digits
        return torch.where((y == 0) | torch.isinf(y), y, better)

    def tangent(self, y: Value, x: Value, dx: Value) -> Value:
        return dx / (3.0 * (y * y))


@final
class Hypot(Elementwise):
    """√(x² + y²) without overflow: `f[…], f[…] → f[…]`. The derivative at (0, 0) is 0."""

    commutative = True
    domain = "f"

    def partials(self, y: Value, a: Value, b: Value) -> Tangents:
        size = select(equal(y, 0), 1, y)
        return a / size, b / size


power, sqrt, cbrt, hypot = Pow(), Sqrt(), Cbrt(), Hypot()


def square(x: Value) -> Value:
    """x·x."""
    return x * x


def reciprocal(x: Value) -> Value:
    """1 / x."""
    return 1.0 / x


@rule
def power_one(x: Any) -> tuple[Any, Any]:
    """x¹ → x."""
    return power(x, 1), x


@rule(level="stable")
def power_two(x: Any) -> tuple[Any, Any]:
    """x² → x·x, which is rounded once."""
    return power(x, 2), x * x


@rule(level="stable", where=is_float)
def power_minus_one(x: Any) -> tuple[Any, Any]:
    """x⁻¹ → 1 / x, which is rounded once."""
    return power(x, -1.0), 1.0 / x


@rewrite(Pow, reads=(Const,))
def power_zero(value: Value) -> Value | None:
    """x⁰ → 1, of NaN too."""
    is_zero = isinstance(value.args[1].op, Const) and value.args[1].op.value == 0
    return fit(const(1, value.dtype), value.type) if is_zero else None


@rule(level="algebraic")
def power_three(x: Any) -> tuple[Any, Any]:
    """x³ → x·x·x, rounded twice."""
    return power(x, 3), x * x * x


@rewrite(Pow, level="stable", reads=(Const,))
def power_of_complex(value: Value) -> Value | None:
    """xⁿ → products, for a complex x and a whole n, in NumPy's order; of 0 a negative one is NaN."""
    x, exponent = value.args
    if x.dtype[0] != "c" or not isinstance(exponent.op, Const) or x.shape != value.shape:
        return None
    n = complex(exponent.op.value)
    if n.imag or not n.real.is_integer() or abs(n.real) >= MOST or n.real in (-1, 0, 1, 2):
        return None
    made = whole_power(x, int(abs(n.real)))
    return made if n.real > 0 else select(equal(x, 0), complex(math.nan, math.nan), 1.0 / made)


@rewrite(Pow, reads=(Const,))
def power_of_integer(value: Value) -> Value | None:
    """xⁿ → products, for whole numbers, whose products wrap around alike in any order."""
    x, n = value.args
    if x.dtype[0] not in "iu" or not isinstance(n.op, Const) or x.shape != value.shape:
        return None
    return whole_power(x, int(n.op.value.real)) if 2 < n.op.value.real < MOST else None


def if_root(x: Any) -> Any:
    """√x·√x: x, and NaN for negative x. The derivative at 0 is 1, where that of the root is infinite."""
    if not isinstance(x, Value):  # a hole of a rule, of which the left side alone is looked at
        return x
    return x * select(less(x, 0), const(math.nan, x.dtype), 1)


@rewrite(Pow, level="stable", reads=(Sqrt,))
def power_of_sqrt(value: Value) -> Value | None:
    """(√x)ⁿ → x^(n/2), for x ≥ 0, else NaN, and n > 2: rounded once, and a derivative at 0 that is not 0·∞."""
    root, n = value.args
    if value.dtype[0] != "f" or not isinstance(n.op, Const) or root.shape != value.shape or n.op.value.real <= 2:
        return None
    return power(if_root(root.args[0]), n.op.value.real / 2)


def whole_power(x: Value, n: int) -> Value:
    """xⁿ as products of those of x, x², x⁴ and so on that it takes; of complex numbers 1 times these."""
    if n == 3:
        return x * (x * x)
    made = None
    while n:
        if n % 2:
            made = made * x if made is not None else once(x) if x.dtype[0] == "c" else x
        n //= 2
        x = x * x if n else x
    assert made is not None
    return made


def once(x: Value) -> Value:
    """1·x for a complex x, whose zeros have other signs, and whose infinite parts make NaN of others."""
    a, b = real(x), imag(x)
    return as_complex(a - 0.0 * b, b + 0.0 * a)


RULES = (
    power_one, power_two, power_minus_one, power_zero, power_three, power_of_complex, power_of_integer, power_of_sqrt,
)  # fmt: skip
