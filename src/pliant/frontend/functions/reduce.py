"""Reductions: sum, prod, max, min, all, any, mean, argmax and their like."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.core.ir import Value, const
from pliant.core.origin import here
from pliant.core.types import DTYPES
from pliant.errors import ArgumentError, DTypeError, ShapeError
from pliant.frontend.array import fresh
from pliant.frontend.convert import (
    as_traced,
    axes_of,
    axis_of,
    broadcast_shapes,
    broadcast_value,
    cast_value,
    mask_of,
    result_dtype,
    short,
    value_of,
)
from pliant.frontend.failures import ensured
from pliant.frontend.functions import complex_order
from pliant.frontend.functions.common import (
    NO_VALUE,
    array_of,
    check_out,
    dtype_beside,
    inexact,
    store_out,
    unsupported,
    widened,
)
from pliant.frontend.functions.ufuncs import UFUNCS
from pliant.ops import compare, elementwise, transcendental
from pliant.ops import reduce as folds
from pliant.ops.bits import truth
from pliant.ops.complex import imag, real
from pliant.ops.custom import stop_gradient
from pliant.ops.select import select
from pliant.ops.shape import broadcast, concatenate, permute, reshape, slice_axis

Combine = Callable[[Value, Value], Value]


def is_given(x: Any) -> bool:
    """Whether an optional argument was given."""
    return x is not None and x is not NO_VALUE


def folded_axes(axis: Any, rank: int) -> tuple[int, ...]:
    """The axes of a ufunc's reduction: for a scalar NumPy takes 0 and -1 too."""
    return () if not rank and axis in (0, -1) else axes_of(axis, rank)


def masked(x: Value, where: Any, fill: Any) -> Value:
    """`x` with `fill` where the mask `where` does not hold."""
    if where is True or where is NO_VALUE:
        return x
    mask = mask_of(where)
    shape = broadcast_shapes(x.shape, mask.shape)
    filler = fill if isinstance(fill, Value) else const(fill, x.dtype)
    return select(broadcast_value(mask, shape), broadcast_value(x, shape), filler)


def kept(y: Value, shape: tuple[int, ...], axes: tuple[int, ...], keepdims: Any) -> Value:
    """The result of a reduction, with axes of extent 1 where `keepdims` asks for them."""
    if keepdims is NO_VALUE or not keepdims:
        return y
    return reshape(y, tuple(1 if a in axes else n for a, n in enumerate(shape)))


def check_begun(ufunc: np.ufunc, a: Any, axis: Any, initial: Any, where: Any = True) -> None:
    """Refuse a reduction without an identity, as initial=None asks for, that has no element to begin with."""
    if initial is not None:
        return
    x, name = as_traced(a), ufunc.__name__
    if where is not True and where is not NO_VALUE:
        message = f"reduction operation '{name}' does not have an identity, so to use a where mask one has to specify"
        raise ShapeError(f"{message} 'initial'").at(("here", here()))
    if not x.size and x.type.without(folded_axes(axis, x.ndim)).size:
        raise ShapeError(f"zero-size array to reduction operation {name} which has no identity").at(("here", here()))


def sum_(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False,
    initial: Any = NO_VALUE, where: Any = True,
) -> Any:  # fmt: skip
    """np.sum."""
    check_begun(np.add, a, axis, initial, where)
    x = masked(widened(as_traced(a), dtype, out), where, 0)
    axes = folded_axes(axis, x.type.rank)
    y = truth_sum(x, axes) if x.dtype == "bool" else folds.reduce_sum(x, axes)
    if not axes and y.type.is_float:
        y = elementwise.add(y, const(0, y.dtype))  # a sum starts from 0: that of -0.0 is 0.0
    if is_given(initial):
        y = elementwise.add(y, broadcast_value(value_of(initial, y.dtype), y.shape))
    return store_out(kept(y, x.shape, axes, keepdims), out, "np.sum", casting="unsafe")


def truth_sum(x: Value, axes: tuple[int, ...]) -> Value:
    """The sum of bools as a bool."""
    return folds.reduce_or(x, axes)


def prod(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False,
    initial: Any = NO_VALUE, where: Any = True,
) -> Any:  # fmt: skip
    """np.prod."""
    check_begun(np.multiply, a, axis, initial, where)
    x = masked(widened(as_traced(a), dtype, out), where, 1)
    axes = folded_axes(axis, x.type.rank)
    y = folds.reduce_and(x, axes) if x.dtype == "bool" else folds.reduce_prod(x, axes)
    if is_given(initial):
        y = elementwise.mul(y, broadcast_value(value_of(initial, y.dtype), y.shape))
    return store_out(kept(y, x.shape, axes, keepdims), out, "np.prod", casting="unsafe")


def _extremum(
    name: str, fold: Callable[..., Value], whole: Callable[..., Value], combine: Combine
) -> Callable[..., Any]:
    """np.max or np.min; `whole` is the fold for bools."""

    def extremum(
        a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, initial: Any = NO_VALUE,
        where: Any = True, dtype: Any = None,
    ) -> Any:  # fmt: skip
        dtype = dtype_beside(as_traced(a), out) if dtype is None else dtype
        x = inexact(as_traced(a), dtype) if dtype is not None else as_traced(a).value
        start = value_of(initial, x.dtype) if is_given(initial) else None
        if where is not True and where is not NO_VALUE:
            if start is None and mask_of(where):
                raise ShapeError(f"np.{name}: where= needs initial=, there is no identity").at(("here", here()))
            x = masked(x, where, start)
        axes = folded_axes(axis, x.type.rank)
        rest = x.type.without(axes)
        if axes and not math.prod(x.shape[a] for a in axes):
            if start is None:
                raise ShapeError(f"np.{name} of {x.type} along axes {axes} has no elements; give initial=").at(
                    ("here", here())
                )
            return store_out(
                kept(broadcast_value(start, rest.shape), x.shape, axes, keepdims), out, f"np.{name}", casting="unsafe"
            )
        if not x.type.size:
            y = broadcast(const(0, x.dtype), rest.shape, ())
        else:
            y = whole(x, axes) if x.dtype == "bool" else fold(x, axes)
        if start is not None:
            y = combine(y, broadcast_value(start, y.shape))
        return store_out(kept(y, x.shape, axes, keepdims), out, f"np.{name}", casting="unsafe")

    extremum.__name__ = name
    return extremum


def _ordered(fold: Callable[..., Value], place: Callable[[Value, int], Value]) -> Callable[..., Value]:
    """A fold that knows the order of complex numbers too."""

    def folded(x: Value, axes: tuple[int, ...]) -> Value:
        return complex_order.extremum(x, axes, place) if x.dtype[0] == "c" and axes else fold(x, axes)

    return folded


max_ = _extremum("max", _ordered(folds.reduce_max, complex_order.argmax), folds.reduce_or, compare.maximum)
min_ = _extremum("min", _ordered(folds.reduce_min, complex_order.argmin), folds.reduce_and, compare.minimum)


def all_(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = True, **options: Any) -> Any:
    """np.all."""
    check_begun(np.logical_and, a, axis, options.get("initial", NO_VALUE), where)
    x = masked(truth_of(a), where, True)
    axes = folded_axes(axis, x.type.rank)
    y = kept(folds.reduce_and(x, axes), x.shape, axes, keepdims)
    return store_out(_answer(np.logical_and, y, options), out, "np.all", casting="unsafe")


def any_(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = True, **options: Any) -> Any:
    """np.any."""
    check_begun(np.logical_or, a, axis, options.get("initial", NO_VALUE), where)
    x = masked(truth_of(a), where, False)
    axes = folded_axes(axis, x.type.rank)
    y = kept(folds.reduce_or(x, axes), x.shape, axes, keepdims)
    return store_out(_answer(np.logical_or, y, options), out, "np.any", casting="unsafe")


def _answer(ufunc: np.ufunc, y: Value, options: dict[str, Any]) -> Value:
    """What is found, with what the ufunc's reduction begins with, in the dtype that is asked for."""
    dtype, initial = options.pop("dtype", None), options.pop("initial", None)
    if options:
        raise unsupported(f"keyword {', '.join(options)} is not supported")
    if is_given(initial):
        y = UFUNCS[ufunc](y, broadcast_value(truth_of(initial), y.shape))
    if dtype is not None and short(dtype) != "bool":
        message = f"No loop matching the specified signature and casting was found for ufunc {ufunc.__name__}"
        raise DTypeError(f"{message}: dtype={np.dtype(dtype)}", hint="convert the result with .astype(...)").at(
            ("here", here())
        )
    return y


def truth_of(a: Any) -> Value:
    """Which elements are not zero."""
    x = as_traced(a).value
    return x if x.dtype == "bool" else truth(x)


def count_nonzero(a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    """np.count_nonzero."""
    return sum_(fresh(truth_of(a)), axis, keepdims=keepdims)


def ptp(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    """np.ptp."""
    y = max_(a, axis, keepdims=keepdims) - min_(a, axis, keepdims=keepdims)
    return store_out(as_traced(y).value, out, "np.ptp")


def counted(shape: tuple[int, ...], axes: tuple[int, ...], where: Any, dtype: str) -> Value:
    """How many elements each result of a reduction is made from."""
    if where is True or where is NO_VALUE:
        return const(int(np.prod([shape[a] for a in axes], dtype=np.int64)), dtype)
    mask = broadcast_value(mask_of(where), shape)
    return elementwise.convert(folds.reduce_sum(elementwise.convert(mask, "i64"), axes), dtype)


def mean_value(x: Value, axes: tuple[int, ...], where: Any = True) -> Value:
    """The mean over `axes`; half floats are added up as f32."""
    wide = elementwise.convert(x, "f32") if x.dtype == "f16" else x
    total = folds.reduce_sum(masked(wide, where, 0), axes)
    return elementwise.convert(elementwise.div(total, counted(x.shape, axes, where, total.dtype)), x.dtype)


def mean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = True
) -> Any:
    """np.mean."""
    array = as_traced(a)
    if dtype is not None and short(dtype)[0] in "iub":  # the sum in that dtype, then divided
        axes = axes_of(axis, array.ndim)
        total = sum_(array, axis, dtype, where=where)
        made = as_traced(total / fresh(counted(array.shape, axes, where, "f64"))).value
        made = kept(made, array.shape, axes, keepdims)
        return store_out(made if is_given(out) else cast_value(made, short(dtype)), out, "np.mean", casting="unsafe")
    dtype = dtype_beside(array, out) if dtype is None and array.type.dtype in ("f32", "c64") else dtype
    x = inexact(array, dtype)
    if is_given(where) and where is not True:
        x = broadcast_value(x, broadcast_shapes(x.shape, as_traced(where).shape))
    axes = axes_of(axis, x.type.rank)
    return store_out(kept(mean_value(x, axes, where), x.shape, axes, keepdims), out, "np.mean", casting="unsafe")


def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: Any = False) -> Any:
    """np.average."""
    x = as_traced(a)
    if weights is None:
        y = mean(x, axis, keepdims=keepdims)
        axes = axes_of(axis, x.ndim)
        count = counted(x.shape, axes, True, as_traced(y).type.dtype)
        return (y, fresh(broadcast_value(count, y.shape))) if returned else y
    w = as_traced(weights)
    dtype = result_dtype(x, w)
    if not x.type.is_float and dtype[0] in "biu":
        dtype = "f64"
    axes = axes_of(axis, x.ndim)
    wide = value_of(w, dtype)
    if wide.shape != x.shape:
        if axis is None:
            raise ArgumentError("Axis must be specified when shapes of a and weights differ.").at(("here", here()))
        if wide.shape != tuple(x.shape[a] for a in axes):
            raise ShapeError(f"np.average: weights {w.type} do not fit axes {axes} of {x.type}").at(("here", here()))
        order = sorted(range(len(axes)), key=lambda i: axes[i])
        wide = broadcast(permute(wide, order), x.shape, tuple(sorted(axes)))
    total = folds.reduce_sum(wide, axes)
    is_nothing = compare.equal(total, const(0, total.dtype))
    total = ensured(total, elementwise.convert(is_nothing, "i64"), "weights")
    top = folds.reduce_sum(elementwise.mul(value_of(x, dtype), wide), axes)
    y = fresh(kept(elementwise.div(top, total), x.shape, axes, keepdims))
    return (y, fresh(kept(total, x.shape, axes, keepdims))) if returned else y


def _arg(name: str, real_fold: Callable[[Value, int], Value], complex_fold: Callable[[Value, int], Value]) -> Any:
    """np.argmax or np.argmin."""

    def arg(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
        array = as_traced(a)
        x = elementwise.convert(array.value, "u8") if array.type.dtype == "bool" else array.value
        fold = complex_fold if x.dtype[0] == "c" else real_fold
        rank, shape = x.type.rank, x.shape
        if axis is None or (not rank and axis in (0, -1)):
            x, at, axes = reshape(x, (x.type.size,)), 0, tuple(range(rank))
        else:
            at = axis_of(axis, rank)
            axes = (at,)
        if not x.shape[at]:
            raise ShapeError(f"np.{name} of an empty sequence: {array.type}").at(("here", here()))
        check_out(out, "i64", f"np.{name}", lambda a, out: np.argmax(a[:, None], axis=1, out=out))
        return store_out(kept(fold(x, at), shape, axes, keepdims), out, f"np.{name}", casting="unsafe")

    arg.__name__ = name
    return arg


argmax = _arg("argmax", folds.argmax, complex_order.argmax)
argmin = _arg("argmin", folds.argmin, complex_order.argmin)


def in_reduction(ufunc: np.ufunc, a: Any, dtype: Any, out: Any = None) -> Value:
    """An array in the dtype that a ufunc's reductions compute in; narrow integers are added up in 64 bits."""
    x, name = as_traced(a), ufunc.__name__
    given = x.dtype if out is None else dtype_beside(x, out)
    chosen = {} if dtype is None else {"signature": (np.dtype(dtype), None, None)}
    resolve: Any = ufunc.resolve_dtypes
    try:
        found = resolve((None, given, None), casting="unsafe", reduction=True, **chosen)
    except TypeError:
        made = "element of it" if dtype is None else f"{np.dtype(dtype).name}"
        raise DTypeError(f"np.{name}, of two elements of {x.type}, makes no {made}").at(("here", here())) from None
    return value_of(array_of(x), short(found[1]))


def tree(ufunc: np.ufunc) -> Callable[..., Any]:
    """`ufunc.reduce` of an associative ufunc that has no fold: halves are combined until one is left."""
    combine = UFUNCS[ufunc]
    identity: Any = ufunc.identity

    def reduce(
        a: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: Any = False,
        initial: Any = NO_VALUE, where: Any = True,
    ) -> Any:  # fmt: skip
        check_begun(ufunc, a, axis, initial, where)
        x = in_reduction(ufunc, a, dtype, out)
        neutral = None if identity is None else const(np.asarray(identity).astype(DTYPES[x.dtype]).item(), x.dtype)
        if where is not True:
            filler = neutral if neutral is not None or not is_given(initial) else value_of(initial, x.dtype)
            if filler is None:
                raise ShapeError(f"np.{ufunc.__name__}.reduce: where= needs initial=, there is no identity").at(
                    ("here", here())
                )
            x = masked(x, where, filler)
        axes, y, shape = folded_axes(axis, x.type.rank), x, x.shape
        for at in sorted(axes, reverse=True):
            if not y.shape[at]:
                if neutral is None and not is_given(initial):
                    raise ShapeError(f"np.{ufunc.__name__}.reduce of {x.type}: no elements, and no identity").at(
                        ("here", here())
                    )
                filler = neutral if neutral is not None else value_of(initial, x.dtype)
                y = broadcast(filler, (*y.shape[:at], 1, *y.shape[at + 1 :]), ())
            while (n := y.shape[at]) > 1:
                half = n // 2
                made = combine(slice_axis(y, at, 0, half), slice_axis(y, at, half, half))
                y = concatenate((made, slice_axis(y, at, n - 1, 1)), at) if n % 2 else made
            y = reshape(y, y.type.without((at,)).shape)
        if neutral is not None and math.prod([x.shape[at] for at in axes]) == 1:  # NumPy begins with it: |x| of hypot
            y = combine(y, broadcast_value(neutral, y.shape))
        if is_given(initial):
            y = combine(y, broadcast_value(value_of(initial, y.dtype), y.shape))
        return store_out(kept(y, shape, axes, keepdims), out, casting="unsafe")

    return reduce


def truth_tree(ufunc: np.ufunc) -> Callable[..., Any]:
    """`ufunc.reduce` of a logical ufunc: of which elements are not zero."""
    of_bools = tree(ufunc)

    def reduce(a: Any, *args: Any, **options: Any) -> Any:
        return of_bools(fresh(truth_of(a), is_array=True), *args, **options)

    return reduce


def logaddexp_reduce(
    a: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: Any = False,
    initial: Any = NO_VALUE, where: Any = True,
) -> Any:  # fmt: skip
    """np.logaddexp.reduce, as one pass that does not overflow."""
    check_begun(np.logaddexp, a, axis, initial, where)
    x = masked(in_reduction(np.logaddexp, a, dtype, out), where, -math.inf)
    axes = folded_axes(axis, x.type.rank)
    top = folds.reduce_max(x, axes) if x.type.size else const(0, x.dtype)
    safe = select(compare.isfinite(top), top, const(0, x.dtype))
    rest = tuple(a for a in range(x.type.rank) if a not in axes)
    shifted = elementwise.sub(x, broadcast(stop_gradient(safe), x.shape, rest) if safe.shape or not rest else safe)
    total = folds.reduce_sum(transcendental.exp(shifted), axes)
    y = elementwise.add(transcendental.log(total), stop_gradient(safe))
    if is_given(initial):
        y = UFUNCS[np.logaddexp](y, broadcast_value(value_of(initial, y.dtype), y.shape))
    return store_out(kept(y, x.shape, axes, keepdims), out, "np.logaddexp.reduce", casting="unsafe")


def squared_size(x: Value) -> Value:
    """|x|², real."""
    if x.dtype[0] != "c":
        return elementwise.mul(x, x)
    re, im = real(x), imag(x)
    return elementwise.add(elementwise.mul(re, re), elementwise.mul(im, im))


FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    np.sum: sum_,
    np.prod: prod,
    np.max: max_,
    np.amax: max_,
    np.min: min_,
    np.amin: min_,
    np.all: all_,
    np.any: any_,
    np.count_nonzero: count_nonzero,
    np.ptp: ptp,
    np.mean: mean,
    np.average: average,
    np.argmax: argmax,
    np.argmin: argmin,
}
"""NumPy's reductions."""
