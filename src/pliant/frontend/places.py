"""Indexing by arrays of places of which it is known only at run time how many there are; see `bounded`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from pliant.core.build import trace
from pliant.core.ir import Value, Values
from pliant.errors import NOWHERE
from pliant.frontend.array import TracedArray
from pliant.frontend.bounded import Bounded, common_extents, extents_of, filled, padded, whole_of
from pliant.frontend.convert import as_traced, broadcast_value, cast_value
from pliant.frontend.keys import items_of, wrapped
from pliant.frontend.sizes import Size
from pliant.ops.index import ScatterSet
from pliant.ops.later import INDEX
from pliant.ops.loop import Loop
from pliant.ops.loop_form import In

xp: Any = np


def has_places(key: Any) -> bool:
    """Whether a key has an array of so many places in it."""
    return any([isinstance(k, Bounded) for k in items_of(key)])


def parted(x: Any, key: Any) -> tuple[Any, int, tuple[Any, ...], tuple[Any, ...]]:
    """The view of x with the axes that have places in a key at the front; how many there are before them; the places;
    and what the key says of the axes after them."""
    items = items_of(key)
    lead = next(n for n, k in enumerate(items) if type(k) is not slice)
    ends = [n for n, k in enumerate(items[lead:], lead) if k is None or k is Ellipsis or type(k) is slice]
    places, rest = items[lead : min(ends, default=None)], items[min(ends, default=len(items)) :]
    if not has_places(places) or has_places(rest):
        raise next(k for k in items if isinstance(k, Bounded)).refused("indexing by it beside other indices")
    if lead:
        axes = tuple(range(lead, lead + len(places)))
        x = xp.moveaxis(x[items[:lead]], axes, tuple(range(len(places))))
    return x, lead, places, rest


def found(x: TracedArray, key: Any) -> Any:
    """`x[key]` where there are such places in the key."""
    part, lead, places, rest = parted(x, key)
    made = taken(*in_line(part, places))
    if lead:
        made = xp.transpose(made, (*range(1, lead + 1), 0, *range(lead + 1, made.ndim)))
    return made[(*[slice(None)] * (lead + 1), *rest)] if rest else made


def put_all(x: TracedArray, key: Any, y: Any) -> None:
    """`x[key] = y` where there are such places in the key."""
    part, lead, places, rest = parted(x, key)
    if any([k != slice(None) for k in rest]) or (lead and np.ndim(y)):
        raise next(k for k in places if isinstance(k, Bounded)).refused("assignment to places by")
    line, flat = in_line(part, places)
    put_at(line, flat, y)
    if line.storage is not x.storage:
        part[...] = xp.reshape(line, part.shape)


def in_line(x: Any, parts: tuple[Any, ...]) -> tuple[TracedArray, Bounded]:
    """An array, and places along its first axis; axes for which there is a place each become one."""
    first = next(k for k in parts if isinstance(k, Bounded))
    if not all([isinstance(k, Bounded) or as_traced(k).type.kind in "iu" for k in parts]) or len(parts) > x.ndim:
        raise first.refused("indexing by it beside other indices")
    if len(parts) == 1:
        return x, first
    flat: Any = 0
    for k, n in zip(parts, x.shape, strict=False):
        places = xp.where(k < 0, k + n, k)
        flat = xp.where((places < 0) | (places >= n) | (flat < 0), -NOWHERE, flat * n + places)
    return xp.reshape(x, (-1, *x.shape[len(parts) :])), flat


def taken(x: TracedArray, key: Bounded) -> Any:
    """`x[key]` where it is known only at run time how many indices there are."""
    if key.dtype.kind not in "iu" or not x.shape or not x.shape[0]:
        raise key.refused("indexing by")
    made = Bounded(x[filled(key, 0)], (*key.extents, *x.shape[1:]))
    # beyond its extents it is what lies at place 0, to which no derivative may go from there
    return Bounded(filled(made, 0), made.extents)


def put_at(x: TracedArray, key: Bounded, y: Any) -> None:
    """`x[key] = y` where it is known only at run time how many indices there are."""
    if key.dtype.kind not in "iu" or not x.shape or not x.shape[0]:
        raise key.refused("assignment to places by")
    row = x.type.row
    if len(extents_of(y)) > len(row.shape):
        first = (y if isinstance(y, Bounded) else as_traced(y))[(..., *(0,) * len(row.shape))]
        key = Bounded(key.whole, common_extents("an assignment", (key, first)))
    shape = *key.whole.shape, *row.shape
    rows = padded(cast_value(whole_of(y).value, row.dtype), (*key.extents, *row.shape), shape)
    rows = broadcast_value(rows, shape)
    put_one_by_one(x, key, rows, lambda made, place, row: row)


def put_one_by_one(x: TracedArray, key: Bounded, rows: Value, put: Callable[[Value, Value, Value], Value]) -> None:
    """Put a row at each of the places that there are, one after the other. put: what is put, given what the array has
    become, the place and one of `rows`."""
    counts = [n.value if isinstance(n, Size) else None for n in key.extents]
    places = wrapped(filled(key, 0).value, x.value.shape[0])
    x.replace(_put_along(counts, x.value, places, rows, put))


def _put_along(
    counts: Sequence[Value | None],
    made: Value,
    places: Value,
    rows: Value,
    put: Callable[[Value, Value, Value], Value],
) -> Value:
    """An array after that, of places along several axes. counts: how many there are along each, None for all."""
    if not counts:
        return ScatterSet(unique=True)(made, places, put(made, places, rows))
    count, *others = counts
    outer = [n for n in (count,) if n is not None]
    inner = [n for n in others if n is not None]

    def step(_: Value, *args: Value) -> Values:
        made, place, row, *rest = args[len(outer) :]
        known = iter(rest)
        return (_put_along([n and next(known) for n in others], made, place, row, put),)

    ins: tuple[In, ...] = (
        *cast("list[In]", ["count"] * len(outer)), "carry", "each", "each", *cast("list[In]", ["const"] * len(inner)),
    )  # fmt: skip
    args = *outer, made, places, rows, *inner
    types = [a.type.row if kind == "each" else a.type for kind, a in zip(ins, args, strict=True)]
    return Loop(places.shape[0], ins, ("last",), trace(step, INDEX, *types))(*args)
