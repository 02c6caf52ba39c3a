"""Points beside x, for systems that evaluate f there: one element has moved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from pliant.diff.system import Arrays
from pliant.frontend.kinds import is_array


def moved(xs: Arrays, i: int, by: Sequence[complex]) -> Iterator[Arrays]:
    """For each n xs with by[n] added to element n of leaf i."""
    x, before, after = xs[i], xs[:i], xs[i + 1 :]
    for n, step in enumerate(by):
        if is_array(x):
            new = x.copy()
            (new if new.ndim == 1 else new.reshape(-1))[n] += step
        else:
            new = x + step
        yield (*before, new, *after)


def tables(n: int, ys: Arrays) -> tuple[Any, ...]:
    """Memory for n tangents of ys."""
    return tuple([np.empty((n, *y.shape), y.dtype if y.dtype.kind in "fc" else np.float64) for y in ys])


def cast(table: Any, y: Any) -> Any:
    """Tangents in the dtype of y."""
    return table if table.dtype == y.dtype else table.astype(y.dtype)


def column(a: Any, like: Any) -> Any:
    """One number for each entry along the first axis."""
    return np.reshape(a, (-1,) + (1,) * (like.ndim - 1))
