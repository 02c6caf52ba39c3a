"""Generators of seeds that are known only at run time, as `np.random.SeedSequence` makes their states: the seed's
words, and zeros, are hashed into a pool of four, which is stirred, and hashed out again.

M. E. O'Neill, Developing a seed_seq Alternative (2015).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from pliant.frontend.random.bits import Bits
from pliant.frontend.random.generator import TracedGenerator
from pliant.frontend.random.words import U64, WORD

POOL: Final = 4
START_IN, TIMES_IN, START_OUT, TIMES_OUT = 0x43B0D7E5, 0x931E8875, 0x8B51F9DD, 0x58F38DED
LEFT, RIGHT = U64(0xCA01F9DD), U64(0x4973F715)
HALF: Final = U64(16)
SEEDS: Final = np.random.default_rng()
"""Where the states of generators without a seed come from."""


def fresh(seeds: TracedGenerator) -> TracedGenerator:
    """A generator without a seed: in another state at each call."""
    bits = Bits(*seeds.parts)
    words = np.array([bits.next64(), bits.next64(), bits.next64() | U64(1), bits.next64()])
    bits.store(seeds.parts)
    return TracedGenerator(np.random.Generator, (words, np.zeros(2, np.uint32)))


def any_seed(seeds: TracedGenerator) -> Any:
    """A seed of 32 bits, another one at each call."""
    bits = Bits(*seeds.parts)
    word = bits.next64() & WORD
    bits.store(seeds.parts)
    return np.int64(word)


def seeded(seed: Any) -> TracedGenerator:
    """The generator of a seed, which is not negative."""
    if seed < 0:
        raise ValueError("expected non-negative integer")
    both = np.asarray(seed).astype(np.uint64)[()]
    words = _state([both & WORD, both >> U64(32), U64(0), U64(0)])
    more_low = words[3] << U64(1) | U64(1)
    more_high = words[2] << U64(1) | words[3] >> U64(63)
    low = more_low + words[1]  # one step from 0, and then the seed is added
    high = more_high + words[0] + U64(low < more_low)
    parts = np.array([low, high, more_low, more_high]), np.zeros(2, np.uint32)
    bits = Bits(*parts)
    bits.next64()
    bits.store(parts)
    return TracedGenerator(np.random.Generator, parts)


def _state(entropy: Any) -> Any:
    """Four words of 64 bits."""
    pool = _stirred(entropy)
    found: list[Any] = []
    times = START_OUT
    for n in range(8):
        x = pool[n % POOL] ^ U64(times)
        times = times * TIMES_OUT % 2**32
        x = x * U64(times) & WORD
        found.append(x ^ x >> HALF)
    return [found[2 * n] | found[2 * n + 1] << U64(32) for n in range(4)]


def _stirred(entropy: Any) -> Any:
    pool: list[Any] = []
    times = START_IN
    for x in entropy:
        x, times = _hashed(x, times)
        pool.append(x)
    for source in range(POOL):
        for target in range(POOL):
            if source != target:
                x, times = _hashed(pool[source], times)
                mixed = (LEFT * pool[target] & WORD) + WORD + U64(1) - (RIGHT * x & WORD) & WORD
                pool[target] = mixed ^ mixed >> HALF
    return pool


def _hashed(x: Any, times: int) -> Any:
    x = x ^ U64(times)
    times = times * TIMES_IN % 2**32
    x = x * U64(times) & WORD
    return x ^ x >> HALF, times
