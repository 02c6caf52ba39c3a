"""What NumPy refuses as parameters."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

CLOSE: Final = 2.0**-26
"""How far a sum of probabilities may be from 1."""


def floats(x: Any) -> Any:
    """A parameter, as floats of 64 bits."""
    return x if isinstance(x, float | int) else np.asarray(x, np.float64)[()]


def not_negative(name: str, x: Any) -> Any:
    """A parameter, as floats; ValueError below 0."""
    x = floats(x)
    if np.any(np.signbit(x) & (x == x)):
        raise ValueError(f"{name} < 0")
    return x


def positive(name: str, x: Any) -> Any:
    """A parameter, as floats; ValueError where it is not above 0."""
    x = floats(x)
    if np.any(x <= 0):
        raise ValueError(f"{name} <= 0")
    return x


def chance(name: str, p: Any) -> Any:
    """A probability, as floats; ValueError for others."""
    p = floats(p)
    if not np.all((p >= 0) & (p <= 1)):
        raise ValueError(f"{name} < 0, {name} > 1 or {name} is NaN")
    return p


def chances(p: Any, count: int) -> None:
    """That these are probabilities of so many things."""
    if p.ndim != 1 or len(p) != count:
        raise ValueError("a and p must have same size" if p.ndim == 1 else "p must be 1-dimensional")
    if np.any(np.isnan(p)):
        raise ValueError("Probabilities contain NaN")
    if np.any(p < 0):
        raise ValueError("Probabilities are not non-negative")
    if np.abs(np.sum(p) - 1.0) > CLOSE:
        raise ValueError("Probabilities do not sum to 1. See Notes section of docstring for more information.")
