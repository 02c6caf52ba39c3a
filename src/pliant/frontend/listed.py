"""The elements that a traced mask selects, one after the other: how many there are is known only at run time."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.core.ir import Value
from pliant.frontend.array import TracedArray, fresh
from pliant.frontend.bounded import Bounded, bounded
from pliant.frontend.places import taken
from pliant.frontend.ranks import count, places
from pliant.frontend.sizes import size_of
from pliant.frontend.tracing import Trace, current
from pliant.ops.shape import reshape


def positions(mask: TracedArray) -> Any:
    """Where a mask holds, counted in row-major order: `i64[k ≤ size]`."""
    if not mask.size:
        return fresh(places(mask.value), is_array=True)
    return bounded(fresh(places(mask.value), is_array=True), (size_of(fresh(_count(mask.value))),))


def _count(mask: Value) -> Value:
    """How many elements a mask selects: one value, so that all that it selects is known to be as many."""
    trace: Trace | None = current()
    while trace is not None:
        if mask in trace.counts:
            return trace.counts[mask]
        trace = trace.parent
    made = current().counts[mask] = count(mask)
    return made


def listed(x: TracedArray, mask: TracedArray, axis: int = 0) -> Any:
    """`x[mask]`, where the axes of the mask are those of x from `axis` on."""
    rank, found = mask.ndim, positions(mask)
    front: Any = x
    if axis:
        front = np.moveaxis(front, tuple(range(axis, axis + rank)), tuple(range(rank)))
    rows = fresh(reshape(front.value, (mask.size, *front.shape[rank:])), is_array=True)
    if isinstance(found, Bounded):
        made: Any = taken(rows, found)
    else:  # data decide how many there are
        made = rows[found] if mask.size else rows
    order = (*range(1, axis + 1), 0, *range(axis + 1, rows.ndim))
    return np.transpose(made, order) if axis else made
