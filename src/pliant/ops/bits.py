"""Bits and whole numbers; of bools, the bit operations are the logical ones."""

from __future__ import annotations

from typing import Any, final

from pliant.core.ir import Const, Value
from pliant.ops.base import Elementwise, Namespace, is_const
from pliant.ops.compare import not_equal
from pliant.ops.select import Select
from pliant.rewrite.rule import rewrite, rule


class Bits(Elementwise):
    """Acts on the bits of whole numbers and bools."""

    domain = "biu"


@final
class BitwiseAnd(Bits):
    """x ∧ y, bit by bit."""

    commutative = True


@final
class BitwiseOr(Bits):
    """x ∨ y, bit by bit."""

    commutative = True


@final
class BitwiseXor(Bits):
    """x ⊕ y, bit by bit."""

    commutative = True


@final
class Invert(Bits):
    """¬x, bit by bit."""

    arity = 1

    def torch(self, torch: Namespace, x: Any) -> Any:
        return torch.bitwise_not(x)


@final
class LeftShift(Bits):
    """x·2ʸ without the bits that leave the dtype; 0 if y is its width or more."""

    domain = "iu"

    def torch(self, torch: Namespace, x: Any, y: Any) -> Any:
        fits = (y >= 0) & (y < 8 * x.itemsize)
        moved = torch.bitwise_left_shift(x, torch.where(fits, y, torch.zeros_like(y)))
        return torch.where(fits, moved, torch.zeros_like(moved))


@final
class RightShift(Bits):
    """⌊x / 2ʸ⌋; 0, or −1 for negative x, if y is the width of the dtype or more."""

    domain = "iu"

    def torch(self, torch: Namespace, x: Any, y: Any) -> Any:
        fits = (y >= 0) & (y < 8 * x.itemsize)
        moved = torch.bitwise_right_shift(x, torch.where(fits, y, torch.zeros_like(y)))
        return torch.where(fits, moved, -(x < 0).to(x.dtype) if x.dtype.is_signed else torch.zeros_like(moved))


@final
class BitwiseCount(Bits):
    """How many bits of |x| are set: `i[…] → u8[…]`."""

    arity = 1

    domain = "iu"
    makes = "u8"

    def torch(self, torch: Namespace, x: Any) -> Any:
        size = torch.abs(x) if x.dtype.is_signed else x
        count = size & 1
        for n in range(1, 8 * x.itemsize):  # -2ⁿ⁻¹ is its own size, and one bit
            count = count + ((size >> n) & 1)
        return count.to(torch.uint8)


@final
class Gcd(Bits):
    """The greatest common divisor of |x| and |y|."""

    commutative = True
    domain = "iu"


@final
class Lcm(Bits):
    """The least common multiple of |x| and |y|."""

    commutative = True
    domain = "iu"


@final
class HighProduct(Bits):
    """⌊x·y / 2ⁿ⌋ of words of n bits: the half of a product that does not fit."""

    commutative = True
    domain = "u"

    def array(self, xp: Namespace, x: Any, y: Any) -> Any:
        half = 4 * x.dtype.itemsize
        low = (1 << half) - 1
        left, right = (x >> half) * (y & low), (x & low) * (y >> half)
        middle = ((x & low) * (y & low) >> half) + (left & low) + (right & low)
        return (x >> half) * (y >> half) + (left >> half) + (right >> half) + (middle >> half)


bitwise_and, bitwise_or, bitwise_xor, invert = BitwiseAnd(), BitwiseOr(), BitwiseXor(), Invert()
left_shift, right_shift, bitwise_count = LeftShift(), RightShift(), BitwiseCount()
gcd, lcm, high_product = Gcd(), Lcm(), HighProduct()


def truth(x: Value) -> Value:
    """Whether each element differs from 0; NaN does."""
    return x if x.dtype == "bool" else not_equal(x, 0)


def logical_and(x: Value, y: Value) -> Value:
    """Whether both differ from 0."""
    return bitwise_and(truth(x), truth(y))


def logical_or(x: Value, y: Value) -> Value:
    """Whether one differs from 0."""
    return bitwise_or(truth(x), truth(y))


def logical_xor(x: Value, y: Value) -> Value:
    """Whether just one differs from 0."""
    return bitwise_xor(truth(x), truth(y))


def logical_not(x: Value) -> Value:
    """Whether x is 0."""
    return invert(truth(x))


def is_bool(x: Value) -> bool:
    """Whether the bits are truth values."""
    return x.dtype == "bool"


@rule
def invert_of_invert(x: Any) -> tuple[Any, Any]:
    """¬¬x → x."""
    return invert(invert(x)), x


@rule
def and_of_same(x: Any) -> tuple[Any, Any]:
    """x ∧ x → x."""
    return bitwise_and(x, x), x


@rule
def or_of_same(x: Any) -> tuple[Any, Any]:
    """x ∨ x → x."""
    return bitwise_or(x, x), x


@rule(where=is_bool)
def and_true(x: Any) -> tuple[Any, Any]:
    """x ∧ true → x."""
    return bitwise_and(x, True), x


@rule
def or_false(x: Any) -> tuple[Any, Any]:
    """x ∨ false → x."""
    return bitwise_or(x, False), x


@rule
def select_of_invert(c: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """select(¬c, x, y) → select(c, y, x)."""
    return Select()(invert(c), x, y), Select()(c, y, x)


@rewrite(Select, reads=(Const,))
def select_false_true(value: Value) -> Value | None:
    """select(c, false, true) → ¬c."""
    condition, x, y = value.args
    is_opposite = value.dtype == "bool" and is_const(x, False) and is_const(y, True)
    return invert(condition) if is_opposite else None


RULES = (
    invert_of_invert,
    and_of_same,
    or_of_same,
    and_true,
    or_false,
    select_of_invert,
    select_false_true,
)
