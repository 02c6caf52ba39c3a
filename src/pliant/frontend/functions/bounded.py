"""NumPy's functions that rearrange and join arrays whose extents are known only at run time; see `bounded_folds`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from pliant.core import ir
from pliant.core.origin import here
from pliant.core.types import DTYPES, Type
from pliant.errors import DTypeError, ShapeError
from pliant.frontend.array import fresh
from pliant.frontend.blocks import Extent, flipped
from pliant.frontend.bounded import (
    Bounded,
    assign,
    bounded,
    common_extent,
    elementwise,
    extents_of,
    made_of,
    operand,
    whole_of,
)
from pliant.frontend.convert import as_traced, axes_of, axis_of, result_dtype, short, value_of
from pliant.frontend.functions.bounded_folds import repeated, stored
from pliant.frontend.functions.common import NO_VALUE, one_of, only, xp
from pliant.frontend.functions.reduce import is_given
from pliant.frontend.functions.shape import moved_order, quarter_turns, rolled_order
from pliant.frontend.kinds import as_tuple
from pliant.frontend.places import taken
from pliant.frontend.runs import bound_of
from pliant.frontend.sizes import Size, size_of, traced
from pliant.frontend.view import BlockLens
from pliant.ops.shape import iota


def flip(m: Any, axis: Any = None) -> Any:
    """np.flip: a view."""
    return made_of(flipped(m.whole, m.extents, axes_of(axis, m.ndim)))


def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    """np.roll."""
    if axis is None and a.ndim > 1:
        raise a.refused("np.roll of several axes as one")
    if isinstance(shift, tuple) or isinstance(axis, tuple):
        made = copy(a)
        for by, at in xp.broadcast(shift, axis or 0):
            made = roll(made, int(by), int(at))
        return made
    at = axis_of(axis or 0, a.ndim)
    if at:
        return swapaxes(roll(swapaxes(a, 0, at), shift, 0), 0, at)
    count = a.extents[0]
    if not isinstance(count, Size):
        return Bounded(xp.roll(a.whole, shift, 0), a.extents)
    places = Bounded((fresh(iota(a.whole.shape[0]), is_array=True) - shift) % xp.maximum(traced(count), 1), (count,))
    return Bounded(taken(a.whole, places).whole, a.extents)


def transpose(a: Any, axes: Any = None) -> Any:
    """np.transpose: a view."""
    order = tuple(reversed(range(a.ndim))) if axes is None else axes_of(axes, a.ndim)
    return Bounded(xp.transpose(a.whole, order), [a.extents[n] for n in order])


def _transposed(a: Any, *axes: Any) -> Any:
    """ndarray.transpose, of a tuple or of several numbers."""
    return transpose(a, (axes[0] if len(axes) == 1 else axes) if axes else None)


def swapaxes(a: Any, axis1: Any, axis2: Any) -> Any:
    """np.swapaxes: a view."""
    order, i, j = list(range(a.ndim)), axis_of(axis1, a.ndim), axis_of(axis2, a.ndim)
    order[i], order[j] = order[j], order[i]
    return transpose(a, order)


def moveaxis(a: Any, source: Any, destination: Any) -> Any:
    """np.moveaxis: a view."""
    return transpose(a, moved_order(a.ndim, source, destination))


def rollaxis(a: Any, axis: Any, start: Any = 0) -> Any:
    """np.rollaxis: a view."""
    return transpose(a, rolled_order(a.ndim, axis, start))


def matrix_transpose(x: Any, /) -> Any:
    """np.matrix_transpose: a view."""
    return swapaxes(x, -1, -2)


def squeeze(a: Any, axis: Any = None) -> Any:
    """np.squeeze: a view without axes of one element, which must be known to be such."""
    if axis is None and any(isinstance(n, Size) and not n.is_at_least(2) for n in a.extents):
        raise a.refused("np.squeeze without axis=")
    axes = [n for n, extent in enumerate(a.extents) if extent == 1] if axis is None else axes_of(axis, a.ndim)
    if any(a.extents[n] != 1 for n in axes):
        raise a.refused("np.squeeze of an axis not known to have one element")
    return a[tuple([0 if n in axes else slice(None) for n in range(a.ndim)])]


def _atleast(*keys: tuple[Any, ...]) -> Callable[..., Any]:
    """np.atleast_1d and the like: views. keys: of what has one axis, two, and so on, that are fewer."""
    usual = (np.atleast_1d, np.atleast_2d, np.atleast_3d)[len(keys)]

    def shaped(a: Any) -> Any:
        return a[keys[a.ndim - 1]] if a.ndim <= len(keys) else a

    def atleast(*arys: Any) -> Any:
        made = tuple([shaped(a) if isinstance(a, Bounded) else usual(a) for a in arys])
        return made[0] if len(made) == 1 else made

    return atleast


def copy(a: Any, order: Any = "K", subok: Any = False) -> Any:
    """np.copy."""
    return Bounded(fresh(a.whole.value, is_array=True), a.extents)


def astype(a: Bounded, dtype: Any, **options: Any) -> Any:
    """ndarray.astype and np.astype."""
    return Bounded(a.whole.astype(dtype, **options), a.extents)


def reshape(a: Any, *shape: Any, order: str = "C") -> Any:
    """np.reshape of what has one axis, to that axis and others of one element."""
    to = as_tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], tuple | list) else shape
    one_of(("C", "F", "A"), order, "np.reshape: order")
    if to == (-1,) and a.ndim > 1:
        return xp.ravel(a, order)
    if a.ndim != 1 or [n for n in to if type(n) is not int or n != 1] != [-1]:
        raise a.refused(f"np.reshape to {to}")
    return a[tuple([slice(None) if n == -1 else None for n in to])]


def fill(a: Bounded, value: Any) -> None:
    """ndarray.fill."""
    assign(a, value)


def shape(a: Any) -> Any:
    """np.shape: traced integers where an extent is known only at run time."""
    return a.shape


def size(a: Any, axis: Any = None) -> Any:
    """np.size: a traced integer."""
    return a.size if axis is None else a.shape[axis_of(axis, a.ndim)]


def iscomplexobj(x: Any) -> bool:
    """np.iscomplexobj."""
    return x.dtype.kind == "c"


def isrealobj(x: Any) -> bool:
    """np.isrealobj."""
    return x.dtype.kind != "c"


def ndim(a: Any) -> int:
    """np.ndim."""
    return a.ndim


def _like(name: str) -> Callable[..., Any]:
    def made(a: Any, *args: Any, **options: Any) -> Any:
        whole = getattr(xp, name)(a.whole, *args, **options)
        return Bounded(whole, a.extents) if options.get("shape") is None else whole

    return made


def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = NO_VALUE, append: Any = NO_VALUE) -> Any:
    """np.diff."""
    at = axis_of(axis, a.ndim)
    if n < 0:
        raise ShapeError(f"order must be non-negative but got {n!r}").at(("here", here()))
    ends = [[] if x is NO_VALUE else [x if np.ndim(x) else repeated(a, at, 1, x)] for x in (prepend, append)]
    if any(ends):
        a = concatenate((*ends[0], a, *ends[1]), at)
    for _ in range(n):
        front = (slice(None),) * at
        pair = a[(*front, slice(1, None))], a[(*front, slice(None, -1))]
        a = xp.not_equal(*pair) if a.dtype == bool else xp.subtract(*pair)
    return a


def concatenate(arrays: Any, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: Any = "same_kind") -> Any:
    """np.concatenate: parts written one after the other."""
    only("concatenate", casting=None if casting == "same_kind" else casting)
    parts = [*map(operand, arrays)]
    if axis is None:
        parts, axis = [xp.ravel(x) for x in parts], 0
    to = result_dtype(*map(whole_of, parts)) if dtype is None else short(dtype)
    ranks = {len(extents_of(x)) for x in parts}
    if len(ranks) > 1:
        raise ShapeError(f"np.concatenate: arrays of {' and '.join(map(str, sorted(ranks)))} axes").at(("here", here()))
    at = axis_of(axis, ranks.pop())
    sizes, others = [size_of(extents_of(x)[at]) for x in parts], _others(parts, at)
    limits = [tuple([min(whole_of(x).shape[a] for x in parts) for a in range(len(others))])] * len(parts)
    limits = [(*most[:at], whole_of(x).shape[at], *most[at + 1 :]) for most, x in zip(limits, parts, strict=True)]
    total = sum(sizes, Size(0))
    limit = bound_of(total, sum(most[at] for most in limits))
    made, start = ir.operators.zeros(Type(to, (*limits[0][:at], limit, *limits[0][at + 1 :]))), Size(0)
    for x, size, most in zip(parts, sizes, limits, strict=True):
        starts = [start if a == at else Size(0) for a in range(len(others))]
        counts = [size if a == at else size_of(n) for a, n in enumerate(others)]
        lens = BlockLens(tuple(s.value for s in starts), tuple(n.value for n in counts), most, (1,) * len(others))
        whole = whole_of(x)[tuple(map(slice, most))] if most != whole_of(x).shape else whole_of(x)
        made, start = lens.put(made, value_of(whole, to)), start + size
    joined: Extent = total if total.known is None else total.known
    return stored(bounded(fresh(made, is_array=True), (*others[:at], joined, *others[at + 1 :])), out)


def _others(parts: Sequence[Any], axis: int) -> list[Extent]:
    """What the extents of arrays are along all axes but one, where they must be the same."""
    found: list[Extent] = list(extents_of(parts[0]))
    for x in parts[1:]:
        for a, n in enumerate(extents_of(x)):
            both = n if a == axis or n == found[a] else common_extent(n, found[a])
            if both is None:
                raise ShapeError(f"np.concatenate: arrays of {n} and {found[a]} elements along axis {a}").at(
                    ("here", here())
                )
            found[a] = both
    return found


def append(arr: Any, values: Any, axis: Any = None) -> Any:
    """np.append."""
    return concatenate((xp.ravel(arr), xp.ravel(values)) if axis is None else (arr, values), axis or 0)


def _rows(name: str, key: tuple[Any, ...], axis: int) -> Callable[..., Any]:
    """np.vstack or np.column_stack. key: what makes a line one of the parts."""

    def call(tup: Any, **options: Any) -> Any:
        parts = [*map(operand, tup)]
        return concatenate([x[key] if x.ndim == 1 else x for x in parts], axis, **options)

    call.__name__ = name
    return call


def hstack(tup: Any, **options: Any) -> Any:
    """np.hstack."""
    parts = [x if isinstance(x, Bounded) else xp.atleast_1d(as_traced(x)) for x in tup]
    return concatenate(parts, min(np.ndim(parts[0]) - 1, 1), **options)


def stack(arrays: Any, axis: Any = 0, out: Any = None, **options: Any) -> Any:
    """np.stack."""
    parts = [*map(operand, arrays)]
    at = axis_of(axis, parts[0].ndim + 1)
    return concatenate([x[(*[slice(None)] * at, None)] for x in parts], at, out, **options)


def dstack(tup: Any) -> Any:
    """np.dstack."""
    keys: dict[int, Any] = {1: (None, slice(None), None), 2: (slice(None), slice(None), None)}
    parts = [x if isinstance(x, Bounded) else xp.atleast_1d(as_traced(x)) for x in tup]
    return concatenate([x[keys[x.ndim]] if x.ndim in keys else x for x in parts], 2)


def copyto(dst: Any, src: Any, casting: Any = "same_kind", **options: Any) -> None:
    """np.copyto."""
    only("copyto", **options)
    assign(dst, src, casting)


def where(condition: Any, *branches: Any) -> Any:
    """np.where."""
    return elementwise(np.where, (condition, *branches), {}) if branches else xp.nonzero(condition)


def clip(
    a: Any, a_min: Any = NO_VALUE, a_max: Any = NO_VALUE, out: Any = None, *, min: Any = NO_VALUE, max: Any = NO_VALUE,
    **options: Any,
) -> Any:  # fmt: skip
    """np.clip."""
    given = [(a_min if is_given(a_min) else min), (a_max if is_given(a_max) else max)]
    named: dict[str, Any] = {name: x for name, x in zip(("a_min", "a_max"), given, strict=True) if is_given(x)}

    def clip(x: Any, *ends: Any, **options: Any) -> Any:
        return np.clip(x, **({"a_min": None, "a_max": None} | dict(zip(named, ends, strict=True))), **options)

    return stored(elementwise(clip, (a, *named.values()), options) if named else copy(a), out)


def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """np.select."""
    conditions, choices = [*map(operand, condlist)], [*map(operand, [*choicelist, default])]
    if any(c.dtype != bool for c in conditions):
        raise DTypeError("np.select: conditions must be arrays of bools", hint="compare, as in x != 0").at(
            ("here", here())
        )
    to = DTYPES[result_dtype(*map(whole_of, choices))]
    *choices, made = [x.astype(to) for x in choices]
    for condition, choice in zip(reversed(conditions), reversed(choices), strict=True):
        made = xp.where(condition, choice, made)
    return made


def result_type(*args: Any) -> np.dtype[Any]:
    """np.result_type."""
    return np.result_type(*[x.dtype if isinstance(x, Bounded) else x for x in args])


def _each(function: Callable[..., Any]) -> Callable[..., Any]:
    """A NumPy function that acts on each element of the operands given by position."""

    def call(*args: Any, out: Any = None, **options: Any) -> Any:
        return stored(elementwise(function, args, options), out)

    return call


ELEMENTWISE: Final = (
    np.real, np.imag, np.round, np.around, np.isclose, np.nan_to_num, np.angle, np.sinc, np.fix, np.i0, np.isreal,
    np.iscomplex, np.isposinf, np.isneginf,
)  # fmt: skip

FUNCTIONS: Final[dict[Any, Callable[..., Any]]] = {
    **{function: _each(function) for function in ELEMENTWISE},
    np.where: where, np.clip: clip, np.select: select, np.result_type: result_type,
    np.flip: flip, np.fliplr: partial(flip, axis=1), np.flipud: partial(flip, axis=0), np.rot90: quarter_turns,
    np.roll: roll, np.transpose: transpose, np.swapaxes: swapaxes, np.moveaxis: moveaxis, np.rollaxis: rollaxis,
    np.matrix_transpose: matrix_transpose, np.squeeze: squeeze, np.copy: copy, np.astype: astype,
    np.reshape: reshape, np.diff: diff,
    np.atleast_1d: _atleast(), np.atleast_2d: _atleast((None,)),
    np.atleast_3d: _atleast((None, slice(None), None), (..., None)),
    np.concatenate: concatenate, np.append: append, np.hstack: hstack, np.stack: stack, np.dstack: dstack,
    np.vstack: _rows("vstack", (None,), 0), np.column_stack: _rows("column_stack", (slice(None), None), 1),
    np.copyto: copyto,
    np.zeros_like: _like("zeros_like"), np.ones_like: _like("ones_like"),
    np.empty_like: _like("empty_like"), np.full_like: _like("full_like"),
    np.shape: shape, np.size: size, np.ndim: ndim, np.iscomplexobj: iscomplexobj, np.isrealobj: isrealobj,
}  # fmt: skip

METHODS: Final[dict[str, Callable[..., Any]]] = {
    **{f.__name__: f for f in (copy, astype, reshape, fill, swapaxes, squeeze)}, "transpose": _transposed,
    "conj": np.conj, "conjugate": np.conj, "clip": clip, "round": FUNCTIONS[np.round],
}  # fmt: skip
