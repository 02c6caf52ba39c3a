"""Numbers that two blocks left, of which one is run; of integers it stays known between what they are.

k = min(k, 10)      is 10 where k is greater: at most 10, whatever k is
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from pliant.core.ir import Value, Values
from pliant.core.types import DTYPES
from pliant.frontend.array import TracedArray
from pliant.frontend.control.items import INDEX
from pliant.frontend.control.moved import Recipe
from pliant.frontend.control.region import Outcome
from pliant.frontend.convert import value_of
from pliant.frontend.number import Kind, with_kind
from pliant.frontend.sizes import note_range, range_if, range_of_either


class Sides(Protocol):
    """Two blocks, of which a condition says which one is run."""

    condition: Value
    sides: tuple[Outcome, Outcome]


def number_of_two(join: Sides, x: TracedArray, y: TracedArray, kind: Kind, n: int) -> Recipe:
    """How to make a number, or an array of its own, that is x or y: the n-th result."""
    low, high = _extremes(join, x, y) if kind.type == INDEX.type else (None, None)

    def made(results: Values) -> TracedArray:
        number = with_kind(results[n], kind)
        if low is not None or high is not None:
            note_range(number, low, high)
        return number

    return made


def has_room(kind: Kind, x: TracedArray) -> bool:
    """Whether a number can be of a kind: not one of Python's that its dtype does not have, as -1 beside a uint8."""
    if not x.is_weak or x.concrete is None or x.type.kind != "i" or kind.type.kind not in "iu":
        return True
    limits = np.iinfo(DTYPES[kind.type.dtype])
    return bool(limits.min <= int(x.concrete) <= limits.max)


def _extremes(join: Sides, x: TracedArray, y: TracedArray) -> tuple[int | None, int | None]:
    """Between what an integer is, as far as that is known."""
    found: list[tuple[int | None, int | None]] = []
    for side, a, holds in zip(join.sides, (x, y), (True, False), strict=True):
        with side.region.inside():
            found.append(range_if(join.condition, value_of(a, INDEX.type.dtype), holds=holds))
    return range_of_either(*found)
