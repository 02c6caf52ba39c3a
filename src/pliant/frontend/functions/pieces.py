"""Arrays put together from runs of another one along each axis: what np.roll and np.pad make of known places."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from pliant.core.ir import Value
from pliant.ops.shape import broadcast, concatenate, reshape, slice_axis

Run: TypeAlias = tuple[int, int, int]  # start, step, length; a step of 0 repeats one element

MOST: Final = 32  # pieces; of more an index is quicker


def runs_of(places: Any) -> list[Run] | None:
    """Places along an axis as runs forward, backward or on the spot, as long as can be; None if they are many."""
    places, found, begin = np.asarray(places), list[Run](), 0
    steps = np.diff(places)
    turns = [*(np.flatnonzero(np.diff(steps)) + 1).tolist(), len(steps)]  # where steps are others than before
    if len(turns) > 2 * MOST:
        return None
    while begin < len(places):
        step = int(steps[begin]) if begin < len(steps) else 2
        end = begin + 1 if abs(step) > 1 else 1 + next(t for t in turns if t > begin)
        found.append((int(places[begin]), step if abs(step) <= 1 else 1, end - begin))
        begin = end
    return found


def put_together(x: Value, runs: Sequence[Sequence[Run] | None]) -> Value | None:
    """The elements of the runs along each axis, all of an axis if there are none: each block of them is read once. None
    if there are too many blocks."""
    count = math.prod([len(r) or 1 if r is not None else MOST + 1 for r in runs])
    return None if count > MOST else _from_axis(x, [r or [] for r in runs], 0)


def _from_axis(x: Value, runs: Sequence[Sequence[Run]], axis: int) -> Value:
    if axis == len(runs):
        return x
    pieces = [_from_axis(_taken(x, axis, run), runs, axis + 1) for run in runs[axis]]
    return concatenate(tuple(pieces), axis) if pieces else _from_axis(x, runs, axis + 1)


def _taken(x: Value, axis: int, run: Run) -> Value:
    start, step, length = run
    if step or length == 1:
        return slice_axis(x, axis, start, length, step or 1)
    lead, rest = x.shape[:axis], x.shape[axis + 1 :]
    one = reshape(slice_axis(x, axis, start, 1), (*lead, *rest))
    kept = tuple([a for a in range(x.type.rank) if a != axis])
    return broadcast(one, (*lead, length, *rest), kept)
