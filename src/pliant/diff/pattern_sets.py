"""Index sets of arrays: what operations of each kind do to them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import scipy.sparse

from pliant.core.ir import Value
from pliant.ops.contract import Dot
from pliant.ops.index import Gather
from pliant.transforms.evaluate import run

sp: Any = scipy.sparse


class Numbers:
    """Numbers for the elements of several arrays, 0 for what has an empty set."""

    def __init__(self, width: int) -> None:
        self.sets, self.count = [sp.csr_array((1, width), dtype=bool)], 1

    def of(self, shape: tuple[int, ...], found: Any) -> Any:
        """An array of fresh numbers for a set; of zeros for None."""
        if found is None:
            return np.zeros(shape, np.int64)
        self.sets.append(found)
        self.count += math.prod(shape)
        return np.arange(self.count - math.prod(shape), self.count).reshape(shape)

    def rows(self, numbers: Any) -> Any:
        """The set of an array of numbers."""
        return sp.vstack(self.sets, format="csr")[np.asarray(numbers).reshape(-1)]


def selection(target: Any, rows: int) -> Any:
    """The 0/1 matrix that adds element e to row target[e]."""
    ones = np.ones(target.size, np.int64)
    return sp.csr_array((ones, (target, np.arange(target.size))), shape=(rows, target.size))


def as_boolean(x: Any) -> Any:
    """A sum of sets as a set."""
    return x.astype(bool)


def union(parts: Sequence[Any]) -> Any:
    """The union, row by row."""
    total: Any = parts[0]
    for part in parts[1:]:
        total = total + part
    return as_boolean(total)


def fitted(rows: Any, size: int) -> Any:
    """A scalar's set for every element it meets."""
    return rows if rows.shape[0] == size else rows[np.zeros(size, np.int64)]


def everything(reads: Sequence[Any], size: int) -> Any:
    """Every element depends on all that any operand depends on."""
    columns = np.unique(np.concatenate([s.indices for s in reads]))
    index = np.tile(columns, size)
    pointers = np.arange(size + 1) * columns.size
    return sp.csr_array((np.ones(index.size, bool), index, pointers), shape=(size, reads[0].shape[1]))


def up_to(shape: tuple[int, ...], axis: int, found: Any, *, is_reversed: bool | None = None) -> Any:
    """Each element depends on those before it along an axis, and on itself; on those after it if
    reversed; on all of them for None."""
    n = shape[axis]
    numbers = np.moveaxis(np.arange(math.prod(shape)).reshape(shape), axis, -1).reshape(-1, n)
    if is_reversed is None:
        after, before = np.divmod(np.arange(n * n), max(n, 1))
    else:
        after, before = np.tril_indices(n)
        after, before = (before, after) if is_reversed else (after, before)
    rows, columns = numbers[:, after].reshape(-1), numbers[:, before].reshape(-1)
    moves = sp.csr_array((np.ones(rows.size, np.int64), (rows, columns)), shape=(numbers.size, numbers.size))
    return as_boolean(moves @ found)


def products(op: Dot, x: Value, y: Value, sets: Sequence[Any]) -> Any:
    """Element (b, m, n) depends on all (b, m, k) of x and all (b, k, n) of y."""
    free = op.free(x, y)
    b, m, n, _ = op.sizes(x, y)
    batch, row, column = np.unravel_index(np.arange(b * m * n), (b, m, n))
    parts: list[Any] = []
    for a, found, batched, kept, line, count in zip(
        (x, y), sets, op.batch_axes, free, (row, column), (m, n), strict=True
    ):
        if found is None:
            continue
        order = (*batched, *kept, *[d for d in range(len(a.shape)) if d not in (*batched, *kept)])
        places: Any = cast("Any", np.arange(a.type.size)).reshape(a.shape)
        numbers: Any = places.transpose(order).reshape(b * count, -1)
        target = np.empty(a.type.size, np.int64)
        target[numbers] = np.arange(b * count)[:, None]
        parts.append(as_boolean(selection(target, b * count) @ found)[batch * count + line])
    return union(parts)


def gathered_anywhere(op: Gather, x: Value, indices: Sequence[Value], found: Any) -> Any:
    """Elements of x at unknown places: each depends on all along the axes that are indexed."""
    indexed = range(op.shared, op.shared + len(indices))
    kept = [1 if d in indexed else s for d, s in enumerate(x.shape)]
    lines = np.broadcast_to(np.arange(math.prod(kept)).reshape(kept), x.shape)
    rows = as_boolean(selection(lines.reshape(-1), math.prod(kept)) @ found)
    (numbers,) = run(op, np, [lines, *[np.zeros(i.shape, np.int64) for i in indices]])
    return rows[np.asarray(numbers).reshape(-1)]
