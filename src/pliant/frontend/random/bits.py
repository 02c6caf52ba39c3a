"""PCG64, the source of random bits of `np.random.default_rng`: 128 bits that are multiplied and permuted.

M. E. O'Neill, PCG: A Family of Simple Fast Space-Efficient Statistically Good Algorithms for Random Number Generation
(2014): the next state is `state * MULTIPLIER + increment`, and its output XSL RR 128/64.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.frontend.parameters import high_product
from pliant.frontend.random import twister, ziggurat
from pliant.frontend.random.words import HIGH, LOW, U64, UNIT, UNIT32, WORD


class Bits:
    """What a draw reads of a generator, and writes back: `words` are the state and the increment, each its lower and
    its upper half; `half` is whether 32 bits are left of the last 64, and these."""

    PARTS = ("low", "high", "more_low", "more_high", "has_half", "left")

    def __init__(self, words: Any, half: Any) -> None:
        self.low, self.high = words[0], words[1]
        self.more_low, self.more_high = words[2], words[3]
        self.has_half, self.left = half[0], half[1]

    def store(self, parts: Any) -> None:
        """Write what has changed."""
        words, half = parts
        words[0], words[1] = self.low, self.high
        half[0], half[1] = self.has_half, self.left

    def next64(self) -> Any:
        """64 bits."""
        low = self.low * LOW
        high = high_product(self.low, LOW) + self.high * LOW + self.low * HIGH
        self.low = low + self.more_low
        self.high = high + self.more_high + U64(self.low < low)
        mixed, turn = self.high ^ self.low, self.high >> U64(58)
        return mixed >> turn | mixed << (U64(64) - turn & U64(63))

    def next32(self) -> Any:
        """32 bits, in a word of 64: the lower half of 64, then the upper."""
        if self.has_half:
            self.has_half = np.uint32(0)
            return U64(self.left)
        both = self.next64()
        self.has_half, self.left = np.uint32(1), np.uint32(both >> U64(32))
        return both & WORD

    def uniform(self) -> Any:
        """A number from 0 up to 1."""
        return (self.next64() >> U64(11)) * UNIT

    def uniform32(self) -> Any:
        """A number from 0 up to 1, of 32 bits."""
        return np.float32(self.next32() >> U64(8)) * UNIT32

    def normal(self) -> Any:
        """A standard normal number."""
        return ziggurat.normal(self)

    def exponential(self) -> Any:
        """A standard exponential number."""
        return ziggurat.exponential(self)


def bits_of(parts: Any) -> Any:
    """The bits of a generator that consists of these arrays."""
    return Bits(*parts) if len(parts) == 2 else twister.Twister(*parts)
