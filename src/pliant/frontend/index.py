"""`x[key]` and `x[key] = y` for every NumPy form: basic keys are views, others gather and scatter."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, cast, final

import numpy as np

from pliant.core.ir import Value, const
from pliant.core.origin import here
from pliant.core.types import Type
from pliant.errors import DTypeError, IndexRangeError, ShapeError, UnsupportedError
from pliant.frontend import bounded
from pliant.frontend.array import TracedArray, fresh, fresh_concrete, view
from pliant.frontend.blocks import has_traced_bound
from pliant.frontend.convert import as_traced, broadcast_shapes, broadcast_value, cast_value, value_of, with_type
from pliant.frontend.kinds import as_tuple, is_array, is_sequence
from pliant.frontend.ranks import dealt
from pliant.frontend.selection import Selection, selection
from pliant.frontend.view import DynamicLens, Lens, ReshapeLens, SliceLens
from pliant.ops.compare import less
from pliant.ops.elementwise import add
from pliant.ops.index import gather, scatter_set
from pliant.ops.select import select
from pliant.ops.shape import Slice, broadcast, permute, reshape
from pliant.ops.update import update_slice

INT: Final = "i64"


@final
@dataclass(frozen=True)
class Axis:
    """What a key says about one axis of x: a slice, an integer, or an index array."""

    start: Any = 0
    step: int = 1
    length: int = 0
    is_dropped: bool = False
    array: Any = None  # a NumPy int array, or a traced one


@final
@dataclass(frozen=True)
class Key:
    """A key by axis. `order` has an axis number per result axis, None for a new axis, and "index"
    where an index array stands."""

    axes: tuple[Axis, ...]
    order: tuple[Any, ...]
    has_ellipsis: bool

    @property
    def is_basic(self) -> bool:
        """Whether the result is a view."""
        return all(a.array is None for a in self.axes)


def getitem(x: TracedArray, key: Any) -> Any:
    """`x[key]`: a view for basic keys, else a copy."""
    known = static_key(key)
    if known is not None:
        window = static_window(known, x.type)
    elif has_traced_bound(key):
        return bounded.getitem(x, key)
    else:
        mask = traced_mask(key)
        if mask is not None:
            check_mask(x, mask)
            return selection(x, mask)
        parsed = parse(key, x.type)
        if not parsed.is_basic:
            return fresh(gathered(x.value, parsed), is_array=True)
        window = window_of(parsed, x.shape)
    part = view(x, *window.lenses)
    if window.shape or window.has_ellipsis:
        if x.is_scalar or x.is_weak:  # a scalar cannot be written: NumPy copies it
            return fresh(part.value, is_array=True)
        return part
    concrete = part.concrete
    return fresh(part.value) if concrete is None else as_traced(concrete[()])


def setitem(x: TracedArray, key: Any, y: Any) -> None:
    """`x[key] = y`, with NumPy's unsafe cast to x's dtype."""
    known = static_key(key)
    if known is not None:
        _set_window(x, static_window(known, x.type), y)
        return
    if has_traced_bound(key):
        bounded.setitem(x, key, y)
        return
    mask = traced_mask(key)
    if mask is not None:
        check_mask(x, mask)
        x.replace(masked(x.value, mask.value, y))
        return
    parsed = parse(key, x.type)
    if parsed.is_basic:
        _set_window(x, window_of(parsed, x.shape), y)
    else:
        x.replace(scattered(x.value, parsed, cast_value(value_of(y), x.type.dtype)))


def _set_window(x: TracedArray, window: Window, y: Any) -> None:
    """Write `y` to the part that a basic key shows."""
    part = view(x, *window.lenses)
    if type(y) is TracedArray and y.storage is x.storage and y.lenses == part.lenses and not y.is_scalar:
        return  # `x[key] op= z` has written through the view already
    dtype = x.type.dtype
    value = value_of(y, dtype) if type(y) is float and dtype[0] == "f" else cast_value(value_of(y), dtype)
    part.replace(broadcast_value(value, window.shape))


@final
@dataclass(frozen=True)
class Window:
    """What a basic key shows of an array: the lenses, and the shape they give."""

    lenses: tuple[Lens, ...]
    shape: tuple[int, ...]
    has_ellipsis: bool


def static_key(key: Any) -> tuple[Any, ...] | None:
    """A key of Python integers, slices of them, None and Ellipsis, as something to hash; else None."""
    items: list[Any] = []
    for k in cast("tuple[Any, ...]", key) if type(key) is tuple else (key,):
        if type(k) is int or k is None or k is Ellipsis:
            items.append(k)
        elif type(k) is slice and all([p is None or type(p) is int for p in (k.start, k.stop, k.step)]):
            items.append((k.start, k.stop, k.step))
        else:
            return None
    return tuple(items)


@lru_cache(maxsize=4096)
def static_window(known: tuple[Any, ...], type: Type) -> Window:
    """What a key made by `static_key` shows of an array of some type."""
    key = tuple([slice(*cast("Any", k)) if isinstance(k, tuple) else k for k in known])
    return window_of(parse(key, type), type.shape)


def window_of(key: Key, shape: tuple[int, ...]) -> Window:
    """What a basic key shows of an array of some shape."""
    final = tuple([1 if o is None else key.axes[int(o)].length for o in key.order])
    return Window(basic_lenses(key, shape), final, key.has_ellipsis)


def parse(key: Any, type: Type) -> Key:
    """The key by axis; IndexRangeError for what is no index of an array of this type."""
    items = [plain_index(k) for k in _keys(key)]
    used = sum(k.ndim if is_mask(k) else 1 for k in items if k is not None and k is not Ellipsis)
    if used > type.rank:
        raise _error(f"too many indices: {type} has {type.rank} axes, the key has {used}")
    if sum(k is Ellipsis for k in items) > 1:
        raise _error("an index can only have a single ellipsis ('...')")
    where = next((n for n, k in enumerate(items) if k is Ellipsis), len(items))
    has_ellipsis = where < len(items)
    items[where : where + 1] = [slice(None)] * (type.rank - used)
    axes: list[Axis] = []
    order: list[Any] = []
    has_array = any(not isinstance(k, slice) and k is not None and not is_scalar_index(k) for k in items)
    for k in items:
        if k is None:
            order.append(None)
        elif is_mask(k):
            if k.shape != type.shape[len(axes) : len(axes) + k.ndim]:
                raise _error(f"boolean index of shape {k.shape} does not match axis {len(axes)} of {type}")
            axes += [Axis(array=i) for i in k.nonzero()]
            order += ["index"] * max(k.ndim, 1)
        else:
            n = type.shape[len(axes)]
            made = axis_of_key(k, n, len(axes), type, is_array=has_array)
            order += ["index"] if made.array is not None else [] if made.is_dropped else [len(axes)]
            axes.append(made)
    return Key(tuple(axes), tuple(order), has_ellipsis)


def plain_index(k: Any) -> Any:
    """One item of a key: None, Ellipsis, a slice, an int, a NumPy array, or a traced integer array."""
    if k is None or k is Ellipsis:
        return k
    if type(k) is slice:
        parts = [None if p is None else _static(p) for p in (k.start, k.stop, k.step)]
        return slice(*parts)
    if isinstance(k, bool | np.bool_):
        return np.asarray(k)
    if isinstance(k, TracedArray):
        if k.concrete is None:
            if k.type.kind not in "iu":
                raise _error(f"arrays used as indices must be of integer or boolean type, got {k.type}")
            return k
        k = k.concrete
    elif is_sequence(k) or isinstance(k, range):
        made = as_traced(list(k)) if len(k) else None
        if made is not None and made.concrete is None:
            return plain_index(made)
        k = np.zeros(0, np.int64) if made is None else made.concrete
    elif is_array(k):
        return plain_index(as_traced(k)) if k.dtype != bool else k
    try:
        return operator.index(k)
    except TypeError:
        array = np.asarray(k)
    if array.dtype != bool and array.dtype.kind not in "iu":
        raise _error(f"arrays used as indices must be of integer or boolean type, got {array.dtype}")
    return array if array.dtype == bool else array.astype(np.int64)


def is_mask(k: Any) -> bool:
    """Whether an item of a key is a boolean array."""
    return is_array(k) and k.dtype == bool


def is_scalar_index(k: Any) -> bool:
    """Whether an item of a key is one integer, known or traced."""
    return isinstance(k, int) or (type(k) is TracedArray and not k.shape)


def axis_of_key(k: Any, n: int, axis: int, type: Type, *, is_array: bool) -> Axis:
    """A slice, an integer or an index array on an axis of extent n."""
    if isinstance(k, slice):
        start, stop, step = k.indices(n)
        return Axis(start, step, len(range(start, stop, step)))
    if isinstance(k, int):
        if not -n <= k < n:
            raise _error(f"index {k} is out of bounds for axis {axis} of {type} with size {n}")
        return Axis(array=np.asarray(k % n)) if is_array else Axis(k % n, 1, 1, is_dropped=True)
    if type_is_traced(k):
        return Axis(array=k) if is_array or k.shape else Axis(wrapped(k.value, n), 1, 1, is_dropped=True)
    if k.size and not (-n <= k.min() and k.max() < n):
        bad = k[(k < -n) | (k >= n)][0]
        raise _error(f"index {bad} is out of bounds for axis {axis} of {type} with size {n}")
    return Axis(array=np.where(k < 0, k + n, k))


def type_is_traced(k: Any) -> bool:
    """Whether an item of a key is a traced array."""
    return type(k) is TracedArray


def wrapped(i: Value, n: int) -> Value:
    """Indices as i64, negative ones counted from the end."""
    i = cast_value(i, INT)
    return select(less(i, const(0, INT)), add(i, const(n, INT)), i)


def basic_lenses(key: Key, shape: tuple[int, ...]) -> tuple[Lens, ...]:
    """The view that a basic key shows."""
    lengths = tuple(a.length for a in key.axes)
    lenses: list[Lens] = []
    dynamic = [isinstance(a.start, Value) for a in key.axes]
    fixed = [(0, 1, n) if d else (a.start, a.step, a.length) for a, d, n in zip(key.axes, dynamic, shape, strict=True)]
    if any((s, d, m) != (0, 1, n) for (s, d, m), n in zip(fixed, shape, strict=True)):
        starts, steps, kept = zip(*fixed, strict=True)
        lenses.append(SliceLens(tuple(s if m else 0 for s, m in zip(starts, kept, strict=True)), steps, kept))
    if any(dynamic):
        zero = const(0, INT)
        starts = tuple(a.start if d else zero for a, d in zip(key.axes, dynamic, strict=True))
        lenses.append(DynamicLens(starts, lengths))
    final = tuple(1 if o is None else lengths[int(o)] for o in key.order)
    return (*lenses, ReshapeLens(final)) if final != lengths else tuple(lenses)


def arrange(x: Value, key: Key) -> tuple[Value, tuple[int, ...], tuple[Value, ...]]:
    """x with its slices taken and indexed axes first; that order of axes; the index arrays."""
    starts = tuple(0 if a.array is not None else a.start if a.length else 0 for a in key.axes)
    steps = tuple(1 if a.array is not None else a.step for a in key.axes)
    lengths = tuple(n if a.array is not None else a.length for a, n in zip(key.axes, x.shape, strict=True))
    if any(d != 1 for d in steps) or lengths != x.shape:
        x = Slice(starts, steps, lengths)(x)
    indexed = [n for n, a in enumerate(key.axes) if a.array is not None]
    first = tuple(indexed) + tuple(n for n in range(len(key.axes)) if n not in indexed)
    arrays = [key.axes[n].array for n in indexed]
    values = [
        wrapped(a.value, x.shape[n]) if type(a) is TracedArray else value_of(as_index(a))
        for n, a in zip(indexed, arrays, strict=True)
    ]
    try:
        shape = broadcast_shapes(*(v.shape for v in values))
    except ShapeError as error:
        raise _error(f"shape mismatch: {error.message.replace('operands', 'index arrays')}") from None
    return permute(x, first), first, tuple(broadcast_value(v, shape) for v in values)


def as_index(array: Any) -> TracedArray:
    """A NumPy index array known while tracing."""
    return fresh_concrete(np.asarray(array, np.int64))


def result_order(key: Key, rank: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """How gathered axes (index axes first, `rank` of them, then kept ones) become the result's:
    an order of axes, and where new axes go."""
    places = [n for n, o in enumerate(key.order) if o == "index"]
    is_together = places == list(range(places[0], places[-1] + 1))
    kept = [o for o in key.order if o != "index" and o is not None]
    before = [o for o in key.order[: places[0]] if o is not None] if is_together else []
    index_axes = list(range(rank))
    at = {o: rank + n for n, o in enumerate(sorted(kept))}
    order = [at[o] for o in before] + index_axes + [at[o] for o in kept if o not in before]
    outer = [o for n, o in enumerate(key.order) if o != "index" or n == places[0]] if is_together else [
        "index", *(o for o in key.order if o != "index")
    ]  # fmt: skip
    new: list[int] = []
    position = 0
    for o in outer:
        if o is None:
            new.append(position)
        position += rank if o == "index" else 1
    return tuple(order), tuple(new)


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
    starts = tuple(0 if a.array is not None else a.start if a.length else 0 for a in key.axes)
    steps = tuple(1 if a.array is not None else a.step for a in key.axes)
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


def traced_mask(key: Any) -> TracedArray | None:
    """The traced boolean array that is the key, or a part of it."""
    for k in _keys(key):
        if type(k) is TracedArray and k.concrete is None and k.type.kind == "b":
            if len(_keys(key)) > 1:
                raise UnsupportedError("a traced mask beside other indices is not supported", hint="use np.where").at(
                    ("here", here())
                )
            return k
        if is_mask(k):
            return traced_mask(as_traced(k)) if len(_keys(key)) == 1 else None
    return None


def check_mask(x: TracedArray, mask: TracedArray) -> None:
    """IndexRangeError unless the mask has the shape of x's leading axes."""
    if mask.shape != x.shape[: mask.ndim]:
        raise _error(f"boolean index of shape {mask.shape} does not match {x.type}")


def masked(x: Value, mask: Value, y: Any) -> Value:
    """x with `x[mask] = y` done."""
    if isinstance(y, Selection):
        if y.mask.value is not mask:
            raise UnsupportedError("x[mask] = y[other]: both masks must be the same", hint="use np.where").at(
                ("here", here())
            )
        wide = broadcast(mask, x.shape, tuple(range(len(mask.shape))))
        return select(wide, with_type(y.whole.value, x.type), x)
    value = at_places(mask, cast_value(value_of(y), x.dtype), x.shape)
    wide = broadcast(mask, x.shape, tuple(range(len(mask.shape))))
    return select(wide, broadcast_value(value, x.shape), x)


def at_places(mask: Value, value: Value, shape: tuple[int, ...]) -> Value:
    """What `x[mask] = value` writes to each place of x: the same for all, or one row after the other."""
    rest = shape[len(mask.shape) :]
    if value.type.size == 1:
        return reshape(value, ())
    if len(value.shape) <= len(rest) or value.shape[0] == 1:
        return broadcast_value(value if len(value.shape) <= len(rest) else reshape(value, value.shape[1:]), rest)
    return dealt(mask, broadcast_value(value, (value.shape[0], *rest)))


def _static(part: Any) -> int:
    """A slice bound as an int."""
    try:
        return operator.index(part)
    except DTypeError:
        raise
    except TypeError as error:
        if type(part) is TracedArray:
            raise
        raise _error(f"slice indices must be integers or None, got {type(part).__name__}") from error


def _keys(key: Any) -> tuple[Any, ...]:
    """The items of a key. A list is one item: an index array."""
    return as_tuple(key) if isinstance(key, tuple) else (key,)


def _error(message: str) -> IndexRangeError:
    return IndexRangeError(message).at(("indexed here", here()))
