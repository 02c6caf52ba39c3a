"""Arrays of index sets: what operations of each kind do to them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant.core.ir import Value
from pliant.diff.pattern_graph import Unions
from pliant.ops.contract import Dot
from pliant.ops.index import Gather
from pliant.transforms.evaluate import run


def everything(graph: Unions, reads: Sequence[Any], shape: tuple[int, ...]) -> Any:
    """Every element depends on all that any operand depends on."""
    names = np.concatenate([np.unique(a) for a in reads])
    return np.broadcast_to(graph.grouped(np.zeros(names.size, np.int64), names, 1), shape).copy()


def reduced(graph: Unions, found: Any, axes: Sequence[int]) -> Any:
    """The union along axes, which are not kept."""
    kept = [1 if n in axes else s for n, s in enumerate(found.shape)]
    target = np.broadcast_to(np.arange(math.prod(kept)).reshape(kept), found.shape)
    made = graph.grouped(target, found, math.prod(kept))
    return made.reshape([s for n, s in enumerate(found.shape) if n not in axes])


def up_to(graph: Unions, found: Any, axis: int, *, is_reversed: bool) -> Any:
    """Each element depends on those before it along an axis, and on itself; on those after it if reversed."""
    lines = np.moveaxis(found.copy(), axis, 0)
    steps = range(1, len(lines)) if not is_reversed else range(len(lines) - 2, -1, -1)
    for n in steps:
        lines[n] = graph.union([lines[n], lines[n + 1 if is_reversed else n - 1]])
    return np.moveaxis(lines, 0, axis)


def all_along(graph: Unions, found: Any, axis: int) -> Any:
    """Each element depends on all along an axis."""
    return np.broadcast_to(np.expand_dims(reduced(graph, found, (axis,)), axis), found.shape).copy()


def products(graph: Unions, op: Dot, x: Value, y: Value, sets: Sequence[Any]) -> Any:
    """Element (b, m, n) depends on all (b, m, k) of x and all (b, k, n) of y."""
    free = op.free(x, y)
    b, m, n, _ = op.sizes(x, y)
    parts: list[Any] = []
    for a, found, batched, kept, form in zip((x, y), sets, op.batch_axes, free, ((b, m, 1), (b, 1, n)), strict=True):
        if found is None:
            continue
        order = (*batched, *kept, *[d for d in range(len(a.shape)) if d not in (*batched, *kept)])
        lines = found.transpose(order).reshape(math.prod(form), -1)
        parts.append(np.broadcast_to(reduced(graph, lines, (1,)).reshape(form), (b, m, n)))
    return graph.union(parts)


def gathered_anywhere(graph: Unions, op: Gather, x: Value, indices: Sequence[Value], found: Any) -> Any:
    """Elements of x at unknown places: each depends on all along the axes that are indexed."""
    indexed = range(op.shared, op.shared + len(indices))
    kept = [1 if d in indexed else s for d, s in enumerate(x.shape)]
    lines = np.broadcast_to(np.arange(math.prod(kept)).reshape(kept), x.shape)
    (numbers,) = run(op, np, [lines, *[np.zeros(i.shape, np.int64) for i in indices]])
    return graph.grouped(lines, found, math.prod(kept))[np.asarray(numbers)]
