"""Elements chosen by index or condition: where, take, choose, clip and their like."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.core.ir import Value, const
from pliant.core.origin import here
from pliant.core.types import DTYPES
from pliant.errors import DomainError, DTypeError, ShapeError
from pliant.frontend.array import TracedArray, fresh, fresh_concrete
from pliant.frontend.bounded import Bounded, operand
from pliant.frontend.convert import (
    as_traced,
    axis_of,
    broadcast_shapes,
    broadcast_value,
    fitting,
    mask_of,
    result_dtype,
    stored,
    value_of,
    with_type,
)
from pliant.frontend.failures import ensured
from pliant.frontend.functions import bounded_edit
from pliant.frontend.functions.common import (
    NO_VALUE,
    array_of,
    check_out,
    index_value,
    is_sequence,
    known,
    one_of,
    solid,
    store_out,
    unsupported,
    xp,
)
from pliant.frontend.functions.found import nonzero
from pliant.frontend.functions.reduce import truth_of
from pliant.frontend.functions.shape import ravel, reshape, sliced
from pliant.frontend.index import getitem, setitem
from pliant.frontend.number import Kind, with_kind
from pliant.frontend.ranks import repeated
from pliant.ops import bits, compare, rounding
from pliant.ops.elementwise import convert
from pliant.ops.index import put_along, take_along, wrap
from pliant.ops.select import select as choice
from pliant.ops.shape import reshape as laid_out


def where(condition: Any, /, *branches: Any, x: Any = NO_VALUE, y: Any = NO_VALUE) -> Any:
    """np.where."""
    given = (*branches, *(b for b in (x, y) if b is not NO_VALUE))
    if not given:
        return nonzero(condition)
    if len(given) != 2:
        raise ShapeError("np.where: either both or neither of x and y should be given").at(("here", here()))
    given = fitting(given)
    dtype = result_dtype(*given)
    values = [truth_of(condition), *(value_of(solid(b), dtype) for b in given)]  # 300 wraps around in uint8, as there
    shape = broadcast_shapes(*(v.shape for v in values))
    full = [v if not v.shape else broadcast_value(v, shape) for v in values]
    return fresh(choice(*full), is_array=True)


def take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise") -> Any:
    """np.take."""
    if isinstance(indices, Bounded) or hasattr(indices.__class__, "listed"):
        return bounded_edit.take(a, operand(indices), axis, out, mode)
    x = array_of(solid(a) if axis is None else a)
    x = ravel(x) if axis is None or not x.ndim else x
    at = axis_of(0 if axis is None else axis, x.ndim)
    is_empty = is_sequence(indices) and not len(indices)  # NumPy takes no float for an index, but for []
    places = as_traced(np.zeros(0, int) if is_empty else indices)
    number = index_value(places, lambda i: np.take(i, i))
    places = fresh(number, is_array=True) if places.type.kind == "b" else places  # no mask
    before, after = x.shape[:at], x.shape[at + 1 :]
    if 0 in before or (mode != "raise" and 0 in after):  # there is no element to take: NumPy looks at no index
        picked = as_traced(xp.zeros(before + places.shape + after, x.dtype))
    else:
        picked = getitem(x, (slice(None),) * at + (in_mode(places, x.shape[at], mode),))
    check_out(out, x.type.dtype, "np.take", lambda a, out: np.take(a, [0], out=out))
    return store_out(picked.value, out, "np.take", is_array=bool(picked.shape), casting="unsafe")


def in_mode(indices: TracedArray, n: int, mode: str) -> TracedArray:
    """Indices brought into range as `mode` says."""
    if mode == "raise":
        return indices
    one_of(("raise", "wrap", "clip"), mode, "mode")
    if indices.concrete is not None:
        plain = indices.concrete
        return fresh_concrete(np.asarray(plain % n if mode == "wrap" else xp.clip(plain, 0, n - 1)))
    i = value_of(indices, "i64")
    return fresh(rounding.remainder(i, n) if mode == "wrap" else compare.clip(i, 0, n - 1), is_array=True)


def within(i: Value, n: int, failure: str) -> Value:
    """Integers; the error of that name where one is not among 0, 1, …, n - 1."""
    return ensured(i, _outside(i, n), failure)


def _outside(i: Value, n: int) -> Value:
    """1 for integers that are not among 0, 1, …, n - 1, and 0 for these."""
    return convert(bits.logical_or(compare.less(i, const(0, "i64")), compare.greater_equal(i, const(n, "i64"))), "i64")


def _aligned(x: TracedArray, indices: Any, at: int) -> Value:
    """Non-negative indices of x's shape but for one axis."""
    _check_rank(x, indices)
    i = index_value(indices, lambda i: np.take_along_axis(i, i, 0))
    shape = tuple(i.shape[a] if a == at else n for a, n in enumerate(x.shape))
    return wrap(broadcast_value(i, shape), x.shape[at])


def _check_rank(x: TracedArray, indices: Any) -> None:
    if as_traced(indices).ndim != x.ndim:
        message = f"`indices` and `arr` must have the same number of dimensions: {as_traced(indices).type} and {x.type}"
        raise ShapeError(message).at(("here", here()))


def take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Any:
    """np.take_along_axis."""
    x, i = solid(arr), as_traced(indices)
    if axis is None:
        x, axis = ravel(x), 0
    at = axis_of(axis, x.ndim)
    _check_rank(x, i)
    value = x.value
    if i.shape[:at] + i.shape[at + 1 :] != x.shape[:at] + x.shape[at + 1 :]:
        wide = broadcast_shapes(
            tuple(1 if a == at else n for a, n in enumerate(x.shape)),
            tuple(1 if a == at else n for a, n in enumerate(i.shape)),
        )
        value = broadcast_value(value, tuple(x.shape[at] if a == at else n for a, n in enumerate(wide)))
        x = fresh(value, is_array=True)
    return fresh(take_along(value, _aligned(x, i, at), at), is_array=True)


def put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> None:
    """np.put_along_axis: writes into `arr`."""
    x = as_traced(arr)
    if axis is None:
        x, axis = reshape(x, -1), 0
    at = axis_of(axis, x.ndim)
    given = as_traced(indices).shape
    if any([n == 1 != m for a, (n, m) in enumerate(zip(x.shape, given, strict=False)) if a != at]):
        ones = (1,) * x.ndim  # one row takes several
        places = [np.arange(n).reshape(*ones[:a], n, *ones[a + 1 :]) for a, n in enumerate(x.shape)]
        places[at] = indices
        setitem(x, tuple(places), values)
        return
    i = _aligned(x, indices, at)
    u = broadcast_value(value_of(values, x.type.dtype), i.shape)
    x.replace(put_along(x.value, i, u, at))


def choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Any:
    """np.choose."""
    options = [choices[i] for i in range(len(choices))]
    number = as_traced(a)
    known = number.concrete
    if mode == "raise" and known is not None and np.any((known < 0) | (known >= len(options))):
        raise DomainError(f"np.choose: invalid entry in choice array: {len(options)} choices").at(("here", here()))
    index_value(number, lambda i: np.choose(i, [i]))
    which = value_of(in_mode(number, len(options), mode), "i64")
    dtype = result_dtype(*options)
    values = [value_of(o, dtype) for o in options]
    shape = broadcast_shapes(which.shape, *(v.shape for v in values))
    made = broadcast_value(values[-1], shape)
    for number in reversed(range(len(values) - 1)):
        test = broadcast_value(compare.equal(which, const(number, "i64")), shape)
        made = choice(test, broadcast_value(values[number], shape), made)
    if mode == "raise":
        made = ensured(made, broadcast_value(_outside(which, len(options)), shape), "choice")
    return store_out(made, out, "np.choose", casting="unsafe")


def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """np.select: the choice of the first condition that holds."""
    if len(condlist) != len(choicelist) or not len(condlist):
        raise ShapeError("np.select: list of cases must be same length as list of conditions").at(("here", here()))
    choices = [choicelist[i] for i in range(len(choicelist))]
    dtype = result_dtype(*choices, default)
    conditions = [as_traced(condlist[i]) for i in range(len(condlist))]
    for n, condition in enumerate(conditions):
        if condition.type.kind != "b":
            raise DTypeError(f"np.select: condition {n} should be bools, got {condition.type}").at(("here", here()))
    conditions = [c.value for c in conditions]
    values = [value_of(c, dtype) for c in (*choices, default)]
    shape = broadcast_shapes(*(v.shape for v in (*conditions, *values)))
    made = broadcast_value(values[-1], shape)
    for condition, value in zip(reversed(conditions), reversed(values[:-1]), strict=True):
        made = choice(broadcast_value(condition, shape), broadcast_value(value, shape), made)
    return fresh(made, is_array=True)


def clip(
    a: Any, a_min: Any = NO_VALUE, a_max: Any = NO_VALUE, out: Any = None, *, min: Any = NO_VALUE, max: Any = NO_VALUE,
    **options: Any,
) -> Any:  # fmt: skip
    """np.clip."""
    if any(b is not NO_VALUE for b in (a_min, a_max)) and any(b is not NO_VALUE for b in (min, max)):
        message = "Passing `min` or `max` keyword argument when `a_min` and `a_max` are provided is forbidden."
        raise DomainError(message).at(("here", here()))
    low, high = (first if first is not NO_VALUE else second for first, second in ((a_min, min), (a_max, max)))
    x = solid(a)
    bounds = [None if b is NO_VALUE else _bound(x, b, is_low) for b, is_low in ((low, True), (high, False))]
    dtype = result_dtype(x, *(b for b in bounds if b is not None))
    if options.pop("dtype", None) is not None or options.pop("where", True) is not True or options:
        raise unsupported("np.clip: other keywords than min, max and out are not supported")
    y = value_of(x, dtype)
    for bound, combine in zip(bounds, (compare.maximum, compare.minimum), strict=True):
        if bound is not None:
            b = value_of(bound, dtype)
            shape = broadcast_shapes(y.shape, b.shape)
            y = combine(broadcast_value(y, shape), b if not b.shape else broadcast_value(b, shape))
    return store_out(y if out is None else broadcast_value(y, as_traced(out).shape), out, "np.clip")


def _bound(x: TracedArray, bound: Any, is_low: bool) -> Any:
    """A bound of x; of Python integers none that lies beyond all that x can hold, and None if that is known."""
    number: Any = bound
    is_traced = type(bound) is TracedArray and bound.is_weak and bound.type.kind == "i"
    if x.type.kind not in "iu" or x.is_weak or not (is_traced or type(bound) is int):
        return number
    limits = np.iinfo(x.dtype)
    limit = int(limits.min if is_low else limits.max)
    known = number.concrete if is_traced else number
    if known is not None:
        return None if (known <= limit if is_low else known >= limit) else number
    if limit >= 2**63 - 1 or limit == -(2**63):
        return number
    nearest = (compare.maximum if is_low else compare.minimum)(number.value, const(limit, "i64"))
    return with_kind(nearest, Kind(nearest.type, is_scalar=True, is_weak=True))


def copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    """np.copyto: writes into `dst`."""
    x, y = as_traced(dst), as_traced(src)
    made = np.dtype(DTYPES[result_dtype(x, y)]) if y.is_weak else y.dtype
    if not xp.can_cast(made, x.dtype, casting):
        message = f"np.copyto: cannot cast {y.type} to {x.type} with casting={casting!r}"
        raise DTypeError(message, hint="convert with .astype(...)").at(("here", here()))
    given = array_of(y) if y.is_weak and y.type.kind == "f" else y  # cast, by any rule if by any
    if dst is src and where is True:
        return  # NumPy writes nothing, nor asks whether it may
    value = broadcast_value(stored(src if y.type.kind == "i" else given, x.type.dtype), x.shape)
    if where is not True:
        mask = broadcast_value(mask_of(where), x.shape)
        value = choice(mask, value, x.value)
    x.replace(value)


def _stored(values: Any, x: TracedArray) -> TracedArray:
    """What becomes of values that are assigned to elements of x."""
    return fresh(stored(values, x.type.dtype), is_array=True)


def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    """np.put: writes into `a`."""
    x, places = as_traced(a), fresh(index_value(ind, lambda i: np.put(np.ones(1), i, 1)), is_array=True)
    flat = reshape(x, -1)
    i = ravel(in_mode(places, x.size, mode))
    values = ravel(_stored(v, x))
    if not i.size or not values.size:
        return
    if values.size != i.size:
        values = xp.resize(values, i.size)
    if flat.storage is x.storage:
        flat[i] = values
    else:  # a reshape of this view is a copy
        flat[i] = values
        x[...] = reshape(flat, x.shape)


def putmask(a: Any, mask: Any, values: Any) -> None:
    """np.putmask: writes into `a`."""
    x, y = as_traced(a), solid(values)
    if hasattr(values, "shape") and not y.is_scalar and not np.can_cast(y.dtype, x.dtype):
        raise DTypeError(f"np.putmask: cannot cast values {y.type} safely to {x.type}").at(("here", here()))
    y = _stored(values, x) if not hasattr(values, "shape") else y
    if y.size != x.size and y.size:
        y = xp.resize(y, x.shape)
    full = reshape(y, x.shape)
    which = value_of(mask, "bool")
    if which.type.size != x.size:
        message = f"putmask: mask and data must be the same size: {which.type} and {x.type}"
        raise ShapeError(message).at(("here", here()))
    x.replace(choice(laid_out(which, x.shape), value_of(full, x.type.dtype), x.value))


def place(arr: Any, mask: Any, vals: Any) -> None:
    """np.place: writes into `arr`; fewer values than places are used again from the first."""
    x, y = as_traced(arr), ravel(_stored(vals, as_traced(arr)))
    which = reshape(as_traced(mask), x.shape) if as_traced(mask).shape != x.shape else as_traced(mask)
    if not y.size:
        raise unsupported("np.place: an empty `vals` fits only a mask that selects nothing")
    chosen = value_of(which, "bool")
    x.replace(choice(chosen, repeated(chosen, y.value), x.value))


def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    """np.fill_diagonal: writes into `a`."""
    x = as_traced(a)
    if x.ndim < 2 or (x.ndim > 2 and len(set(x.shape)) > 1):
        raise ShapeError(f"np.fill_diagonal: all dimensions of {x.type} must be of equal length").at(("here", here()))
    step = 1 + x.shape[1] if x.ndim == 2 else 1 + sum(x.shape[0] ** p for p in range(1, x.ndim))
    end = x.size if x.ndim > 2 or wrap else min(x.size, x.shape[1] ** 2)
    flat = reshape(x, -1)
    count = len(range(0, end, step))
    y = _stored(val, x)
    if y.size != 1:
        y = xp.resize(ravel(y), count)
    part = sliced(flat, 0, 0, count, step)
    part.replace(with_type(reshape(y, ()).value if y.size == 1 else as_traced(y).value, part.type))
    if flat.storage is not x.storage:
        x[...] = reshape(flat, x.shape)


def compress(condition: Any, a: Any, axis: Any = None, out: Any = None) -> Any:
    """np.compress: a selection where the condition is traced."""
    traced = _traced_mask(condition)
    if traced is None:
        mask = np.asarray(known(condition, "the condition of np.compress"), bool)
        return take(a, fresh_concrete(np.flatnonzero(mask)), axis, out)
    x = ravel(a) if axis is None else array_of(a)
    made = getitem(x, (slice(None),) * axis_of(axis or 0, x.ndim) + (traced,))
    if out is not None:
        raise made.refused("np.compress with out=")
    return made


def extract(condition: Any, arr: Any) -> Any:
    """np.extract: a selection where the condition is traced."""
    return compress(ravel(condition), arr)


def _traced_mask(condition: Any) -> TracedArray | None:
    """A condition as a mask, if it is known only at run time."""
    made = as_traced(condition)
    return None if made.concrete is not None else fresh(truth_of(made), is_array=True)


def unravel_index(indices: Any, shape: Any, order: str = "C") -> tuple[TracedArray, ...]:
    """np.unravel_index."""
    extents, i = known(shape, "shape="), index_value(indices, lambda i: xp.unravel_index(i, (1,)))
    extents = tuple([int(n) for n in extents]) if np.ndim(extents) else (int(extents),)
    size = math.prod(extents)
    i = within(i, size, f"flat_index {size}")
    made = list[TracedArray]()
    for n in reversed(extents) if order == "C" else extents:
        made.append(fresh(rounding.remainder(i, n)))
        i = rounding.floor_divide(i, n)
    return tuple(reversed(made)) if order == "C" else tuple(made)


def ravel_multi_index(multi_index: Any, dims: Any, mode: str = "raise", order: str = "C") -> Any:
    """np.ravel_multi_index."""
    extents = tuple([int(n) for n in known(dims, "dims=")])
    modes = tuple(mode) if is_sequence(mode) else (mode,) * len(extents)
    total: Any = 0
    parts = [index_value(i, lambda i: xp.ravel_multi_index((i,), (1,))) for i in multi_index]
    pairs = list(zip(parts, extents, modes, strict=True))
    for part, n, how in pairs if order == "C" else reversed(pairs):
        i = fresh(within(part, n, "coordinates")) if how == "raise" else in_mode(fresh(part), n, how)
        total = total * n + i
    return total


FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    np.where: where,
    np.take: take,
    np.take_along_axis: take_along_axis,
    np.put_along_axis: put_along_axis,
    np.choose: choose,
    np.select: select,
    np.clip: clip,
    np.copyto: copyto,
    np.put: put,
    np.putmask: putmask,
    np.place: place,
    np.fill_diagonal: fill_diagonal,
    np.compress: compress,
    np.extract: extract,
    np.unravel_index: unravel_index,
    np.ravel_multi_index: ravel_multi_index,
}
"""NumPy's choices by index or condition."""
