"""Powers and roots."""

from __future__ import annotations

from typing import Any, final

from pliant.core.ir import Const, Namespace, Tangents, Value, Values, const
from pliant.ops.base import Elementwise, Unary, fit, sum_of
from pliant.ops.bits import bitwise_or
from pliant.ops.compare import equal, less_equal
from pliant.ops.elementwise import is_float
from pliant.ops.select import select
from pliant.rewrite.rule import rewrite, rule


@final
class Pow(Elementwise):
    """xʸ; a whole number to a negative whole power raises ValueError, as in NumPy.

    ∂/∂y is taken as 0 where xʸ is 0 or x ≤ 0: there it is 0, or does not exist.
    """

    domain = "iufc"
    ufunc = "power"

    def torch(self, torch: Namespace, x: Any, y: Any) -> Any:
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


RULES = (power_one, power_two, power_minus_one, power_zero, power_three)
