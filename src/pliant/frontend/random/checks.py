"""What NumPy refuses as parameters."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

CLOSE: Final = 2.0**-26
"""How far a sum of probabilities may be from 1."""


def not_negative(name: str, x: Any) -> None:
    """ValueError for a parameter below 0."""
    if np.any(np.asarray(x) < 0):
        raise ValueError(f"{name} < 0")


def positive(name: str, x: Any) -> None:
    """ValueError for a parameter that is not above 0."""
    if np.any(np.asarray(x) <= 0):
        raise ValueError(f"{name} <= 0")


def chance(name: str, p: Any) -> None:
    """ValueError for what is no probability."""
    if not np.all((np.asarray(p) >= 0) & (np.asarray(p) <= 1)):
        raise ValueError(f"{name} < 0, {name} > 1 or {name} is NaN")


def chances(p: Any, count: int) -> None:
    """That these are probabilities of so many things."""
    if p.ndim != 1 or len(p) != count:
        raise ValueError("a and p must have same size" if p.ndim == 1 else "p must be 1-dimensional")
    if np.any(p < 0):
        raise ValueError("Probabilities are not non-negative")
    if np.abs(np.sum(p) - 1.0) > CLOSE:
        raise ValueError("Probabilities do not sum to 1. See Notes section of docstring for more information.")
