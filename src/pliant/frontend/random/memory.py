"""The memory of NumPy's generators as arrays: what a program reads and writes, NumPy reads and writes too."""

from __future__ import annotations

import ctypes
import struct
from functools import cache, lru_cache
from typing import Any, Final, cast

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
def arrays_of(generator: Any) -> tuple[Any, ...]:
    """The state of a generator, in its own memory; the arrays keep it. UnsupportedError for bits that are not known."""
    is_state = isinstance(generator, np.random.RandomState)
    bits: Any = generator._bit_generator if is_state else generator.bit_generator
    if type(bits) is not (np.random.MT19937 if is_state else np.random.PCG64) or not _is_as_expected():
        raise UnsupportedError(
            f"random numbers of a {type(bits).__name__} generator are drawn inside a traced function",
            hint="np.random.default_rng(seed) makes one of PCG64, whose numbers can be drawn here",
        ).at(("here", here()))
    address = bits.ctypes.state_address
    found = _key(address) + _pair(generator) if is_state else _words(address)
    owner = _Owner(generator)
    for part in found:
        part.owner = owner
    return tuple([np.frombuffer(part, part._type_) for part in found])


def _words(address: int) -> tuple[Any, ...]:
    # A struct of the words' address, whether there is a half, and the half.
    words: Any = (ctypes.c_uint64 * 4).from_address(ctypes.c_uint64.from_address(address).value)
    return words, (ctypes.c_uint32 * 2).from_address(address + _HALF)


def _key(address: int) -> tuple[Any, ...]:
    return (ctypes.c_uint32 * 624).from_address(address), (ctypes.c_int32 * 1).from_address(address + 4 * 624)


def _pair(state: Any) -> tuple[Any, ...]:
    """Whether a normal number is left of the last pair, and this."""
    address = id(state) + _other()
    return (ctypes.c_int32 * 1).from_address(address - 8), (ctypes.c_double * 1).from_address(address)


@cache
def _other() -> int:
    """Where in a `RandomState` a normal number is left, found by leaving one there."""
    state: Any = np.random.RandomState(0)
    place = 0
    for left in (0.12345678912345678, 0.98765432198765432):
        state.set_state((*state.get_state()[:3], 1, left))
        memory = ctypes.string_at(id(state), type(state).__basicsize__)
        found = memory.find(struct.pack("d", left))
        if found < 8 or place not in (0, found) or struct.unpack_from("i", memory, found - 8) != (1,):
            raise UnsupportedError("this version of NumPy keeps the state of np.random in an unknown place")
        place = found
    return place


@cache
def _is_as_expected() -> bool:
    """Whether the words lie as they do where compilers have integers of 128 bits."""
    bits, other = np.random.PCG64(0), np.random.MT19937(0)
    words, _ = _words(bits.ctypes.state_address)
    key, place = _key(other.ctypes.state_address)
    state, more = bits.state["state"]["state"], bits.state["state"]["inc"]
    known = cast("Any", other.state)["state"]
    is_known = list(words) == [part for x in (state, more) for part in (x % 2**64, x >> 64)]
    return is_known and list(key) == known["key"].tolist() and place[0] == known["pos"]


def owner_of(words: Any) -> np.random.Generator | None:
    """The generator whose memory an array is; None of other arrays."""
    base: Any = getattr(words, "base", None)
    while base is not None and not hasattr(base, "owner"):
        base = base.obj if isinstance(base, memoryview) else getattr(base, "base", None)
    return None if base is None else base.owner.generator


def copied(kind: Any, parts: Any) -> Any:
    """A new generator with a state."""
    bits: Any = np.random.PCG64(0) if len(parts) == 2 else np.random.MT19937(0)
    made = kind(bits)
    for target, source in zip(arrays_of(made), parts, strict=True):
        target[...] = source
    return made
