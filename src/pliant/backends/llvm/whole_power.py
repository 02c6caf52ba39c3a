"""Powers with a known whole exponent as products, by squaring from the exponent's first digit on: rounded once, where
products of rounded ones would be wrong by half a unit of the last place for each. Close to the least normal number they
are within 1.4 units.

Numbers of 32 bits are multiplied in 64. Those of 64 bits have what each product has lost beside them:

    (h + l)² = h² + (2·h·l + e),  (h + l)·(x + y) = h·x + (h·y + l·x + e),  e what is lost of the first product

(S. Graillat, "Accurate floating-point product and exponentiation", 2009). All of these are powers of x, or of 1/x, that
are no larger or smaller than the result: powers overflow, and lose digits, where they should.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

from pliant.backends.llvm.conversion import convert_real
from pliant.backends.llvm.quotient import has_fused
from pliant.backends.llvm.reals import Real, real
from pliant.core.data import frozen

if TYPE_CHECKING:
    from pliant.backends.llvm.emit import Emitter

FEWEST: Final = 3
LARGEST: Final = 1024
"""Exponents of some twenty products, which are quicker than a power."""


def is_whole(exponent: float, dtype: str) -> bool:
    """Whether powers are products."""
    if not exponent.is_integer() or not FEWEST <= abs(exponent) <= LARGEST:
        return False
    return dtype == "f32" or (dtype == "f64" and has_fused())


def whole_power(e: Emitter, dtype: str, base: str, exponent: int) -> str:
    """A power that is a product."""
    if dtype == "f64":
        return precise_power(real(e, dtype, base), exponent).text
    made = power(real(e, "f64", convert_real(e, dtype, "f64", base)), abs(exponent))
    return convert_real(e, "f64", dtype, (made if exponent > 0 else made.like(1.0) / made).text)


def power(x: Real, exponent: int) -> Real:
    """A power with an exponent of at least 1, each of whose products is rounded."""
    made = x
    for digit in digits_after_first(exponent):
        made = made * made * x if digit else made * made
    return made


@final
@frozen
class Precise:
    """A number, and what it has lost. Where that is not finite the number alone counts."""

    high: Real
    low: Real | None = None

    def __mul__(self, other: Precise) -> Precise:
        made = self.high * other.high
        low = (-made).plus(self.high, other.high)
        low = low.plus(self.high, other.low) if other.low else low
        low = low.plus(self.low, other.high) if self.low else low
        return Precise(made, low)

    def squared(self) -> Precise:
        """Its square."""
        made = self.high * self.high
        low = (-made).plus(self.high, self.high)
        return Precise(made, low.plus(self.high + self.high, self.low) if self.low else low)

    def rounded(self) -> Real:
        """The number nearest to it."""
        if self.low is None:
            return self.high
        better = self.high + self.low
        return better.is_("one", 0.0).where(better, self.high)


def precise_power(x: Real, exponent: int) -> Real:
    """A power whose products are not rounded but at last."""
    base = Precise(x) if exponent > 0 else reciprocal(x)
    made = base
    for digit in digits_after_first(abs(exponent)):
        made = made.squared() * base if digit else made.squared()
    return made.rounded()


def reciprocal(x: Real) -> Precise:
    """1/x."""
    one = x.like(1.0)
    inverse = one / x
    return Precise(inverse, one.plus(-inverse, x) * inverse)


def digits_after_first(n: int) -> list[bool]:
    """The binary digits of n from the second on."""
    return [digit == "1" for digit in f"{n:b}"[1:]]
