"""Comparisons of integers that are known by the ranges in which these stay.

for i in range(n):
    if i >= 0: …            always
if len(found) > 100: …      never, where at most 12 are found
"""

from __future__ import annotations

from pliant.core.ir import Value
from pliant.frontend.limits import ordered
from pliant.frontend.sizes import INT, Size, taken_apart


def truth_by_ranges(condition: Value) -> bool | None:
    """What a comparison of integers is, whatever they are in their ranges; None if it may be either. Sums that may be
    too large for 64 bits have no range."""
    for holds in (True, False):
        pair = ordered(condition, holds=holds)
        if pair is None or pair[0].dtype != INT or pair[0].shape or pair[1].shape:
            return None
        x, y = taken_apart(pair[0]), taken_apart(pair[1])
        if not _is_bounded(x) or not _is_bounded(y):
            return None
        if y.is_at_least(x + int(pair[2])):
            return holds
    return None


def _is_bounded(x: Size) -> bool:
    return None not in x.range
