"""Arguments of the programs that write."""

from __future__ import annotations

from typing import Any

import numpy as np


def ramp(n: int, dtype: Any = float) -> Any:
    """0, 1, …, n-1."""
    return np.arange(n).astype(dtype)


def table(rows: int, columns: int, dtype: Any = float) -> Any:
    """A matrix of different numbers."""
    return np.arange(rows * columns).astype(dtype).reshape(rows, columns)


def drawn(*shape: int) -> Any:
    """Whole numbers, some of them negative."""
    return np.random.default_rng(1).integers(-9, 9, shape).astype(float)
