"""Cotangents of the larger of two numbers, chosen at once: equal ones have half of it each.

The derivative of `maximum` chooses twice, by which is larger and by whether they are equal. Transposed as it stands it
puts zeros where the other number is chosen, and adds them; the steps of a dynamic programme wait for each other's sums.
"""

from __future__ import annotations

from typing import Any

from pliant.ops.select import select
from pliant.rewrite.rule import rule


@rule(level="stable")
def part_of_first(one: Any, tie: Any, ct: Any) -> tuple[Any, Any]:
    """ct where `one` holds, else ct/2 where `tie` does: no sum with zeros, which changes at most the sign of one."""
    other = select(one, 0.0, ct)
    return select(one, ct, 0.0) + select(tie, other, 0.0) * 0.5, select(one, ct, select(tie, ct * 0.5, 0.0))


@rule(level="stable")
def part_of_second(tie: Any, ct: Any) -> tuple[Any, Any]:
    """ct, or ct/2 where `tie` holds: no sum with zeros, which changes at most the sign of one."""
    return select(tie, 0.0, ct) + select(tie, ct, 0.0) * 0.5, select(tie, ct * 0.5, ct)


RULES = (part_of_first, part_of_second)
