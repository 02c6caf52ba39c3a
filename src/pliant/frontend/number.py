"""What an array or number is to a loop or a branch: its type, and whether Python or NumPy would see a scalar."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from pliant.core.frozen import frozen
from pliant.core.ir import Value, param
from pliant.core.types import Type
from pliant.frontend.array import TracedArray, fresh
from pliant.frontend.convert import result_dtype
from pliant.frontend.tracing import Storage, current


@final
@frozen
class Kind:
    """What a leaf is: its type, and whether NumPy would see a scalar or Python a number."""

    type: Type
    is_scalar: bool = False
    is_weak: bool = False

    def template(self, hint: str = "") -> TracedArray:
        """A traced array of this kind, to trace a function with."""
        storage = Storage(current(), param(self.type, hint))
        return TracedArray(storage, is_scalar=self.is_scalar, is_weak=self.is_weak)

    def joined(self, other: Kind) -> Kind | None:
        """The kind that both fit into; None where the shapes differ."""
        if self.type.shape != other.type.shape:
            return None
        dtype = result_dtype(self.template(), other.template())
        weak = self.is_weak and other.is_weak
        return Kind(
            self.type.with_dtype(dtype), (self.is_scalar or self.is_weak) and (other.is_scalar or other.is_weak), weak
        )


def kind_of(x: TracedArray) -> Kind:
    """The kind of a traced array."""
    return Kind(x.type, x.is_scalar or x.is_weak, x.is_weak)


def with_kind(value: Value, kind: Kind) -> TracedArray:
    """A new traced array of a kind."""
    made = fresh(value, is_array=not kind.is_scalar)
    return TracedArray(made.storage, is_scalar=made.is_scalar, is_weak=kind.is_weak)


def is_number(x: Any) -> bool:
    """Whether a leaf is traced: an array, or a number."""
    return isinstance(x, TracedArray | np.ndarray | np.generic | bool | int | float | complex)
