"""Arrays whose extents are known only at run time, with elements put in, left out, repeated, and taken apart."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, Final

import numpy as np

from pliant.core.ir import const
from pliant.core.origin import here
from pliant.errors import ShapeError
from pliant.frontend.array import TracedArray, fresh, fresh_concrete
from pliant.frontend.bounded import Bounded, bounded, extents_of, operand, refused, whole_of
from pliant.frontend.convert import as_traced, axis_of
from pliant.frontend.failures import fail_if
from pliant.frontend.functions.bounded import concatenate
from pliant.frontend.functions.bounded_folds import line_of, repeated
from pliant.frontend.functions.common import is_sequence, one_of, only, xp
from pliant.frontend.kinds import as_tuple
from pliant.frontend.ranges import arange
from pliant.frontend.sizes import size_of, traced
from pliant.ops.compare import less


def take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise") -> Any:
    """np.take."""
    only("take", out=out)
    one_of(("raise", "wrap", "clip"), mode, "mode")
    line, at = line_of(a, axis)
    if mode != "raise":
        n = traced(size_of(extents_of(line)[at]))
        indices = xp.remainder(indices, n) if mode == "wrap" else xp.minimum(xp.maximum(indices, 0), n - 1)
    made = line[(*(slice(None),) * at, indices)]
    return bounded(fresh(whole_of(made).value, is_array=True), extents_of(made)) if at else made  # row-major


def compress(condition: Any, a: Any, axis: Any = None) -> Any:
    """np.compress."""
    return take(operand(a), xp.nonzero(operand(condition))[0], axis)


def _compressed(a: Any, condition: Any, axis: Any = None) -> Any:
    """ndarray.compress."""
    return compress(condition, a, axis)


def extract(condition: Any, arr: Any) -> Any:
    """np.extract."""
    return compress(xp.ravel(operand(condition)), xp.ravel(operand(arr)), 0)


def pad(array: Any, pad_width: Any, mode: Any = "constant", constant_values: Any = 0, **options: Any) -> Any:
    """np.pad with a number."""
    only("pad", **options)
    if mode != "constant" or np.ndim(constant_values) or isinstance(pad_width, dict | TracedArray):
        raise array.refused("np.pad with anything but one number")
    made = xp.copy(array)
    for axis, (before, after) in enumerate(np.broadcast_to(np.asarray(pad_width), (array.ndim, 2)).tolist()):
        ends = [repeated(array, axis, n, constant_values).astype(array.dtype) for n in (before, after)]
        if before or after:
            made = concatenate((ends[0], made, ends[1]), axis)
            array = made
    return made


def _place(a: Any, at: int, obj: Any, *, may_be_end: bool) -> Any:
    """A place along an axis, counted from its start; IndexError if there is none."""
    n = traced(size_of(extents_of(a)[at]))
    place = as_traced(xp.where(xp.less(obj, 0), obj + n, obj))
    outside = xp.less(place, 0) | xp.greater(place, n if may_be_end else n - 1)
    fail_if(as_traced(outside).value, IndexError(f"an index is out of bounds for axis {at}"))
    return place


def delete(arr: Any, obj: Any, axis: Any = None) -> Any:
    """np.delete."""
    line, at = line_of(operand(arr), axis)
    if isinstance(obj, slice) or not _is_place(obj):
        return take(line, xp.nonzero(_kept(line, at, obj))[0], at)
    place = _place(line, at, obj, may_be_end=False)
    places = arange(line.shape[at] - 1)
    return take(line, places + xp.greater_equal(places, place), at)


def _kept(line: Any, at: int, obj: Any) -> Any:
    """Which elements along an axis are left when np.delete takes several away."""
    count, most = traced(size_of(extents_of(line)[at])), whole_of(line).shape[at]
    given = operand(arange(count)[obj] if isinstance(obj, slice) else obj)
    if given.dtype == bool:
        return np.logical_not(given)
    places = given.astype(int) if whole_of(given).size == 0 else given
    places = xp.where(xp.less(places, 0), places + count, places)
    outside = xp.any(xp.less(places, 0) | xp.greater_equal(places, count))
    fail_if(as_traced(outside).value, IndexError(f"an index is out of bounds for axis {at}"))
    kept = fresh(xp.less(fresh_concrete(np.arange(most)), count).value, is_array=True)
    kept[places] = False
    return kept


def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    """np.insert of one or several numbers before an element of a line."""
    arr = operand(arr)
    if not _is_place(obj) or (axis is not None and arr.ndim > 1):
        raise refused("np.insert at several places, or along one of several axes,", arr, obj, values)
    line, _ = line_of(arr, axis)
    place = _place(line, 0, obj, may_be_end=True)
    row = xp.ravel(operand(values)).astype(line.dtype)
    return concatenate((line[:place], row, line[place:]))


def _is_place(obj: Any) -> bool:
    """Whether an argument is one integer."""
    return not np.ndim(obj) and as_traced(obj).type.kind in "iu"


def tile(A: Any, reps: Any) -> Any:
    """np.tile, so many times along each axis."""
    counts, made = as_tuple(reps), xp.copy(A)
    if len(counts) > A.ndim or any(type(n) is not int or n < 0 for n in counts):
        raise A.refused("np.tile along more axes than there are, or a number of times known only at run time,")
    for axis, n in enumerate(counts, A.ndim - len(counts)):
        made = concatenate([made] * n, axis) if n > 0 else made[(*(slice(None),) * axis, slice(0))]
    return made


def repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    """np.repeat, each element so many times."""
    if isinstance(repeats, TracedArray | Bounded) or np.ndim(repeats) or repeats < 0:
        raise a.refused("np.repeat of elements different numbers of times")
    line, at = line_of(a, axis)
    repeats = int(repeats)
    return take(line, arange(line.shape[at] * repeats) // max(repeats, 1), at)


# --- taken apart


def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """np.array_split: views."""
    at = axis_of(axis, ary.ndim)
    n = ary.shape[at]
    if is_sequence(indices_or_sections) or np.ndim(indices_or_sections):
        ends = [0, *indices_or_sections, n]
    else:
        if indices_or_sections < 1:
            raise ShapeError("number sections must be larger than 0.").at(("here", here()))
        count, longer = n // indices_or_sections, n % indices_or_sections
        ends = [count * i + xp.minimum(longer, i) for i in range(indices_or_sections + 1)]
    return [ary[(*(slice(None),) * at, slice(*pair))] for pair in pairwise(ends)]


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """np.split: views."""
    if not (is_sequence(indices_or_sections) or np.ndim(indices_or_sections)):
        rest = ary.shape[axis_of(axis, ary.ndim)] % indices_or_sections
        fail_if(
            less(const(0, "i64"), as_traced(rest).value), ValueError("array split does not result in an equal division")
        )
    return array_split(ary, indices_or_sections, axis)


def _split_along(axis: int, least: int) -> Callable[..., Any]:
    """np.vsplit or np.dsplit. least: how many axes an array must have."""

    def call(ary: Any, indices_or_sections: Any) -> list[Any]:
        if ary.ndim < least:
            raise ShapeError(f"expected an array of {least} or more axes, got {ary.text}").at(("here", here()))
        return split(ary, indices_or_sections, axis)

    return call


def hsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """np.hsplit: views."""
    return split(ary, indices_or_sections, 1 if ary.ndim > 1 else 0)


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    """np.unstack along an axis of known extent: views."""
    at = axis_of(axis, x.ndim)
    count = extents_of(x)[at]
    if not isinstance(count, int):
        raise x.refused("np.unstack along such an axis")
    return tuple([x[(*(slice(None),) * at, n)] for n in range(count)])


FUNCTIONS: Final[dict[Any, Callable[..., Any]]] = {
    np.take: take, np.compress: compress, np.extract: extract, np.pad: pad, np.delete: delete, np.insert: insert,
    np.tile: tile, np.repeat: repeat, np.array_split: array_split, np.split: split, np.hsplit: hsplit,
    np.vsplit: _split_along(0, 2), np.dsplit: _split_along(2, 3), np.unstack: unstack,
}  # fmt: skip
METHODS: Final[dict[str, Callable[..., Any]]] = {"take": take, "repeat": repeat, "compress": _compressed}
