"""Indexing by arrays of places of which it is known only at run time how many there are; see `bounded`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from pliant.core.build import trace
from pliant.core.ir import Value, Values, const
from pliant.core.origin import here
from pliant.errors import NOWHERE, ShapeError
from pliant.frontend.array import TracedArray, fresh, view
from pliant.frontend.bounded import Bounded, bounded, common_extents, extents_of, filled, operand, padded, whole_of
from pliant.frontend.convert import as_traced, broadcast_value, cast_value
from pliant.frontend.failures import ensured
from pliant.frontend.keys import Key, index_error, items_of, parse, result_order, spans, wrapped
from pliant.frontend.sizes import Size, size_of
from pliant.frontend.view import PermuteLens, SliceLens
from pliant.ops.bits import logical_or
from pliant.ops.compare import equal, minimum
from pliant.ops.elementwise import add
from pliant.ops.index import ScatterSet
from pliant.ops.loop import Loop
from pliant.ops.loop_form import In
from pliant.ops.select import select
from pliant.ops.shape import iota
from pliant.passes.later import INDEX

xp: Any = np


def has_places(key: Any) -> bool:
    """Whether a key has an array of so many places in it."""
    return any([isinstance(k, Bounded) for k in items_of(key)])


def found(x: TracedArray, key: Any) -> Any:
    """`x[key]` where there are such places in the key."""
    part, places, parsed = parted(x, key)
    line, flat = in_line(part, places)
    made = taken(line, flat)
    order, new = result_order(parsed, len(extents_of(flat)))
    made = xp.transpose(made, order)
    whole = iter([slice(None)] * len(order))
    return made[tuple([None if n in new else next(whole) for n in range(len(order) + len(new))])] if new else made


def put_all(x: TracedArray, key: Any, y: Any) -> None:
    """`x[key] = y` where there are such places in the key."""
    part, places, parsed = parted(x, key)
    line, flat = in_line(part, places)
    put_at(line, flat, _as_taken(y, *result_order(parsed, len(extents_of(flat)))))
    if line.storage is not x.storage:
        part[...] = xp.reshape(line, part.shape)


def parted(x: TracedArray, key: Any) -> tuple[TracedArray, list[Any], Key]:
    """The view of x that slices of a key leave, with the axes that have places in it at the front; these places, which
    broadcast together; and the key."""
    parsed = parse(key, x.type)
    lens = SliceLens(*spans(parsed, x.shape))
    part = view(x, lens, PermuteLens(parsed.first))
    return part, beside([parsed.axes[n].array for n in parsed.indexed]), parsed


def _as_taken(y: Any, order: tuple[int, ...], new: tuple[int, ...]) -> Any:
    """What is assigned to `x[key]`, with its axes as those of `part[places]`; those of x[key] are in `order`, beside
    new ones."""
    y = operand(y)
    rank, given = len(order) + len(new), extents_of(y)
    more = len(given) - rank
    ones = [*range(more), *[n + more for n in new if n + more >= 0]]
    if any([given[n] != 1 for n in ones]):
        text = y.text if isinstance(y, Bounded) else y.type
        raise ShapeError(
            f"shape mismatch: {text} could not be broadcast to what the key selects, of {rank} axes",
            hint="axes of y before those, and where the key has None, are of one element",
        ).at(("written here", here()))
    if not given or (not new and more <= 0 and order == tuple(range(rank))):
        return y
    y = y[tuple([0 if n in ones else slice(None) for n in range(len(given))])]
    y = y[(*[None] * (len(order) - y.ndim), ...)]
    return xp.transpose(y, tuple(sorted(range(len(order)), key=lambda n: order[n])))


def beside(places: Sequence[Any]) -> list[Any]:
    """Arrays of places as operands that broadcast together: of one that has, when the program runs, a single place
    along an axis, there are as many as others have. The error then, unless they fit."""
    made, rank = list(places), max([len(extents_of(k)) for k in places])
    for axis in range(-rank, 0):
        along = [k for k in made if len(extents_of(k)) >= -axis]
        extents = list(dict.fromkeys([n for k in along if (n := extents_of(k)[axis]) != 1]))
        known = [n for n in extents if isinstance(n, int)]
        if len(known) > 1:
            counts = " and ".join(map(str, known))
            raise index_error(f"shape mismatch: index arrays of {counts} places along an axis do not fit together")
        if len(extents) > 1 and known != [0]:
            n = known[0] if known else _common(extents)
            limit = known[0] if known else max([whole_of(k).shape[axis] for k in along])
            made = [_repeated(k, axis, n, limit) for k in made]
    return made


def _common(extents: Sequence[Any]) -> Size:
    """How many places there are along an axis where one alone is repeated."""
    value = extents[0].value
    for n in extents[1:]:
        value = select(equal(value, const(1, "i64")), n.value, value)
    return size_of(fresh(value))


def _repeated(k: Any, axis: int, n: Any, limit: int) -> Any:
    """Places of which there are n along an axis, or one that stands for all; at most `limit`."""
    own = extents_of(k)
    if len(own) < -axis or own[axis] in (1, n):
        return k
    whole, count, one = whole_of(k), size_of(own[axis]).value, const(1, "i64")
    is_one = equal(count, one)
    fits = logical_or(is_one, equal(count, size_of(n).value))
    last = const(max(whole.shape[axis] - 1, 0), "i64")
    place = select(is_one, const(0, "i64"), minimum(iota(limit), last))
    place = ensured(place, select(fits, const(0, "i64"), add(count, one)), "places")
    extents = [*own]
    extents[axis] = n
    return bounded(xp.take(whole, fresh(place, is_array=True), axis), extents)


def in_line(x: TracedArray, places: Sequence[Any]) -> tuple[TracedArray, Any]:
    """An array, and places along its first axis; axes for which there is a place each become one."""
    if len(places) == 1:
        return x, places[0]
    flat: Any = 0
    for k, n in zip(places, x.shape, strict=False):
        at = operand(k).astype("i8")
        at = xp.where(at < 0, at + n, at)
        flat = xp.where((at < 0) | (at >= n) | (flat < 0), -NOWHERE, flat * n + at)
    return xp.reshape(x, (-1, *x.shape[len(places) :])), flat


def taken(x: TracedArray, key: Any) -> Any:
    """`x[key]` where it is known only at run time how many indices there are."""
    if not isinstance(key, Bounded):
        return x[key]
    if key.dtype.kind not in "iu" or not x.shape or not x.shape[0]:
        raise key.refused("indexing by")
    made = Bounded(x[filled(key, 0)], (*key.extents, *x.shape[1:]))
    # beyond its extents it is what lies at place 0, to which no derivative may go from there
    return Bounded(filled(made, 0), made.extents)


def put_at(x: TracedArray, key: Any, y: Any) -> None:
    """`x[key] = y` where it is known only at run time how many indices there are."""
    if not isinstance(key, Bounded):
        if not isinstance(y, Bounded):
            x[key] = y
            return
        key = Bounded(key, key.shape)
    if key.dtype.kind not in "iu" or not x.shape or not x.shape[0]:
        raise key.refused("assignment to places by")
    row, extents = x.type.row, extents_of(y)
    if isinstance(y, Bounded) and any([isinstance(n, Size) for n in extents[-len(row.shape) or len(extents) :]]):
        raise y.refused("x[places] = y, of rows of y")
    if len(extents) > len(row.shape):
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
