"""Whole numbers of a range, each as likely as the others: the upper half of a product with what is drawn, which is
drawn again where it would be one of the few too many.

D. Lemire, Fast Random Integer Generation in an Interval, ACM Trans. Model. Comput. Simul. 29(1), 2019.
"""

from __future__ import annotations

from typing import Any, Final

from pliant.frontend.parameters import high_product
from pliant.frontend.random.words import U64, WORD, word
from pliant.frontend.sampled import Sampled

ALL: Final = U64(2**64 - 1)
WIDTHS: Final = {"bool": 1, "int8": 8, "uint8": 8, "int16": 16, "uint16": 16}
"""Bits of types of which several numbers come from one draw."""


def from_to(bits: Any, low: Any, last: Any) -> Any:
    """A number from `low` to `last`, as a word."""
    return word(low) + upto(bits, word(last) - word(low))


@Sampled
def upto(bits: Any, most: Any) -> Any:
    """A number from 0 up to `most`, a word of 64 bits, included."""
    if most == U64(0):
        return U64(0)
    if most < WORD:
        return _of_half(bits, most + U64(1))
    if most == WORD:
        return bits.next32()
    if most == ALL:
        return bits.next64()
    return _of_word(bits, most + U64(1))


def _of_half(bits: Any, count: Any) -> Any:
    product = bits.next32() * count
    if product & WORD < count:
        few = (WORD + U64(1) - count) % count
        while product & WORD < few:
            product = bits.next32() * count
    return product >> U64(32)


def _of_word(bits: Any, count: Any) -> Any:
    word = bits.next64()
    if word * count < count:
        few = (ALL - count + U64(1)) % count
        while word * count < few:
            word = bits.next64()
    return high_product(word, count)


@Sampled
def masked(bits: Any, most: Any) -> Any:
    """A number from 0 up to `most`, included: of as many bits, drawn until one is not greater; none for 0."""
    mask = _mask(most)
    drawn, again = U64(0), most != U64(0)  # a loop of no steps: a branch would copy the words
    while again:
        drawn = (bits.next32() if most <= WORD else bits.next64()) & mask
        again = drawn > most
    return drawn


def masked_from_to(bits: Any, low: Any, last: Any) -> Any:
    """A number from `low` to `last`, as a word, of as many bits."""
    return word(low) + masked(bits, word(last) - word(low))


def _mask(most: Any) -> Any:
    """All bits up to the highest of a word."""
    for shift in (1, 2, 4, 8, 16, 32):
        most = most | most >> U64(shift)
    return most


class Short:
    """Parts of 32 bits, one after the other: `width` bits each, of which `count` are left. is_masked: whether those
    that are too great are drawn again."""

    def __init__(self, width: int, *, is_masked: bool) -> None:
        self.width, self.left, self.count, self.is_masked = width, U64(0), 0, is_masked

    def next(self, bits: Any) -> Any:
        """The next part."""
        if self.count == 0:
            self.left, self.count = bits.next32(), 32 // self.width - 1
        else:
            self.left, self.count = self.left >> U64(self.width), self.count - 1
        return self.left & U64(2**self.width - 1)

    def upto(self, bits: Any, most: Any) -> Any:
        """A number from 0 up to `most`, included."""
        last = U64(2**self.width - 1)
        if most == U64(0):
            return U64(0)
        if most >= last:
            return self.next(bits)
        return self._masked(bits, most) if self.is_masked else self._scaled(bits, most)

    def _masked(self, bits: Any, most: Any) -> Any:
        mask = _mask(most)
        drawn = self.next(bits) & mask
        while drawn > most:
            drawn = self.next(bits) & mask
        return drawn

    def _scaled(self, bits: Any, most: Any) -> Any:
        last, count = U64(2**self.width - 1), most + U64(1)
        product = self.next(bits) * count
        if product & last < count:
            few = (last - most) % count
            while product & last < few:
                product = self.next(bits) * count
        return product >> U64(self.width)

    def from_to(self, bits: Any, low: Any, last: Any) -> Any:
        """A number from `low` to `last`, as a word."""
        return word(low) + self.upto(bits, word(last) - word(low))
