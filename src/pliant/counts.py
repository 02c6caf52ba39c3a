"""How many rows a loop goes over, and how many steps it may take."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant.core.origin import here
from pliant.errors import ArgumentError, ShapeError
from pliant.frontend.array import TracedArray


def number_of_rows(name: str, rows: Sequence[Any], length: int | None) -> int:
    """The number of rows that a loop, of this name, goes over; ShapeError if the arrays do not agree."""
    found: set[tuple[int, ...]] = {np.shape(x)[:1] for x in rows}
    is_scalar = () in found
    if length is not None:
        found.add((as_count(f"{name}: length", length),))
    if is_scalar or len(found) > 1:
        shapes = ", ".join(str(np.shape(x)) for x in rows)
        message = f"{name}: expected arrays with the same number of rows, got shapes {shapes}; length={length}"
        raise ShapeError(message).at(("here", here()))
    if not found:
        raise ArgumentError(f"{name}: expected length= where there are no arrays to go over").at(("here", here()))
    return found.pop()[0]


def as_count(what: str, x: Any) -> int:
    """A number of rows or steps, known from here on; ArgumentError if it is none."""
    try:
        count = operator.index(x)
    except TypeError:
        count = -1
    if count < 0:
        got = f"a traced {x.type}" if type(x) is TracedArray else repr(x)
        raise ArgumentError(f"{what} is an int ≥ 0 known while tracing, or None; got {got}").at(("here", here()))
    return count
