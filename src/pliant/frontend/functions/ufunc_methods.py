"""`reduce`, `accumulate` and `reduceat` of any ufunc of two operands, element after element as NumPy does.

They serve the ufuncs for which there is nothing faster: `subtract`, `divide`, `arctan2`, … are not
associative, so their reductions are loops; `reduceat` is `ufunc.at` on the first element of each part, but a
reduction of each part where there is one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any, Final

import numpy as np

from pliant.core.build import trace
from pliant.core.ir import Value, Values, const
from pliant.core.origin import here
from pliant.core.types import Type
from pliant.errors import IndexRangeError, ShapeError
from pliant.frontend.array import fresh, fresh_concrete
from pliant.frontend.convert import as_traced, axis_of, broadcast_value, cast_value, mask_of, value_of
from pliant.frontend.functions.accumulated import store_accumulated
from pliant.frontend.functions.at import update_of
from pliant.frontend.functions.common import NO_VALUE, store_out
from pliant.frontend.functions.reduce import folded_axes, in_reduction, kept
from pliant.frontend.functions.ufuncs import STEPS, check_second
from pliant.frontend.kinds import is_sequence
from pliant.ops import bits, compare
from pliant.ops.block import ReadBlock
from pliant.ops.cond import Cond
from pliant.ops.elementwise import add, sub
from pliant.ops.folds import start_of
from pliant.ops.index import gather
from pliant.ops.loop import Loop
from pliant.ops.reduce import reduce_and, reduce_max, reduce_min, reduce_or, reduce_prod, reduce_sum
from pliant.ops.select import select
from pliant.ops.shape import broadcast, concatenate, iota, move_axis, reshape, slice_axis
from pliant.ops.sort import searchsorted

FOLDS: Final[dict[np.ufunc, tuple[Callable[..., Value], str]]] = {
    np.add: (reduce_sum, "sum"), np.multiply: (reduce_prod, "prod"), np.maximum: (reduce_max, "max"),
    np.minimum: (reduce_min, "min"),
}  # fmt: skip
"""Ufunc → its reduction of numbers that have an order, and the kind of fold that this is."""


def in_order(ufunc: np.ufunc) -> Callable[..., Any]:
    """`ufunc.reduce` of a ufunc that is not associative: along one axis, from the first element on."""

    def reduce(
        a: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: Any = False,
        initial: Any = NO_VALUE, where: Any = True,
    ) -> Any:  # fmt: skip
        x = in_reduction(ufunc, a, dtype, out)
        axes = folded_axes(axis, x.type.rank)
        if len(axes) > 1:
            message = f"reduction operation '{ufunc.__name__}' is not reorderable, so at most one axis may be specified"
            raise ShapeError(message).at(("here", here()))

        def rows_of(y: Value) -> Value:
            return move_axis(y, axes[0], 0) if axes else reshape(y, (1, *y.shape))

        rows, mask = rows_of(x), None
        if where is not True:
            mask = rows_of(broadcast_value(mask_of(where), x.shape))
        start = None if initial is None or initial is NO_VALUE else value_of(initial, x.dtype)
        if start is not None:
            rows, mask = _started(rows, mask, start)
        elif where is not True or not rows.shape[0]:
            raise ShapeError(f"np.{ufunc.__name__}.reduce has no identity here: give initial=").at(("here", here()))
        made, _ = folded(ufunc, rows, mask)
        return store_out(kept(made, x.shape, axes, keepdims), out, casting="unsafe")

    return reduce


def _started(rows: Value, mask: Value | None, start: Value) -> tuple[Value, Value | None]:
    """The rows with one more before them, and their mask."""
    shape = (1, *rows.shape[1:])
    if mask is not None:
        mask = concatenate((broadcast_value(const(True, "bool"), shape), mask), 0)
    return concatenate((broadcast_value(start, shape), rows), 0), mask


def in_steps(ufunc: np.ufunc) -> Callable[..., Any]:
    """`ufunc.accumulate`: each element with the result so far."""

    def accumulated(array: Any, axis: Any = 0, dtype: Any = None, out: Any = None) -> Any:
        x = in_reduction(ufunc, array, dtype, out)
        at = axis_of(axis, x.type.rank)
        if x.type.size:
            rows = move_axis(x, at, 0)
            _, later = folded(ufunc, rows)
            x = move_axis(concatenate((slice_axis(rows, 0, 0, 1), later), 0), 0, at)
        return store_accumulated(x, as_traced(array), at, out, f"np.{ufunc.__name__}.accumulate")

    return accumulated


def ordered(ufunc: np.ufunc, real_scan: Callable[..., Any]) -> Callable[..., Any]:
    """`accumulate` of an extremum: a scan of its own for real numbers, steps for complex ones."""
    of_complex = in_steps(ufunc)

    def accumulated(array: Any, *args: Any, **options: Any) -> Any:
        return (of_complex if as_traced(array).type.kind == "c" else real_scan)(array, *args, **options)

    return accumulated


def folded(ufunc: np.ufunc, rows: Value, mask: Value | None = None) -> tuple[Value, Value]:
    """Rows combined from the first on: the result, and that after each row but the first."""
    build, first = STEPS[ufunc], reshape(slice_axis(rows, 0, 0, 1), rows.shape[1:])
    n = rows.shape[0] - 1

    def step(i: Value, so_far: Value, row: Value, *is_in: Value) -> Values:
        made = cast_value(build(so_far, row), rows.dtype)
        made = select(is_in[0], made, so_far) if is_in else made
        return made, made

    stacks = [slice_axis(x, 0, 1, n) for x in (rows, mask) if x is not None]
    check_second(ufunc, rows.dtype, stacks[0], lambda fails: reduce(bits.bitwise_and, stacks[1:], fails))
    body = trace(step, Type("i64"), first.type, *(x.type.row for x in stacks))
    made = Loop(n, ("carry", *("each" for _ in stacks)), ("last", "stack"), body).apply(first, *stacks)
    return made[0], made[1]


def reduceat(ufunc: np.ufunc, array: Any, indices: Any, axis: Any = 0, dtype: Any = None, out: Any = None) -> Any:
    """`ufunc.reduceat`: the parts that begin at the indices, each up to the next index, reduced.

    An index that is not below the next names one element alone.
    """
    x = in_reduction(ufunc, array, dtype, out)
    at, places = axis_of(axis, x.type.rank), as_traced(indices)
    if is_sequence(indices) and places.concrete is not None:  # NumPy casts those of lists, which may be empty
        places = fresh_concrete(places.concrete.astype(np.int64))
    if places.ndim != 1 or places.type.kind not in "iu":
        raise ShapeError(f"np.{ufunc.__name__}.reduceat: indices are one row of integers, not {places.type}").at(
            ("here", here())
        )
    rows = move_axis(x, at, 0)
    if places.concrete is not None:
        made = _parts(ufunc, rows, places.concrete)
    elif ufunc in FOLDS and rows.dtype != "bool" and rows.type.kind != "c" and rows.type.size and places.size:
        made = _folded_parts(ufunc, rows, value_of(places, "i64"))
    else:
        made = _found_parts(ufunc, rows, places)
    return store_out(move_axis(made, 0, at), out, f"np.{ufunc.__name__}.reduceat", is_array=True, casting="unsafe")


def _parts(ufunc: np.ufunc, rows: Value, starts: Any) -> Value:
    """The parts, where the indices are known while tracing."""
    n = rows.shape[0]
    bad = starts[(starts < 0) | (starts >= n)]
    if bad.size:
        message = f"index {bad[0]} out-of-bounds in {ufunc.__name__}.reduceat [0, {n})"
        raise IndexRangeError(message).at(("here", here()))
    ends = np.maximum(np.append(starts[1:], n), starts + 1)
    later: list[Any] = [np.arange(s + 1, e) for s, e in zip(starts, ends, strict=True)]
    owners = np.repeat(np.arange(len(starts)), [len(places) for places in later])
    first = gather(rows, value_of(starts.astype(np.int64)))
    if not owners.size:
        return first
    rest = gather(rows, value_of(np.concatenate(later).astype(np.int64)))
    update = update_of(ufunc, fresh(first, is_array=True), (fresh(rest, is_array=True),))
    check_second(ufunc, rows.dtype, rest)
    return update.scatter(first, [value_of(owners)], update.u, unique=False)


def _folded_parts(ufunc: np.ufunc, rows: Value, starts: Value) -> Value:
    """The parts, where the indices are found at run time: of each part its block of rows, reduced."""
    n, m, shape = rows.shape[0], starts.shape[0], rows.shape
    fold, kind = FOLDS[ufunc]
    zero, all_rows = const(0, "i64"), const(n, "i64")
    begin = compare.minimum(compare.maximum(add(starts, 1), 0), all_rows)
    rest = compare.maximum(sub(compare.minimum(_after(starts, n), all_rows), begin), 0)

    def step(_: Value, x: Value, first: Value, begin: Value, count: Value) -> Value:
        outer = [const(k, "i64") for k in shape[1:]]
        block = ReadBlock(shape, (1,) * len(shape))(x, begin, *[zero for _ in outer], count, *outer)
        inside = broadcast(compare.less(iota(n), count), shape, (0,))
        later = fold(select(inside, block, const(start_of(kind, x.dtype), x.dtype)), (0,))
        alone = broadcast(compare.equal(count, zero), first.shape, ())
        return select(alone, first, cast_value(STEPS[ufunc](first, later), x.dtype))

    operands = (rows, gather(rows, starts), begin, rest)
    types = [Type("i64"), rows.type, rows.type.row, begin.type.row, rest.type.row]
    return Loop(m, ("const", "each", "each", "each"), ("stack",), trace(step, *types)).apply(*operands)[0]


def _after(starts: Value, n: int) -> Value:
    """Where the part ends that begins at each index; the last one at the end of the n rows."""
    return concatenate((slice_axis(starts, 0, 1, starts.shape[0] - 1), broadcast(const(n, "i64"), (1,), ())), 0)


def _found_parts(ufunc: np.ufunc, rows: Value, places: Any) -> Value:
    """The parts, where the indices are found at run time: one pass over the rows if they never fall."""
    starts = value_of(places, "i64")
    n, m = rows.shape[0], starts.shape[0]
    build = STEPS[ufunc]

    def combined(fails: Value) -> Value:
        """What fails, of rows that are combined with rows before them."""
        places = broadcast(iota(n), (m, n), (1,))
        first, end = (broadcast(x, (m, n), (0,)) for x in (starts, _after(starts, n)))
        inside = bits.bitwise_and(compare.less(first, places), compare.less(places, end))
        some = reduce_or(inside, (0,))
        return bits.bitwise_and(fails, broadcast(some, fails.shape, (0,)))

    def rising(x: Value, starts: Value) -> Value:
        first = gather(x, starts)
        owner = sub(searchsorted(starts, iota(n), "right"), 1)
        inside = compare.less(gather(starts, compare.maximum(owner, 0)), iota(n))
        owner = select(bits.bitwise_and(compare.less_equal(0, owner), inside), owner, m)  # m: nobody's
        spare = concatenate((first, slice_axis(x, 0, 0, 1)), 0)
        update = update_of(ufunc, fresh(spare, is_array=True), (fresh(x, is_array=True),))
        return slice_axis(update.scatter(spare, [owner], update.u, unique=False), 0, 0, m)

    def any_order(x: Value, starts: Value) -> Value:
        def step(i: Value, so_far: Value, row: Value, starts: Value, ends: Value) -> Value:
            inside = bits.bitwise_and(compare.less(starts, i), compare.less(i, ends))
            made = build(so_far, broadcast_value(row, so_far.shape))
            return select(broadcast(inside, so_far.shape, (0,)), cast_value(made, x.dtype), so_far)

        operands = (gather(x, starts), x, starts, _after(starts, n))
        types = [Type("i64"), operands[0].type, x.type.row, starts.type, starts.type]
        return Loop(n, ("carry", "each", "const", "const"), ("last",), trace(step, *types)).apply(*operands)[0]

    if not m:
        return gather(rows, starts)
    check_second(ufunc, rows.dtype, rows, combined)
    never_fall = reduce_and(compare.less_equal(slice_axis(starts, 0, 0, m - 1), slice_axis(starts, 0, 1, m - 1)))
    types = rows.type, starts.type
    return Cond(trace(rising, *types), trace(any_order, *types)).apply(never_fall, rows, starts)[0]
