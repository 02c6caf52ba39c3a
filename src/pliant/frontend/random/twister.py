"""The Mersenne Twister, the source of random bits of `np.random` itself, and the numbers that are drawn of it there.

M. Matsumoto and T. Nishimura, Mersenne Twister: A 623-Dimensionally Equidistributed Uniform Pseudorandom Number
Generator, ACM Trans. Model. Comput. Simul. 8(1), 1998.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from pliant.frontend.random.words import U64, UNIT, WORD, word
from pliant.frontend.sampled import Sampled

COUNT: Final = 624
FAR: Final = 397
U32: Final = np.uint32
TOP: Final = U32(1 << 31)
REST: Final = U32((1 << 31) - 1)
TWIST: Final = U32(0x9908B0DF)


class Twister:
    """What a draw reads of a state: `key` are its words, of which those before `place` are drawn; `has_other` is
    whether `other` is a normal number that is left of the last pair."""

    PARTS = ("key", "place", "has_other", "other")

    def __init__(self, key: Any, place: Any, has_other: Any, other: Any) -> None:
        self.key, self.place = key, place[0]
        self.has_other, self.other = has_other[0], other[0]

    def store(self, parts: Any) -> None:
        """Write what has changed."""
        key, place, has_other, other = parts
        key[...], place[0] = self.key, self.place
        has_other[0], other[0] = self.has_other, self.other

    def next32(self) -> Any:
        """32 bits, in a word of 64."""
        place = np.int64(self.place)
        is_end = place >= COUNT
        self.key = twisted(self.key, COUNT if is_end else 0)
        place = 0 if is_end else place
        self.place = np.int32(place + 1)
        return mixed(self.key[place])

    def next_two(self) -> tuple[Any, Any]:
        """32 bits, and the next 32: the words are twisted once, if the first are the last of those before."""
        place = np.int64(self.place)
        last = self.key[COUNT - 1]
        is_end = place >= COUNT - 1
        self.key = twisted(self.key, COUNT if is_end else 0)
        place = place - COUNT if is_end else place
        self.place = np.int32(place + 2)
        return mixed(np.where(place < 0, last, self.key[np.maximum(place, 0)])), mixed(self.key[place + 1])

    def next64(self) -> Any:
        """64 bits."""
        high, low = self.next_two()
        return high << U64(32) | low

    def uniform(self) -> Any:
        """A number from 0 up to 1."""
        return of_two(self)

    def normal(self) -> Any:
        """A standard normal number: one of a pair, by G. Marsaglia's polar method."""
        return of_pair(self)

    def exponential(self) -> Any:
        """A standard exponential number."""
        return -np.log(1.0 - self.uniform())


def mixed(x: Any) -> Any:
    """The bits that are drawn of a word."""
    x = x ^ x >> U32(11)
    x = x ^ x << U32(7) & U32(0x9D2C5680)
    x = x ^ x << U32(15) & U32(0xEFC60000)
    return U64(x ^ x >> U32(18))


def twisted(key: Any, count: Any) -> Any:
    """The next words: all of them, or the same if there are none. (A branch would copy them.)"""
    for n in range(count):
        x = key[n] & TOP | key[(n + 1) % COUNT] & REST
        key[n] = key[(n + FAR) % COUNT] ^ x >> U32(1) ^ (TWIST if x & U32(1) else U32(0))
    return key


@Sampled
def of_two(bits: Any) -> Any:
    """A number from 0 up to 1, of two words."""
    high, low = bits.next_two()
    return ((high >> U64(5) << U64(26)) + (low >> U64(6))) * UNIT


@Sampled
def of_pair(bits: Any) -> Any:
    """What is left of the last pair, or one of a new one."""
    is_left = bits.has_other != 0
    x = y = 0.0
    square = 1.0
    again = not is_left  # a loop of no steps: a branch would copy the words
    while again:
        x = 2.0 * bits.uniform() - 1.0
        y = 2.0 * bits.uniform() - 1.0
        square = x * x + y * y
        again = square >= 1.0 or square == 0.0
    scale = np.sqrt(-2.0 * np.log(square) / square)
    made = bits.other if is_left else scale * y
    bits.other = np.float64(0.0 if is_left else scale * x)
    bits.has_other = np.int32(0 if is_left else 1)
    return made


def seeded(seed: Any) -> Any:
    """The words of a seed."""
    key = np.empty(COUNT, U32)
    x = word(seed)
    for n in range(COUNT):
        key[n] = U32(x)
        x = U64(1812433253) * (x ^ x >> U64(30)) + U64(n + 1) & WORD
    return key
