"""`x[key]` and `x[key] = y` for every NumPy form: basic keys are views, others gather and scatter."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from pliant.core.ir import Value
from pliant.core.origin import here
from pliant.errors import ShapeError
from pliant.frontend import bounded, places
from pliant.frontend.array import TracedArray, fresh, fresh_concrete, view
from pliant.frontend.blocks import has_traced_bound
from pliant.frontend.convert import as_traced, broadcast_shapes, broadcast_value, stored, value_of
from pliant.frontend.keys import (
    Key,
    Window,
    has_array_of_rank_0,
    index_error,
    is_mask,
    items_of,
    parse,
    result_order,
    spans,
    static_key,
    static_window,
    window_of,
    wrapped,
)
from pliant.frontend.kinds import is_array, is_sequence, is_traced
from pliant.frontend.masks import by_places, masked, selected
from pliant.frontend.selection import Selection, all_listed
from pliant.ops.index import gather, scatter_set
from pliant.ops.shape import Slice, permute, reshape
from pliant.ops.update import update_slice


def getitem(x: TracedArray, key: Any) -> Any:
    """`x[key]`: a view for basic keys, else a copy."""
    known = static_key(key)
    key = key if known is not None else by_places(x, all_listed(key))
    if known is not None:
        window = static_window(known, x.type)
    elif has_traced_bound(key):
        return bounded.getitem(x, key)
    elif places.has_places(key):
        return places.found(x, key)
    else:
        part = selected(x, key, getitem)
        if part is not None:
            return Selection(*part)
        x, key = without_bools(x, key)
        parsed = parse(key, x.type)
        if not parsed.is_basic:
            return fresh(gathered(x.value, parsed), is_array=True)
        window = window_of(parsed, x.shape)
    part = view(x, *window.lenses)
    if window.shape or window.has_ellipsis:
        if x.is_scalar or x.is_weak:  # a scalar cannot be written: NumPy copies it
            return fresh(part.value, is_array=True)
        return part.__copy__() if known is None and has_array_of_rank_0(key) else part
    concrete = part.concrete
    return fresh(part.value) if concrete is None else as_traced(concrete[()])


def setitem(x: TracedArray, key: Any, y: Any) -> None:
    """`x[key] = y`, with NumPy's unsafe cast to x's dtype; None and text are what NumPy makes of them."""
    if y is None or type(y) is str:
        y = fresh_concrete(np.array(y).astype(x.dtype))
    known = static_key(key)
    if known is not None:
        window, rows = static_window(known, x.type), all_listed(y)
        if isinstance(rows, bounded.Bounded):
            bounded.assign(view(x, *window.lenses), rows)
        else:
            _set_window(x, window, rows)
        return
    key = by_places(x, all_listed(key))
    if has_traced_bound(key):
        bounded.setitem(x, key, all_listed(y))
        return
    if places.has_places(key):
        places.put_all(x, key, all_listed(y))
        return
    found = selected(x, key, getitem)
    if found is not None:
        part, mask, axis = found
        part.replace(masked(part.value, mask.value, y, axis))
        return
    x, key = without_bools(x, key)
    parsed = parse(key, x.type)
    if parsed.is_basic:
        _set_window(x, window_of(parsed, x.shape), y)
    else:
        x.replace(scattered(x.value, parsed, stored(y, x.type.dtype)))


def without_bools(x: TracedArray, key: Any) -> tuple[TracedArray, Any]:
    """The same elements by a key without single bools: each becomes a new axis, of which all or nothing is taken."""
    items = items_of(key)
    single = [isinstance(k, bool | np.bool_) for k in items]
    if not any(single):
        return x, key
    axes: list[Any] = []
    for k, is_bool in zip(items, single, strict=True):
        if is_bool:
            axes.append(None)
        elif k is Ellipsis:
            axes.append(k)
        elif k is not None:
            axes += [slice(None)] * (np.ndim(k) if is_mask(k) else 1)
    picked = tuple(np.arange(int(k)) if is_bool else k for k, is_bool in zip(items, single, strict=True))
    return getitem(x, tuple(axes)), picked


def _set_window(x: TracedArray, window: Window, y: Any) -> None:
    """Write `y` to the part that a basic key shows."""
    part = view(x, *window.lenses)
    if type(y) is TracedArray and y.storage is x.storage and y.lenses == part.lenses and not y.is_scalar:
        return  # `x[key] op= z` has written through the view already
    if not window.shape and not window.has_ellipsis and _is_refused_as_element(y):
        raise ShapeError("setting an array element with a sequence.", hint="y[0] is its element").at(("here", here()))
    part.replace(broadcast_value(stored(y, x.type.dtype, is_view=True), window.shape))


def _is_refused_as_element(y: Any) -> bool:
    """Whether NumPy puts something into no single element, although it has one: a list, or an array with axes."""
    return is_sequence(y) or ((is_traced(y) or is_array(y)) and bool(y.shape) and not _takes_arrays())


@cache
def _takes_arrays() -> bool:
    """Whether this NumPy makes elements of arrays with axes."""
    x = np.zeros(1)
    try:
        with warnings.catch_warnings(action="ignore"):
            x[0] = x.copy()
    except ValueError:
        return False
    return True


def arrange(x: Value, key: Key) -> tuple[Value, tuple[int, ...], tuple[Value, ...]]:
    """x with its slices taken and indexed axes first; that order of axes; the index arrays."""
    starts, steps, lengths = spans(key, x.shape)
    if any(d != 1 for d in steps) or lengths != x.shape:
        x = Slice(starts, steps, lengths)(x)
    indexed, first = key.indexed, key.first
    arrays = [key.axes[n].array for n in indexed]
    values = [
        wrapped(a.value, x.shape[n]) if type(a) is TracedArray else value_of(as_index(a))
        for n, a in zip(indexed, arrays, strict=True)
    ]
    try:
        shape = broadcast_shapes(*(v.shape for v in values))
    except ShapeError as error:
        raise index_error(f"shape mismatch: {error.message.replace('operands', 'index arrays')}") from None
    return permute(x, first), first, tuple(broadcast_value(v, shape) for v in values)


def as_index(array: Any) -> TracedArray:
    """A NumPy index array known while tracing."""
    return fresh_concrete(np.asarray(array, np.int64))


def gathered(x: Value, key: Key) -> Value:
    """`x[key]` for a key with index arrays."""
    source, _, indices = arrange(x, key)
    rank = len(indices[0].shape)
    order, new = result_order(key, rank)
    y = permute(gather(source, *indices), order)
    shape = list(y.shape)
    for position in new:
        shape.insert(position, 1)
    return reshape(y, shape)


def scattered(x: Value, key: Key, y: Value, scatter: Callable[..., Value] = scatter_set) -> Value:
    """x with `x[key] = y` done, for a key with index arrays; the last write to a place wins.

    With another `scatter`, x after the updates that it does: `scatter_add` for `np.add.at(x, key, y)`.
    """
    source, first, indices = arrange(x, key)
    rank = len(indices[0].shape)
    order, new = result_order(key, rank)
    made = (*indices[0].shape, *source.shape[len(indices) :])
    shape = [made[o] for o in order]
    for position in new:
        shape.insert(position, 1)
    y = reshape(broadcast_value(y, tuple(shape)), [made[o] for o in order])
    y = permute(y, tuple(sorted(range(len(order)), key=lambda n: order[n])))
    written = scatter(source, indices, y, unique=names_once(key))
    written = permute(written, tuple(sorted(range(len(first)), key=lambda n: first[n])))
    starts, steps, _ = spans(key, x.shape)
    if written.shape == x.shape and all(d == 1 for d in steps):
        return written
    return update_slice(x, written, starts, steps)


def names_once(key: Key) -> bool:
    """Whether index arrays are known while tracing, and name no place twice."""
    arrays = [a.array for a in key.axes if a.array is not None]
    if any(type(a) is TracedArray for a in arrays):
        return False
    rows = np.stack([a.reshape(-1) for a in np.broadcast_arrays(*arrays)])
    return np.unique(rows, axis=1).shape == rows.shape
