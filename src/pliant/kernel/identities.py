"""What folds start from, and the ends of what a dtype holds."""

from __future__ import annotations

import math
from collections.abc import Mapping

from pliant.core.ir import Number

IDENTITY: Mapping[str, Number] = {"add": 0, "mul": 1, "or": False, "and": True}


def identity_of(kind: str, dtype: str) -> Number:
    """What a fold starts from: 0 for add, the least number for max, …"""
    if kind in IDENTITY:
        return IDENTITY[kind]
    low, high = limits_of(dtype)
    return low if kind == "max" else high


def limits_of(dtype: str) -> tuple[Number, Number]:
    """The least and the greatest number of a dtype."""
    if dtype[0] in "fc":
        return -math.inf, math.inf
    if dtype == "bool":
        return False, True
    bits = int(dtype[1:])
    return (0, 2**bits - 1) if dtype[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
