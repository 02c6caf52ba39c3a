"""Numbers of one kind among the arguments, one after the other: a list of thousands is one parameter, a vector.

f([0.5, 1.5, ...], n)      x: f64[1000], n: i64
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from itertools import groupby
from typing import Any, Final, TypeAlias, final

import numpy as np

from pliant.core.frozen import frozen
from pliant.core.ir import Value, param
from pliant.core.origin import ParameterOrigin, at
from pliant.core.types import DTYPES, Type
from pliant.frontend.array import TracedArray
from pliant.frontend.signature import WEAK, check_number, leaf_type
from pliant.frontend.tracing import Storage, Trace
from pliant.frontend.view import ReshapeLens, SliceLens

Entered: TypeAlias = "tuple[Value, list[TracedArray]]"
FEWEST: Final = 32
"""Numbers that are a vector; fewer are parameters each."""


@final
@frozen
class Vector:
    """The leaves from `first` on, all numbers of one class, which are the elements of a parameter of this type."""

    first: int
    type: Type

    @property
    def places(self) -> range:
        """The numbers of the leaves."""
        return range(self.first, self.first + self.type.size)

    def array(self, leaves: Sequence[Any], name: str) -> Any:
        """What the parameter of a function of this name holds."""
        numbers = leaves[self.first : self.first + self.type.size]
        if numbers[0].__class__ is int:
            for n in numbers:
                check_number(n, name)
        return np.array(numbers, DTYPES[self.type.dtype])


def vectors_of(leaves: Sequence[Any], names: Sequence[str], apart: Container[int]) -> tuple[Vector, ...]:
    """Those among leaves of these names, but for those that are `apart`."""
    return tuple(_vectors(leaves, names, apart))


def _vectors(leaves: Sequence[Any], names: Sequence[str], apart: Container[int]) -> Iterator[Vector]:
    if len(leaves) < FEWEST:
        return
    kinds = [None if n in apart or not _is_number(x) else x.__class__ for n, x in enumerate(leaves)]
    for kind, places in groupby(range(len(leaves)), kinds.__getitem__):
        first, *others = places
        type_ = None if kind is None or len(others) + 1 < FEWEST else leaf_type(leaves[first], names[first])
        if type_ is not None:
            yield Vector(first, type_.with_shape((len(others) + 1,)))


def _is_number(x: Any) -> bool:
    kind = x.__class__
    return kind in WEAK or issubclass(kind, np.number | np.bool_)


def entered_vector(trace: Trace, vector: Vector, leaves: Sequence[Any], names: Sequence[str]) -> Entered:
    """The parameter of a vector, and what the function gets for its elements: rows of one array."""
    stem = names[vector.first].partition("[")[0]
    with at(ParameterOrigin((stem,), None)):
        value = param(vector.type, stem if stem.isidentifier() else f"x{vector.first}")
    storage, tail = Storage(trace, value), ReshapeLens(())
    is_weak = leaves[vector.first].__class__ in WEAK
    lenses = [(SliceLens((n,), (1,), (1,)), tail) for n in range(vector.type.size)]
    return value, [TracedArray(storage, pair, is_scalar=True, is_weak=is_weak) for pair in lenses]
