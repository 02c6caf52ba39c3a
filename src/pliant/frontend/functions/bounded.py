"""NumPy's functions of arrays whose extents are known only at run time; see `pliant.frontend.bounded`.

Each says what stands beyond the extents: the identity of a reduction, zeros in a product. What
combines elements replaces them in its result too, so that no cotangent comes back from there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from pliant.core import ir
from pliant.core.origin import here
from pliant.core.types import Type
from pliant.errors import ShapeError
from pliant.frontend.array import fresh
from pliant.frontend.blocks import Extent, flipped
from pliant.frontend.bounded import (
    Bounded,
    assign,
    bounded,
    elementwise,
    extents_of,
    filled,
    made_of,
    whole_of,
)
from pliant.frontend.convert import as_traced, axes_of, axis_of, result_dtype, value_of
from pliant.frontend.failures import fail_if, nothing_to_fold
from pliant.frontend.functions.common import NO_VALUE, only, xp
from pliant.frontend.functions.reduce import is_given
from pliant.frontend.kinds import as_tuple
from pliant.frontend.places import taken
from pliant.frontend.runs import bound_of
from pliant.frontend.sizes import Size, size_of, traced
from pliant.frontend.view import BlockLens
from pliant.ops.compare import equal
from pliant.ops.folds import start_of
from pliant.ops.shape import iota

# --- reductions


def _least(dtype: str) -> Any:
    return False if dtype == "bool" else start_of("max", dtype)


def _greatest(dtype: str) -> Any:
    return True if dtype == "bool" else start_of("min", dtype)


def _not_empty(extents: Sequence[Extent], axes: Sequence[int], error: ValueError) -> None:
    """Note the error of a fold that starts from an element where an axis has none."""
    for size in [extents[a] for a in axes]:
        if isinstance(size, Size) and not size.is_at_least(1):
            fail_if(equal(size.value, ir.const(0, "i64")), error)


def _fold(name: str, fill: Callable[[str], Any], of: str = "") -> Callable[..., Any]:
    """A reduction of the elements there are; `fill` gives the number that changes nothing; of: the name of a ufunc
    that starts from an element."""

    def reduce(
        a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, **options: Any
    ) -> Any:
        first = options.pop("initial", NO_VALUE) if name in _STARTED else NO_VALUE
        only(name, **options)
        axes = axes_of(axis, len(extents_of(a)))
        if of and not is_given(first):
            _not_empty(extents_of(a), axes, nothing_to_fold(of))
        given = ({} if dtype is None else {"dtype": dtype}) | ({"initial": first} if is_given(first) else {})
        kept = bool(keepdims) and keepdims is not NO_VALUE
        whole = filled(a, fill(whole_of(a).type.dtype), axes)
        made = getattr(xp, name)(whole, axis=tuple(axes), keepdims=kept, **given)
        return stored(bounded(made, remaining(extents_of(a), axes, kept)), out)

    reduce.__name__ = name
    return reduce


_STARTED: Final = ("sum", "prod", "max", "min")  # that have `initial=`


def remaining(extents: Sequence[Extent], axes: Sequence[int], kept: bool) -> list[Extent]:
    """The extents after a reduction."""
    return [1 if a in axes else n for a, n in enumerate(extents) if kept or a not in axes]


def stored(made: Any, out: Any) -> Any:
    """A result, in the array of `out=` if there is one."""
    if out is None:
        return made
    (target,) = as_tuple(out)
    assign(target, made, casting="same_kind")
    return target


sum_, prod = _fold("sum", lambda dtype: 0), _fold("prod", lambda dtype: 1)
max_, min_ = _fold("max", _least, "maximum"), _fold("min", _greatest, "minimum")
any_, all_ = _fold("any", lambda dtype: 0), _fold("all", lambda dtype: 1)
count_nonzero = _fold("count_nonzero", lambda dtype: 0)


def _count(a: Bounded, axes: Sequence[int]) -> Any:
    """How many elements a reduction takes together."""
    total: Any = 1
    for axis in axes:
        total = total * traced(size_of(a.extents[axis]))
    return total


def mean(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    """np.mean."""
    total = sum_(a, axis, dtype or (None if a.whole.type.is_float else float), keepdims=keepdims)
    return stored(total / _count(a, axes_of(axis, a.ndim)), out)


def var(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = False) -> Any:
    """np.var."""
    axes = axes_of(axis, a.ndim)
    away = abs(a - mean(a, axis, dtype, keepdims=True))
    return stored(sum_(away * away, axis, keepdims=keepdims) / (_count(a, axes) - ddof), out)


def std(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = False) -> Any:
    """np.std."""
    return stored(xp.sqrt(var(a, axis, dtype, ddof=ddof, keepdims=keepdims)), out)


def ptp(a: Any, axis: Any = None) -> Any:
    """np.ptp."""
    return max_(a, axis) - min_(a, axis)


def _arg(name: str, fill: Callable[[str], Any]) -> Callable[..., Any]:
    """np.argmax or np.argmin, along one axis."""

    def arg(a: Any, axis: Any = None, out: Any = None) -> Any:
        if axis is None and a.ndim > 1:
            raise a.refused(f"np.{name} without axis=")
        at = axis_of(axis or 0, a.ndim)
        _not_empty(a.extents, (at,), ValueError(f"attempt to get {name} of an empty sequence"))
        made = getattr(xp, name)(filled(a, fill(a.whole.type.dtype), (at,)), axis=at)
        return stored(bounded(made, remaining(a.extents, (at,), False)), out)

    arg.__name__ = name
    return arg


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Any:
    """np.linalg.norm of vectors; of all elements without `ord`."""
    if ord not in (None, 1, 2, np.inf) or (ord is not None and axis is None and x.ndim > 1):
        raise x.refused(f"np.linalg.norm with ord={ord}")
    if ord == 1:
        return sum_(abs(x), axis, keepdims=keepdims)
    if ord == np.inf:
        return _fold("max", lambda dtype: 0)(abs(x), axis, keepdims=keepdims)
    return xp.sqrt(sum_(xp.square(abs(x)), axis, keepdims=keepdims))


def _scan(name: str, fill: int) -> Callable[..., Any]:
    """np.cumsum or np.cumprod, along one axis."""

    def scan(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        if axis is None and a.ndim > 1:
            raise a.refused(f"np.{name} without axis=")
        at = axis_of(axis or 0, a.ndim)
        made = getattr(xp, name)(filled(a, fill, (at,)), axis=at, dtype=dtype)
        return stored(Bounded(filled(Bounded(made, a.extents), 0, (at,)), a.extents), out)

    scan.__name__ = name
    return scan


# --- views and copies


def flip(m: Any, axis: Any = None) -> Any:
    """np.flip: a view."""
    return made_of(flipped(m.whole, m.extents, axes_of(axis, m.ndim)))


def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    """np.roll along one axis."""
    if (axis is None and a.ndim > 1) or isinstance(shift, tuple):
        raise a.refused("np.roll along several axes")
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
    order = tuple(reversed(range(a.ndim))) if axes is None else axes_of(list(as_tuple(axes)), a.ndim)
    return Bounded(xp.transpose(a.whole, order), [a.extents[n] for n in order])


def swapaxes(a: Any, axis1: Any, axis2: Any) -> Any:
    """np.swapaxes: a view."""
    order, i, j = list(range(a.ndim)), axis_of(axis1, a.ndim), axis_of(axis2, a.ndim)
    order[i], order[j] = order[j], order[i]
    return transpose(a, order)


def copy(a: Any, order: Any = "K", subok: Any = False) -> Any:
    """np.copy."""
    return Bounded(fresh(a.whole.value, is_array=True), a.extents)


def astype(a: Bounded, dtype: Any, **options: Any) -> Any:
    """ndarray.astype."""
    return Bounded(a.whole.astype(dtype, **options), a.extents)


def reshape(a: Any, *shape: Any, order: str = "C") -> Any:
    """np.reshape of what has one axis, to that axis and others of one element."""
    to = as_tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], tuple | list) else shape
    if to == (-1,):
        return xp.ravel(a)
    if a.ndim != 1 or [n for n in to if type(n) is not int or n != 1] != [-1]:
        raise a.refused(f"np.reshape to {to}")
    return a[tuple([slice(None) if n == -1 else None for n in to])]


def fill(a: Bounded, value: Any) -> None:
    """ndarray.fill."""
    assign(a, value)


def shape(a: Any) -> Any:
    """np.shape: traced integers where an extent is known only at run time."""
    return a.shape


def size(a: Any) -> Any:
    """np.size: a traced integer."""
    return a.size


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
        return Bounded(getattr(xp, name)(a.whole, *args, **options), a.extents)

    return made


def diff(a: Any, n: int = 1, axis: int = -1) -> Any:
    """np.diff."""
    at = axis_of(axis, a.ndim)
    for _ in range(n):
        front = (slice(None),) * at
        a = a[(*front, slice(1, None))] - a[(*front, slice(None, -1))]
    return a


def concatenate(arrays: Any, axis: Any = 0, out: Any = None) -> Any:
    """np.concatenate: parts written one after the other."""
    parts = [x if isinstance(x, Bounded) else as_traced(x) for x in arrays]
    dtype = result_dtype(*(whole_of(x) for x in parts))
    at = axis_of(axis, len(extents_of(parts[0])))
    rows = [_without(extents_of(x), at) for x in parts]
    if any(row != rows[0] for row in rows):
        raise ShapeError("np.concatenate: other axes are not known to have the same extents").at(("here", here()))
    total = Size(0)
    for x in parts:
        total = total + size_of(extents_of(x)[at])
    limit = bound_of(total, sum(whole_of(x).shape[at] for x in parts))
    first = whole_of(parts[0]).shape
    made, start = ir.operators.zeros(Type(dtype, (*first[:at], limit, *first[at + 1 :]))), Size(0)
    for x in parts:
        extents = extents_of(x)
        starts = [start if a == at else Size(0) for a in range(len(extents))]
        lens = BlockLens(
            tuple(s.value for s in starts),
            tuple(size_of(n).value for n in extents),
            whole_of(x).shape,
            (1,) * len(extents),
        )
        made, start = lens.put(made, value_of(whole_of(x), dtype)), start + size_of(extents[at])
    joined: Extent = total if total.known is None else total.known
    extents = (*rows[0][:at], joined, *rows[0][at:])
    return stored(bounded(fresh(made, is_array=True), extents), out)


def append(arr: Any, values: Any, axis: Any = None) -> Any:
    """np.append."""
    return concatenate((xp.ravel(arr), xp.ravel(values)) if axis is None else (arr, values), axis or 0)


def hstack(tup: Any, **options: Any) -> Any:
    """np.hstack."""
    parts = [xp.atleast_1d(x) if not np.ndim(x) else x for x in tup]
    return concatenate(parts, min(np.ndim(parts[0]) - 1, 1), **options)


def stack(arrays: Any, axis: Any = 0, out: Any = None) -> Any:
    """np.stack."""
    at = axis_of(axis, np.ndim(arrays[0]) + 1)
    return concatenate([x[(*[slice(None)] * at, None)] for x in arrays], at, out)


def copyto(dst: Any, src: Any, casting: Any = "same_kind", **options: Any) -> None:
    """np.copyto."""
    only("copyto", **options)
    assign(dst, src, casting)


def _without(extents: Sequence[Extent], axis: int) -> tuple[Extent, ...]:
    return tuple(n for a, n in enumerate(extents) if a != axis)


def where(condition: Any, *branches: Any) -> Any:
    """np.where."""
    return elementwise(np.where, (condition, *branches), {}) if branches else xp.nonzero(condition)


def _each(function: Callable[..., Any]) -> Callable[..., Any]:
    """A NumPy function that acts on each element of the operands given by position."""

    def call(*args: Any, out: Any = None, **options: Any) -> Any:
        return stored(elementwise(function, args, options), out)

    return call


ELEMENTWISE: Final = (
    np.clip, np.real, np.imag, np.round, np.around, np.isclose, np.nan_to_num, np.angle, np.sinc, np.fix,
)  # fmt: skip

FUNCTIONS: Final[dict[Any, Callable[..., Any]]] = {
    **{function: _each(function) for function in ELEMENTWISE},
    np.where: where,
    np.sum: sum_, np.prod: prod, np.max: max_, np.amax: max_, np.min: min_, np.amin: min_, np.any: any_, np.all: all_,
    np.count_nonzero: count_nonzero, np.mean: mean, np.var: var, np.std: std, np.ptp: ptp,
    np.argmax: _arg("argmax", _least),
    np.argmin: _arg("argmin", _greatest),
    np.cumsum: _scan("cumsum", 0), np.cumprod: _scan("cumprod", 1), np.linalg.norm: norm,
    np.flip: flip, np.roll: roll, np.transpose: transpose, np.swapaxes: swapaxes, np.copy: copy,
    np.reshape: reshape, np.diff: diff,
    np.concatenate: concatenate, np.append: append, np.hstack: hstack, np.stack: stack, np.copyto: copyto,
    np.zeros_like: _like("zeros_like"), np.ones_like: _like("ones_like"),
    np.empty_like: _like("empty_like"), np.full_like: _like("full_like"),
    np.shape: shape, np.size: size, np.ndim: ndim, np.iscomplexobj: iscomplexobj, np.isrealobj: isrealobj,
}  # fmt: skip

METHODS: Final[dict[str, Callable[..., Any]]] = {
    **{f.__name__: f for f in (prod, mean, var, std, copy, astype, reshape, fill, transpose, swapaxes)},
    **{f.__name__: f for f in (sum_, max_, min_, any_, all_, FUNCTIONS[np.argmax], FUNCTIONS[np.argmin])},
    **{f.__name__: f for f in (FUNCTIONS[np.cumsum], FUNCTIONS[np.cumprod])},
    "conj": np.conj, "conjugate": np.conj, "clip": FUNCTIONS[np.clip], "round": FUNCTIONS[np.round],
}  # fmt: skip

REDUCTIONS: Final[dict[np.ufunc, Callable[..., Any]]] = {
    np.add: sum_, np.multiply: prod, np.maximum: max_, np.minimum: min_, np.logical_or: any_, np.logical_and: all_
}  # fmt: skip
