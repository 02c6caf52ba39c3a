"""What an array or number is to a loop or a branch: its type, whether Python or NumPy would see a scalar, and in which
order NumPy would lay out its axes."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from pliant.core.data import frozen
from pliant.core.ir import Value, param
from pliant.core.types import DTYPES, Type
from pliant.frontend.array import TracedArray, fresh
from pliant.frontend.convert import as_traced, result_dtype
from pliant.frontend.strides import common_order, order_of
from pliant.frontend.tracing import Storage, current


@final
@frozen
class Kind:
    """What a leaf is: its type, whether NumPy would see a scalar or Python a number, and its strides, None if it is
    row-major."""

    type: Type
    is_scalar: bool = False
    is_weak: bool = False
    strides: Any = None

    def template(self, hint: str = "") -> TracedArray:
        """A traced array of this kind, to trace a function with."""
        storage = Storage(current(), param(self.type, hint), strides=self.strides)
        return TracedArray(storage, is_scalar=self.is_scalar, is_weak=self.is_weak)

    def joined(self, other: Kind) -> Kind | None:
        """The kind that both fit into; None where the shapes differ, or both are integers and no integer's dtype holds
        both."""
        if self.type.shape != other.type.shape:
            return None
        dtype = result_dtype(self.template(), other.template())
        if {self.type.kind, other.type.kind} <= set("iu") and self.type.with_dtype(dtype).kind == "f":
            return None
        weak = self.is_weak and other.is_weak
        scalar = (self.is_scalar or self.is_weak) and (other.is_scalar or other.is_weak)
        return Kind(self.type.with_dtype(dtype), scalar, weak, common_order(self.strides, other.strides))

    def is_like(self, other: Kind) -> bool:
        """Whether both are the same but for the order of their axes."""
        return (self.type, self.is_scalar, self.is_weak) == (other.type, other.is_scalar, other.is_weak)


def kind_of(x: TracedArray) -> Kind:
    """The kind of a traced array."""
    return Kind(x.type, x.is_scalar or x.is_weak, x.is_weak, order_of(x))


def with_kind(value: Value, kind: Kind) -> TracedArray:
    """A new traced array of a kind."""
    made = fresh(value, is_array=not kind.is_scalar)
    made.storage.strides = kind.strides
    return TracedArray(made.storage, is_scalar=made.is_scalar, is_weak=kind.is_weak)


def is_number(x: Any) -> bool:
    """Whether a leaf is traced: an array, or a number."""
    return isinstance(x, TracedArray | np.ndarray | np.generic | bool | int | float | complex)


def is_exact(x: Any, kind: Kind, wide: Kind) -> bool:
    """Whether a step sees no difference if it is given x as a wider kind."""
    if kind.type.dtype == wide.type.dtype:
        return True
    known = as_traced(x).concrete
    if known is None:
        return kind.is_weak and kind.type.kind in "bi" and wide.type.dtype in ("i64", "f64", "c128")
    if not (kind.is_weak or kind.is_scalar):
        return False
    dtype = np.dtype(DTYPES[wide.type.dtype])
    return bool(np.asarray(known).astype(dtype) == known)
