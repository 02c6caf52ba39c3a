"""What stands for a generator in a trace, and generators as containers of arrays."""

from __future__ import annotations

from typing import Any, cast, final

import numpy as np
import optree

from pliant.frontend.array import TracedArray
from pliant.frontend.random.memory import arrays_of, copied, owner_of
from pliant.frontend.reference import NAMESPACE


@final
class TracedGenerator:
    """What stands for a generator: its words and what is left of the last one, as arrays. known: one of NumPy's of the
    same state, while that is known."""

    __slots__ = ("half", "known", "words")

    def __init__(self, words: Any, half: Any, known: np.random.Generator | None = None) -> None:
        self.words, self.half, self.known = words, half, known
        for part in (words, half):
            if type(part) is TracedArray:
                part.storage.is_generators = True

    def advanced(self) -> None:
        """Note the state of the known generator after a draw."""
        assert self.known
        words, half = arrays_of(self.known)
        self.words[...], self.half[...] = words.copy(), half.copy()


def _parts(rng: Any) -> tuple[Any, ...]:
    parts = (rng.words, rng.half) if type(rng) is TracedGenerator else arrays_of(rng)
    return parts, None, None


def _rebuilt(_: Any, parts: tuple[Any, ...]) -> Any:
    words, half = parts
    if type(words) is not np.ndarray:
        return TracedGenerator(words, half)
    return owner_of(words) or copied(words, half)


for _kind in (np.random.Generator, TracedGenerator):
    cast("Any", optree).register_pytree_node(_kind, _parts, _rebuilt, namespace=NAMESPACE)
