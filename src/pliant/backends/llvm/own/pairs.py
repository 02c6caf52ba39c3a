"""Numbers with twice the digits: a sum of two, the second no larger than the last digit of the first."""

from __future__ import annotations

from typing import final

from pliant.backends.llvm.own.formula import Body, Num, Real
from pliant.core.data import frozen


@final
@frozen
class Pair:
    """high + low."""

    high: Num
    low: Num

    def times(self, other: Pair) -> Pair:
        """The product, but for its last digits."""
        b = self.high.body
        product = times(b, self.high, other.high)
        return summed(product.high, product.low + b.fma(self.high, other.low, self.low * other.high))

    def plus(self, other: Pair) -> Pair:
        """The sum with a number that is no larger."""
        total = summed(self.high, other.high)
        return summed(total.high, total.low + (self.low + other.low))


def summed(x: Num, y: Num) -> Pair:
    """The exact sum of x and a y that is no larger."""
    total = x + y
    return Pair(total, (x - total) + y)


def sum_of(x: Num, y: Num) -> Pair:
    """The exact sum of two numbers, whichever is larger."""
    total = x + y
    second = total - x
    return Pair(total, (x - (total - second)) + (y - second))


def times(b: Body, x: Real, y: Real) -> Pair:
    """The exact product."""
    product = b.num(x) * y
    return Pair(product, b.fma(x, y, -product))


def quotient(b: Body, x: Num, y: Pair) -> Pair:
    """x/y, but for its last digits."""
    high = x / y.high
    rest = b.fma(-high, y.high, x) - high * y.low
    return Pair(high, rest / y.high)
