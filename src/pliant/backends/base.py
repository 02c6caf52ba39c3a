"""What a backend is: a program in, something that can be called on arrays out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

from pliant.core.ir import Function

Array: TypeAlias = Any
Pairs: TypeAlias = Sequence[tuple[int, int]]


class Executable(Protocol):
    """A compiled function."""

    def __call__(self, arrays: Sequence[Array]) -> list[Array]:
        """Results for arguments of exactly the parameters' dtypes and shapes.

        Arguments may have any strides and alignment. Results are fresh, contiguous arrays that
        share no memory with an argument or with each other; a scalar is an array of rank 0. A pinned
        result may be the argument itself, overwritten.
        """
        ...


class Backend(Protocol):
    """Generates code for a closed, verified function."""

    @property
    def name(self) -> str:
        """How users ask for it."""
        ...

    def compile(self, fn: Function, *, pinned: Pairs = (), free: Sequence[int] = ()) -> Executable:
        """Code for `fn`.

        pinned: (parameter, result) pairs; such a result may be made in the parameter's memory, if the
        argument is contiguous and aligned. free: parameters whose memory may be used for anything.
        """
        ...
