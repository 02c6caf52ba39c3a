"""`x[mask]`, `x[mask, 0]`, `x[:, mask]` with a traced mask: the part of x that it selects from, and what is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.core.ir import Value, const
from pliant.core.origin import here
from pliant.errors import ShapeError, UnsupportedError
from pliant.frontend.array import TracedArray, fresh
from pliant.frontend.bounded import Bounded, extents_of, filled
from pliant.frontend.convert import as_traced, broadcast_value, stored, with_type
from pliant.frontend.failures import ensured
from pliant.frontend.keys import index_error, is_mask, is_scalar_index, items_of, plain_index
from pliant.frontend.kinds import is_of
from pliant.frontend.listed import positions
from pliant.frontend.ranks import count, dealt, ranks
from pliant.frontend.selection import Selection, spread
from pliant.frontend.sizes import Size
from pliant.ops.bits import logical_and, logical_not, logical_or
from pliant.ops.compare import equal
from pliant.ops.elementwise import add
from pliant.ops.index import gather
from pliant.ops.select import select
from pliant.ops.shape import broadcast, permute, reshape

xp: Any = np

Part = tuple[TracedArray, TracedArray, int]


def selected(x: TracedArray, key: Any, getitem: Callable[[TracedArray, Any], Any]) -> Part | None:
    """The view of x that a key with a traced mask selects from, the mask, and which axis of the view its first one
    is; None for other keys. Raises IndexRangeError where the mask does not fit."""
    items = items_of(key)
    if len(items) == 1 and is_mask(items[0]):
        items = (as_traced(items[0]),)
    places = [n for n, k in enumerate(items) if type(k) is TracedArray and k.concrete is None and k.type.kind == "b"]
    if not places:
        return None
    mask, axis, part = items[places[0]], 0, x
    if len(items) > 1:
        part, axis = _beside(x, items, places, getitem)
    if mask.shape != part.shape[axis : axis + mask.ndim]:
        raise index_error(f"boolean index of shape {mask.shape} does not match {x.type}")
    return part, mask, axis


def _beside(
    x: TracedArray, items: tuple[Any, ...], places: list[int], getitem: Callable[[TracedArray, Any], Any]
) -> tuple[TracedArray, int]:
    """The part of x that the other items of a key show, and the axis of it that a mask begins at."""
    place, mask = places[0], items[places[0]]
    plain = [mask if n in places else plain_index(k) for n, k in enumerate(items)]
    is_number = [k is mask or is_scalar_index(k) for k in plain]
    is_basic = all([a or k is None or k is Ellipsis or type(k) is slice for a, k in zip(is_number, plain, strict=True)])
    if len(places) > 1 or not is_basic or not mask.shape:
        raise UnsupportedError(
            "a traced mask beside index arrays, or other masks, is not supported", hint="use np.where"
        ).at(("here", here()))
    part = getitem(x, (*items[:place], *[slice(None)] * mask.ndim, *items[place + 1 :]))
    dots = x.ndim - mask.ndim - sum([k is not None and k is not Ellipsis for k in plain]) + 1
    axis = sum([dots if k is Ellipsis else not a for a, k in zip(is_number[:place], plain[:place], strict=True)])
    first, last = is_number.index(True), len(items) - is_number[::-1].index(True)
    if all(is_number[first:last]):
        return part, axis
    axes = tuple(range(axis, axis + mask.ndim))  # NumPy brings it to the front where other axes stand between
    return np.moveaxis(part, axes, tuple(range(mask.ndim))), 0


def by_places(x: TracedArray, key: Any) -> Any:
    """A key with the places that they select instead of traced masks of one axis, where there are several or arrays of
    places beside one. Raises IndexRangeError where a mask does not fit."""
    items = items_of(key)
    masks = [type(k) is TracedArray and k.concrete is None and k.type.kind == "b" and k.ndim == 1 for k in items]
    others = [k for k, is_one in zip(items, masks, strict=True) if not is_one]
    if sum(masks) < 2 and not (any(masks) and any([_is_places(k) for k in others])):
        return key
    for n, is_one in enumerate(masks):
        if is_one and items[n].shape[0] != x.shape[axis := _axis_of_item(x, items, n)]:
            raise index_error(f"boolean index of shape {items[n].shape} does not match axis {axis} of {x.type}")
    arrays = [as_traced(k) if isinstance(k, list) else k for k in items]
    return tuple([positions(k) if is_one else k for k, is_one in zip(arrays, masks, strict=True)])


def _is_places(k: Any) -> bool:
    """Whether an item of a key is an array of places."""
    return not is_mask(k) and (isinstance(k, Bounded | list) or (is_of(k, TracedArray | np.ndarray) and k.ndim > 0))


def _axis_of_item(x: TracedArray, items: tuple[Any, ...], n: int) -> int:
    """The first axis that an item of a key is for."""
    is_behind = any([k is Ellipsis for k in items[:n]])
    axes = sum([k.ndim if is_mask(k) else 1 for k in (items[n:] if is_behind else items[:n]) if k is not None])
    return min(x.ndim - axes if is_behind else axes, x.ndim - 1)


def masked(x: Value, mask: Value, y: Any, axis: int = 0) -> Value:
    """x with `x[mask] = y` done; the axes of the mask are those of x from `axis` on."""
    rest = len(x.shape) - axis - len(mask.shape)
    if isinstance(y, Selection):
        if y.mask.value is mask and y.axis <= axis and y.rest == rest and y.is_spread:
            return select(_wide(mask, x, axis), broadcast_value(with_type(y.whole.value, x.type), x.shape), x)
        y = y.listed
    value = _dealt(mask, y, x, axis) if isinstance(y, Bounded) else at_places(mask, stored(y, x.dtype), x.shape, axis)
    return select(_wide(mask, x, axis), broadcast_value(value, x.shape), x)


def _wide(mask: Value, x: Value, axis: int) -> Value:
    """A mask for each element of x."""
    return broadcast(mask, x.shape, tuple(range(axis, axis + len(mask.shape))))


def _dealt(mask: Value, y: Bounded, x: Value, axis: int) -> Value:
    """The rows of an array of as many as a mask selects, each at its place."""
    rank = len(mask.shape)
    rows = _rows_first(y, len(x.shape) - rank + 1, axis)
    if any([isinstance(n, Size) for n in rows.extents[1:]]):
        raise y.refused("x[mask] = y, of rows of y")
    given, wanted, none = as_traced(rows.shape[0]).value, count(mask), const(0, "i64")
    is_one = equal(given, const(1, "i64"))
    code = select(logical_or(is_one, equal(given, wanted)), none, add(wanted, 1))
    shape = rows.whole.shape[0], *rows.whole.shape[1 : axis + 1], *x.shape[axis + rank :]
    row = broadcast_value(stored(filled(rows, 0), x.dtype), shape)
    flat = logical_and(reshape(mask, (mask.type.size,)), broadcast(logical_not(is_one), (mask.type.size,), ()))
    order = ensured(select(flat, ranks(mask), none), code, "assigned_some")
    return _placed(reshape(gather(row, order), (*mask.shape, *shape[1:])), rank, axis)


def at_places(mask: Value, value: Value, shape: tuple[int, ...], axis: int = 0) -> Value:
    """What `x[mask] = value` writes to each place of x: the same for all, or one row after the other."""
    rank = len(mask.shape)
    rest = shape[axis + rank :]
    if value.type.size == 1:
        return reshape(value, ())
    same = spread(value.shape, rank, len(rest))
    if same is not None:
        return reshape(value, same)
    rows = _rows_first(fresh(value, is_array=True), len(shape) - rank + 1, axis).value
    rows = broadcast_value(rows, (*rows.shape[: axis + 1], *rest))
    return _placed(dealt(mask, rows, "rows" if axis or rest else "assigned"), rank, axis)


def _rows_first(y: Any, rank: int, axis: int) -> Any:
    """What is assigned to `x[:, mask]`, which has so many axes, with that of the mask at the front."""
    more, given = y.ndim - rank, extents_of(y)
    if any([n != 1 for n in given[: max(more, 0)]]):
        text = y.text if isinstance(y, Bounded) else y.type
        message = f"could not broadcast {text} to what a mask selects, of {rank} axes"
        raise ShapeError(message, hint="axes before those are of one element").at(("written here", here()))
    if more > 0:
        y = y[(0,) * more]
    return xp.moveaxis(y[(*[None] * -more, ...)] if more < 0 else y, axis, 0) if axis else y


def _placed(rows: Value, rank: int, axis: int) -> Value:
    """Rows at the places of a mask, whose axes go behind those that were before them."""
    order = (*range(rank, rank + axis), *range(rank), *range(rank + axis, len(rows.shape)))
    return permute(rows, order) if axis else rows
