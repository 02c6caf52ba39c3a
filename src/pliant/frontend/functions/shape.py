"""Views of another shape: reshape, transpose, squeeze, broadcast_to, flip and their like."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.core.ir import Value
from pliant.core.origin import here
from pliant.errors import DTypeError, ShapeError
from pliant.frontend.array import TracedArray, fresh, view
from pliant.frontend.convert import (
    along_axes,
    as_traced,
    axes_of,
    axis_of,
    broadcast_shapes,
    broadcast_value,
    each_axis,
    shape_of,
)
from pliant.frontend.functions.common import array_of, known, one_of, unsupported, xp
from pliant.frontend.strides import axes_in_memory, fits, is_column_major, is_row_major, is_whole, separate
from pliant.frontend.view import Lens, PermuteLens, ReadOnlyLens, ReshapeLens, SliceLens
from pliant.ops import shape as moves


def _known(shape: Any) -> Any:
    """A shape that is known while tracing, as NumPy sees it; DTypeError for an extent that is no integer."""
    for n in along_axes(shape):
        if type(n) is TracedArray and not n.shape and n.type.kind in "fc":
            message = f"{n.stands_for!r} object cannot be interpreted as an integer"
            raise DTypeError(message, hint="int(n) makes an integer of a number").at(("here", here()))
    return known(shape, "a shape")


def full_shape(shape: Any, size: int) -> tuple[int, ...]:
    """A shape argument with -1 replaced; ShapeError if it does not hold `size` elements."""
    extents = shape_of(_known(shape))
    free = [i for i, n in enumerate(extents) if n < 0]
    rest = math.prod(n for n in extents if n >= 0)
    if len(free) > 1:
        raise ShapeError(f"can only specify one unknown dimension, got {extents}").at(("here", here()))
    if free and rest and size % rest == 0:
        extents = tuple(size // rest if i == free[0] else n for i, n in enumerate(extents))
    if math.prod(extents) != size or min(extents, default=0) < 0:
        raise ShapeError(f"cannot reshape array of size {size} into shape {extents}").at(("here", here()))
    return extents


def reshape(a: Any, /, shape: Any = None, order: str = "C", *, newshape: Any = None, copy: Any = None) -> TracedArray:
    """np.reshape: a view where the strides allow it, as in NumPy."""
    x = array_of(a)
    shape = full_shape(newshape if shape is None else shape, x.size)
    if order == "A":
        order = "F" if is_column_major(x) and not is_row_major(x) else "C"
    one_of(("C", "F", "A"), order, "np.reshape: order")
    if shape == x.shape and not copy:
        return view(x)
    is_view = fits(x, shape, order)
    if copy is False and not is_view:
        raise ValueError("Unable to avoid creating a copy while reshaping.")
    made = _relens(x, _reshape_lenses(x.ndim, shape, order), is_view=bool(is_view) and not copy)
    return separate(x, made) if is_view is None and not copy else made


def _reshape_lenses(rank: int, shape: tuple[int, ...], order: str) -> tuple[Lens, ...]:
    if order == "C":
        return (ReshapeLens(shape),)
    turn, back = tuple(reversed(range(rank))), tuple(reversed(range(len(shape))))
    return PermuteLens(turn), ReshapeLens(shape[::-1]), PermuteLens(back)


def _relens(x: TracedArray, lenses: tuple[Lens, ...], *, is_view: bool = True) -> TracedArray:
    """`x` through more lenses; as a copy where NumPy copies."""
    if is_view:
        return view(x, *lenses)
    value = x.value
    for lens in lenses:
        value = lens.get(value)
    return fresh(value, is_array=True)


def ravel(a: Any, order: str = "C") -> TracedArray:
    """np.ravel: a view of what lies in one piece, else a copy."""
    x = array_of(a)
    if order == "A":
        order = "F" if is_column_major(x) and not is_row_major(x) else "C"
    if order == "K" and x.ndim > 1:
        axes = axes_in_memory(x)
        if axes is None:
            raise unsupported("np.ravel: order='K' of an array whose order of axes is not known", "use order='C'")
        x = transpose(x, axes)
    order = "C" if order == "K" else order
    made = reshape(x, -1, order)
    if is_whole(x, order):
        return made
    copy = fresh(made.value, is_array=True)
    return copy if is_whole(x, order) is False else separate(x, copy)


def flatten(a: Any, order: str = "C") -> TracedArray:
    """ndarray.flatten: always a copy."""
    return fresh(ravel(a, order).value, is_array=True)


def transpose(a: Any, axes: Any = None) -> TracedArray:
    """np.transpose: a view; of a scalar the scalar."""
    x = array_of(a)
    if as_traced(a).is_scalar and not as_traced(a).is_weak and (axes is None or not shape_of(axes)):
        return as_traced(a)
    order = tuple(reversed(range(x.ndim))) if axes is None else axes_of(list(shape_of(axes)), x.ndim)
    if len(order) != x.ndim:
        raise ShapeError(f"axes {axes} do not match {x.type}").at(("here", here()))
    return view(x, PermuteLens(order)) if order != tuple(range(x.ndim)) else view(x)


def matrix_transpose(x: Any, /) -> TracedArray:
    """np.matrix_transpose."""
    if as_traced(x).ndim < 2:
        raise ShapeError(f"matrix_transpose needs at least 2 axes, got {as_traced(x).type}").at(("here", here()))
    return swapaxes(x, -1, -2)


def swapaxes(a: Any, axis1: Any, axis2: Any) -> TracedArray:
    """np.swapaxes: a view."""
    rank = as_traced(a).ndim
    order, i, j = list(range(rank)), axis_of(axis1, rank, "axis1"), axis_of(axis2, rank, "axis2")
    order[i], order[j] = order[j], order[i]
    return transpose(a, order)


def moveaxis(a: Any, source: Any, destination: Any) -> TracedArray:
    """np.moveaxis: a view."""
    return transpose(a, moved_order(as_traced(a).ndim, source, destination))


def moved_order(rank: int, source: Any, destination: Any) -> list[int]:
    """The order of the axes that np.moveaxis makes."""
    sources, targets = axes_of(source, rank), axes_of(destination, rank)
    if len(sources) != len(targets):
        raise ShapeError("`source` and `destination` arguments must have the same number of elements").at(
            ("here", here())
        )
    order = [a for a in range(rank) if a not in sources]
    for target, origin in sorted(zip(targets, sources, strict=True)):
        order.insert(target, origin)
    return order


def rollaxis(a: Any, axis: Any, start: Any = 0) -> TracedArray:
    """np.rollaxis: a view."""
    return transpose(a, rolled_order(as_traced(a).ndim, axis, start))


def rolled_order(rank: int, axis: Any, start: Any) -> list[int]:
    """The order of the axes that np.rollaxis makes."""
    at, to = axis_of(axis, rank), axis_of(start, rank + 1, "start") if start != rank else rank
    order = [i for i in range(rank) if i != at]
    order.insert(to - (at < to), at)
    return order


def squeeze(a: Any, axis: Any = None) -> TracedArray:
    """np.squeeze: a view, or the array itself if nothing is squeezed; of a scalar the scalar."""
    x = array_of(a)
    if as_traced(a).is_scalar and not as_traced(a).is_weak and axis in (None, (), 0, -1):
        return as_traced(a)
    ones = tuple(i for i, n in enumerate(x.shape) if n == 1)
    if not x.ndim and axis in (0, -1):  # NumPy takes these for a scalar
        return x
    drop = ones if axis is None else axes_of(axis, x.ndim)
    if not set(drop) <= set(ones):
        raise ShapeError("cannot select an axis to squeeze out which has size not equal to one").at(("here", here()))
    return view(x, ReshapeLens(tuple(n for i, n in enumerate(x.shape) if i not in drop))) if drop else x


def expand_dims(a: Any, axis: Any) -> TracedArray:
    """np.expand_dims: a view."""
    x = array_of(a)
    count = x.ndim + len(each_axis(axis))
    new = axes_of(axis, count)
    extents = iter(x.shape)
    return view(x, ReshapeLens(tuple(1 if i in new else next(extents) for i in range(count))))


def _atleast(rank: int) -> Callable[..., Any]:
    def shaped(a: Any) -> TracedArray:
        x = array_of(a)
        if x.ndim >= rank:
            return x
        if rank == 3 and x.ndim == 2:
            return view(x, ReshapeLens((*x.shape, 1)))
        if rank == 3 and x.ndim == 1:
            return view(x, ReshapeLens((1, *x.shape, 1)))
        return view(x, ReshapeLens((*(1,) * (rank - x.ndim), *x.shape)))

    def atleast(*arys: Any) -> Any:
        made = tuple(shaped(a) for a in arys)
        return made[0] if len(made) == 1 else made

    return atleast


atleast_1d, atleast_2d, atleast_3d = _atleast(1), _atleast(2), _atleast(3)


def broadcast_to(array: Any, shape: Any, subok: bool = False) -> TracedArray:
    """np.broadcast_to: a view that cannot be written."""
    x = array_of(array)
    extents = shape_of(_known(shape))
    if broadcast_shapes(x.shape, extents) != extents:
        raise ShapeError(f"could not broadcast {x.type} to shape {extents}").at(("here", here()))

    def read(value: Value) -> Value:
        return broadcast_value(value, extents)

    def show(array: Any) -> Any:
        return np.broadcast_to(array, extents)

    return view(x, ReadOnlyLens(read, show, "np.broadcast_to"))


def broadcast_arrays(*args: Any, subok: bool = False) -> tuple[TracedArray, ...]:
    """np.broadcast_arrays: views that cannot be written."""
    arrays = [array_of(a) for a in args]
    shape = broadcast_shapes(*(x.shape for x in arrays))
    return tuple(x if x.shape == shape else broadcast_to(x, shape) for x in arrays)


def sliced(x: TracedArray, axis: int, start: int, length: int, step: int = 1) -> TracedArray:
    """A view of elements `start + step·j` along one axis."""
    starts, steps, lengths = [0] * x.ndim, [1] * x.ndim, list(x.shape)
    starts[axis], steps[axis], lengths[axis] = start if length else 0, step, length
    return view(x, SliceLens(tuple(starts), tuple(steps), tuple(lengths)))


def flip(m: Any, axis: Any = None) -> TracedArray:
    """np.flip: a view; of a number, a number."""
    x = array_of(m)
    if not x.ndim and axis is None:
        return x[()]
    for a in axes_of(axis, x.ndim):
        n = x.shape[a]
        x = sliced(x, a, max(n - 1, 0), n, -1)
    return x


def fliplr(m: Any) -> TracedArray:
    """np.fliplr: a view."""
    return flip(m, 1)


def flipud(m: Any) -> TracedArray:
    """np.flipud: a view."""
    return flip(m, 0)


def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> TracedArray:
    """np.rot90: a view."""
    return quarter_turns(array_of(m), k, axes)


def quarter_turns(m: Any, k: int = 1, axes: Any = (0, 1)) -> Any:
    """np.rot90 of an array of any kind."""
    first, second = axes_of(tuple(axes), m.ndim)
    turns = k % 4
    if turns == 0:
        return m[...]
    if turns == 2:
        return xp.flip(m, (first, second))
    if turns == 1:
        return xp.swapaxes(xp.flip(m, second), first, second)
    return xp.flip(xp.swapaxes(m, first, second), second)


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> TracedArray:
    """np.diagonal: a view that cannot be written."""
    x = array_of(a)
    first, second = axes_of((axis1, axis2), x.ndim)
    offset = int(known(offset, "offset="))

    def read(value: Value) -> Value:
        return diagonal_value(value, offset, first, second)

    def show(array: Any) -> Any:
        return np.diagonal(array, offset, first, second)

    return view(x, ReadOnlyLens(read, show, "np.diagonal"))


def diagonal_value(x: Value, offset: int, axis1: int, axis2: int) -> Value:
    """The elements whose indices along two axes differ by `offset`; that axis comes last."""
    rest = [a for a in range(x.type.rank) if a not in (axis1, axis2)]
    rows, columns = x.shape[axis1], x.shape[axis2]
    n = max(min(rows + min(offset, 0), columns - max(offset, 0)), 0)
    x = moves.permute(x, (*rest, axis1, axis2))
    lead = x.shape[:-2]
    flat = moves.reshape(x, (*lead, rows * columns))
    start = max(offset, 0) + max(-offset, 0) * columns
    return moves.slice_axis(flat, len(lead), start if n else 0, n, columns + 1)


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None) -> Any:
    """np.trace."""
    return xp.sum(diagonal(a, offset, axis1, axis2), axis=-1, dtype=dtype, out=out)


def unstack(x: Any, /, *, axis: int = 0) -> tuple[TracedArray, ...]:
    """np.unstack: views."""
    array = array_of(x)
    at = axis_of(axis, array.ndim)
    return tuple(moveaxis(array, at, 0))


def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[TracedArray]:
    """np.array_split: views."""
    x = array_of(ary)
    at = axis_of(axis, x.ndim)
    n = x.shape[at]
    cuts = known(indices_or_sections, "where to split")
    if np.ndim(cuts) == 0:
        if int(cuts) <= 0:
            raise ShapeError("number sections must be larger than 0").at(("here", here()))
        each, more = divmod(n, int(cuts))
        cuts = np.cumsum([each + (i < more) for i in range(int(cuts))])[:-1]
    ends = [slice(a, b).indices(n)[:2] for a, b in zip([0, *map(int, cuts)], [*map(int, cuts), n], strict=True)]
    return [sliced(x, at, start, max(stop - start, 0)) for start, stop in ends]


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[TracedArray]:
    """np.split: views."""
    x = as_traced(ary)
    n, parts = x.shape[axis_of(axis, x.ndim)], known(indices_or_sections, "where to split")
    if np.ndim(parts) == 0 and n % int(parts):
        raise ShapeError("array split does not result in an equal division").at(("here", here()))
    return array_split(ary, parts, axis)


def hsplit(ary: Any, indices_or_sections: Any) -> list[TracedArray]:
    """np.hsplit: views."""
    return split(ary, indices_or_sections, 1 if as_traced(ary).ndim > 1 else 0)


def vsplit(ary: Any, indices_or_sections: Any) -> list[TracedArray]:
    """np.vsplit: views."""
    _at_least(ary, 2, "vsplit")
    return split(ary, indices_or_sections, 0)


def dsplit(ary: Any, indices_or_sections: Any) -> list[TracedArray]:
    """np.dsplit: views."""
    _at_least(ary, 3, "dsplit")
    return split(ary, indices_or_sections, 2)


def _at_least(a: Any, rank: int, name: str) -> None:
    if as_traced(a).ndim < rank:
        raise ShapeError(f"{name} only works on arrays of {rank} or more dimensions").at(("here", here()))


def copy(a: Any, order: str = "K", subok: bool = False) -> TracedArray:
    """np.copy."""
    return fresh(as_traced(a).value, is_array=True)


def real(val: Any) -> Any:
    """np.real: a view."""
    return as_traced(val).real


def imag(val: Any) -> Any:
    """np.imag: a view of a complex array."""
    return as_traced(val).imag


FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    np.reshape: reshape,
    np.ravel: ravel,
    np.transpose: transpose,
    np.matrix_transpose: matrix_transpose,
    np.swapaxes: swapaxes,
    np.moveaxis: moveaxis,
    np.rollaxis: rollaxis,
    np.squeeze: squeeze,
    np.expand_dims: expand_dims,
    np.atleast_1d: atleast_1d,
    np.atleast_2d: atleast_2d,
    np.atleast_3d: atleast_3d,
    np.broadcast_to: broadcast_to,
    np.broadcast_arrays: broadcast_arrays,
    np.flip: flip,
    np.fliplr: fliplr,
    np.flipud: flipud,
    np.rot90: rot90,
    np.diagonal: diagonal,
    np.trace: trace,
    np.unstack: unstack,
    np.array_split: array_split,
    np.split: split,
    np.hsplit: hsplit,
    np.vsplit: vsplit,
    np.dsplit: dsplit,
    np.copy: copy,
    np.real: real,
    np.imag: imag,
}
"""NumPy's views of another shape."""
