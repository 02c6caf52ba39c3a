"""PyTorch's products, convolutions, pools and norms, in terms of NumPy's functions."""

# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from pliant.frontend.aten.call import Array, Call, Rule, cast, own

xp: Any = np


def addmm(call: Call, x: Array, a: Array, b: Array, *, beta: Any = 1, alpha: Any = 1) -> Array:
    """beta·x + alpha·a·b."""
    product = xp.matmul(a, b)
    product = product if alpha == 1 else product * alpha
    return product if beta == 0 else product + (x if beta == 1 else x * beta)


def repeated(values: Sequence[int], count: int) -> list[int]:
    """One number for each of some axes, of which PyTorch may name one for all."""
    return list(values) * (count if len(values) == 1 else 1)


def windows(x: Array, size: Sequence[int], stride: Sequence[int], dilation: Sequence[int]) -> Array:
    """Windows along the last axes, whose own come last: `t[…, n…] → t[…, m…, size…]`."""
    count = len(size)
    axes = tuple(range(x.ndim - count, x.ndim))
    wide = tuple([d * (k - 1) + 1 for k, d in zip(size, dilation, strict=True)])
    made = xp.lib.stride_tricks.sliding_window_view(x, wide, axes)
    lead = [slice(None)] * (x.ndim - count)
    return made[(*lead, *[slice(None, None, s) for s in stride], *[slice(None, None, d) for d in dilation])]


def padded(x: Array, widths: Sequence[tuple[int, int]], value: Any = 0) -> Array:
    """x with a number around it along the last axes."""
    if not any([any(pair) for pair in widths]):
        return x
    return xp.pad(x, [(0, 0)] * (x.ndim - len(widths)) + list(widths), constant_values=value)


def convolution(
    call: Call, x: Array, w: Array, bias: Array | None, stride: Sequence[int], padding: Sequence[int],
    dilation: Sequence[int], transposed: bool, output_padding: Sequence[int], groups: int,
) -> Array:  # fmt: skip
    """Sums of products of windows and weights: `t[b, c, n…], t[o, c/groups, k…] → t[b, o, m…]`."""
    count = w.ndim - 2
    is_single = x.ndim == w.ndim - 1
    x = x[None] if is_single else x
    stride, padding, dilation = [repeated(v, count) for v in (stride, padding, dilation)]
    if transposed:
        x, w, around = _turned(x, w, stride, padding, dilation, repeated(output_padding, count), groups)
        stride = [1] * count
    else:
        around = [(p, p) for p in padding]
    made = _correlated(x, w, stride, around, dilation, groups)
    if bias is not None:
        made = made + xp.reshape(bias, (-1, *(1,) * count))
    return made[0] if is_single else made


def _turned(
    x: Array, w: Array, stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int],
    extra: Sequence[int], groups: int,
) -> tuple[Array, Array, list[tuple[int, int]]]:  # fmt: skip
    """The operands of the convolution that a transposed one is: of x with zeros between, and weights in reverse."""
    count = w.ndim - 2
    if any([s > 1 for s in stride]):
        shape = [(n - 1) * s + 1 for n, s in zip(x.shape[2:], stride, strict=True)]
        wide = own(np.zeros((*x.shape[:2], *shape), x.dtype))
        wide[(slice(None), slice(None), *[slice(None, None, s) for s in stride])] = x
        x = wide
    c, o = w.shape[0] // groups, w.shape[1]
    w = xp.reshape(w, (groups, c, o, *w.shape[2:]))
    w = xp.reshape(xp.swapaxes(w, 1, 2), (groups * o, c, *w.shape[3:]))
    w = xp.flip(w, tuple(range(2, 2 + count)))
    ends = [d * (k - 1) for k, d in zip(w.shape[2:], dilation, strict=True)]
    around = [(e - p, e - p + more) for e, p, more in zip(ends, padding, extra, strict=True)]
    inner = [slice(max(-a, 0), n - max(-b, 0)) for (a, b), n in zip(around, x.shape[2:], strict=True)]
    return x[(slice(None), slice(None), *inner)], w, [(max(a, 0), max(b, 0)) for a, b in around]


def _correlated(
    x: Array, w: Array, stride: Sequence[int], around: Sequence[tuple[int, int]], dilation: Sequence[int], groups: int
) -> Array:
    """The convolution itself: a product of matrices for each group."""
    count, size = w.ndim - 2, w.shape[2:]
    found = windows(padded(x, around), size, stride, dilation)  # [b, c, m…, k…]
    b, c, spaces = found.shape[0], found.shape[1], found.shape[2 : 2 + count]
    order = (1, *range(2 + count, 2 + 2 * count), 0, *range(2, 2 + count))  # [c, k…, b, m…]
    columns = xp.reshape(xp.transpose(found, order), (groups, (c // groups) * int(np.prod(size)), -1))
    rows = xp.reshape(w, (groups, w.shape[0] // groups, -1))
    made = xp.reshape(xp.matmul(rows, columns), (w.shape[0], b, *spaces))
    return xp.swapaxes(made, 0, 1)


def _ends(n: int, m: int, size: int, stride: int, padding: int) -> tuple[int, int]:
    """What to put around an axis so that m windows lie in it."""
    return padding, max((m - 1) * stride + size - n - padding, 0)


def max_pool(
    call: Call, x: Array, size: Sequence[int], stride: Sequence[int] = (), padding: Sequence[int] = (0,),
    dilation: Sequence[int] = (1,), ceil_mode: bool = False,
) -> tuple[Array, Array]:  # fmt: skip
    """The largest of each window, and where it is, in row-major order."""
    count = 2 if "2d" in call.name else 3 if "3d" in call.name else 1
    size = repeated(size, count)
    stride = repeated(stride, count) if stride else size
    padding, dilation = repeated(padding, count), repeated(dilation, count)
    extents, wide = x.shape[-count:], [d * (k - 1) + 1 for k, d in zip(size, dilation, strict=True)]
    around = [_ends(*p) for p in zip(extents, call.shape[-count:], wide, stride, padding, strict=True)]
    lowest = -np.inf if call.dtype.kind == "f" else np.iinfo(call.dtype).min
    found = _first(windows(padded(x, around, lowest), size, stride, dilation), call.shape)
    flat = xp.reshape(found, (*call.shape, -1))
    at = xp.expand_dims(xp.argmax(flat, axis=-1), -1)
    own = np.arange(int(np.prod(extents))).reshape(extents)
    places = _first(windows(padded(own, around, -1), size, stride, dilation), call.shape[-count:])
    places = np.broadcast_to(places.reshape((*call.shape[-count:], -1)), flat.shape)
    return tuple([xp.reshape(xp.take_along_axis(v, at, -1), call.shape) for v in (flat, places)])  # type: ignore[return-value]


def _first(x: Array, shape: Sequence[int]) -> Array:
    """The first windows along each axis, so many as the result has."""
    return x[tuple([slice(0, n) for n in shape])]


def avg_pool(
    call: Call, x: Array, size: Sequence[int], stride: Sequence[int] = (), padding: Sequence[int] = (0,),
    ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: int | None = None,
) -> Array:  # fmt: skip
    """The mean of each window."""
    count = 2 if "2d" in call.name else 3 if "3d" in call.name else 1
    size = repeated(size, count)
    stride, padding = repeated(stride, count) if stride else size, repeated(padding, count)
    extents, one = x.shape[-count:], [1] * count
    around = [_ends(*p) for p in zip(extents, call.shape[-count:], size, stride, padding, strict=True)]
    found = _first(windows(padded(x, around), size, stride, one), call.shape)
    sums = xp.sum(found, axis=tuple(range(-count, 0)))
    if divisor_override is not None:
        return sums / divisor_override
    counted = np.ones(extents)
    if count_include_pad:
        counted = padded(counted, [(p, p) for p in padding], 1.0)
        around = [(0, max(hi - p, 0)) for (_, hi), p in zip(around, padding, strict=True)]
    there = _first(windows(padded(counted, around), size, stride, one), call.shape[-count:])
    return sums / np.sum(there, axis=tuple(range(-count, 0))).astype(call.dtype)


def adaptive_avg_pool(call: Call, x: Array, size: Sequence[int]) -> Array:
    """The mean of each of so many parts along the last axes, which may overlap by one."""
    for axis, m in zip(range(x.ndim - len(size), x.ndim), size, strict=True):
        n = x.shape[axis]
        at = np.arange(n)
        first, last = np.arange(m) * n // m, -(-(np.arange(m) + 1) * n // m)
        shares = (at >= first[:, None]) & (at < last[:, None])
        weights = (shares / shares.sum(axis=1, keepdims=True)).astype(call.dtype)
        x = xp.moveaxis(xp.matmul(xp.moveaxis(x, axis, -1), weights.T), -1, axis)
    return x


def _normal(x: Array, axes: tuple[int, ...], eps: float) -> tuple[Array, Array, Array]:
    """x less its mean, in its standard deviation; the mean, and one over the deviation."""
    mean = xp.mean(x, axis=axes, keepdims=True)
    rest = x - mean
    scale = 1 / xp.sqrt(xp.mean(rest * rest, axis=axes, keepdims=True) + eps)
    return rest * scale, mean, scale


def layer_norm(
    call: Call, x: Array, shape: Sequence[int], weight: Array | None, bias: Array | None, eps: float
) -> tuple[Array, ...]:
    """x in units of its deviation from the mean, over its last axes."""
    y, mean, scale = _normal(x, tuple(range(x.ndim - len(shape), x.ndim)), eps)
    y = y if weight is None else y * weight
    return y if bias is None else y + bias, mean, scale


def group_norm(
    call: Call, x: Array, weight: Array | None, bias: Array | None, n: int, c: int, size: int, groups: int, eps: float
) -> tuple[Array, ...]:
    """The same over groups of channels."""
    y, mean, scale = _normal(xp.reshape(x, (n, groups, -1)), (2,), eps)
    shape = (1, c, *(1,) * (x.ndim - 2))
    y = xp.reshape(y, x.shape)
    y = y if weight is None else y * xp.reshape(weight, shape)
    y = y if bias is None else y + xp.reshape(bias, shape)
    return y, xp.reshape(mean, (n, groups)), xp.reshape(scale, (n, groups))


def batch_norm(
    call: Call, x: Array, weight: Array | None, bias: Array | None, mean: Any, var: Any, training: bool,
    momentum: float, eps: float,
) -> tuple[Array, ...]:  # fmt: skip
    """The same over all axes but channels; by what was seen before, unless in training."""
    if training and mean is not None:
        raise call.refused("in training, which changes running statistics", "call module.eval() before from_torch")
    shape = (1, -1, *(1,) * (x.ndim - 2))
    if training:
        y, mean, scale = _normal(x, (0, *range(2, x.ndim)), eps)
    else:
        scale = 1 / xp.sqrt(xp.reshape(var, shape) + eps)
        y = (x - xp.reshape(mean, shape)) * scale
    y = y if weight is None else y * xp.reshape(weight, shape)
    y = y if bias is None else y + xp.reshape(bias, shape)
    if not training:
        return y, *[xp.zeros(s, call.dtype) for s in call.shapes[1:3]]
    return y, *[xp.reshape(v, s) for v, s in zip((mean, scale), call.shapes[1:3], strict=True)]


def dropout(call: Call, x: Array, p: float, train: bool | None = None) -> tuple[Array, Array]:
    """x; in training, where numbers are drawn, an error."""
    if train and p:
        raise call.refused("draws random numbers", "call module.eval() before from_torch")
    return x, xp.ones(x.shape, bool)


def cdist(call: Call, x: Array, y: Array, p: float, mode: Any = None) -> Array:
    """The distances of rows."""
    rest = xp.expand_dims(x, -2) - xp.expand_dims(y, -3)
    if p == 2:
        return xp.linalg.norm(rest, axis=-1)
    size = xp.absolute(rest)
    return xp.sum(size, axis=-1) if p == 1 else xp.power(xp.sum(xp.power(size, p), axis=-1), 1 / p)


def _in_one(f: Callable[..., Array]) -> Rule:
    return lambda call, *xs, **_: f(*[cast(x, call.dtype) for x in xs])


LAYERS: Final[dict[str, Rule]] = {
    "addmm": addmm, "baddbmm": addmm, "addmv": addmm, "addbmm": lambda call, x, a, b, **options: addmm(
        call, x, xp.reshape(xp.swapaxes(a, 0, 1), (a.shape[1], -1)), xp.reshape(b, (-1, b.shape[-1])), **options
    ),
    "mm": _in_one(xp.matmul), "bmm": _in_one(xp.matmul), "mv": _in_one(xp.matmul), "dot": _in_one(xp.dot),
    "vdot": _in_one(xp.vdot), "convolution": convolution, "max_pool2d_with_indices": max_pool,
    "max_pool3d_with_indices": max_pool, "avg_pool1d": avg_pool, "avg_pool2d": avg_pool, "avg_pool3d": avg_pool,
    "_adaptive_avg_pool2d": adaptive_avg_pool, "_adaptive_avg_pool3d": adaptive_avg_pool,
    "adaptive_avg_pool1d": adaptive_avg_pool, "native_layer_norm": layer_norm, "native_group_norm": group_norm,
    "native_batch_norm": batch_norm, "_native_batch_norm_legit": batch_norm,
    "_native_batch_norm_legit_no_training": lambda call, x, w, b, mean, var, momentum, eps: batch_norm(
        call, x, w, b, mean, var, False, momentum, eps
    ),
    "native_dropout": dropout, "_cdist_forward": cdist,
}  # fmt: skip
"""Products, convolutions, pools and norms, by the names that PyTorch's graphs have for them."""
