"""Rows that are put together again: neighbouring parts of one array are one part of it."""

from __future__ import annotations

import math

from pliant.core.ir import Value, Values
from pliant.ops.shape import Reshape, Slice, reshape, slice_axis


def with_neighbours_joined(xs: Values) -> Values:
    """What to put together along axis 0: arrays that follow each other in the memory of another one are one part of it.

    `np.stack([x[0], x[1], x[2]])` is a slice of x.
    """
    joined: list[tuple[Value, Value, int, int]] = []  # an array, what it is a part of, from where to where
    for x in xs:
        whole, start = _part(x)
        if joined and x.type.size and joined[-1][1] is whole and joined[-1][3] == start:
            joined[-1] = (x, whole, joined[-1][2], start + x.type.size)
        else:
            joined.append((x, whole, start, start + x.type.size))
    return tuple([_taken(x, whole, start, end) for x, whole, start, end in joined])


def _part(x: Value) -> tuple[Value, int]:
    """What an array is a part of, and where it begins there, if its elements lie together in row-major order."""
    inner = x.args[0] if isinstance(x.op, Reshape) else x
    inner = inner.args[0] if isinstance(inner.op, Reshape) else inner
    if not isinstance(inner.op, Slice) or not inner.type.size or any([d != 1 for d in inner.op.step]):
        return x, 0
    (whole,), start, length = inner.args, inner.op.start, inner.op.length
    first = next((a for a, n in enumerate(length) if n > 1), len(length))
    if length[first + 1 :] != whole.shape[first + 1 :]:
        return x, 0
    return whole, sum([s * math.prod(whole.shape[a + 1 :]) for a, s in enumerate(start)])


def _taken(x: Value, whole: Value, start: int, end: int) -> Value:
    """Some elements of an array, in rows like those of `x`."""
    if end - start == x.type.size:
        return x
    row = math.prod(whole.shape[1:])
    by_row = start % row == end % row == 0
    source = whole if by_row else reshape(whole, (whole.type.size,))
    unit = row if by_row else 1
    part = slice_axis(source, 0, start // unit, (end - start) // unit)
    return reshape(part, ((end - start) // math.prod(x.shape[1:]), *x.shape[1:]))
