"""PyTorch's reductions, scans and sorts, in terms of NumPy's functions.

What PyTorch finds with its place, as `max` along an axis, has its derivative at that place alone.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from pliant.frontend.aten.call import Array, Call, Rule, at_least_1d, axes_of, axis_of, cast

xp: Any = np


def reduction(f: Callable[..., Array]) -> Rule:
    """f over axes, in the result's dtype."""

    def rule(call: Call, x: Array, dims: Any = None, keepdim: bool = False, **_: Any) -> Array:
        return f(cast(x, call.working), axis=axes_of(dims, x.ndim), keepdims=keepdim)

    return rule


def test(f: Callable[..., Array]) -> Rule:
    """f over axes, of whether elements differ from 0."""
    return lambda call, x, dims=None, keepdim=False: f(x != 0, axis=axes_of(dims, x.ndim), keepdims=keepdim)


def variance(call: Call, x: Array, dims: Any = None, *, correction: Any = 1, keepdim: bool = False) -> Array:
    """The variance over axes."""
    return xp.var(x, axis=axes_of(dims, x.ndim), ddof=1 if correction is None else correction, keepdims=keepdim)


def var_mean(
    call: Call, x: Array, dims: Any = None, *, correction: Any = 1, keepdim: bool = False
) -> tuple[Array, ...]:
    """The variance and the mean over axes."""
    made = variance(call, x, dims, correction=correction, keepdim=keepdim)
    return made, xp.mean(x, axis=axes_of(dims, x.ndim), keepdims=keepdim)


def places(call: Call, x: Array, find: Callable[..., Array], dim: int, keepdim: bool) -> tuple[Array, Array]:
    """What is found along an axis, and where."""
    row, axis = at_least_1d(x), axis_of(dim, x)
    at = xp.expand_dims(find(row, axis=axis), axis)
    found = xp.take_along_axis(row, at, axis)
    keepdim = keepdim and bool(x.ndim)
    return (found, at) if keepdim else (xp.squeeze(found, axis), xp.squeeze(at, axis))


def extremum(f: Callable[..., Array], find: Callable[..., Array]) -> Rule:
    """The extremum of all; or along an axis, and where it is."""

    def rule(call: Call, x: Array, dim: int | None = None, keepdim: bool = False) -> Any:
        return f(x) if dim is None else places(call, x, find, dim, keepdim)

    return rule


def arg_extremum(find: Callable[..., Array]) -> Rule:
    """Where the extremum is."""

    def rule(call: Call, x: Array, dim: int | None = None, keepdim: bool = False) -> Array:
        if dim is None:
            return xp.reshape(find(xp.reshape(x, -1)), call.shape)
        return xp.reshape(find(at_least_1d(x), axis=axis_of(dim, x)), call.shape)

    return rule


def vector_norm(call: Call, x: Array, p: Any = 2, dims: Any = None, keepdim: bool = False, **_: Any) -> Array:
    """(Σ|x|ᵖ)^(1/p) over axes."""
    x, axes = cast(x, call.working), axes_of(dims, x.ndim)
    if p == 2:
        order = [a for a in range(x.ndim) if a not in axes]
        flat = xp.transpose(x, (*order, *axes)).reshape((*[x.shape[a] for a in order], -1))
        return xp.reshape(xp.linalg.norm(flat, axis=-1), call.shape)
    size = xp.absolute(x)
    if p in (float("inf"), float("-inf")):
        return (xp.max if p > 0 else xp.min)(size, axis=axes, keepdims=keepdim)
    if p == 0:
        return xp.sum(cast(size != 0, call.dtype), axis=axes, keepdims=keepdim)
    if p == 1:
        return xp.sum(size, axis=axes, keepdims=keepdim)
    return xp.power(xp.sum(xp.power(size, p), axis=axes, keepdims=keepdim), 1 / p)


def shifted(x: Array, dim: int) -> Array:
    """x less its largest element along an axis."""
    return x - xp.max(x, axis=dim, keepdims=True)


def softmax(call: Call, x: Array, dim: int, half_to_float: bool = False) -> Array:
    """eˣ over its sum along an axis."""
    row = xp.exp(shifted(at_least_1d(cast(x, call.dtype)), dim))
    return xp.reshape(row / xp.sum(row, axis=dim, keepdims=True), call.shape)


def log_softmax(call: Call, x: Array, dim: int, half_to_float: bool = False) -> Array:
    """Its logarithm."""
    row = shifted(at_least_1d(cast(x, call.dtype)), dim)
    return xp.reshape(row - xp.log(xp.sum(xp.exp(row), axis=dim, keepdims=True)), call.shape)


def logsumexp(call: Call, x: Array, dims: Any, keepdim: bool = False) -> Array:
    """log Σ eˣ over axes."""
    return xp.logaddexp.reduce(cast(x, call.working), axis=axes_of(dims, x.ndim), keepdims=keepdim)


def scan(f: Callable[..., Array]) -> Rule:
    """A running sum or product along an axis."""

    def rule(call: Call, x: Array, dim: int, **_: Any) -> Array:
        return xp.reshape(f(at_least_1d(cast(x, call.dtype)), axis=axis_of(dim, x)), call.shape)

    return rule


def running(f: Any) -> Rule:
    """A running extremum, and where it was found last."""

    def rule(call: Call, x: Array, dim: int) -> tuple[Array, Array]:
        row, axis = at_least_1d(x), axis_of(dim, x)
        best = f.accumulate(row, axis=axis)
        at = xp.arange(row.shape[axis]).reshape([-1 if a == axis else 1 for a in range(row.ndim)])
        place = xp.maximum.accumulate(xp.where(row == best, at, 0 * at), axis=axis)
        return tuple([xp.reshape(y, call.shape) for y in (xp.take_along_axis(row, place, axis), place)])  # type: ignore[return-value]

    return rule


def sort(call: Call, x: Array, *args: Any, **options: Any) -> tuple[Array, Array]:
    """The elements along an axis in order, and where they come from."""
    names = {"stable": False, "dim": -1, "descending": False}
    given = dict(zip(("dim", "descending"), args, strict=False)) | options
    settings: Any = names | given
    row, axis = at_least_1d(x), axis_of(settings["dim"], x)
    order = _order(row, axis, descending=settings["descending"])
    return xp.reshape(xp.take_along_axis(row, order, axis), call.shape), xp.reshape(order, call.shape)


def _order(x: Array, axis: int, *, descending: bool) -> Array:
    """The places of the elements in order; equal ones keep theirs."""
    if not descending:
        return xp.argsort(x, axis=axis, stable=True)
    back = xp.argsort(xp.flip(x, axis), axis=axis, stable=True)
    return x.shape[axis] - 1 - xp.flip(back, axis)


def topk(call: Call, x: Array, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> tuple[Array, ...]:
    """The k largest or smallest along an axis, and where they are."""
    row, axis = at_least_1d(x), axis_of(dim, x)
    order = xp.take(_order(row, axis, descending=largest), np.arange(k), axis=axis)
    return xp.reshape(xp.take_along_axis(row, order, axis), call.shape), xp.reshape(order, call.shape)


def median(call: Call, x: Array, dim: int | None = None, keepdim: bool = False) -> Any:
    """The lower of the elements in the middle; along an axis also where it is."""
    row = xp.reshape(x, -1) if dim is None else at_least_1d(x)
    axis = 0 if dim is None else axis_of(dim, x)
    if call.dtype.kind == "f":
        raise_nan = xp.any(xp.isnan(row), axis=axis, keepdims=True)
        key = xp.where(raise_nan & ~xp.isnan(row), xp.full_like(row, np.inf), row)
    else:
        raise_nan, key = None, row
    middle = (row.shape[axis] - 1) // 2
    order = xp.argsort(key, axis=axis, stable=True)
    at = xp.take(order, np.array([middle]), axis=axis)
    if raise_nan is not None:
        at = xp.where(raise_nan, xp.expand_dims(xp.argmax(xp.isnan(row), axis=axis), axis), at)
    found = xp.take_along_axis(row, at, axis)
    if dim is None and raise_nan is not None:  # all elements that are equal to it share its derivative
        return xp.max(xp.where((row == found) | xp.isnan(row), row, xp.full_like(row, -np.inf)))
    return xp.reshape(found, call.shape) if dim is None else tuple([xp.reshape(y, call.shape) for y in (found, at)])


def kth(call: Call, x: Array, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Array, Array]:
    """The k-th smallest along an axis, and where it is."""
    row, axis = at_least_1d(x), axis_of(dim, x)
    at = xp.take(_order(row, axis, descending=False), np.array([k - 1]), axis=axis)
    found = xp.take_along_axis(row, at, axis)
    return xp.reshape(found, call.shape), xp.reshape(at, call.shapes[1])


REDUCTIONS: Final[dict[str, Rule]] = {
    "sum": reduction(xp.sum), "mean": reduction(xp.mean), "prod": reduction(xp.prod), "amax": reduction(xp.max),
    "amin": reduction(xp.min), "any": test(xp.any), "all": test(xp.all), "var": variance, "var_mean": var_mean,
    "std": lambda call, x, *args, **options: xp.sqrt(variance(call, x, *args, **options)),
    "max": extremum(xp.max, xp.argmax), "min": extremum(xp.min, xp.argmin), "argmax": arg_extremum(xp.argmax),
    "argmin": arg_extremum(xp.argmin), "linalg_vector_norm": vector_norm, "_softmax": softmax,
    "_log_softmax": log_softmax, "logsumexp": logsumexp, "cumsum": scan(xp.cumsum), "cumprod": scan(xp.cumprod),
    "logcumsumexp": scan(xp.logaddexp.accumulate), "cummax": running(xp.maximum), "cummin": running(xp.minimum),
    "sort": sort, "argsort": lambda call, x, *args, **options: sort(call, x, *args, **options)[1], "topk": topk,
    "median": median, "kthvalue": kth, "aminmax": lambda call, x, dim=None, keepdim=False: (
        xp.min(x, axis=dim, keepdims=keepdim), xp.max(x, axis=dim, keepdims=keepdim)
    ), "count_nonzero": lambda call, x, dim=None: xp.count_nonzero(x, axis=dim),
}  # fmt: skip
"""Reductions, scans and sorts, by the names that PyTorch's graphs have for them."""
