"""What stands for a generator in a trace, and generators as containers of arrays."""

from __future__ import annotations

from importlib import import_module
from typing import Any, cast, final

import numpy as np
import optree

from pliant.frontend.array import TracedArray
from pliant.frontend.random.memory import arrays_of, copied, owner_of
from pliant.frontend.reference import NAMESPACE
from pliant.frontend.tracing import current


@final
class TracedGenerator:
    """What stands for a generator of a class of NumPy's: its state, as arrays. known: one of the same state, while that
    is known, in the trace that is its home."""

    __slots__ = ("home", "kind", "known", "parts")

    def __init__(self, kind: type, parts: tuple[Any, ...], known: Any = None) -> None:
        self.kind, self.parts, self.known = kind, parts, known
        self.home = current() if known is not None else None
        for part in parts:
            if type(part) is TracedArray:
                part.storage.is_effect = True

    @property
    def is_new(self) -> bool:
        """Whether it is a `Generator`, not a `RandomState`."""
        return self.kind is np.random.Generator

    def __getattr__(self, name: str) -> Any:
        """The method of this name, for a function whose source is not at hand."""
        if name.startswith("_") or name in self.__slots__:
            raise AttributeError(name)
        return import_module("pliant.frontend.draws").drawing(self, name, current())

    def advanced(self) -> None:
        """Note the state of the known generator after a draw."""
        for part, now in zip(self.parts, arrays_of(self.known), strict=True):
            part[...] = now.copy()


def _parts(rng: Any) -> tuple[Any, ...]:
    if type(rng) is TracedGenerator:
        return rng.parts, rng.kind, None
    return arrays_of(rng), rng.__class__, None


def _rebuilt(kind: Any, parts: tuple[Any, ...]) -> Any:
    if type(parts[0]) is not np.ndarray:
        return TracedGenerator(kind, parts)
    return owner_of(parts[0]) or copied(kind, parts)


for _kind in (np.random.Generator, np.random.RandomState, TracedGenerator):
    cast("Any", optree).register_pytree_node(_kind, _parts, _rebuilt, namespace=NAMESPACE)
