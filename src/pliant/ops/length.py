"""Lengths: roots of sums of squares, and what becomes of them when they are squared again.

A length has a kink where it is 0; its derivative there is taken as 0, the middle of all slopes. The
square of a length has no kink: the rules take the root away before it is differentiated.
"""

from __future__ import annotations

from typing import Any, final

from pliant.core.ir import Namespace, Value
from pliant.ops.base import Unary
from pliant.ops.compare import equal
from pliant.ops.complex import Imag, Real
from pliant.ops.elementwise import absolute
from pliant.ops.power import Sqrt, hypot
from pliant.ops.select import select
from pliant.rewrite.rule import rule


@final
class Length(Unary):
    """√x of a sum of squares x ≥ 0: `f[…] → f[…]`. The derivative at 0 is 0."""

    domain = "f"

    def array(self, xp: Namespace, *xs: Any) -> Any:
        return xp.sqrt(xs[0])

    def tangent(self, y: Value, x: Value, dx: Value) -> Value:
        zero = equal(y, 0)
        return select(zero, 0, dx / (2.0 * select(zero, 1, y)))

    def kernel(self, k: Any, i: Any, *xs: Any) -> Any:
        return k.scalar(Sqrt(), xs[0](i))


length = Length()


def is_real(x: Value) -> bool:
    """Whether x is no complex number."""
    return x.dtype[0] != "c"


def is_complex(x: Value) -> bool:
    """Whether x is a complex number."""
    return x.dtype[0] == "c"


@rule(level="stable")
def square_of_length(x: Any) -> tuple[Any, Any]:
    """(√x)² → x, for x ≥ 0, as all that lengths are made of."""
    return length(x) * length(x), x


@rule(where=is_real)
def square_of_abs(x: Any) -> tuple[Any, Any]:
    """|x|² → x·x."""
    return absolute(x) * absolute(x), x * x


@rule(level="stable", where=is_complex)
def square_of_complex_abs(x: Any) -> tuple[Any, Any]:
    """|z|² → (re z)² + (im z)², for finite z: no root to round."""
    return absolute(x) * absolute(x), Real()(x) * Real()(x) + Imag()(x) * Imag()(x)


@rule(level="stable")
def square_of_hypot(x: Any, y: Any) -> tuple[Any, Any]:
    """hypot(x, y)² → x² + y², for finite x and y: no root to round."""
    return hypot(x, y) * hypot(x, y), x * x + y * y


RULES = (square_of_length, square_of_abs, square_of_complex_abs, square_of_hypot)
