"""What is one of two parts of one array, by a condition known only at run time: one part, of which it says where it is.

if done:
    errors = errors[: n + 1]        the part from 0 on, of n + 1 elements or of all
"""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from pliant.core.ir import Values
from pliant.frontend.array import TracedArray
from pliant.frontend.control.chosen import Sides
from pliant.frontend.control.moved import Recipe
from pliant.frontend.view import BlockLens


def part_of_two(join: Sides, x: TracedArray | None, y: TracedArray | None) -> Recipe | None:
    """The part of an array that is one of two, as `Unsized.view` makes them; None if they are of two arrays."""
    if x is None or y is None or x.storage is not y.storage or x.lenses[:-1] != y.lenses[:-1]:
        return None
    one, two = cast("BlockLens", x.lenses[-1]), cast("BlockLens", y.lenses[-1])
    if one.step != two.step:
        return None
    starts, lengths = [
        [join.slot(*pair) for pair in zip(*pairs, strict=True)]
        for pairs in ((one.starts, two.starts), (one.lengths, two.lengths))
    ]

    def made(results: Values) -> TracedArray:
        first, count = [tuple([results[n] for n in slots]) for slots in (starts, lengths)]
        return TracedArray(x.storage, (*x.lenses[:-1], replace(one, starts=first, lengths=count)))

    return made
