"""What stands between the brackets of `x[key]`: which elements of which axis, and where the axes go."""

from __future__ import annotations

import operator
from functools import lru_cache
from typing import Any, Final, cast, final

import numpy as np

from pliant.core.data import frozen
from pliant.core.ir import Value, const
from pliant.core.origin import here
from pliant.core.types import Type
from pliant.errors import DTypeError, IndexRangeError, UnsupportedError
from pliant.frontend.array import TracedArray
from pliant.frontend.bounded import Bounded
from pliant.frontend.convert import as_traced, cast_value
from pliant.frontend.failures import fail_if, is_caught
from pliant.frontend.kinds import as_tuple, is_array, is_sequence, is_traced
from pliant.frontend.number import Kind, with_kind
from pliant.frontend.view import DynamicLens, Lens, ReshapeLens, SliceLens
from pliant.ops.bits import logical_or
from pliant.ops.compare import less
from pliant.ops.elementwise import add
from pliant.ops.reduce import reduce_or
from pliant.ops.select import select

WHOLE: Final = "i.astype(int) makes integers, i > 0 a mask"

INT: Final = "i64"


@final
@frozen
class Axis:
    """What a key says about one axis of x: a slice, an integer, or an index array."""

    start: Any = 0
    step: int = 1
    length: int = 0
    is_dropped: bool = False
    array: Any = None  # a NumPy int array, or a traced one


@final
@frozen
class Key:
    """A key by axis. `order` has an axis number per result axis, None for a new axis, "index" where an index array
    stands, and Ellipsis for one of no axes, which stands between index arrays all the same."""

    axes: tuple[Axis, ...]
    order: tuple[Any, ...]
    has_ellipsis: bool

    @property
    def is_basic(self) -> bool:
        """Whether the result is a view."""
        return all(a.array is None for a in self.axes)

    @property
    def indexed(self) -> tuple[int, ...]:
        """The axes that have index arrays."""
        return tuple([n for n, a in enumerate(self.axes) if a.array is not None])

    @property
    def first(self) -> tuple[int, ...]:
        """All axes, those that have index arrays first."""
        return (*self.indexed, *[n for n, a in enumerate(self.axes) if a.array is None])


@final
@frozen
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
    items = [plain_index(k) for k in items_of(key)]
    used = sum(k.ndim if is_mask(k) else 1 for k in items if k is not None and k is not Ellipsis)
    if used > type.rank:
        raise index_error(f"too many indices: {type} has {type.rank} axes, the key has {used}")
    if sum(k is Ellipsis for k in items) > 1:
        raise index_error("an index can only have a single ellipsis ('...')")
    where = next((n for n, k in enumerate(items) if k is Ellipsis), len(items))
    has_ellipsis = where < len(items)
    others = [k for k in items if k is not None and k is not Ellipsis]
    has_array = any([not isinstance(k, slice) and not is_scalar_index(k) for k in others])
    has_mark = has_ellipsis and has_array and used == type.rank
    items[where : where + 1] = [Ellipsis] if has_mark else [slice(None)] * (type.rank - used)
    axes: list[Axis] = []
    order: list[Any] = []
    for k in items:
        if k is None or k is Ellipsis:
            order.append(k)
        elif is_mask(k):
            if k.ndim == 0:
                error = UnsupportedError("a single bool as an index is not supported", hint="x[None] is x[True]")
                raise error.at(("indexed here", here()))
            if k.shape != type.shape[len(axes) : len(axes) + k.ndim]:
                raise index_error(f"boolean index of shape {k.shape} does not match axis {len(axes)} of {type}")
            axes += [Axis(array=i) for i in k.nonzero()]
            order += ["index"] * k.ndim
        else:
            n = type.shape[len(axes)]
            made = axis_of_key(k, n, len(axes), type, is_array=has_array)
            order += ["index"] if made.array is not None else [] if made.is_dropped else [len(axes)]
            axes.append(made)
    return Key(tuple(axes), tuple(order), has_ellipsis)


def plain_index(k: Any) -> Any:
    """One item of a key: None, Ellipsis, a slice, an int, a NumPy array, or a traced integer array, of places of which
    the number may be unknown."""
    if k is None or k is Ellipsis:
        return k
    if isinstance(k, Bounded):
        return of_places(k)
    if type(k) is slice:
        parts = [None if p is None else _static(p) for p in (k.start, k.stop, k.step)]
        return slice(*parts)
    if isinstance(k, bool | np.bool_):
        return np.asarray(k)
    if isinstance(k, TracedArray):
        if k.concrete is None:
            return of_places(k)
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
    if array.dtype.kind in "USO":
        kinds = "integers, slices (`:`), ellipsis (`...`), np.newaxis (`None`) and integer or boolean arrays"
        hint = "an array has no fields: keep one for each, as in a dict"
        raise index_error(f"only {kinds} are valid indices, got {k!r}", hint)
    if array.dtype != bool and array.dtype.kind not in "iu":
        raise index_error(f"arrays used as indices must be of integer or boolean type, got {array.dtype}", WHOLE)
    return array if array.dtype == bool else array.astype(np.int64)


def of_places(k: Any) -> Any:
    """An array of the program as an item of a key; IndexRangeError unless it is one of places."""
    if k.dtype.kind not in "iu":
        text = k.text if isinstance(k, Bounded) else k.type
        raise index_error(f"arrays used as indices must be of integer or boolean type, got {text}", WHOLE)
    return k


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
            raise index_error(f"index {k} is out of bounds for axis {axis} of {type} with size {n}", _range(n))
        return Axis(array=np.asarray(k % n)) if is_array else Axis(k % n, 1, 1, is_dropped=True)
    if is_traced(k):
        if is_caught(IndexError):
            k = with_kind(_inside(cast_value(k.value, INT), n, axis), Kind(Type(INT, k.shape), is_scalar=not k.shape))
        return Axis(array=k) if is_array or k.shape else Axis(wrapped(k.value, n), 1, 1, is_dropped=True)
    if isinstance(k, Bounded):
        return Axis(array=k)
    if k.size and not (-n <= k.min() and k.max() < n):
        bad = k[(k < -n) | (k >= n)][0]
        raise index_error(f"index {bad} is out of bounds for axis {axis} of {type} with size {n}", _range(n))
    return Axis(array=np.where(k < 0, k + n, k))


def spans(key: Key, shape: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Starts, steps and lengths of what a key shows of each axis before index arrays take from it."""
    rows = [
        (0, 1, n) if a.array is not None else (a.start if a.length else 0, a.step, a.length)
        for a, n in zip(key.axes, shape, strict=True)
    ]
    return tuple([r[0] for r in rows]), tuple([r[1] for r in rows]), tuple([r[2] for r in rows])


def result_order(key: Key, rank: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """How gathered axes (index axes first, `rank` of them, then kept ones) become the result's:
    an order of axes, and where new axes go."""
    at_index = [n for n, o in enumerate(key.order) if o == "index"]
    is_together = at_index == list(range(at_index[0], at_index[-1] + 1))
    kept = [o for o in key.order if isinstance(o, int)]
    before = [o for o in key.order[: at_index[0]] if isinstance(o, int)] if is_together else []
    index_axes = list(range(rank))
    at = {o: rank + n for n, o in enumerate(sorted(kept))}
    order = [at[o] for o in before] + index_axes + [at[o] for o in kept if o not in before]
    outer = [o for n, o in enumerate(key.order) if o != "index" or n == at_index[0]] if is_together else [
        "index", *(o for o in key.order if o != "index")
    ]  # fmt: skip
    new: list[int] = []
    position = 0
    for o in outer:
        if o is None:
            new.append(position)
        position += rank if o == "index" else o is not Ellipsis
    return tuple(order), tuple(new)


def _inside(i: Value, n: int, axis: int) -> Value:
    """Indices, of which a handler of the user's catches those that an axis does not have."""
    bad = logical_or(less(i, const(-n, INT)), less(const(n - 1, INT), i))
    fail_if(
        reduce_or(bad, tuple(range(i.type.rank))), IndexError(f"index is out of bounds for axis {axis} with size {n}")
    )
    return select(bad, const(0, INT), i)


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


def _static(part: Any) -> int:
    """A slice bound as an int."""
    try:
        return operator.index(part)
    except DTypeError:
        raise
    except TypeError as error:
        if type(part) is TracedArray:
            raise
        raise index_error(f"slice indices must be integers or None, got {type(part).__name__}") from error


def items_of(key: Any) -> tuple[Any, ...]:
    """The items of a key. A list is one item: an index array."""
    return as_tuple(key) if isinstance(key, tuple) else (key,)


def has_array_of_rank_0(key: Any) -> bool:
    """Whether an integer of the key is an array: then NumPy copies what it would show."""
    arrays = [k for k in items_of(key) if is_array(k) or (type(k) is TracedArray and not (k.is_scalar or k.is_weak))]
    return any([not a.shape for a in arrays])


def _range(n: int) -> str:
    """The hint for an index beyond an axis."""
    return f"indices go from {-n} to {n - 1}" if n else "the axis is empty"


def index_error(message: str, hint: str = "") -> IndexRangeError:
    """The error for a key, at the user's line."""
    return IndexRangeError(message, hint=hint).at(("indexed here", here()))
