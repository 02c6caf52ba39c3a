"""The memory of NumPy's generators as arrays: what a program reads and writes, NumPy reads and writes too."""

from __future__ import annotations

import ctypes
from functools import cache, lru_cache
from typing import Any, Final

import numpy as np

from pliant.core.origin import here
from pliant.errors import UnsupportedError

_HALF: Final = 8
"""Bytes of the struct of a PCG64 before its half: the address of its words."""


KEPT: Final = 256
"""Generators whose arrays are the same objects when they are asked for again."""


class _Owner:
    """Keeps a generator, in the buffers of its arrays."""

    def __init__(self, generator: Any) -> None:
        self.generator = generator


@lru_cache(maxsize=KEPT)
def arrays_of(generator: np.random.Generator) -> tuple[Any, Any]:
    """Words and half of a generator, in its own memory; they keep it. UnsupportedError for other bits than PCG64's."""
    bits: Any = generator.bit_generator
    if type(bits) is not np.random.PCG64 or not _is_as_expected():
        raise UnsupportedError(
            f"random numbers of a {type(bits).__name__} generator are drawn inside a traced function",
            hint="np.random.default_rng(seed) makes one of PCG64, whose numbers can be drawn here",
        ).at(("here", here()))
    return _arrays(generator, bits.ctypes.state_address)


def _arrays(generator: np.random.Generator, address: int) -> tuple[Any, Any]:
    # A struct of the words' address, whether there is a half, and the half.
    words: Any = (ctypes.c_uint64 * 4).from_address(ctypes.c_uint64.from_address(address).value)
    half: Any = (ctypes.c_uint32 * 2).from_address(address + _HALF)
    words.owner = half.owner = _Owner(generator)
    return np.frombuffer(words, np.uint64), np.frombuffer(half, np.uint32)


@cache
def _is_as_expected() -> bool:
    """Whether the words lie as they do where compilers have integers of 128 bits."""
    bits = np.random.PCG64(0)
    words, _ = _arrays(np.random.Generator(bits), bits.ctypes.state_address)
    state, more = bits.state["state"]["state"], bits.state["state"]["inc"]
    return words.tolist() == [part for x in (state, more) for part in (x % 2**64, x >> 64)]


def owner_of(words: Any) -> np.random.Generator | None:
    """The generator whose memory an array is; None of other arrays."""
    base: Any = getattr(words, "base", None)
    while base is not None and not hasattr(base, "owner"):
        base = base.obj if isinstance(base, memoryview) else getattr(base, "base", None)
    return None if base is None else base.owner.generator


def copied(words: Any, half: Any) -> np.random.Generator:
    """A new generator with the state of another one."""
    made = np.random.Generator(np.random.PCG64(0))
    for target, source in zip(arrays_of(made), (words, half), strict=True):
        target[...] = source
    return made
