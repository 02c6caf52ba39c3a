"""Arrays put together, repeated and rearranged: concatenate, stack, tile, roll and their like."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from pliant.core.ir import Value, const
from pliant.core.origin import here
from pliant.errors import DTypeError, ShapeError
from pliant.frontend.array import TracedArray, fresh, fresh_concrete
from pliant.frontend.convert import (
    as_traced,
    axis_of,
    broadcast_value,
    cast_value,
    each_axis,
    result_dtype,
    shape_of,
    short,
    value_of,
)
from pliant.frontend.functions.common import (
    array_of,
    is_list,
    is_sequence,
    known,
    one_of,
    solid,
    store_out,
    xp,
)
from pliant.frontend.functions.pieces import Run, put_together
from pliant.frontend.functions.shape import atleast_1d, atleast_2d, atleast_3d, expand_dims, ravel, reshape
from pliant.frontend.kinds import as_tuple, is_array
from pliant.frontend.rows import rows_of
from pliant.frontend.strides import has_dtype
from pliant.ops import shape as moves
from pliant.ops.block import read_block, update_block
from pliant.ops.index import gather, wrap
from pliant.ops.matrix import tril as lower_part
from pliant.ops.matrix import triu as upper_part
from pliant.ops.neighbours import with_neighbours_joined

LONG: Final = 32
"""Elements of rows that are quickly found by index."""


def parts_of(arrays: Any) -> list[TracedArray]:
    """The arrays in a sequence, or the rows of an array."""
    if isinstance(arrays, TracedArray | np.ndarray):
        x = as_traced(arrays)
        return [x[i] for i in range(x.shape[0])]
    return [solid(a) for a in arrays]


def joined(arrays: list[TracedArray], axis: int, dtype: Any = None) -> Value:
    """Arrays one after the other, in one dtype."""
    to = short(dtype) if dtype is not None else result_dtype(*arrays)
    values = tuple(value_of(x, to) for x in arrays)
    return moves.concatenate(values if axis else with_neighbours_joined(values), axis)


def concatenate(
    arrays: Any, /, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind"
) -> Any:
    """np.concatenate."""
    parts = parts_of(arrays)
    if not parts:
        raise ShapeError("need at least one array to concatenate").at(("here", here()))
    if axis is None:
        parts, axis = [ravel(p) for p in parts], 0
    ranks = {p.ndim for p in parts}
    if 0 in ranks or len(ranks) > 1:
        types = " and ".join(str(p.type) for p in parts[:4])
        raise ShapeError(f"arrays to concatenate must have the same number of axes, at least one: {types}").at(
            ("here", here())
        )
    at = axis_of(axis, parts[0].ndim)
    wanted = np.dtype(dtype) if dtype is not None else None if out is None else as_traced(out).dtype
    _check_casts(parts, np.result_type(*(p.dtype for p in parts)) if wanted is None else wanted, casting)
    if len({p.type.without((at,)).shape for p in parts}) > 1:
        types = " and ".join(str(p.type) for p in parts[:4])
        raise ShapeError(f"arrays to concatenate along axis {at} must agree in all other axes: {types}").at(
            ("here", here())
        )
    return store_out(joined(parts, at, dtype), out, "np.concatenate", is_array=True, casting="unsafe")


def _check_casts(parts: list[TracedArray], wanted: np.dtype[Any], casting: Any) -> None:
    """DTypeError unless a rule allows to cast all parts to a dtype."""
    for p in parts:
        if not np.can_cast(p.dtype, wanted, casting):
            message = f"Cannot cast array data from {p.dtype!r} to {wanted!r} according to the rule {casting!r}"
            raise DTypeError(message).at(("here", here()))


def stack(arrays: Any, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """np.stack."""
    rows = rows_of([*arrays]) if is_list(arrays) and axis == 0 and out is None and dtype is None else None
    if rows is not None:
        return fresh(rows.value, is_array=True)
    parts = parts_of(arrays)
    if not parts:
        raise ShapeError("need at least one array to stack").at(("here", here()))
    if len({p.shape for p in parts}) > 1:
        types = " and ".join(str(p.type) for p in parts[:4])
        raise ShapeError(f"all input arrays must have the same shape: {types}").at(("here", here()))
    at = axis_of(axis, parts[0].ndim + 1)
    return concatenate([expand_dims(p, at) for p in parts], at, out, dtype=dtype, casting=casting)


def vstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """np.vstack."""
    return concatenate([atleast_2d(p) for p in parts_of(tup)], 0, dtype=dtype, casting=casting)


def hstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """np.hstack."""
    parts = [atleast_1d(p) for p in parts_of(tup)]
    return concatenate(parts, 0 if parts and parts[0].ndim == 1 else 1, dtype=dtype, casting=casting)


def dstack(tup: Any) -> Any:
    """np.dstack."""
    return concatenate([atleast_3d(p) for p in parts_of(tup)], 2)


def column_stack(tup: Any) -> Any:
    """np.column_stack."""
    parts = [array_of(p) for p in parts_of(tup)]
    return concatenate([reshape(p, (p.size, 1)) if p.ndim < 2 else p for p in parts], 1)


def block(arrays: Any) -> Any:
    """np.block."""
    depth = _depth(arrays)
    rank = max(depth, *_ranks(arrays))

    def assemble(item: Any, level: int) -> TracedArray:
        if is_list(item):
            return concatenate([assemble(i, level + 1) for i in item], rank - depth + level)
        x = array_of(solid(item))
        return reshape(x, (*(1,) * (rank - x.ndim), *x.shape))

    return fresh(assemble(arrays, 0).value, is_array=True)


def _depth(arrays: Any) -> int:
    return 1 + max((_depth(a) for a in arrays), default=0) if is_list(arrays) else 0


def _ranks(arrays: Any) -> list[int]:
    if is_list(arrays):
        return [r for a in arrays for r in _ranks(a)]
    return [as_traced(arrays).ndim]


def append(arr: Any, values: Any, axis: Any = None) -> Any:
    """np.append."""
    if axis is None:
        return concatenate((ravel(solid(arr)), ravel(solid(values))))
    return concatenate((arr, values), axis)


def tile(A: Any, reps: Any) -> TracedArray:
    """np.tile."""
    x = array_of(solid(A))
    times = shape_of(known(reps, "reps="))
    rank = max(len(times), x.ndim)
    times, shape = (1,) * (rank - len(times)) + times, (1,) * (rank - x.ndim) + x.shape
    wide = tuple(n for pair in zip(times, shape, strict=True) for n in pair)
    spread = moves.broadcast(moves.reshape(x.value, shape), wide, tuple(range(1, 2 * rank, 2)))
    return fresh(moves.reshape(spread, tuple(t * n for t, n in zip(times, shape, strict=True))), is_array=True)


def repeat(a: Any, repeats: Any, axis: Any = None) -> TracedArray:
    """np.repeat; how often must be known while tracing."""
    x = array_of(solid(a)) if axis is not None else ravel(solid(a))
    at, given = axis_of(0 if axis is None else axis, x.ndim), known(repeats, "repeats=")
    times = np.asarray(given) if is_array(given) else np.array(given, np.int64)
    if not np.can_cast(times.dtype, np.int64, "safe"):
        message = f"Cannot cast array data from {times.dtype!r} to dtype('int64') according to the rule 'safe'"
        raise DTypeError(message, hint="repeats.astype(int) makes integers").at(("here", here()))
    if times.ndim and times.size != 1:
        if times.shape != (x.shape[at],):
            message = f"operands could not be broadcast together with shape ({x.shape[at]},) {times.shape}"
            raise ShapeError(message, hint="repeats= is one number, or one for each element").at(("here", here()))
        if (times < 0).any():
            raise ShapeError("repeats may not contain negative values").at(("here", here()))
        places = np.repeat(np.arange(x.shape[at]), times)
        return along(x, places, at)
    count = int(times.reshape(()))
    if count < 0:
        raise ShapeError("repeats may not contain negative values").at(("here", here()))
    wide = (*x.shape[: at + 1], count, *x.shape[at + 1 :])
    spread = moves.broadcast(x.value, wide, tuple(i for i in range(len(wide)) if i != at + 1))
    shape = tuple(n * count if i == at else n for i, n in enumerate(x.shape))
    return fresh(moves.reshape(spread, shape), is_array=True)


def along(x: TracedArray, places: Any, axis: int) -> TracedArray:
    """The elements at known places along one axis, as a copy."""
    key = (slice(None),) * axis + (fresh_concrete(np.asarray(places, np.int64)),)
    return fresh(x[key].value, is_array=True)


def roll(a: Any, shift: Any, axis: Any = None) -> TracedArray:
    """np.roll; traced shifts gather."""
    x = array_of(solid(a))
    if axis is None:
        return fresh(reshape(roll(ravel(x), shift, 0), x.shape).value, is_array=True)
    shifts, axes = _several(shift), known(each_axis(axis), "axis=")
    if len(shifts) != len(axes):
        if 1 not in (len(shifts), len(axes)):
            raise ShapeError(f"np.roll: {len(shifts)} shifts do not fit {len(axes)} axes").at(("here", here()))
        shifts, axes = (tuple(a) * (len(b) if len(a) == 1 else 1) for a, b in ((shifts, axes), (axes, shifts)))
    value, known_by = x.value, [0] * x.ndim
    for s, a in zip(shifts, axes, strict=True):
        at = axis_of(a, x.ndim)
        if isinstance(s, TracedArray) and s.concrete is None:
            value = _rolled(value, s, at)
        else:
            known_by[at] += int(known(s, "shift="))
    turns = [by % n if n else 0 for by, n in zip(known_by, x.shape, strict=True)]
    runs = [[(n - by, 1, by), (0, 1, n - by)] if by else [] for by, n in zip(turns, x.shape, strict=True)]
    return fresh(put_together(value, runs) or _one_axis_after_the_other(value, runs), is_array=True)


def _several(x: Any) -> Any:
    """One or several numbers, of a sequence or an array, as a sequence."""
    return as_tuple(x) if is_sequence(x) or not np.ndim(x) else tuple(x)


def _one_axis_after_the_other(x: Value, runs: Sequence[Sequence[Run]]) -> Value:
    for axis, run in enumerate(runs):
        x = put_together(x, [run if a == axis else [] for a in range(len(runs))]) or x
    return x


def _rolled(x: Value, shift: TracedArray, axis: int) -> Value:
    """The last elements along an axis, as many as the shift says, before the others: by index if each is a long row,
    else as two blocks."""
    n, inner = x.shape[axis], x.shape[axis + 1 :]
    if n == 0:
        return x
    by, rows = (shift.astype(np.int64).reshape(()) % n).value, moves.move_axis(x, axis, 0)
    if math.prod(inner) >= LONG:
        places = wrap(moves.iota(n) - broadcast_value(by, (n,)), n)
        return moves.move_axis(gather(rows, places, unique=True), 0, axis)
    outer, more = [const(0, "i64")] * (x.type.rank - 1), [const(m, "i64") for m in rows.shape[1:]]
    last = read_block(rows, (n - by, *outer), (by, *more), rows.shape)
    made = update_block(last, rows, (by, *outer), (n - by, *more))
    return moves.move_axis(made, 0, axis)


def resize(a: Any, new_shape: Any) -> TracedArray:
    """np.resize: repeats the elements to fill the new shape."""
    x, shape = ravel(solid(a)), shape_of(known(new_shape, "new_shape="))
    size = int(np.prod(shape))
    if not x.size or not size:
        return fresh_concrete(np.zeros(shape, x.dtype))
    times = -(-size // x.size)
    full = moves.reshape(moves.broadcast(x.value, (times, x.size), (1,)), (times * x.size,))
    return fresh(moves.reshape(moves.slice_axis(full, 0, 0, size), shape), is_array=True)


def tril(m: Any, k: int = 0) -> TracedArray:
    """np.tril."""
    x = _matrix(m)
    return fresh(lower_part(x, int(known(k, "k="))), is_array=True)


def triu(m: Any, k: int = 0) -> TracedArray:
    """np.triu."""
    x = _matrix(m)
    return fresh(upper_part(x, int(known(k, "k="))), is_array=True)


def _matrix(m: Any) -> Value:
    """At least a matrix: NumPy repeats a vector as rows."""
    x = solid(m).value
    if not x.shape:
        raise DTypeError(f"expected at least one axis, got {x.type}").at(("here", here()))
    n = x.shape[-1] if x.shape else 1
    return x if len(x.shape) > 1 else broadcast_value(x, (n, n))


def diag(v: Any, k: int = 0) -> TracedArray:
    """np.diag: a matrix of a vector, or a vector (a copy here) of a matrix."""
    x, k = array_of(solid(v)), int(known(k, "k="))
    if x.ndim == 2:
        return xp.diagonal(x, k)
    if x.ndim != 1:
        raise ShapeError(f"np.diag: input must be 1- or 2-d, got {x.type}").at(("here", here()))
    n = x.size + abs(k)
    made = fresh_concrete(np.zeros((n, n), x.dtype))
    first = max(k, 0) + max(-k, 0) * n
    flat = reshape(made, -1)
    if x.size:
        flat[first : first + (x.size - 1) * (n + 1) + 1 : n + 1] = x
    return made


def diagflat(v: Any, k: int = 0) -> TracedArray:
    """np.diagflat."""
    return diag(ravel(solid(v)), k)


def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> Sequence[TracedArray]:
    """np.meshgrid; with copy=False they are views."""
    one_of(("xy", "ij"), indexing, "np.meshgrid: indexing")
    arrays = [ravel(solid(x)) for x in xi]
    order = list(range(len(arrays)))
    if indexing == "xy" and len(arrays) > 1:
        order[0], order[1] = 1, 0
    full = [0] * len(arrays)
    for x, at in zip(arrays, order, strict=True):
        full[at] = x.size
    made = list[TracedArray]()
    for x, at in zip(arrays, order, strict=True):
        thin = tuple(x.size if i == at else 1 for i in range(len(full)))
        if not copy:
            line = xp.reshape(x, thin)
            made.append(line if sparse else xp.broadcast_to(line, tuple(full)))
            continue
        value = moves.reshape(x.value, thin) if sparse else moves.broadcast(x.value, tuple(full), (at,))
        made.append(fresh(value, is_array=True))
    return made if sparse and not copy else tuple(made)


def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> TracedArray:
    """np.astype."""
    if as_traced(x).is_scalar:
        return as_traced(x).astype(dtype)
    array = array_of(x)
    if not copy and has_dtype(dtype, array):
        return array
    return fresh(cast_value(array.value, short(dtype)), is_array=True)


FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    np.concatenate: concatenate,
    np.stack: stack,
    np.vstack: vstack,
    np.hstack: hstack,
    np.dstack: dstack,
    np.column_stack: column_stack,
    np.block: block,
    np.append: append,
    np.tile: tile,
    np.repeat: repeat,
    np.roll: roll,
    np.resize: resize,
    np.tril: tril,
    np.triu: triu,
    np.diag: diag,
    np.diagflat: diagflat,
    np.meshgrid: meshgrid,
    np.astype: astype,
}
"""NumPy's functions that put arrays together."""
