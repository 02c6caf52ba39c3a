"""Bits and whole numbers; of bools, the bit operations are the logical ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from pliant.core.ir import Value
from pliant.ops.base import Elementwise
from pliant.ops.compare import not_equal


class Bits(Elementwise):
    """Acts on the bits of whole numbers and bools."""

    domain = "biu"


@final
@dataclass(frozen=True)
class BitwiseAnd(Bits):
    """x ∧ y, bit by bit."""

    commutative = True


@final
@dataclass(frozen=True)
class BitwiseOr(Bits):
    """x ∨ y, bit by bit."""

    commutative = True


@final
@dataclass(frozen=True)
class BitwiseXor(Bits):
    """x ⊕ y, bit by bit."""

    commutative = True


@final
@dataclass(frozen=True)
class Invert(Bits):
    """¬x, bit by bit."""

    arity = 1


@final
@dataclass(frozen=True)
class LeftShift(Bits):
    """x·2ʸ without the bits that leave the dtype; 0 if y is its width or more."""

    domain = "iu"


@final
@dataclass(frozen=True)
class RightShift(Bits):
    """⌊x / 2ʸ⌋; 0, or −1 for negative x, if y is the width of the dtype or more."""

    domain = "iu"


@final
@dataclass(frozen=True)
class BitwiseCount(Bits):
    """How many bits of |x| are set: `i[…] → u8[…]`."""

    arity = 1

    domain = "iu"
    makes = "u8"


@final
@dataclass(frozen=True)
class Gcd(Bits):
    """The greatest common divisor of |x| and |y|."""

    commutative = True
    domain = "iu"


@final
@dataclass(frozen=True)
class Lcm(Bits):
    """The least common multiple of |x| and |y|."""

    commutative = True
    domain = "iu"


bitwise_and, bitwise_or, bitwise_xor, invert = BitwiseAnd(), BitwiseOr(), BitwiseXor(), Invert()
left_shift, right_shift, bitwise_count = LeftShift(), RightShift(), BitwiseCount()
gcd, lcm = Gcd(), Lcm()


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


RULES: tuple[Any, ...] = ()
