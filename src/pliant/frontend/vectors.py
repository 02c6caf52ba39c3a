"""Numbers of one class among the arguments of native code, one after the other or with a few others between them: a
list of thousands is one parameter, a vector.

f([0.5, 1.5, ...], n)                   x: f64[1000], n: i64
f([(0, 1, 0.5), (0, 2, 1.5), ...])      x: i64[2000], x.1: f64[1000]
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any, Final, TypeAlias, final

import numpy as np

from pliant.core.data import frozen
from pliant.core.ir import Value, param
from pliant.core.origin import ParameterOrigin, at
from pliant.core.types import DTYPES, Type
from pliant.frontend.array import TracedArray
from pliant.frontend.signature import WEAK, argument_of, check_number, leaf_type
from pliant.frontend.tracing import Storage, Trace
from pliant.frontend.view import ReshapeLens, SliceLens

Entered: TypeAlias = "tuple[Value, list[TracedArray]]"
FEWEST: Final = 32
"""Numbers that are a vector; fewer are parameters each."""
NEAR: Final = 8
"""How many leaves on the next number of a class may be."""


@final
@frozen
class Vector:
    """Leaves by their numbers, all numbers of one class, which are the elements of a parameter of this type."""

    places: tuple[int, ...]
    type: Type

    def array(self, leaves: Sequence[Any], name: str) -> Any:
        """What the parameter of a function of this name holds."""
        numbers = [leaves[n] for n in self.places]
        if numbers[0].__class__ is int:
            for n in numbers:
                check_number(n, name)
        return np.array(numbers, DTYPES[self.type.dtype])


def vectors_of(leaves: Sequence[Any], names: Sequence[str], apart: Container[int]) -> tuple[Vector, ...]:
    """Those among leaves of these names, but for those that are `apart`."""
    if len(leaves) < FEWEST:
        return ()
    runs, last = list[list[int]](), dict[Any, list[int]]()  # of each class the one at hand
    for n, x in enumerate(leaves):
        if n in apart or not _is_number(x):
            continue
        run = last.get(x.__class__)
        if run is None or n - run[-1] > NEAR:
            run = last[x.__class__] = []
            runs.append(run)
        run.append(n)
    return tuple([_vector(run, leaves, names) for run in runs if len(run) >= FEWEST])


def _vector(places: Sequence[int], leaves: Sequence[Any], names: Sequence[str]) -> Vector:
    type_ = leaf_type(leaves[places[0]], names[places[0]])
    assert type_ is not None
    return Vector(tuple(places), type_.with_shape((len(places),)))


def _is_number(x: Any) -> bool:
    kind = x.__class__
    return kind in WEAK or issubclass(kind, np.number | np.bool_)


def entered_vector(trace: Trace, vector: Vector, leaves: Sequence[Any], names: Sequence[str]) -> Entered:
    """The parameter of a vector, and what the function gets for its elements: rows of one array."""
    stem = argument_of(names[vector.places[0]])
    with at(ParameterOrigin((stem,), None)):
        value = param(vector.type, stem if stem.isidentifier() else f"x{vector.places[0]}")
    storage, tail = Storage(trace, value), ReshapeLens(())
    is_weak = leaves[vector.places[0]].__class__ in WEAK
    lenses = [(SliceLens((n,), (1,), (1,)), tail) for n in range(vector.type.size)]
    return value, [TracedArray(storage, pair, is_scalar=True, is_weak=is_weak) for pair in lenses]
